/** Filters of a search: each really filters, and what they do not know is named. */
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { sql } from '#cairn/driver/index.js';
import type { Filter } from '#cairn/recall/search/model.js';
import { tenantOf } from '../../support/nouns/hierarchy.js';
import { newTrajectory } from '../../support/nouns/memory.js';
import { say, someScope } from '../../support/nouns/scopes.js';
import { found, note } from '../../support/nouns/search.js';
import { foldAll } from '../../support/nouns/search-index.js';
import { onEveryTarget, refusalOf } from '../../support/targets.js';

type Compared = [field: string, operator: string, value: string | string[]];
const is = (...[field, operator, value]: Compared): Filter => ({ field, operator, value }) as Filter;

/** One of each, by a name. */
async function world(cairn: Api) {
  const { scope_id, trajectory_id } = await someScope(cairn);
  const said = { speaker: 'Anna Berg', occurred_at: '2024-03-05T10:00:00Z', tags: ['rain', 'wind'] };
  const turn = await say(cairn, scope_id, 'weather one', { role: 'Assistant', metadata: said });
  const fact = await note(cairn, 'weather two', {
    title: 'Wind force',
    agent_id: 'ann',
    abstraction_level: 'L1',
    ttl: 'LongTerm',
    metadata: { occurred_at: '2024-03-06', tags: ['wind'] },
  });
  const steps = await note(cairn, 'weather three', { note_type: 'Procedure', title: 'How' });
  const drawing = await cairn.artifacts.create({
    trajectory_id,
    artifact_type: 'Image',
    name: 'chart',
    content: 'weather four',
  });
  const card = await cairn.cards.add({ content: 'weather five', metadata: { type: 'seen.result', role: 'tool' } });
  const packet = await cairn.packets.write({ packet_type: 'report', payload: { a: 'weather six' }, tags: ['rain'] });
  const names: Record<string, string> = {
    [`Turn ${turn.turn_id}`]: 'turn',
    [`Note ${fact.note_id}`]: 'fact',
    [`Note ${steps.note_id}`]: 'steps',
    [`Artifact ${drawing.artifact_id}`]: 'drawing',
    [`Card ${card.card_id}`]: 'card',
    [`Packet ${packet.packet_id}`]: 'packet',
  };
  return { scope_id, trajectory_id, names };
}

onEveryTarget('filters of a search', (test) => {
  it('SEARCH-9 compare each field by each operator, with words or without', async () => {
    const cairn = await test().freshTenant();
    const { names, scope_id, trajectory_id } = await world(cairn);
    const all = Object.values(names);
    const cases: [Compared, string[]][] = [
      [
        ['entity_type', 'eq', 'note'],
        ['fact', 'steps'],
      ],
      [
        ['entity_type', 'ne', 'note'],
        ['turn', 'drawing', 'card', 'packet'],
      ],
      [
        ['entity_type', 'in', ['card', 'packet']],
        ['card', 'packet'],
      ],
      [['type', 'eq', 'Procedure'], ['steps']],
      [['type', 'contains', 'RESULT'], ['card']],
      [
        ['type', 'ne', 'Fact'],
        ['turn', 'steps', 'drawing', 'card', 'packet'],
      ],
      [['artifact_type', 'eq', 'Image'], ['drawing']],
      [
        ['artifact_type', 'ne', 'Image'],
        ['turn', 'fact', 'steps', 'card', 'packet'],
      ],
      [['artifact_type', 'in', ['Procedure', 'Image']], ['drawing']],
      [['note_type', 'eq', 'Procedure'], ['steps']],
      [['note_type', 'eq', 'Image'], []],
      [['note_type', 'contains', 'proc'], ['steps']],
      [['title', 'eq', 'How'], ['steps']],
      [['title', 'contains', 'chart'], []],
      [
        ['status', 'eq', 'active'],
        ['turn', 'drawing'],
      ],
      [
        ['status', 'ne', 'Active'],
        ['fact', 'steps', 'card', 'packet'],
      ],
      [['status', 'in', ['Completed', 'FAILED']], []],
      [['name', 'eq', 'chart'], ['drawing']],
      [['name', 'contains', 'wind'], ['fact']],
      [['role', 'eq', 'Assistant'], ['turn']],
      [
        ['role', 'in', ['tool', 'ASSISTANT']],
        ['turn', 'card'],
      ],
      [['speaker', 'eq', 'Anna Berg'], ['turn']],
      [['speaker', 'contains', 'berg'], ['turn']],
      [['speaker', 'eq', 'anna berg'], []],
      [['agent_id', 'eq', 'ann'], ['fact']],
      [
        ['trajectory_id', 'eq', trajectory_id],
        ['turn', 'drawing'],
      ],
      [
        ['trajectory_id', 'ne', trajectory_id],
        ['fact', 'steps', 'card', 'packet'],
      ],
      [['scope_id', 'eq', scope_id], ['turn']],
      [['abstraction_level', 'eq', 'L1'], ['fact']],
      [
        ['category', 'in', ['procedural', 'ephemeral']],
        ['turn', 'steps'],
      ],
      [
        ['tag', 'eq', 'rain'],
        ['turn', 'packet'],
      ],
      [
        ['tag', 'ne', 'wind'],
        ['steps', 'drawing', 'card', 'packet'],
      ],
      [
        ['tag', 'in', ['wind', 'snow']],
        ['turn', 'fact'],
      ],
      [['occurred_at', 'lt', '2024-03-06T00:00:00Z'], ['turn']],
      [
        ['occurred_at', 'lte', '2024-03-06T00:00:00Z'],
        ['turn', 'fact'],
      ],
      [['occurred_at', 'eq', '2024-03-05T11:00:00+01:00'], ['turn']],
      [
        ['occurred_at', 'gt', '2024-03-06T00:00:00Z'],
        ['steps', 'drawing', 'card', 'packet'],
      ],
      [['created_at', 'gte', '2024-03-06T00:00:00Z'], all],
      [['expires_at', 'gt', '2024-03-06T00:00:00Z'], ['fact']],
      [['expires_at', 'ne', '2024-03-06T00:00:00Z'], all],
    ];
    for (const [compared, wanted] of cases) {
      const filters = [is(...compared)];
      for (const query of ['', 'weather'])
        expect((await found(cairn, query, { filters })).map((one) => names[one]).sort(), compared.join(' ')).toEqual(
          [...wanted].sort(),
        );
    }
  });

  it('SEARCH-9 status is that of the trajectory, as it is now', async () => {
    const cairn = await test().freshTenant();
    const { names, trajectory_id } = await world(cairn);
    const filters = [is('status', 'eq', 'Completed')];
    expect(await found(cairn, 'weather', { filters })).toEqual([]);
    await cairn.trajectories.update({ trajectory_id, status: 'Completed' });
    // Its scope has closed with it.
    expect((await found(cairn, 'weather', { filters })).map((one) => names[one])).toEqual(['drawing']);
  });

  it('SEARCH-7 an entity type has one spelling in all answers, and is taken in any case: a hit fits an edge', async () => {
    const cairn = await test().freshTenant();
    const { names } = await world(cairn);
    const { results } = await cairn.search.query({ query: 'weather', entity_types: ['Artifact', 'note', 'TURN'] });
    expect(results.map(({ entity_type }) => entity_type).sort()).toEqual(['Artifact', 'Note', 'Note', 'Turn']);
    const participants = results.map(({ entity_type, id }) => ({ entity_type: entity_type as 'Note', entity_id: id }));
    const edge = await cairn.edges.create({ edge_type: 'Supports', participants });
    expect(edge.participants.map(({ entity_type, entity_id }) => `${entity_type} ${entity_id}`).sort()).toEqual(
      Object.keys(names)
        .filter((one) => !/^(Card|Packet)/.test(one))
        .sort(),
    );
    const { passages } = await cairn.memory.recall({ query: 'weather' });
    const spelled = /^(Turn|Artifact|Note|Card)$/;
    for (const { entity_type, related } of passages) {
      expect(entity_type).toMatch(spelled);
      for (const one of related) expect(one.entity_type).toMatch(spelled);
    }
    const note = await cairn.memory.remember({ text: 'The weather turned.' });
    expect(note.entity_type).toBe('Note');
    const { trace, manifest_id } = await cairn.context.assemble({ query: 'weather' });
    const { entries } = await cairn.manifests.get({ manifest_id });
    expect(trace.length).toBeGreaterThan(0);
    for (const { entity_type } of [...trace, ...entries]) expect(entity_type).toMatch(spelled);
    const { packets } = await cairn.packets.list({ packet_type: 'cairn.note.created' });
    expect(packets[0]).toMatchObject({ payload: { entity: { type: 'Note', id: note.id } } });
  });

  it('SEARCH-9 are joined by and, or and not, and all must hold', async () => {
    const cairn = await test().freshTenant();
    const { names, trajectory_id } = await world(cairn);
    const passed = async (...filters: Filter[]) =>
      (await found(cairn, 'weather', { filters })).map((one) => names[one]).sort();
    const [wind, notes] = [is('tag', 'eq', 'wind'), is('entity_type', 'eq', 'note')];
    expect(await passed({ and: [wind, notes] })).toEqual(['fact']);
    expect(await passed(wind, notes)).toEqual(['fact']);
    expect(await passed({ or: [wind, notes] })).toEqual(['fact', 'steps', 'turn']);
    expect(await passed({ not: { or: [wind, notes] } })).toEqual(['card', 'drawing', 'packet']);
    // What is not known does not hold, so that its opposite does.
    expect(await passed({ not: is('speaker', 'contains', 'Anna') })).toHaveLength(5);
    expect(await passed({ not: is('expires_at', 'gt', '2024-03-06T00:00:00Z') })).toHaveLength(5);
    const deep: Filter = { and: [{ not: { or: [{ and: [notes, { not: wind }] }, is('role', 'eq', 'tool')] } }] };
    expect(await passed(deep)).toEqual(['drawing', 'fact', 'packet', 'turn']);
    expect(await found(cairn, 'weather', { filters: [wind], trajectory_id, entity_types: ['turn'] })).toHaveLength(1);
    expect(await found(cairn, 'weather', { trajectory_id: await newTrajectory(cairn) })).toEqual([]);
  });

  it('SEARCH-9 take ids and what is one of a few in any case', async () => {
    const cairn = await test().freshTenant();
    const { names, scope_id, trajectory_id } = await world(cairn);
    const cases: [Filter, Filter][] = [
      [is('entity_type', 'eq', 'Note'), is('entity_type', 'eq', 'note')],
      [is('entity_type', 'in', ['TURN', 'Card']), is('entity_type', 'in', ['turn', 'card'])],
      [is('category', 'ne', 'Semantic'), is('category', 'ne', 'semantic')],
      [is('abstraction_level', 'eq', 'l1'), is('abstraction_level', 'eq', 'L1')],
      [is('scope_id', 'eq', scope_id.toUpperCase()), is('scope_id', 'eq', scope_id)],
      [is('trajectory_id', 'ne', trajectory_id.toUpperCase()), is('trajectory_id', 'ne', trajectory_id)],
    ];
    for (const [loose, exact] of cases) {
      const all = await found(cairn, '', { filters: [exact] });
      expect(all.length, JSON.stringify(exact)).toBeGreaterThan(0);
      expect(all.length).toBeLessThan(Object.keys(names).length);
      expect(await found(cairn, 'weather', { filters: [loose] }), JSON.stringify(loose)).toHaveLength(all.length);
    }
  });

  it('SEARCH-10 name what is wrong with them and where', async () => {
    const cairn = await test().freshTenant();
    const fine = is('tag', 'eq', 'a');
    const nested = (depth: number): unknown => (depth === 1 ? fine : { not: nested(depth - 1) });
    let abyss: unknown = fine;
    for (let depth = 0; depth < 3000; depth++) abyss = depth % 2 === 0 ? { not: abyss } : { and: [abyss] };
    const cases: [unknown, RegExp][] = [
      [[is('colour', 'eq', 'a')], /: filters\[0\]\.field: must be entity_type or type /],
      [[fine, is('tag', 'like', 'a')], /: filters\[1\]\.operator: must be .* or contains/],
      [[is('tag', 'gt', 'a')], /filters\[0\]\.operator: tag takes eq, ne, in, not gt/],
      [[is('created_at', 'contains', 'a')], /filters\[0\]\.operator: created_at takes eq, ne, gt, gte, lt, lte/],
      [[is('created_at', 'gt', 'soon')], /filters\[0\]\.value: must be an ISO 8601 time/],
      [
        [is('entity_type', 'eq', 'memory')],
        /filters\[0\]\.value: must be one of Turn, Artifact, Note, Card, Packet, Thought, not memory/,
      ],
      [[is('category', 'in', ['semantic', 'long'])], /filters\[0\]\.value: .*, not long/],
      [[{ not: is('abstraction_level', 'ne', 'L3') }], /filters\[0\]\.not\.value: must be one of L0, L1, L2, not L3/],
      [[is('scope_id', 'eq', 'mine')], /filters\[0\]\.value: must be a UUID/],
      [[is('tag', 'in', 'a')], /filters\[0\]\.value: must be a list for in/],
      [[is('tag', 'eq', ['a'])], /filters\[0\]\.value: must be one value/],
      [[{ field: 'tag', operator: 'eq', value: 1 }], /filters\[0\]\.value: must be text or a list of texts/],
      [[{ field: 'tag', operator: 'in', value: ['a', 1] }], /filters\[0\]\.value\[1\]: must be text, not a number/],
      [[{ field: 'tag', operator: 'eq' }], /filters\[0\]\.value: /],
      [[{ field: 'tag', operator: 'eq', value: 'a', boost: 2 }], /unknown field "boost" in filters\[0\]/],
      [[{ and: [fine, { or: [is('tag', 'has', 'a')] }] }], /filters\[0\]\.and\[1\]\.or\[0\]\.operator: /],
      [[{ and: [] }], /filters\[0\]\.and: /],
      [[{ and: [fine], or: [fine] }], /unknown field "or" in filters\[0\]/],
      [[{ not: [fine] }], /filters\[0\]\.not: must be \{ field, operator, value \}/],
      [[{}], /filters\[0\]: must be \{ field, operator, value \}/],
      [['tag = a'], /filters\[0\]: must be \{ field, operator, value \}/],
      [fine, /: filters: must be a list/],
      [[nested(9)], /filters: must be nested at most 8 deep/],
      // A server refuses what is nested beyond all bounds before it reads it.
      [[abyss], /filters: must be nested at most 8 deep|nested deeper than 64 levels/],
      [[{ or: Array(30).fill(fine) }, { or: Array(21).fill(fine) }], /filters: must have at most 50 comparisons/],
      [Array(51).fill(fine), /: filters: /],
    ];
    for (const [filters, message] of cases) {
      const refusal = await refusalOf(cairn.search.query({ query: 'x', filters: filters as Filter[] }));
      expect(refusal).toMatchObject({ code: 'INVALID_INPUT', status: 400 });
      expect(refusal.message).toMatch(message);
    }
    expect(await found(cairn, 'x', { filters: [nested(8) as Filter] })).toEqual([]);
    const strange = [is('name', 'eq', "'; DROP TABLE cards; --"), is('name', 'contains', '%_"\\')];
    expect(await found(cairn, '', { filters: strange })).toEqual([]);
  });

  it('SEARCH-18 find what is older than any number of others that have the word', async ({ skip }) => {
    if (test().target === 'http') skip();
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const { scope_id, trajectory_id } = await someScope(cairn);
    const said = { speaker: 'Ann', tags: ['needle'] };
    const { turn_id } = await say(cairn, scope_id, 'the project deadline moved', { metadata: said });
    const drawing = await cairn.artifacts.create({
      trajectory_id,
      scope_id,
      artifact_type: 'Fact',
      name: 'plan',
      content: 'the project',
    });
    const learned = await note(cairn, 'a project', { source_trajectory_ids: [trajectory_id] });
    // Rows alone, as many as would take long to say: each is of the same content, so that it has the same terms.
    await test().store.driver.write(tenant, async (tx) => {
      await tx.run(sql`WITH RECURSIVE n(i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < 31000)
        INSERT INTO search_docs (tenant_id, doc_no, entity_type, entity_id, content_id, trajectory_id, scope_id, position,
            abstraction_level, category, occurred_at, created_at)
          SELECT d.tenant_id, t.doc_no + n.i, 'turn', 'busy' || n.i, d.content_id, 'busy', 'busy', n.i,
              d.abstraction_level, d.category, d.occurred_at, d.created_at
            FROM search_docs d JOIN tenants t ON t.tenant_id = d.tenant_id CROSS JOIN n
            WHERE d.tenant_id = ${tenant} AND d.content_id = ${turn_id}`);
      await tx.run(sql`UPDATE tenants SET doc_no = doc_no + 31000 WHERE tenant_id = ${tenant}`);
    });
    await foldAll(test().store, tenant, 4096);
    await say(cairn, scope_id, 'and it goes on');
    const turn = `Turn ${turn_id}`;
    const artifact = `Artifact ${drawing.artifact_id}`;
    const all = [turn, artifact, `Note ${learned.note_id}`].sort();
    const asked = async (more: object) => (await found(cairn, 'project', more)).sort();
    expect(await asked({ filters: [is('tag', 'eq', 'needle')] })).toEqual([turn]);
    expect(await asked({ filters: [is('speaker', 'eq', 'Ann')] })).toEqual([turn]);
    expect(await asked({ entity_types: ['note', 'artifact'] })).toEqual(all.slice(0, 2));
    const inScope = [{ scope_id }, { filters: [is('scope_id', 'eq', scope_id)] }];
    for (const more of inScope) expect(await asked(more)).toEqual(expect.arrayContaining([artifact, turn]));
    const inTrajectory = [{ trajectory_id }, { filters: [is('trajectory_id', 'eq', trajectory_id)] }];
    for (const more of inTrajectory) expect(await asked(more)).toEqual(expect.arrayContaining(all));
    const { total } = await cairn.search.query({ query: 'project', trajectory_id });
    expect(total).toBeGreaterThanOrEqual(3);
  });
});

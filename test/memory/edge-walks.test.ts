/** Edges together: walks along them, batches, and what they say of entities of other types. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { sql, TENANT, type Tx } from '#cairn/driver/index.js';
import { addEndings, scopeHolder } from '#cairn/engine/sql.js';
import { insertCards, insertEntries } from '#cairn/facts/sql.js';
import { newId } from '#cairn/kernel/contract.js';
import { relationsOf } from '#cairn/memory/edges/store.js';
import { versionNotSuperseded } from '#cairn/memory/entities/supersession.js';
import { insertScope } from '#cairn/memory/scopes/store.js';
import { insertTrajectory } from '#cairn/memory/trajectories/store.js';
import { followToNow, latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf, type TestStore } from '../support/targets.js';

type EdgeInput = Parameters<Api['edges']['create']>[0];
type EdgeType = EdgeInput['edge_type'];
type Entity = EdgeInput['participants'][number];
type Walk = Parameters<Api['edges']['traverse']>[0];

const card = (entity_id: string) => ({ entity_type: 'Card' as const, entity_id });
const link = (edge_type: EdgeType, ...ids: string[]): EdgeInput => ({ edge_type, participants: ids.map(card) });

onEveryTarget('edges together', (test) => {
  const tenantWith = async (...ids: string[]) => {
    const cairn = await test().freshTenant();
    await cairn.cards.add_batch({ cards: ids.map((card_id) => ({ card_id })), atomic: true });
    return cairn;
  };

  const walked = async (cairn: Api, input: Walk) => {
    const { entities, edges, truncated } = await cairn.edges.traverse(input);
    return {
      found: entities.map(({ entity_id, depth }) => `${entity_id}${depth}`).join(' '),
      edges: edges.map(({ edge_id }) => edge_id).sort(),
      truncated,
    };
  };

  it('EDGE-9 a walk gives the nearest first, each once, and the edges from depth to depth', async () => {
    const cairn = await tenantWith(...'abcdef');
    const made: Record<string, string> = {};
    for (const way of ['ab', 'bc', 'ac', 'cd', 'da', 'ef', 'fa'])
      made[way] = (await cairn.edges.create(link('RelatesTo', ...way))).edge_id;
    const cause = await cairn.edges.create(link('Causal', 'a', 'e'));
    const those = (...ways: string[]) => ways.map((way) => made[way]!).sort();
    const out = { ...card('a'), direction: 'out' as const, edge_type: 'RelatesTo' as const };
    expect(await walked(cairn, out)).toEqual({ found: 'b1 c1 d2', edges: those('ab', 'ac', 'cd'), truncated: false });
    expect(await walked(cairn, { ...out, direction: 'in' })).toEqual({
      found: 'd1 f1 c2 e2 b3',
      edges: those('da', 'fa', 'cd', 'ef', 'bc'),
      truncated: false,
    });
    expect(await walked(cairn, { ...out, direction: 'both' })).toEqual({
      found: 'b1 c1 d1 f1 e2',
      edges: those('ab', 'ac', 'da', 'fa', 'ef'),
      truncated: false,
    });
    expect(await walked(cairn, { ...card('a'), max_depth: 1 })).toEqual({
      found: 'b1 c1 d1 f1 e1',
      edges: [...those('ab', 'ac', 'da', 'fa'), cause.edge_id].sort(),
      truncated: false,
    });
    expect(await walked(cairn, { ...card('a'), edge_type: 'Grouped' })).toEqual({
      found: '',
      edges: [],
      truncated: false,
    });
    expect(await walked(cairn, card('none'))).toEqual({ found: '', edges: [], truncated: false });
    expect(await walked(cairn, { entity_type: 'Note', entity_id: 'a' })).toMatchObject({ found: '' });
  });

  it('EDGE-9 an edge of many leads from A to all others, and from each to A', async () => {
    const cairn = await tenantWith(...'abcd');
    const first = await cairn.edges.create(link('Grouped', ...'abc'));
    const again = await cairn.edges.create(link('Compared', ...'ab'));
    await cairn.edges.create(link('Grouped', ...'dc'));
    expect(await walked(cairn, { ...card('a'), direction: 'out' })).toEqual({
      found: 'b1 c1',
      edges: [first.edge_id, again.edge_id].sort(),
      truncated: false,
    });
    expect((await walked(cairn, { ...card('b') })).found).toBe('a1 c2 d3');
    expect((await walked(cairn, { ...card('b'), direction: 'out' })).found).toBe('');
    expect((await walked(cairn, { ...card('c'), direction: 'in' })).found).toBe('a1 d1');
    const { edges } = await cairn.edges.traverse({ ...card('a'), direction: 'out' });
    expect(edges).toEqual(expect.arrayContaining([first, again]));
  });

  it('EDGE-10 a walk ends at its depth and its limit, and says whether there was more', async () => {
    const ids = Array.from({ length: 30 }, (_, i) => `n${i}`);
    const cairn = await tenantWith(...ids);
    const items = ids
      .slice(1)
      .map((id, i) => ({ operation: 'create' as const, create: link('Temporal', ids[i]!, id) }));
    await cairn.edges.batch({ items, atomic: true });
    const from = { ...card('n0'), direction: 'out' as const };
    const chain = (count: number) =>
      ids
        .slice(1, count + 1)
        .map((id, i) => `${id}${i + 1}`)
        .join(' ');
    const cases: [Partial<Walk>, number, boolean][] = [
      [{}, 3, true],
      [{ max_depth: 20 }, 20, true],
      [{ max_depth: 20, limit: 7 }, 7, true],
      [{ max_depth: 5, limit: 5 }, 5, true],
      [{ max_depth: 20, ...card('n9') }, 20, false],
      [{ max_depth: 19, ...card('n9') }, 19, true],
      [{ max_depth: 20, limit: 20, ...card('n9') }, 20, false],
      [{ max_depth: 20, limit: 19, ...card('n9') }, 19, true],
    ];
    for (const [more, count, truncated] of cases) {
      const { entities, edges, ...rest } = await cairn.edges.traverse({ ...from, ...more });
      expect([entities.length, edges.length, rest.truncated], JSON.stringify(more)).toEqual([count, count, truncated]);
    }
    expect((await walked(cairn, { ...from, max_depth: 6 })).found).toBe(chain(6));
    for (const wrong of [{ max_depth: 0 }, { max_depth: 21 }, { limit: 0 }, { limit: 1001 }])
      expect(await refusalOf(cairn.edges.traverse({ ...from, ...wrong }))).toMatchObject({ code: 'INVALID_INPUT' });
  });

  it('EDGE-10 a wide walk gives a thousand entities and edges at most', async () => {
    const cairn = await test().freshTenant();
    const ids = Array.from({ length: 550 }, (_, i) => `w${i}`);
    await cairn.cards.add_batch({ cards: ['hub', ...ids].map((card_id) => ({ card_id })), atomic: true });
    for (const edge_type of ['RelatesTo', 'Causal'] as const) {
      const items = ids.map((id) => ({ operation: 'create' as const, create: link(edge_type, 'hub', id) }));
      await cairn.edges.batch({ items, atomic: true });
    }
    const wide = await cairn.edges.traverse({ ...card('hub'), limit: 1000, max_depth: 1 });
    expect([wide.entities.length, wide.edges.length, wide.truncated]).toEqual([550, 1000, true]);
    const one = { ...card('hub'), limit: 550, max_depth: 1, edge_type: 'Causal' as const };
    const whole = await cairn.edges.traverse(one);
    expect([whole.entities.length, whole.edges.length, whole.truncated]).toEqual([550, 550, false]);
    const part = await cairn.edges.traverse({ ...one, limit: 549 });
    expect([part.entities.length, part.edges.length, part.truncated]).toEqual([549, 549, true]);
  });

  it('EDGE-10 edges with much to say end a walk early', async () => {
    const ids = Array.from({ length: 530 }, (_, i) => `w${i}`);
    const cairn = await tenantWith('hub', ...ids);
    const metadata = { text: 'x'.repeat(65_000) };
    for (let start = 0; start < ids.length; start += 100) {
      const items = ids
        .slice(start, start + 100)
        .map((id) => ({ operation: 'create' as const, create: { ...link('Causal', 'hub', id), metadata } }));
      await cairn.edges.batch({ items, atomic: true });
    }
    const { entities, edges, truncated } = await cairn.edges.traverse({ ...card('hub'), limit: 1000 });
    expect([entities.length, truncated]).toEqual([530, true]);
    expect(edges.length).toBeLessThan(520);
    expect(edges.length).toBeGreaterThan(500);
    const page = await cairn.edges.list({ limit: 500 });
    expect(page.edges).toHaveLength(500);
  }, 60_000);

  const create = (...args: Parameters<typeof link>) => ({ operation: 'create' as const, create: link(...args) });
  const remove = (edge_id: string) => ({ operation: 'delete' as const, edge_id });
  const outcomes = ({ results }: Awaited<ReturnType<Api['edges']['batch']>>) =>
    results.map((one) => (one.status === 'success' ? (one.data === null ? 'deleted' : 'created') : one.code));

  it('EDGE-11 each item of a batch is answered alone and in order', async () => {
    const cairn = await tenantWith(...'abc');
    const { edge_id } = await cairn.edges.create(link('Supports', 'a', 'b'));
    const items = [
      create('DerivedFrom', 'a', 'b'),
      create('DerivedFrom', 'b', 'a'),
      create('Supports', 'a', 'none'),
      remove(edge_id),
      remove(randomUUID()),
      create('Supports', 'a', 'a'),
      create('DerivedFrom', 'b', 'c'),
    ];
    const answer = await cairn.edges.batch({ items });
    expect(outcomes(answer)).toEqual([
      'created',
      'EDGE_CYCLE',
      'UNKNOWN_ENTITY',
      'deleted',
      'EDGE_NOT_FOUND',
      'INVALID_INPUT',
      'created',
    ]);
    expect([answer.succeeded, answer.failed]).toEqual([3, 4]);
    const made = answer.results.flatMap((one) => (one.status === 'success' && one.data ? [one.data] : []));
    expect((await cairn.edges.list()).edges).toEqual(made);
  });

  it('EDGE-11 with stop_on_error nothing behind a failure is tried', async () => {
    const cairn = await tenantWith(...'abc');
    const items = [
      create('Supports', 'a', 'b'),
      create('Supports', 'a', 'none'),
      create('Supports', 'b', 'c'),
      remove(randomUUID()),
    ];
    const answer = await cairn.edges.batch({ items, stop_on_error: true });
    expect(outcomes(answer)).toEqual(['created', 'UNKNOWN_ENTITY', 'NOT_ATTEMPTED', 'NOT_ATTEMPTED']);
    expect((await cairn.edges.list()).total).toBe(1);
  });

  it('EDGE-12 an atomic batch does all, with one event for each kind of change', async () => {
    const cairn = await tenantWith(...'abcd');
    const old = await cairn.edges.create(link('DerivedFrom', 'b', 'a'));
    const before = await latestToken(cairn);
    const edge_id = randomUUID();
    const named = { operation: 'create' as const, create: { edge_id, ...link('Supports', 'c', 'd') } };
    const items = [
      create('DerivedFrom', 'c', 'd'),
      remove(old.edge_id),
      // Only now is it no cycle.
      create('DerivedFrom', 'a', 'b'),
      named,
      named,
      remove(old.edge_id),
    ];
    const answer = await cairn.edges.batch({ items, atomic: true });
    expect(outcomes(answer)).toEqual(['created', 'deleted', 'created', 'created', 'created', 'deleted']);
    const packets = await followToNow(cairn, before);
    const made = answer.results.flatMap((one) => (one.status === 'success' && one.data ? [one.data] : []));
    expect(made[2]).toEqual(made[3]);
    expect(packets.map(({ packet_type, payload }) => [packet_type, payload?.edge_ids])).toEqual([
      ['cairn.edge.created', made.slice(0, 3).map((one) => one.edge_id)],
      ['cairn.edge.deleted', undefined],
    ]);
    for (const edge of made) {
      expect(edge.created_at).toBe(packets[0]!.recorded_at);
      expect(await cairn.edges.get({ edge_id: edge.edge_id })).toEqual(edge);
    }
  });

  it('EDGE-12 an atomic batch does nothing when an item is refused, and says which', async () => {
    const cairn = await tenantWith(...'abc');
    const kept = await cairn.edges.create(link('Supports', 'a', 'b'));
    const before = await latestToken(cairn);
    const refused: [ReturnType<typeof create> | ReturnType<typeof remove>, string][] = [
      [create('DerivedFrom', 'c', 'a'), 'EDGE_CYCLE'],
      [create('Supports', 'a', 'none'), 'UNKNOWN_ENTITY'],
      [create('Supports', 'a', 'a'), 'INVALID_INPUT'],
      [remove(randomUUID()), 'EDGE_NOT_FOUND'],
    ];
    for (const [bad, code] of refused) {
      const items = [
        create('DerivedFrom', 'a', 'b'),
        remove(kept.edge_id),
        create('DerivedFrom', 'b', 'c'),
        bad,
        create('Supports', 'b', 'c'),
      ];
      const refusal = await refusalOf(cairn.edges.batch({ items, atomic: true }));
      expect(refusal).toMatchObject({ code });
      expect(refusal.message).toMatch(/^items\[3\]: /);
    }
    expect((await cairn.edges.list()).edges).toEqual([kept]);
    expect(await latestToken(cairn)).toBe(before);
  });

  it('EDGE-3, EDGE-4, EDGE-5 trajectories, scopes, turns, artifacts and notes are linked as long as they can be read', async () => {
    const world = await populated(test());
    const { cairn, of, change } = world;
    const types = ['Trajectory', 'Scope', 'Turn', 'Artifact', 'Note'] as const;
    const linkTo = (...participants: Entity[]) => cairn.edges.create({ edge_type: 'RelatesTo', participants });
    for (const type of types) await linkTo(card('a'), of(type));
    await linkTo(...types.map(of));
    // A turn is linked as its card as well, and is the same; an artifact's card is no turn.
    const asCard = card(of('Turn').entity_id);
    expect(await refusalOf(linkTo(of('Turn'), asCard))).toMatchObject({ code: 'INVALID_INPUT' });
    await cairn.edges.create({ edge_type: 'DerivedFrom', participants: [of('Artifact'), of('Turn')] });
    expect(
      await refusalOf(cairn.edges.create({ edge_type: 'DerivedFrom', participants: [asCard, of('Artifact')] })),
    ).toMatchObject({ code: 'EDGE_CYCLE' });
    expect(await refusalOf(linkTo(card('a'), { entity_type: 'Turn', entity_id: world.artifactCard }))).toMatchObject({
      code: 'UNKNOWN_ENTITY',
    });
    const found = await cairn.edges.traverse({ ...asCard, max_depth: 1, edge_type: 'DerivedFrom' });
    expect(found.entities).toEqual([{ ...of('Artifact'), depth: 1 }]);
    expect((await cairn.edges.list(asCard)).total).toBe((await cairn.edges.list(of('Turn'))).total);

    const gone = async (...which: (typeof types)[number][]) => {
      for (const type of types) {
        const outcome = await linkTo(card('a'), of(type)).then(
          () => 'linked',
          ({ code }: { code: string }) => code,
        );
        expect(outcome, type).toBe(which.includes(type) ? 'UNKNOWN_ENTITY' : 'linked');
      }
    };
    await gone();
    await change((tx) =>
      tx.run(
        sql`UPDATE memory_versions SET superseded_at = 1 WHERE tenant_id = ${TENANT} AND memory_id = ${of('Note').entity_id}`,
      ),
    );
    await gone('Note');
    // The scope holds the turn and the artifact: both end with it.
    await change((tx) =>
      addEndings(tx, [{ holder: scopeHolder(of('Scope').entity_id), ended_at: 1, thread_id: null, box_id: null }]),
    );
    await gone('Note', 'Turn', 'Artifact');
    await change(async (tx, tenant) => {
      await tx.run(sql`UPDATE scopes SET deleted_at = 1 WHERE tenant_id = ${tenant}`);
      await tx.run(sql`UPDATE trajectories SET deleted_at = 1 WHERE tenant_id = ${tenant}`);
    });
    await gone(...types);
  });

  it('EDGE-9, EDGE-15 a walk passes what ended with its scope; the edge stays until an end is removed', async () => {
    const cairn = await test().freshTenant();
    const { trajectory_id } = await cairn.trajectories.create({ name: 'task' });
    const { scope_id } = await cairn.scopes.create({ trajectory_id, name: 'scope' });
    const { turn_id } = await cairn.turns.add({ scope_id, role: 'User', content: 'said', token_count: 1 });
    await cairn.cards.add_batch({ cards: ['a', 'b', 'c'].map((card_id) => ({ card_id })) });
    const turn = { entity_type: 'Turn' as const, entity_id: turn_id };
    const relate = (...participants: Entity[]) =>
      cairn.edges.create({ edge_type: 'RelatesTo', participants, metadata: { quote: 'said' } });
    const edge = await relate(card('a'), turn);
    await relate(turn, card('b'));
    const stays = await relate(card('a'), card('c'));
    expect(await walked(cairn, card('a'))).toMatchObject({ found: `${turn_id}1 c1 b2` });
    expect(await walked(cairn, { ...card('a'), limit: 1 })).toMatchObject({ truncated: true });
    await cairn.scopes.close({ scope_id, wait: true });
    const left = { found: 'c1', edges: [stays.edge_id], truncated: false };
    expect(await walked(cairn, card('a'))).toEqual(left);
    expect(await walked(cairn, { ...card('a'), limit: 1 })).toEqual(left);
    expect(await cairn.edges.get({ edge_id: edge.edge_id })).toEqual(edge);
    await cairn.trajectories.delete({ trajectory_id });
    expect(await refusalOf(cairn.edges.get({ edge_id: edge.edge_id }))).toMatchObject({ code: 'EDGE_NOT_FOUND' });
    expect((await cairn.edges.list()).edges).toEqual([stays]);
  });

  it('EDGE-14 what supersedes and contradicts an artifact or note is told as far as it can be read', async () => {
    const { cairn, tenant, change, of, addVersion } = await populated(test());
    const { driver } = test().store;
    const ids = Array.from({ length: 5 }, () => newId());
    const [a, b, c, d, e] = ids as [string, string, string, string, string];
    for (const id of ids) await change((tx) => addVersion(tx, id, id === c ? 'note' : 'artifact', null));
    const artifact = (entity_id: string) => ({ entity_type: 'Artifact' as const, entity_id });
    const note = { entity_type: 'Note' as const, entity_id: c };
    await cairn.edges.create({ edge_type: 'Supersedes', participants: [artifact(b), artifact(a), note] });
    await cairn.edges.create({ edge_type: 'Contradicts', participants: [artifact(a), note, card('a')] });
    await cairn.edges.create({ edge_type: 'Contradicts', participants: [artifact(d), artifact(a)] });
    const last = await cairn.edges.create({ edge_type: 'Contradicts', participants: [artifact(a), of('Artifact')] });
    // A card of the same id is another entity.
    await cairn.cards.add({ card_id: e });
    await cairn.edges.create({ edge_type: 'Supersedes', participants: [card('a'), card(e)] });
    const relations = async (as_of?: number) =>
      Object.fromEntries(
        [...(await relationsOf(driver.at(tenant), ids, { now: driver.now(), as_of, agent: null }))].map(
          ([id, { superseded_by, contradicted_by }]) => [id, { superseded_by, contradicted_by }],
        ),
      );
    const shown = async (as_of?: number) => {
      const rows = await driver.at(tenant).all<{ memory_id: string }>(
        sql`SELECT v.memory_id FROM memory_versions v WHERE v.tenant_id = ${tenant}
              AND v.memory_id = ANY(${ids}) AND ${versionNotSuperseded(driver.now(), as_of)}`,
      );
      return new Set(rows.map(({ memory_id }) => memory_id));
    };
    const none = { superseded_by: [], contradicted_by: [] };
    const full = {
      [a]: { superseded_by: [b], contradicted_by: [c, 'a', d, of('Artifact').entity_id] },
      [b]: none,
      [c]: { superseded_by: [b], contradicted_by: [a] },
      [d]: { superseded_by: [], contradicted_by: [a] },
      [e]: none,
    };
    expect(await relations()).toEqual(full);
    expect(await shown()).toEqual(new Set([b, d, e]));
    const before = Date.parse(last.created_at);
    expect(await shown(before)).toEqual(new Set([b, d, e]));
    expect(await shown(0)).toEqual(new Set(ids));
    expect(await relations(0)).toEqual(Object.fromEntries(ids.map((id) => [id, none])));

    // Deleted later, so that it is still told of the time before; and ended, which it is for all times.
    await change((tx) =>
      tx.run(
        sql`UPDATE memory_versions SET superseded_at = ${before + 1} WHERE tenant_id = ${tenant} AND memory_id = ${d}`,
      ),
    );
    await change((tx) =>
      addEndings(tx, [{ holder: scopeHolder(of('Scope').entity_id), ended_at: 1, thread_id: null, box_id: null }]),
    );
    expect((await relations())[a]!.contradicted_by).toEqual([c, 'a']);
    test().advance(10);
    await cairn.cards.delete({ card_id: 'a' });
    expect((await relations())[a]!.contradicted_by).toEqual([c]);
    expect((await relations(before))[a]!.contradicted_by).toEqual([c, 'a', d]);
  });
});

interface World {
  readonly cairn: Api;
  readonly tenant: string;
  readonly artifactCard: string;
  of(type: 'Trajectory' | 'Scope' | 'Turn' | 'Artifact' | 'Note'): Entity;
  change(work: (tx: Tx, tenant: string) => Promise<unknown>): Promise<void>;
  addVersion(tx: Tx, id: string, kind: 'artifact' | 'note', held_by: string | null): Promise<void>;
}

/** A tenant with a card a and one of each other type, made of rows alone. */
async function populated({ as, store }: TestStore): Promise<World> {
  const tenant = `t-${randomUUID()}`;
  const cairn = await as({ tenant });
  await cairn.cards.add({ card_id: 'a' });
  const ids = { Trajectory: newId(), Scope: newId(), Turn: newId(), Artifact: newId(), Note: newId() };
  const [box_id, artifactCard] = [newId(), newId()];
  const made = { agent_id: null, sent_hash: null, created_at: 1, updated_at: 1, deleted_at: null };
  const heldCard = (card_id: string) => ({
    ...{ card_id, content: '1', tool_calls: null, tool_call_id: null, metadata: '{}', author_id: null },
    ...{ subject_ids: [], derived_from: [], content_hash: 'h', sent_hash: null, ttl_seconds: null },
    ...{ expires_at: null, created_at: 1, held_by: scopeHolder(ids.Scope), doc: null },
  });
  const addVersion: World['addVersion'] = async (tx, id, kind, held_by) => {
    await tx.run(
      sql`INSERT INTO memory_versions (tenant_id, memory_id, version, kind, type, card_id, abstraction_level, token_count,
            ttl, lifetime, held_by, created_at, recorded_at)
          VALUES (${tenant}, ${id}, 1, ${kind}, 'Fact', ${artifactCard}, 'L0', 1, '"Persistent"', 'Persistent', ${held_by}, 1, 1)`,
    );
  };
  const change: World['change'] = async (work) => {
    await store.driver.write(tenant, (tx) => work(tx, tenant));
  };
  await change(async (tx) => {
    await insertTrajectory(tx, {
      ...made,
      ...{ trajectory_id: ids.Trajectory, parent_trajectory_id: null, name: 't', description: null },
      subject_ids: null,
      ...{ status: 'Active', metadata: null, outcome: null, finished_at: null },
    });
    await insertScope(tx, {
      ...made,
      ...{ scope_id: ids.Scope, trajectory_id: ids.Trajectory, parent_scope_id: null, box_id, name: 's' },
      ...{ purpose: null, token_budget: 1, tokens_used: 0, threshold: 80, threshold_at: null, enforce: 0 },
      ...{
        restored_from: null,
        subject_ids: null,
        retain: null,
        metadata: null,
        closed_at: null,
        summarized_turns: 0,
        extracted_turns: 0,
        forgotten_turns: 0,
      },
    });
    await insertCards(tx, [heldCard(ids.Turn), heldCard(artifactCard)]);
    await insertEntries(tx, box_id, { position: 1, behind: 0, revision: 1 }, [ids.Turn]);
    await addVersion(tx, ids.Artifact, 'artifact', scopeHolder(ids.Scope));
    await addVersion(tx, ids.Note, 'note', null);
  });
  return {
    ...{ cairn, tenant, artifactCard, change, addVersion },
    of: (entity_type) => ({ entity_type, entity_id: ids[entity_type] }),
  };
}

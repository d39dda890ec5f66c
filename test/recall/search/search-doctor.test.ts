/** The doctor on the search: nothing to say of what was written, each harm is found, and indexing anew heals it. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { type Sql, sql } from '#cairn/driver/index.js';
import { segmentChecks } from '#cairn/index/index.js';
import { indexFinding, searchFindings } from '#cairn/recall/reindex/doctor.js';
import { needsReindex, reindex } from '#cairn/recall/reindex/service.js';
import { snapshotOf, thought } from '../../support/nouns/executions.js';
import { tenantOf } from '../../support/nouns/hierarchy.js';
import { say, someScope } from '../../support/nouns/scopes.js';
import { found } from '../../support/nouns/search.js';
import { foldAll, tailOf } from '../../support/nouns/search-index.js';
import { freshDatabase, openTarget, type TestStore, targetNames } from '../../support/targets.js';

/** Each database by itself: nothing of this goes through a server. */
const kinds = (['sqlite', 'postgres'] as const).filter((one) => targetNames().includes(one));

interface Planted {
  readonly turn_id: string;
  readonly scope_id: string;
  readonly note_id: string;
  readonly card_id: string;
  readonly packet_id: string;
  /** Has the thought; the next one shows it, too. */
  readonly checkpoint_id: string;
  readonly later_id: string;
}

/** Something of each kind that can be found, and of what must not be found any more. */
async function plant(cairn: Api): Promise<Planted> {
  const { scope_id, trajectory_id } = await someScope(cairn);
  const { turn_id } = await say(cairn, scope_id, 'the kestrel hovers above the quarry', {
    metadata: { speaker: 'Ada', occurred_at: '2026-03-01T10:00:00Z', tags: ['birds'] },
    tool_calls: [{ id: 'c1', name: 'look', arguments: { where: 'quarry', after: 'noon' } }],
  });
  await cairn.scopes.checkpoint({ scope_id });
  const restored = await cairn.scopes.restore({ scope_id });
  await say(cairn, restored.scope_id, 'the kestrel caught a vole');
  const { note_id } = await cairn.notes.create({
    note_type: 'Fact',
    title: 'kestrels',
    content: 'a kestrel nests in the old mill',
  });
  await cairn.notes.update({ note_id, content: 'the kestrel left the old mill' });
  await cairn.artifacts.create({
    trajectory_id,
    name: 'plan',
    artifact_type: 'Plan',
    content: { steps: ['count kestrels', { b: 'at dawn', a: 'at dusk' }] },
  });
  const { card_id } = await cairn.cards.add({
    content: [{ type: 'text', text: 'a falcon is no kestrel' }],
    metadata: { type: 'remark', role: 'User', tags: ['birds'] },
  });
  await cairn.cards.add({ content: { name: 'ranger' }, metadata: { type: 'sys.profile' } });
  const { card_id: gone } = await cairn.cards.add({ content: 'a kestrel that was deleted' });
  await cairn.cards.delete({ card_id: gone });
  // Clients choose ids: this one is that of a card as well.
  const { card_id: packet_id } = await cairn.cards.add({ content: 'a namesake' });
  await cairn.packets.write({
    packet_id,
    packet_type: 'observation',
    payload: { seen: 'kestrel', count: 3 },
    tags: ['birds'],
  });
  const execution_id = randomUUID();
  await cairn.executions.create({ execution_id });
  const snapshot = snapshotOf({ thoughts: [{ ...thought('t1', 1), content: 'was it a kestrel or a merlin?' }] });
  const { id: checkpoint_id } = await cairn.checkpoints.create({ execution_id, snapshot });
  const { id: later_id } = await cairn.checkpoints.create({ execution_id, snapshot });
  return { turn_id, scope_id, note_id, card_id, packet_id, checkpoint_id, later_id };
}

async function illnesses(store: Store, tenant: string): Promise<string[]> {
  const { driver } = store;
  const found: string[] = [];
  for (const { name, broken } of segmentChecks)
    for (const { what } of await driver.long<{ what: string }>(tenant, broken())) found.push(`${name}: ${what}`);
  const findings = [await indexFinding(driver, tenant)];
  for await (const finding of searchFindings(driver, tenant)) findings.unshift(finding);
  for (const { check, problems } of findings)
    found.push(...problems.map((one) => `${check.replace(`${tenant}: `, '')}: ${one}`));
  return found.sort();
}

async function indexAnew(store: Store, tenant?: string): Promise<number> {
  let changed = 0;
  for await (const progress of reindex(store.driver, { tenant })) changed = progress.changed;
  return changed;
}

const rowsOf = (store: Store, tenant: string): Promise<Record<string, unknown>[]> =>
  store.driver.long<Record<string, unknown>>(
    tenant,
    sql`SELECT * FROM search_docs WHERE tenant_id = ${tenant} ORDER BY doc_no`,
  );

type Harm = (tenant: string, planted: Planted, isSqlite: boolean) => Sql;

/** The first segment, and the one with a content. */
const firstSegment = (t: string): Sql => sql`(SELECT MIN(segment) FROM search_segments WHERE tenant_id = ${t})`;
const segmentWith = (t: string, content_id: string): Sql =>
  sql`(SELECT s.segment FROM search_segments s JOIN search_docs d ON d.tenant_id = s.tenant_id
        AND d.doc_no >= s.first_doc AND d.doc_no <= s.last_doc WHERE s.tenant_id = ${t} AND d.content_id = ${content_id})`;

const KNOWN = 'every searchable content has a search document';
const SAYS = 'search documents match their content';
const THERE = 'the content of every search document exists and is current';
const ONCE = 'no content has two search documents';
const INDEX = 'the index has the terms of its documents';
const APART = 'segments of the index do not overlap, and end with the folded documents';
const COVERED = 'every folded document is in a segment of the index';
const BLOCKS = 'segments have all their blocks';
const OTHERS = 'document \\d+ has \\d+ terms, but \\d+ in the index, or others';

/** What is wrong afterwards, by patterns of which each is found, and nothing else is. */
const harms: readonly [string, Harm, readonly string[]][] = [
  [
    'a turn that is not found any more',
    (t, { turn_id }) => sql`UPDATE search_docs SET gone = 1 WHERE tenant_id = ${t} AND content_id = ${turn_id}`,
    [`${KNOWN}: turn <turn>`, `${INDEX}: document \\d+ should not be in the index`],
  ],
  [
    'a card whose row says something else',
    (t, { card_id }) =>
      sql`UPDATE search_docs SET tags = NULL, expires_at = 7 WHERE tenant_id = ${t} AND content_id = ${card_id}`,
    [`${SAYS}: card <card> in tags, expires_at`],
  ],
  [
    'a version that another one followed',
    (t, { note_id }) =>
      sql`UPDATE search_docs SET gone = NULL WHERE tenant_id = ${t} AND content_id =
            (SELECT card_id FROM memory_versions WHERE tenant_id = ${t} AND memory_id = ${note_id} AND version = 1)`,
    [`${THERE}: note .*`, `${INDEX}: document \\d+ is not in the index`],
  ],
  [
    'a row of something that never was',
    (t, { turn_id }) =>
      sql`UPDATE search_docs SET content_id = 'nowhere' WHERE tenant_id = ${t} AND content_id = ${turn_id}`,
    [`${KNOWN}: turn <turn>`, `${THERE}: turn nowhere`, `${INDEX}: ${OTHERS}`],
  ],
  [
    'a thing that is there twice',
    (t, { card_id, turn_id }) =>
      sql`UPDATE search_docs SET content_id = ${turn_id} WHERE tenant_id = ${t} AND content_id = ${card_id}`,
    [`${KNOWN}: card <card>`, `${ONCE}: card <turn>`, `${INDEX}: ${OTHERS}`],
  ],
  [
    'a segment that counts its documents wrongly',
    (t) => sql`UPDATE search_segments SET docs = docs + 5 WHERE tenant_id = ${t} AND segment = ${firstSegment(t)}`,
    [`${INDEX}: segment \\d+ counts \\d+ documents, but has \\d+`],
  ],
  [
    'a segment that is gone',
    (t) => sql`DELETE FROM search_segments WHERE tenant_id = ${t} AND segment = ${firstSegment(t)}`,
    [`${COVERED}: document \\d+`],
  ],
  [
    'segments that overlap',
    (t) =>
      sql`UPDATE search_segments SET last_doc = last_doc + 1 WHERE tenant_id = ${t} AND segment = ${firstSegment(t)}`,
    [`${APART}: segment \\d+`, `${INDEX}: document \\d+ is not in the index`],
  ],
  [
    'a segment of documents that are not folded',
    (t) => sql`UPDATE tenants SET folded_doc = folded_doc - 1 WHERE tenant_id = ${t}`,
    [`${APART}: segment \\d+`],
  ],
  [
    'a document that the index lacks',
    (t, { turn_id }, isSqlite) =>
      sql`UPDATE search_blocks SET data = ${isSqlite ? sql`zeroblob(3900)` : sql`decode(repeat('00', 3900), 'hex')`}
          WHERE tenant_id = ${t} AND segment = ${segmentWith(t, turn_id)}`,
    [`${INDEX}: (${OTHERS}|segment \\d+ has blocks that begin elsewhere)`],
  ],
  [
    'blocks that are gone',
    (t, { card_id }) => sql`DELETE FROM search_blocks WHERE tenant_id = ${t} AND segment = ${segmentWith(t, card_id)}`,
    [`${BLOCKS}: segment \\d+`, `${INDEX}: (${OTHERS}|segment \\d+ has blocks that begin elsewhere)`],
  ],
];

/** Code that changes contents directly and does not tell the index. */
interface Untold {
  readonly harm: (tenant: string, planted: Planted) => Sql;
  readonly patterns: readonly string[];
  /** What is found no more afterwards. */
  readonly vanishes?: (planted: Planted) => string;
}

const isCard = ({ card_id }: Planted): string => `Card ${card_id}`;

const untold: readonly (readonly [string, Untold])[] = [
  [
    'deletes a card',
    {
      harm: (t, { card_id }) => sql`UPDATE cards SET deleted_at = 5 WHERE tenant_id = ${t} AND card_id = ${card_id}`,
      patterns: [`${THERE}: card <card>`],
      vanishes: isCard,
    },
  ],
  [
    'erases a card',
    {
      harm: (t, { card_id }) =>
        sql`UPDATE cards SET content = NULL, erased_at = 5 WHERE tenant_id = ${t} AND card_id = ${card_id}`,
      patterns: [`${THERE}: card <card>`],
      vanishes: isCard,
    },
  ],
  [
    'gives a card another lifetime',
    {
      harm: (t, { card_id }) =>
        sql`UPDATE cards SET expires_at = ${FAR} WHERE tenant_id = ${t} AND card_id = ${card_id}`,
      patterns: [`${SAYS}: card <card> in .*expires_at`],
    },
  ],
  [
    'erases a packet',
    {
      harm: (t, { packet_id }) =>
        sql`UPDATE packet_store SET envelope = NULL, original = NULL, erased_at = 5
            WHERE tenant_id = ${t} AND packet_id = ${packet_id}`,
      patterns: [`${THERE}: packet <packet>`],
      vanishes: ({ packet_id }) => `Packet ${packet_id}`,
    },
  ],
  [
    'supersedes a version',
    {
      harm: (t, { note_id }) =>
        sql`UPDATE memory_versions SET superseded_at = 5
            WHERE tenant_id = ${t} AND memory_id = ${note_id} AND superseded_at IS NULL`,
      patterns: [`${THERE}: note .*`],
      vanishes: ({ note_id }) => `Note ${note_id}`,
    },
  ],
  [
    'erases a version',
    {
      harm: (t, { note_id }) =>
        sql`UPDATE memory_versions SET name = NULL, erased_at = 5
            WHERE tenant_id = ${t} AND memory_id = ${note_id} AND superseded_at IS NULL`,
      patterns: [`${THERE}: note .*`],
      vanishes: ({ note_id }) => `Note ${note_id}`,
    },
  ],
  [
    'removes a thought',
    {
      harm: (t, { checkpoint_id }) =>
        sql`DELETE FROM thoughts WHERE tenant_id = ${t} AND checkpoint_id = ${checkpoint_id}`,
      patterns: [`${THERE}: thought t1 of checkpoint <checkpoint>`],
      vanishes: () => 'Thought t1',
    },
  ],
  [
    'moves a thought to another checkpoint',
    {
      harm: (t, { checkpoint_id, later_id }) =>
        sql`UPDATE thoughts SET checkpoint_id = ${later_id} WHERE tenant_id = ${t} AND checkpoint_id = ${checkpoint_id}`,
      patterns: [`${KNOWN}: thought t1 of checkpoint <later>`, `${THERE}: thought t1 of checkpoint <checkpoint>`],
    },
  ],
];

const FAR = 8_000_000_000_000;

/** Each is as one of the patterns says, and each of the patterns says what one is. */
function expectAll(found: readonly string[], patterns: readonly string[]): void {
  const fits = (one: string, pattern: string) => new RegExp(`^${pattern}$`).test(one);
  expect(found.filter((one) => !patterns.some((pattern) => fits(one, pattern)))).toEqual([]);
  expect(patterns.filter((pattern) => !found.some((one) => fits(one, pattern)))).toEqual([]);
}

for (const kind of kinds)
  describe(`the doctor on the search on ${kind}`, () => {
    let opened: TestStore;
    beforeAll(async () => void (opened = await openTarget(kind)));
    afterAll(() => opened.close());
    const test = () => opened;

    it('INDEX-1 finds nothing wrong with what was written, and indexing that anew changes nothing', async () => {
      const cairn = await test().freshTenant();
      const tenant = await tenantOf(cairn);
      const { scope_id } = await plant(cairn);
      expect(await illnesses(test().store, tenant)).toEqual([]);
      for (const limit of [3, 100]) {
        const before = await rowsOf(test().store, tenant);
        expect(await indexAnew(test().store, tenant)).toBe(0);
        expect(await rowsOf(test().store, tenant)).toEqual(before);
        expect(await illnesses(test().store, tenant)).toEqual([]);
        await foldAll(test().store, tenant, limit);
        expect(await tailOf(test().store, tenant)).toBe(0);
        expect(await illnesses(test().store, tenant)).toEqual([]);
      }
      await cairn.scopes.close({ scope_id });
      expect(await illnesses(test().store, tenant)).toEqual([]);
    });

    /** What is wrong after a harm; then nothing is, and the same is found but for what had to go. */
    async function harmed(fold: number | undefined, harm: Harm, { patterns, vanishes }: Omit<Untold, 'harm'>) {
      const { store } = test();
      const cairn = await test().freshTenant();
      const tenant = await tenantOf(cairn);
      const planted = await plant(cairn);
      if (fold !== undefined) await foldAll(store, tenant, fold);
      const healthy = await found(cairn, 'kestrel');
      await store.driver.write(tenant, (tx) => tx.send(harm(tenant, planted, store.driver.dialect === 'sqlite')));
      const names = [
        [planted.turn_id, '<turn>'],
        [planted.card_id, '<card>'],
        [planted.packet_id, '<packet>'],
        [planted.checkpoint_id, '<checkpoint>'],
        [planted.later_id, '<later>'],
      ] as const;
      const named = (await illnesses(store, tenant)).map((one) =>
        names.reduce((text, [id, name]) => text.replace(id, name), one),
      );
      expectAll(named, patterns);
      await indexAnew(store, tenant);
      expect(await illnesses(store, tenant)).toEqual([]);
      const left = healthy.filter((one) => one !== vanishes?.(planted));
      expect((await found(cairn, 'kestrel')).sort()).toEqual(left.sort());
      if (vanishes) expect(left.length).toBe(healthy.length - 1);
    }

    it.each(harms)('INDEX-2 finds %s, and indexing anew heals it', (_, harm, patterns) =>
      harmed(3, harm, { patterns }),
    );

    it.each(untold)('INDEX-2 finds code that %s and does not tell the index', async (_, { harm, ...after }) => {
      await harmed(undefined, harm, after);
      // Folded, the index has terms of what is gone.
      const { patterns } = after;
      await harmed(3, harm, { ...after, patterns: [...patterns, `(${patterns[0]}|${INDEX}: ${OTHERS})`] });
    });

    it('INDEX-5 refuses a tenant that is not there', async () => {
      await expect(indexAnew(test().store, 'nobody')).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    });
  });

/** As a store is that was made before there was a search. */
async function forgetSearch(store: Store, tenant: string): Promise<void> {
  await store.driver.write(tenant, async (tx) => {
    for (const table of [sql`search_docs`, sql`search_segments`, sql`search_blocks`, sql`search_dead`])
      await tx.run(sql`DELETE FROM ${table} WHERE tenant_id = ${tenant}`);
    await tx.run(sql`UPDATE tenants SET doc_changes = doc_changes + 1, index_revision = index_revision + 1
      WHERE tenant_id = ${tenant}`);
    await tx.run(sql`DELETE FROM store_meta WHERE name = 'search_version'`);
  });
}

for (const kind of kinds)
  it(`INDEX-3 a store from before the search is indexed in the background, beside writers, on ${kind}`, async () => {
    const { database, drop } = await freshDatabase(kind);
    const caller = { tenant_id: 'default', agent_id: null, role: 'admin', key_id: null } as const;
    const before = await Store.open({ database, sweep_every_ms: 0 });
    const old = before.api(caller);
    const { scope_id } = await plant(old);
    const items = Array.from({ length: 300 }, (_, i) => ({
      create: { scope_id, role: 'User' as const, content: `an old heron, number ${i}`, token_count: 1 },
    }));
    await old.turns.batch({ items });
    const whole = await rowsOf(before, 'default');
    await foldAll(before, 'default', 100);
    await forgetSearch(before, 'default');
    expect(await old.search.query({ query: 'heron' })).toMatchObject({ total: 0 });
    expect(await needsReindex(before.driver)).toBe(true);
    await before.close();

    // Stopped at once, and gone on with by the next one.
    await (await Store.open({ database, sweep_every_ms: 0 })).close();
    const store = await Store.open({ database, sweep_every_ms: 0 });
    const cairn = store.api(caller);
    for (let i = 0; i < 20; i++) await say(cairn, scope_id, `a new heron, number ${i}`);
    await expect.poll(() => needsReindex(store.driver), { interval: 50 }).toBe(false);
    expect(await illnesses(store, 'default')).toEqual([]);
    expect(await rowsOf(store, 'default')).toHaveLength(whole.filter(({ gone }) => gone === null).length + 20);
    const { total } = await cairn.search.query({ query: 'heron', limit: 5 });
    expect(total === null || total >= 200).toBe(true);
    await store.close();
    await drop();
  });

it.runIf(kinds[0] === 'sqlite')('INDEX-4 two that index anew at once do it once', async () => {
  const { database, drop } = await freshDatabase('sqlite');
  const store = await Store.open({ database, sweep_every_ms: 0 });
  const cairn = store.api({ tenant_id: 'default', agent_id: null, role: 'admin', key_id: null });
  await plant(cairn);
  const rows = (await rowsOf(store, 'default')).filter(({ gone }) => gone === null);
  await forgetSearch(store, 'default');
  const outcomes = await Promise.allSettled([indexAnew(store), indexAnew(store)]);
  expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0);
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'STATE_CONFLICT' });
  expect(await rowsOf(store, 'default')).toHaveLength(rows.length);
  expect(await illnesses(store, 'default')).toEqual([]);
  await store.close();
  await drop();
});

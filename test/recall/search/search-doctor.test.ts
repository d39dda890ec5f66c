/** The doctor on the search: nothing to say of what was written, each harm is found, and indexing anew heals it. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { type Sql, sql } from '#cairn/driver/index.js';
import { indexFinding, searchFindings } from '#cairn/recall/reindex/doctor.js';
import { searchChecks } from '#cairn/recall/reindex/document-count-check.js';
import { needsReindex, reindex } from '#cairn/recall/reindex/service.js';
import { snapshotOf, thought } from '../../support/nouns/executions.js';
import { tenantOf } from '../../support/nouns/hierarchy.js';
import { say, someScope } from '../../support/nouns/scopes.js';
import { freshDatabase, openTarget, type TestStore, targetNames } from '../../support/targets.js';

/** Each database by itself: nothing of this goes through a server. */
const kinds = (['sqlite', 'postgres'] as const).filter((one) => targetNames().includes(one));

interface Planted {
  readonly turn_id: string;
  readonly scope_id: string;
  readonly note_id: string;
  readonly card_id: string;
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
  await cairn.checkpoints.create({ execution_id, snapshot: snapshotOf({ thoughts: [thought('t1', 1)] }) });
  return { turn_id, scope_id, note_id, card_id };
}

async function illnesses(store: Store, tenant: string): Promise<string[]> {
  const { driver } = store;
  const found: string[] = [];
  for (const { name, broken } of searchChecks)
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

const docOf = (tenant: string, id: string): Sql =>
  sql`(SELECT doc_no FROM search_docs WHERE tenant_id = ${tenant} AND content_id = ${id})`;

const KNOWN = 'every searchable content has a search document';
const SAYS = 'search documents match their content';
const THERE = 'the content of every search document exists and is current';
const ONCE = 'no content has two search documents';
const INDEX = 'the index has the terms of all search documents';
const NOTED = 'the stored count of search documents is right';

const harms: readonly [string, Harm, readonly RegExp[]][] = [
  [
    'a turn that is not found any more',
    (t, { turn_id }) => sql`UPDATE search_docs SET terms = NULL WHERE tenant_id = ${t} AND content_id = ${turn_id}`,
    [new RegExp(`^${KNOWN}: turn <turn>$`)],
  ],
  [
    'a card whose row says something else',
    (t, { card_id }) =>
      sql`UPDATE search_docs SET terms = 'abcdefg!', tags = NULL, expires_at = 7
          WHERE tenant_id = ${t} AND content_id = ${card_id}`,
    [new RegExp(`^${SAYS}: card <card> in tags, expires_at, terms$`)],
  ],
  [
    'a version that another one followed',
    (t, { note_id }) =>
      sql`UPDATE search_docs SET terms = 'abcdefg!' WHERE tenant_id = ${t} AND content_id =
            (SELECT card_id FROM memory_versions WHERE tenant_id = ${t} AND memory_id = ${note_id} AND version = 1)`,
    [new RegExp(`^${THERE}: note `)],
  ],
  [
    'a row of something that never was',
    (t, { turn_id }) =>
      sql`UPDATE search_docs SET content_id = 'nowhere' WHERE tenant_id = ${t} AND content_id = ${turn_id}`,
    [new RegExp(`^${KNOWN}: turn <turn>$`), new RegExp(`^${THERE}: turn nowhere$`)],
  ],
  [
    'a thing that is there twice',
    (t, { card_id, turn_id }) =>
      sql`UPDATE search_docs SET content_id = ${turn_id} WHERE tenant_id = ${t} AND content_id = ${card_id}`,
    [new RegExp(`^${KNOWN}: card <card>$`), new RegExp(`^${ONCE}: card <turn>$`)],
  ],
  [
    'a number that is wrong',
    (t) => sql`UPDATE search_counts SET docs = docs + 5 WHERE tenant_id = ${t}`,
    [new RegExp(`^${NOTED}: stored count \\d+, documents \\d+$`)],
  ],
  [
    'a document that the index lacks',
    (t, { turn_id }, isSqlite) =>
      isSqlite
        ? sql`INSERT INTO search_index(search_index, rowid, terms)
            SELECT 'delete', doc_no, terms FROM search_docs WHERE tenant_id = ${t} AND content_id = ${turn_id}`
        : sql`DELETE FROM search_index WHERE tenant_id = ${t} AND doc_no = ${docOf(t, turn_id)}`,
    [new RegExp(`^${INDEX}: document \\d+ has \\d+ terms, but 0 in the index$`)],
  ],
  [
    'a document with other terms in the index',
    (t, { card_id }, isSqlite) =>
      isSqlite
        ? sql`INSERT INTO search_index(rowid, terms) SELECT doc_no, 'abcdefg!hijklmn!' FROM search_docs
            WHERE tenant_id = ${t} AND content_id = ${card_id}`
        : sql`UPDATE search_index SET terms = terms || 'abcdefg'::tsvector || 'hijklmn'::tsvector
            WHERE tenant_id = ${t} AND doc_no = ${docOf(t, card_id)}`,
    [new RegExp(`^${INDEX}: document \\d+ has \\d+ terms, but \\d+ in the index$`)],
  ],
  [
    'entries of no document',
    (t, _, isSqlite) =>
      isSqlite
        ? sql`INSERT INTO search_index(rowid, terms) SELECT 987654, 'abcdefg!' WHERE ${t} <> ''`
        : sql`INSERT INTO search_index (tenant_id, doc_no, terms) VALUES (${t}, 987654, 'abcdefg'::tsvector)`,
    [new RegExp(`^${INDEX}: document 987654 has 0 terms, but 1 in the index$`)],
  ],
];

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
      const before = await rowsOf(test().store, tenant);
      expect(await indexAnew(test().store, tenant)).toBe(0);
      expect(await rowsOf(test().store, tenant)).toEqual(before);
      await cairn.scopes.close({ scope_id });
      expect(await illnesses(test().store, tenant)).toEqual([]);
    });

    it.each(harms)('INDEX-2 finds %s, and indexing anew heals it', async (_, harm, expected) => {
      const { store } = test();
      const cairn = await test().freshTenant();
      const tenant = await tenantOf(cairn);
      const planted = await plant(cairn);
      const healthy = await cairn.search.query({ query: 'kestrel', limit: 50 });
      await store.driver.write(tenant, (tx) => tx.send(harm(tenant, planted, store.driver.dialect === 'sqlite')));
      const found = (await illnesses(store, tenant)).map((one) =>
        one.replace(planted.turn_id, '<turn>').replace(planted.card_id, '<card>'),
      );
      expect(found).toEqual(expected.map((one) => expect.stringMatching(one)));
      await indexAnew(store, tenant);
      expect(await illnesses(store, tenant)).toEqual([]);
      const healed = await cairn.search.query({ query: 'kestrel', limit: 50 });
      expect(healed.results.map(({ id }) => id).sort()).toEqual(healthy.results.map(({ id }) => id).sort());
    });

    it('INDEX-5 refuses a tenant that is not there', async () => {
      await expect(indexAnew(test().store, 'nobody')).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    });
  });

/** As a store is that was made before there was a search. */
async function forgetSearch(store: Store, tenant: string): Promise<void> {
  await store.driver.write(tenant, async (tx) => {
    if (store.driver.dialect === 'sqlite')
      await tx.run(sql`INSERT INTO search_index(search_index) VALUES ('delete-all')`);
    else await tx.run(sql`DELETE FROM search_index WHERE tenant_id = ${tenant}`);
    await tx.run(sql`DELETE FROM search_docs WHERE tenant_id = ${tenant}`);
    await tx.run(sql`DELETE FROM search_counts WHERE tenant_id = ${tenant}`);
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
    expect(await rowsOf(store, 'default')).toHaveLength(whole.filter(({ terms }) => terms !== null).length + 20);
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
  const rows = (await rowsOf(store, 'default')).filter(({ terms }) => terms !== null);
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

/**
 * Tenants with the same rows under the same ids, on both databases: no operation of the table changes a row of another
 * tenant, or answers from one. Ids of tenants that were made apart never meet, so a condition on the tenant that a
 * statement lacks shows only here.
 */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Api, ApiByName } from '#cairn/api/api.js';
import { Store } from '#cairn/api/store.js';
import { allOperations, inputOf, type NamedOperation, type Planted, plant, SECRET } from '../support/contract.js';
import { databases } from '../support/http.js';
import { contentsOf } from '../support/inspect/contents.js';
import { type CopyTenant, tenantCopier } from '../support/plant/twins.js';
import { freshDatabase } from '../support/targets.js';

/** Stands in the twins where the first tenant says its secret. As long, so that nothing else differs. */
const OTHER = 'the-secret-of-another-one'.padEnd(SECRET.length, '-').slice(0, SECRET.length);

/** Streams do not end by themselves. */
const operations = allOperations.filter(({ stream }) => !stream);

/** What differs from one answer to the next: a cursor is encrypted, and reading is counted. */
const VARYING = new Set(['next_cursor', 'access_count', 'accessed_at']);
const fixed = (answer: unknown): unknown =>
  JSON.parse(JSON.stringify(answer, (name, value) => (VARYING.has(name) ? value !== null : value)) ?? 'null');

const SWEEP = operations.find(({ name }) => name === 'lifetime.sweep')!;
const DAY_MS = 24 * 60 * 60_000;

/** What a sweep finds a day later, of every kind that expires. */
async function plantExpiring(cairn: Api): Promise<void> {
  const expires_at = new Date(Date.now() + DAY_MS).toISOString();
  const { trajectory_id } = await cairn.trajectories.create({ name: SECRET });
  await Promise.all([
    cairn.cards.add({ card_id: 'expiring', content: SECRET, subject_ids: ['user-7'], expires_at }),
    cairn.packets.write({ packet_type: 'p', payload: { said: SECRET }, tags: ['expiring'], ttl: expires_at }),
    cairn.messages.send({ to_agent_id: 'bob', message_type: 'note', payload: SECRET, expires_at }),
    cairn.artifacts.create({ trajectory_id, artifact_type: 'Fact', name: SECRET, content: SECRET, ttl: 'MediumTerm' }),
  ]);
}

interface Named {
  readonly name: string;
  readonly run: (tenant: string) => Promise<unknown>;
}

/** Prunes every execution and deletes every trajectory, which takes with it what the examples leave alone. */
async function endAll(cairn: Api): Promise<void> {
  for (const { execution_id } of (await cairn.executions.list({ limit: 500 })).executions)
    await cairn.executions.prune({ execution_id, keep_newest: 1 });
  for (;;) {
    // One at a time: each takes those below it along.
    const [first] = (await cairn.trajectories.list({ limit: 1 })).trajectories;
    if (!first) break;
    await cairn.trajectories.delete({ trajectory_id: first.trajectory_id });
  }
  await cairn.lifetime.sweep();
}

/** How many operations run between two looks at all rows. */
const AT_A_TIME = 10;

describe.each(databases())('twin tenants on %s', (kind) => {
  const postgres = kind === 'postgres';
  let database: { database: string; drop(): Promise<void> };
  let store: Store;
  let owner: pg.Client | undefined;
  let copyTenant: CopyTenant;
  let planted: Planted;
  let offset = 0;

  const makeTwin = (name: string): Promise<void> => copyTenant('mid', name, { text: SECRET, by: OTHER });
  const adminOf = (tenant_id: string): Api => store.api({ tenant_id, agent_id: null, role: 'admin', key_id: null });
  const callOn = async (tenant: string, operation: NamedOperation): Promise<unknown> => {
    const use = (adminOf(tenant) as unknown as ApiByName)[operation.group]![operation.verb]!;
    return use(inputOf(operation, planted));
  };

  beforeAll(async () => {
    database = await freshDatabase(kind);
    const clock_offset_ms = () => offset;
    const quiet = { sweep_every_ms: 0, count_every_ms: 0 };
    store = await Store.open({ database: database.database, clock_offset_ms, ...quiet });
    if (postgres) {
      owner = new pg.Client({ connectionString: database.database });
      await owner.connect();
    }
    await store.ensureTenant('mid');
    planted = await plant(adminOf('mid'));
    await plantExpiring(adminOf('mid'));
    copyTenant = await tenantCopier(store, owner);
  });
  afterAll(async () => {
    await owner?.end();
    await store.close();
    await database.drop();
  });

  it('ACCESS-2 reads are answered from the rows of the tenant alone, whatever others have under the same ids', async () => {
    const reads = operations.filter(({ access }) => access === 'read');
    const answers = async () => {
      const found: Record<string, unknown> = {};
      for (const operation of reads)
        found[operation.name] = fixed(await callOn('mid', operation).catch((error) => String(error)));
      return found;
    };
    const alone = await answers();
    // In the order of names before and behind it, so that neither is always found first.
    for (const name of ['aaa', 'zzz']) await makeTwin(name);
    const beside = await answers();
    for (const { name } of reads) expect(beside[name], name).toEqual(alone[name]);
    expect(JSON.stringify(beside)).not.toContain(OTHER);
  });

  it('ACCESS-2 no operation changes a row of another tenant that has the same ids', async () => {
    const writes = operations.filter(({ access, name }) => access !== 'read' && name !== SWEEP.name);
    const refused: string[] = [];
    /** In two twins, one after the other: the first has also what the operation itself makes, such as endings. */
    const callTwice = async (called: readonly Named[], names: string) => {
      const before = new Map([['mid', await contentsOf(store, 'mid')]]);
      for (const half of ['a', 'b'])
        for (const [i, operation] of called.entries()) {
          const name = `${half}-${names}-${i}`;
          await makeTwin(name);
          await operation.run(name).catch((error) => refused.push(`${operation.name}: ${error}`));
          // Row-level security is a second wall on PostgreSQL, where looking takes longer than all else.
          if (half === 'a' && !postgres) before.set(name, await contentsOf(store, name));
        }
      const why = `changed another tenant: one of ${called.map(({ name }) => name)}`;
      for (const [tenant, contents] of before) expect((await contentsOf(store, tenant)) === contents, why).toBe(true);
    };
    const named = (operation: NamedOperation): Named => ({
      name: operation.name,
      run: (tenant) => callOn(tenant, operation),
    });
    for (let i = 0; i < writes.length; i += AT_A_TIME)
      await callTwice(writes.slice(i, i + AT_A_TIME).map(named), `${i}`);
    await callTwice([{ name: 'all that there is ends', run: (tenant) => endAll(adminOf(tenant)) }], 'end');
    offset = 2 * DAY_MS;
    await callTwice([named(SWEEP)], 'sweep');
    expect(refused).toEqual([]);
  });
});

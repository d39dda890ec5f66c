/** A tenant with few documents is searched in memory: whatever happens to it, the answers are those of the database. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { sql } from '#cairn/driver/index.js';
import { indexKey } from '#cairn/engine/index.js';
import { termCode } from '#cairn/index/sql.js';
import type { SearchRequest } from '#cairn/recall/search/job.js';
import { stem } from '#cairn/text/index.js';
import { tenantOf } from '../../support/nouns/hierarchy.js';
import { say, someScope } from '../../support/nouns/scopes.js';
import { openTarget, type TestStore, targetNames } from '../../support/targets.js';

const JOB = new URL('../../../dist/recall/search/job.js', import.meta.url);

let test: TestStore;

type Limits = Pick<SearchRequest, 'trajectory_id' | 'scope_id' | 'entity_types'>;

const keyOf = async (tenant: string): Promise<string> => indexKey(test.store.runtime.meta, tenant);

/** What is found in memory and by the database; both must be the same. */
async function bothWays(cairn: Api, query: string, limits: Limits = {}): Promise<[unknown, unknown]> {
  const tenant = await tenantOf(cairn);
  const { driver } = test.store;
  const request: SearchRequest = {
    ...limits,
    tenant,
    query,
    store: 'test',
    index_key: await keyOf(tenant),
    in_order: driver.dialect === 'sqlite',
    now: driver.now(),
    viewer: null,
    min_score: 0,
    limit: 10,
    after: undefined,
    merge_repeats: false,
    detail: 'text',
  };
  return [
    await driver.away(tenant, JOB, request),
    // With filters, though they leave nothing out, it is asked of the database.
    await driver.away(tenant, JOB, { ...request, filters: [] }),
  ];
}

async function agree(cairn: Api, limits: readonly Limits[]): Promise<number> {
  let hits = 0;
  for (const query of ['heron reeds', 'the old mill', 'otter'])
    for (const limit of limits) {
      const [inMemory, stored] = await bothWays(cairn, query, limit);
      expect(inMemory).toEqual(stored);
      hits += (stored as { hits: unknown[] }).hits.length;
    }
  return hits;
}

describe.each(targetNames().filter((name) => name !== 'http'))('a small tenant on %s', (target) => {
  beforeAll(async () => {
    test = await openTarget(target);
  });
  afterAll(() => test.close());

  it('INDEX-6 finds the same in memory as in the database, whatever comes and goes', async () => {
    const cairn = await test.freshTenant();
    const other = await test.freshTenant();
    const { scope_id, trajectory_id } = await someScope(cairn);
    const second = await someScope(cairn);
    const limits: Limits[] = [
      {},
      { trajectory_id },
      { scope_id: second.scope_id },
      { entity_types: ['note', 'card'] },
      { entity_types: ['turn'], trajectory_id },
    ];
    expect(await agree(cairn, limits)).toBe(0);
    for (let i = 0; i < 12; i++) {
      await say(cairn, i % 3 === 0 ? second.scope_id : scope_id, `heron ${i} stands in the reeds, by the mill`);
      await say(cairn, scope_id, i % 2 === 0 ? 'and then?' : 'an otter swims');
    }
    const found = [await agree(cairn, limits)];
    const { note_id } = await cairn.notes.create({ note_type: 'Fact', title: 'mill', content: 'the mill is old' });
    const { card_id } = await cairn.cards.add({ content: 'an otter in the mill' });
    const steps: (() => Promise<unknown>)[] = [
      () => cairn.notes.update({ note_id, content: 'the mill has burnt, the heron left' }),
      () => say(other, '', '').catch(() => other.cards.add({ content: 'an otter of others' })),
      () => cairn.cards.delete({ card_id }),
      () => cairn.cards.add({ content: 'a heron that stays a minute', ttl_seconds: 60 }),
      async () => test.advance(61_000),
      () => cairn.lifetime.sweep(),
      // One comes and one goes: there are as many as before.
      async () => {
        await cairn.cards.add({ content: 'another otter' });
        await cairn.notes.delete({ note_id });
      },
      () => cairn.scopes.checkpoint({ scope_id: second.scope_id }),
      () => cairn.scopes.restore({ scope_id: second.scope_id }),
      () => cairn.scopes.close({ scope_id: second.scope_id, wait: true }),
      () => cairn.scopes.close({ scope_id, wait: true }),
    ];
    for (const step of steps) {
      await step();
      found.push(await agree(cairn, limits));
    }
    expect(new Set(found).size).toBeGreaterThan(4);
  });

  it('SEARCH-5 codes words by a key that only this store has, for each tenant another', async () => {
    const [one, other] = [await test.freshTenant(), await test.freshTenant()];
    const codes = async (cairn: Api): Promise<string> => {
      await cairn.cards.add({ content: 'heron' });
      const tenant = await tenantOf(cairn);
      const rows = await test.store.driver.long<{ terms: string }>(
        tenant,
        sql`SELECT terms FROM search_docs WHERE tenant_id = ${tenant}`,
      );
      const { terms } = rows[0]!;
      expect(terms).toBe(`${termCode(await keyOf(tenant), stem('heron'))}!`);
      expect(terms).not.toContain(termCode(tenant, stem('heron')));
      return terms;
    };
    expect(await codes(one)).not.toBe(await codes(other));
    expect(indexKey({ erasure_key: 'a' }, 'acme')).not.toBe(indexKey({ erasure_key: 'b' }, 'acme'));
  });

  it.runIf(target === 'postgres')(
    'INDEX-6 misses nothing that is committed late, while something else goes',
    async () => {
      const cairn = await test.freshTenant();
      const tenant = await tenantOf(cairn);
      await cairn.cards.add({ content: 'the first otter' });
      const { card_id } = await cairn.cards.add({ content: 'the second otter' });
      const client = new pg.Client({ connectionString: test.store.location });
      await client.connect();
      try {
        expect(await agree(cairn, [{}])).toBe(2);
        await client.query('BEGIN');
        // As another document of the same card, with a number that is taken now and seen later.
        await client.query(
          `INSERT INTO search_docs (tenant_id, entity_type, entity_id, content_id, abstraction_level, category,
            occurred_at, created_at, length, flags, terms)
          SELECT tenant_id, entity_type, entity_id, content_id, abstraction_level, category, occurred_at, created_at,
            length, flags, terms FROM search_docs WHERE tenant_id = $1 ORDER BY doc_no LIMIT 1`,
          [tenant],
        );
        await cairn.cards.add({ content: 'the third otter' });
        expect(await agree(cairn, [{}])).toBe(3);
        await client.query('COMMIT');
        await cairn.cards.delete({ card_id });
        expect(await agree(cairn, [{}])).toBe(3);
      } finally {
        await client.end();
      }
    },
  );
});

/** Two servers that apply sources to one tenant at the same time. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { freshDatabase, refusalOf, targetNames } from '../support/targets.js';

const POLICY = 'policy Q { trigger { type: ScopeClose } }';

describe.skipIf(!targetNames().includes('postgres'))('two servers on PostgreSQL', () => {
  let stores: Store[] = [];
  let drop = async () => {};
  beforeAll(async () => {
    const fresh = await freshDatabase('postgres');
    const options = { database: fresh.database, sweep_every_ms: 0 };
    stores = [await Store.open(options), await Store.open(options)];
    drop = fresh.drop;
  });
  afterAll(async () => {
    for (const store of stores) await store.close();
    await drop();
  });

  /** A new tenant, as each server sees it. */
  const freshTenant = async (): Promise<Api[]> => {
    const tenant_id = `t-${randomUUID()}`;
    for (const store of stores) await store.ensureTenant(tenant_id);
    return stores.map((store) => store.api({ tenant_id, agent_id: null, role: 'admin', key_id: null }));
  };

  it('DSL-11 create a policy once', async () => {
    for (let round = 0; round < 10; round++) {
      const apis = await freshTenant();
      const answers = await Promise.all([...apis, ...apis].map((cairn) => cairn.dsl.apply({ source: POLICY })));
      expect(answers.map(({ counts }) => counts.create).sort()).toEqual([0, 0, 0, 1]);
      expect((await apis[0]!.summarization_policies.list({})).summarization_policies).toHaveLength(1);
    }
  });

  it.each([
    ['settings', (i: number) => `settings { context_token_budget: ${100 + i} }`],
    ['policy', (i: number) => `policy Q { trigger { type: ScopeClose } max_tokens: ${100 + i} }`],
    ['profile', (i: number) => `profile P { description: "${i}" }`],
    [
      'handover',
      (i: number) => `handover H { context_packing_config { pack_arguments: [{ arg_key: a${i}, as_card_type: t }] } }`,
    ],
  ])('DSL-15 carry out one of four plans of the same state: %s', async (_, sourceOf) => {
    for (let round = 0; round < 5; round++) {
      const apis = await freshTenant();
      if (round > 0) await apis[0]!.dsl.apply({ source: sourceOf(9) });
      const plans = [];
      for (let i = 0; i < 4; i++) {
        const cairn = apis[i % 2]!;
        plans.push({
          cairn,
          source: sourceOf(i),
          plan_hash: (await cairn.dsl.plan({ source: sourceOf(i) })).plan_hash,
        });
      }
      const outcomes = await Promise.all(
        plans.map(({ cairn, source, plan_hash }) =>
          cairn.dsl.apply({ source, plan_hash }).then(
            () => 'applied',
            (error) => error.code as string,
          ),
        ),
      );
      expect(outcomes.sort()).toEqual(['STATE_CONFLICT', 'STATE_CONFLICT', 'STATE_CONFLICT', 'applied']);
    }
  });

  it('SUM-4 keep a tenant at 20 policies', async () => {
    const apis = await freshTenant();
    const create = (i: number) =>
      apis[i % 2]!.summarization_policies.create({ name: `p${i}`, trigger: { type: 'ScopeClose' } });
    for (let i = 0; i < 18; i++) await create(i);
    const answers = await Promise.all([18, 19, 20, 21].map((i) => refusalOf(create(i)).catch(() => 'created')));
    expect(answers.filter((one) => one === 'created')).toHaveLength(2);
  });
});

/** Several servers update the same value, and models that judge it: well, badly, too late. */
import { describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import { startStandIn } from '../../support/stand-ins/model-endpoint.js';
import { freshDatabase, targetNames } from '../../support/targets.js';

const CALLER = { tenant_id: 'default', agent_id: null, role: 'admin', key_id: null } as const;

describe.each(targetNames().filter((name) => name !== 'http'))('updating on %s', (kind) => {
  it('UPD-7 two servers that supersede one value end in one chain, without a lost statement', async () => {
    const { database, drop } = await freshDatabase(kind);
    const stores = [await Store.open({ database }), await Store.open({ database })];
    const apis = stores.map((store) => store.api(CALLER));
    const first = await apis[0]!.memory.remember({ text: 'The budget is 100.' });
    const told = await Promise.all(
      Array.from({ length: 24 }, (_, i) => apis[i % 2]!.memory.remember({ text: `The budget is now ${200 + i}.` })),
    );
    const replaced = told.flatMap(({ superseded }) => superseded!.map(({ id }) => id));
    expect(replaced).toHaveLength(24);
    const current = told.map(({ id }) => id).filter((id) => !replaced.includes(id));
    expect(current).toHaveLength(1);
    expect(new Set(replaced)).toEqual(
      new Set([first.id, ...told.map(({ id }) => id).filter((id) => id !== current[0])]),
    );
    for (const api of apis) {
      const { passages } = await api.memory.recall({ query: 'What is the budget?' });
      expect(passages.map(({ id }) => id)).toEqual(current);
    }
    for (const store of stores) await store.close();
    await drop();
  });

  it('UPD-8 a model judges statements that no rule reads, and its invalid answers leave it to the rules', async () => {
    const { database, drop } = await freshDatabase(kind);
    const endpoint = await startStandIn('nonsense');
    const model = {
      kind: 'openai-compatible',
      base_url: endpoint.base_url,
      model: 'stand-in',
      max_retries: 0,
    } as const;
    const store = await Store.open({ database, model });
    const cairn = store.api(CALLER);
    const judges = (relation: string, old_value: string, states_only_this = true) => {
      const relations = [{ id: 's2', relation, old_value, states_only_this }];
      endpoint.behaviour = { says: JSON.stringify({ relations }) };
    };
    const first = await cairn.memory.remember({ text: 'School run: Femi collects the kids.' });
    expect([first.outcome, endpoint.asked]).toEqual(['added', 0]);
    judges('replaces', 'Femi');
    const second = await cairn.memory.remember({ text: 'School run: I fetch the kids as well.' });
    expect(second).toMatchObject({ outcome: 'superseded', superseded: [{ id: first.id, value: 'Femi' }] });
    judges('replaces', 'a value that nobody told');
    expect(await cairn.memory.remember({ text: 'School run: nobody fetches the kids.' })).toMatchObject({
      outcome: 'added',
    });
    await cairn.memory.remember({ text: 'Lena lives in Hamburg.' });
    endpoint.behaviour = 'fails';
    expect(await cairn.memory.remember({ text: 'Lena lives in Munich now.' })).toMatchObject({
      outcome: 'superseded',
      superseded: [{ value: 'Hamburg' }],
    });
    await store.close();
    await endpoint.close();
    await drop();
  });
});

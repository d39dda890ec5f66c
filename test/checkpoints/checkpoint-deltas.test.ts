import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Changes, Snapshot } from '#cairn/checkpoints/contract.js';
import { applyChanges, diffStates } from '#cairn/checkpoints/contract.js';
import { type Api, connectCairn } from '#cairn/client/index.js';
import { type Sql, sql } from '#cairn/driver/index.js';
import type { Json } from '#cairn/kernel/contract.js';
import { message, numbered, snapshotOf, someExecution, state, take, toolCall } from '../support/nouns/checkpoints.js';
import { onEveryTarget, type TestStore } from '../support/targets.js';
import { histories, noSnapshot, Working } from './histories.js';

const changesOf = (a: Snapshot, b: Snapshot): Changes => diffStates(a as unknown as Json, b as unknown as Json);

/** Every write appends an event. */
const eventCount = async (cairn: Api): Promise<number | null> => (await cairn.packets.list({ limit: 1 })).total;

const long = 'word '.repeat(1000);

/** Sends a state as changes from a checkpoint. */
const takeFrom = async (
  cairn: Api,
  execution_id: string,
  base: string,
  snapshot: Snapshot,
  more: Partial<Parameters<Api['checkpoints']['create']>[0]> = {},
) =>
  cairn.checkpoints.create({
    execution_id,
    base,
    changes: changesOf(await snapshotOf(cairn, base), snapshot),
    ...more,
  });

/** All that is stored of an execution, besides ids and times. */
async function rowsOf({ store }: TestStore, tenant: string, execution_id: string): Promise<unknown[]> {
  const query = store.driver.at(tenant);
  const of = sql`tenant_id = ${tenant} AND execution_id = ${execution_id}`;
  const place = sql`line, added, ordinal, removed, position`;
  const statements: Sql[] = [
    sql`SELECT line, revision, is_branch, name, CAST(labels AS text) AS labels, step_number, checkpoint_reason, timestamp,
          CAST(rest AS text) AS rest FROM checkpoints WHERE ${of} ORDER BY revision`,
    sql`SELECT line, base_line, base_revision FROM execution_lines WHERE ${of} ORDER BY line`,
    sql`SELECT ${place}, parent, key, kind, child, CAST(value AS text) AS value FROM checkpoint_items WHERE ${of}
          ORDER BY line, added, ordinal`,
    sql`SELECT ${place}, id, type, confidence, CAST(body AS text) AS body FROM thoughts WHERE ${of}
          ORDER BY line, added, ordinal`,
    sql`SELECT ${place}, id, tool_id, success, duration_ms, CAST(body AS text) AS body FROM tool_calls WHERE ${of}
          ORDER BY line, added, ordinal`,
  ];
  return Promise.all(statements.map((statement) => query.all(statement)));
}

onEveryTarget('checkpoints as changes', (test) => {
  it('CKPT-30 changes from a base are stored as the state that they lead to, whatever the parent is', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    const one = state({ messages: [message('a'), message('b')], variables: { n: 1, plan: { steps: [1, 2] } } });
    const two = state({ messages: [message('a'), message('c')], variables: { plan: { steps: [1, 2, 3] } } });
    const first = await take(cairn, execution_id, one);
    const second = await takeFrom(cairn, execution_id, first.id, two, { labels: { by: 'changes' }, name: 'second' });
    expect(second).toMatchObject({ name: 'second', labels: { by: 'changes' }, parent: { checkpoint_id: first.id } });
    // An older base, with a third checkpoint as the parent.
    const third = await takeFrom(cairn, execution_id, first.id, numbered(3));
    const root = await takeFrom(cairn, execution_id, second.id, two, { root: true });
    const branch = await takeFrom(cairn, execution_id, third.id, one, { parent_checkpoint_id: second.id });
    const same = await cairn.checkpoints.create({ execution_id, base: branch.id, changes: {} });
    expect(third.parent?.checkpoint_id).toBe(second.id);
    expect(root.parent).toBeUndefined();
    expect(branch.parent).toEqual({ checkpoint_id: second.id, is_branch: true });
    expect(same.parent?.checkpoint_id).toBe(branch.id);
    const states = [one, two, numbered(3), two, one, one];
    for (const [i, { id }] of [first, second, third, root, branch, same].entries())
      expect(await snapshotOf(cairn, id)).toEqual(states[i]);
  });

  it('CKPT-30 changes are captured at the call', async () => {
    const { store } = test();
    const tenant = `t-${Math.random()}`;
    await store.ensureTenant(tenant);
    const cairn = store.api({ tenant_id: tenant, agent_id: null, role: 'admin', key_id: null });
    const execution_id = await someExecution(cairn);
    const { id: base } = await take(cairn, execution_id, numbered(1));
    const changes = changesOf(numbered(1), state({ variables: { n: 2, list: ['as sent'] } }));
    const labels = { as: 'sent' };
    const sent = cairn.checkpoints.create({ execution_id, base, changes, labels });
    (changes['/context/variables/list']!.after as Json[])[0] = 'changed later';
    labels.as = 'changed later';
    const { id } = await sent;
    expect(await cairn.checkpoints.get({ checkpoint_id: id })).toMatchObject({
      labels: { as: 'sent' },
      snapshot: { context: { variables: { n: 2, list: ['as sent'] } } },
    });
  });

  it('CKPT-31 a base that is unknown, pruned, deleted or of another execution is refused, and nothing is stored', async () => {
    const cairn = await test().freshTenant();
    const other = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    const refused = async (base: string, in_execution = execution_id, api = cairn) => {
      const before = await eventCount(api);
      await expect(
        api.checkpoints.create({ execution_id: in_execution, base, changes: {} }),
        `base ${base}`,
      ).rejects.toMatchObject({ code: 'UNKNOWN_BASE', status: 400, message: expect.stringContaining(base) });
      expect(await eventCount(api)).toEqual(before);
    };
    await refused('nowhere');
    const ids: string[] = [];
    for (const n of [1, 2, 3]) ids.push((await take(cairn, execution_id, numbered(n))).id);
    await refused(ids[2]!, await someExecution(cairn));
    await refused(ids[2]!, await someExecution(other), other);
    await cairn.executions.prune({ execution_id, keep_newest: 1 });
    await refused(ids[1]!);
    await takeFrom(cairn, execution_id, ids[2]!, numbered(4));
    await cairn.executions.delete({ execution_id, wait: true });
    await refused(ids[2]!);
  });

  it('CKPT-32 changes that do not fit are refused by what was wrong, and nothing is stored', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    const { id: base } = await take(cairn, execution_id, state({ messages: [message('a')], variables: { n: 1 } }));
    const before = await eventCount(cairn);
    const at = '/context/variables';
    const bad: [Changes, string][] = [
      [{ [`${at}/n`]: { before: 2, after: 3 } }, '`before` differs from the current value'],
      [{ [`${at}/n`]: { after: 3 } }, 'the member exists already'],
      [{ [`${at}/m`]: { before: 1, after: 3 } }, 'the member does not exist'],
      [{ 'no pointer': { after: 3 } }, 'not a JSON Pointer'],
      [{ '/context/messages/5:6': { before: [], after: [] } }, 'the list has 1 elements'],
      [{ '/context/messages/1:1': { before: [], after: [{ role: 'nobody', content: '' }] } }, 'messages[1].role'],
      [{ '/context/messages/1:1': { before: [], after: [{ role: 'user', content: '', typo: 1 }] } }, '"typo"'],
      [{ '/context/typo': { after: 1 } }, '"typo"'],
      [{ '/tool_state': { before: { pending: [], completed: [] } } }, 'tool_state'],
      [
        {
          '/tool_state/completed/0:0': {
            before: [],
            after: [toolCall('x'), toolCall('x')].map((c) => ({ ...c, id: 'i' })),
          },
        },
        'ids must be unique',
      ],
    ];
    for (const [changes, words] of bad)
      await expect(cairn.checkpoints.create({ execution_id, base, changes }), words).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining(words),
      });
    const snapshot = numbered(1);
    const forms: Partial<Parameters<Api['checkpoints']['create']>[0]>[] = [
      {},
      { base },
      { changes: {} },
      { snapshot, base },
      { snapshot, base, changes: {} },
    ];
    for (const form of forms)
      await expect(cairn.checkpoints.create({ execution_id, ...form })).rejects.toMatchObject({
        code: 'INVALID_INPUT',
      });
    expect(await eventCount(cairn)).toEqual(before);
  });

  it('CKPT-33 changes and the whole state are the same request, by id and by key, also once the base is gone', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    const { id: base } = await take(cairn, execution_id, numbered(1));
    const changes = changesOf(numbered(1), numbered(2));
    const key = { idempotency_key: 'k' };
    const sent = { execution_id, checkpoint_id: 'two', timestamp: 5 };
    const made = await cairn.checkpoints.create({ ...sent, base, changes }, key);
    expect(await cairn.checkpoints.create({ ...sent, base, changes }, key)).toEqual(made);
    expect(await cairn.checkpoints.create({ ...sent, snapshot: numbered(2) }, key)).toEqual(made);
    expect(await cairn.checkpoints.create({ ...sent, base, changes })).toEqual(made);
    const other = { ...sent, base, changes: changesOf(numbered(1), numbered(3)) };
    await expect(cairn.checkpoints.create(other)).rejects.toMatchObject({ code: 'ENTITY_ALREADY_EXISTS' });
    await expect(cairn.checkpoints.create(other, key)).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
    expect((await cairn.executions.get({ execution_id })).checkpoints).toBe(2);
  });

  it('CKPT-34 an agent that may not read the base may not build on it', async () => {
    const cairn = await test().freshTenant();
    const tenant = (await cairn.auth.whoami()).tenant_id;
    const writer = await test().as({ tenant, agent: 'writer' });
    await cairn.agents.update({
      agent_id: 'writer',
      memory_access: { read: [], write: [{ memory_type: '*', scope: 'all' }] },
    });
    const execution_id = await someExecution(cairn);
    const { id: base } = await take(cairn, execution_id, numbered(1));
    const from = writer.checkpoints.create({ execution_id, base, changes: changesOf(numbered(1), numbered(2)) });
    await expect(from).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await writer.checkpoints.create({ execution_id, snapshot: numbered(2) });
  });

  it('CKPT-35 histories sent as changes, or by a client that decides, are stored as those sent whole', async () => {
    const { store } = test();
    const runs = { sqlite: 12, http: 12, postgres: 4 }[test().target];
    await fc.assert(
      fc.asyncProperty(
        histories(16),
        fc.array(fc.nat({ max: 3 }), { minLength: 16, maxLength: 16 }),
        async (steps, back) => {
          const cairn = await test().freshTenant();
          const tenant = (await cairn.auth.whoami()).tenant_id;
          const local = store.api({ tenant_id: tenant, agent_id: null, role: 'admin', key_id: null });
          const working = new Working();
          for (const id of ['whole', 'changes', 'client']) await cairn.executions.create({ execution_id: id });
          const taken: Snapshot[] = [noSnapshot()];
          const create = { whole: local, changes: cairn, client: cairn };
          for (const name of Object.keys(create))
            await take(local, name, taken[0]!, { checkpoint_id: `${name} 0`, timestamp: 1 });
          for (const [i, step] of steps.entries()) {
            if (step.do !== 'keep') continue;
            for (const edit of step.edits) working.apply(edit);
            // Long states, so that the client sends changes.
            Object.assign(working.snapshot.context.variables, { long });
            const { snapshot } = working;
            const base = Math.max(0, taken.length - 1 - back[i]!);
            const parent = step.parent && Math.max(0, taken.length - 1 - step.parent.older);
            for (const [name, api] of Object.entries(create)) {
              const more = {
                checkpoint_id: `${name} ${taken.length}`,
                timestamp: i,
                labels: { i },
                ...(parent === undefined
                  ? {}
                  : parent === null
                    ? { root: true }
                    : { parent_checkpoint_id: `${name} ${parent}` }),
              };
              if (name !== 'changes') await take(api, name, snapshot, more);
              else
                await api.checkpoints.create({
                  ...more,
                  execution_id: name,
                  base: `changes ${base}`,
                  changes: changesOf(taken[base]!, snapshot),
                });
            }
            taken.push(structuredClone(snapshot));
          }
          for (const [i, snapshot] of taken.entries())
            for (const name of Object.keys(create)) expect(await snapshotOf(local, `${name} ${i}`)).toEqual(snapshot);
          const whole = await rowsOf(test(), tenant, 'whole');
          expect(await rowsOf(test(), tenant, 'changes')).toEqual(whole);
          expect(await rowsOf(test(), tenant, 'client')).toEqual(whole);
        },
      ),
      { numRuns: runs },
    );
  });
});

onEveryTarget('a client of checkpoints', (test) => {
  /** A client that notes the bodies that it sends. */
  async function noting(tenant: string) {
    const admin = await test().as({ tenant });
    const { key } = await admin.keys.create({ role: 'admin' });
    const bodies: Record<string, unknown>[] = [];
    const client = connectCairn({
      url: test().url!,
      key,
      fetch: (url, options) => {
        if (String(url).endsWith('/checkpoints')) bodies.push(JSON.parse(String(options?.body)));
        return fetch(url, options);
      },
    });
    return { client, bodies, forms: () => bodies.splice(0).map((body) => (body.snapshot ? 'whole' : 'changes')) };
  }

  it('CKPT-36 sends changes where that is shorter, and the whole state when the server has no base', async (context) => {
    if (test().target !== 'http') context.skip();
    const tenant = `t-${Math.random()}`.replace('.', '');
    const { client, bodies, forms } = await noting(tenant);
    const execution_id = await someExecution(client);
    const messages = [message(long)];
    const snapshot = state({ messages, variables: { n: 0 } });
    const ids: string[] = [];
    const next = async (edit: () => void) => {
      edit();
      ids.push((await client.checkpoints.create({ execution_id, snapshot })).id);
      expect(await snapshotOf(client, ids.at(-1)!)).toEqual(snapshot);
    };
    await next(() => {});
    await next(() => messages.push(message('short')));
    expect(bodies[1]).toEqual({
      execution_id,
      base: ids[0],
      changes: { '/context/messages/1:1': { before: [], after: [message('short')] } },
    });
    // In place, in an object that was sent before; then everything.
    await next(() => (messages[1]!.content = 'edited'));
    await next(() => {});
    await next(() => (messages[0]!.content = long.toUpperCase()));
    expect(forms()).toEqual(['whole', 'changes', 'changes', 'changes', 'whole']);
    // The base is gone.
    await (await test().as({ tenant })).checkpoints.create({ execution_id, snapshot: numbered(1) });
    await client.executions.prune({ execution_id, keep_newest: 1 });
    await next(() => messages.push(message('after the prune')));
    await next(() => messages.push(message('and again')));
    expect(forms()).toEqual(['changes', 'whole', 'changes']);
    // As the server stores it: enumerations in any case.
    Object.assign(messages[1]!, { role: 'USER' });
    const { id } = await client.checkpoints.create({ execution_id, snapshot });
    Object.assign(messages[1]!, { role: 'user' });
    expect(await snapshotOf(client, id)).toEqual(snapshot);
    // What a server refuses is refused as the whole state, and the next state is sent as usual.
    Object.assign(messages[1]!, { role: 'nobody' });
    await expect(client.checkpoints.create({ execution_id, snapshot })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('snapshot.context.messages[1].role'),
    });
    Object.assign(messages[1]!, { role: 'user' });
    forms();
    await next(() => {});
    await next(() => messages.push(message('last')));
    expect(forms().at(-1)).toBe('changes');
    await client.close();
  });
});

describe('changes', () => {
  it('CKPT-30 share with the base what they do not touch', () => {
    const base = state({ messages: [message('a')], variables: { list: [1] } });
    const changes = changesOf(base, state({ messages: [message('a'), message('b')], variables: { list: [1] } }));
    const after = applyChanges(base as unknown as Json, changes) as unknown as Snapshot;
    expect(after.context.messages[0]).toBe(base.context.messages[0]);
    expect(after.context.variables).toBe(base.context.variables);
  });
});

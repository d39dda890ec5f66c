import { expect, it } from 'vitest';
import type { Thought } from '#cairn/checkpoints/checkpoints/model.js';
import type { Api } from '#cairn/client/index.js';
import type { JsonObject } from '#cairn/kernel/contract.js';
import {
  idsOf,
  numbered,
  someExecution,
  someRun,
  state,
  take,
  thought,
  toolCall,
} from '../support/nouns/checkpoints.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

type Filter = NonNullable<Parameters<Api['checkpoints']['list']>[0]>;

/** The ids that a filter finds; `total` counts them. */
async function found(cairn: Api, filter: Filter): Promise<string> {
  const page = await cairn.checkpoints.list(filter);
  expect(page.total).toBe(page.checkpoints.length);
  return idsOf(page).join('');
}

/** Every page of a list, two by two. */
async function walked<T>(
  read: (page: { limit: number; cursor?: string }) => Promise<{ items: T[]; next_cursor: string | null }>,
): Promise<T[]> {
  const all: T[] = [];
  let cursor: string | undefined;
  do {
    const page = await read({ limit: 2, ...(cursor === undefined ? {} : { cursor }) });
    expect(page.items.length).toBeLessThanOrEqual(2);
    all.push(...page.items);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return all;
}

/**
 * a: thought p (planning, 0.9) and tool shell, well. b: edits p to 0.2, adds q; shell fails. c: takes q out.
 * Branches off b: d takes p out, e edits p to 0.95 and inherits the rest. f follows d.
 */
async function branched(cairn: Api): Promise<string> {
  const execution_id = await someExecution(cairn, { agent_id: 'ann' });
  const p = thought('p', { type: 'planning', content: 'Look at the Login', confidence: 0.9 });
  const low = { ...p, confidence: 0.2 };
  const q = thought('q', { content: 'other', reasoning: 'the LOGIN again', confidence: 0.4 });
  const ok = toolCall('shell', { duration_ms: 5 });
  const failed = toolCall('shell', { success: false, duration_ms: 50.5, timestamp: 2 });
  const slow = toolCall('fetch', { duration_ms: 900, timestamp: 3 });
  const add = (checkpoint_id: string, steps: (typeof p)[], completed: (typeof ok)[], parent?: string) =>
    take(cairn, execution_id, state({ steps, completed }), {
      checkpoint_id,
      ...(parent === undefined ? {} : { parent_checkpoint_id: parent }),
    });
  await add('a', [p], [ok]);
  await add('b', [low, q], [ok, failed]);
  await add('c', [low], [ok, failed, slow]);
  await add('d', [q], [failed], 'b');
  await add('e', [{ ...p, confidence: 0.95 }, q], [ok, failed], 'b');
  await add('f', [q], [failed], 'd');
  return execution_id;
}

onEveryTarget('queries of checkpoints', (test) => {
  it('CKPT-10 checkpoints are found by execution, agent, thread, namespace, reason, name and time', async () => {
    const cairn = await test().freshTenant();
    const one = await someExecution(cairn, { agent_id: 'ann', thread_id: 't' });
    const two = await someExecution(cairn, { thread_id: 't', namespace: 'sub' });
    const add = (execution_id: string, checkpoint_id: string, timestamp: number, more: object = {}) =>
      take(cairn, execution_id, numbered(timestamp), { checkpoint_id, timestamp, ...more });
    await add(one, 'a', 1000, { name: 'first' });
    await add(one, 'b', 2000, { metadata: { checkpoint_reason: 'tool_error' } });
    await add(two, 'c', 3000.5, { metadata: { checkpoint_reason: 'step_complete' }, name: 'first' });
    await add(two, 'd', 4000, { metadata: { checkpoint_reason: 'auto' } });
    const at = (ms: number) => new Date(ms).toISOString();
    expect(await found(cairn, {})).toBe('abcd');
    expect(await found(cairn, { execution_id: one })).toBe('ab');
    expect(await found(cairn, { agent_id: 'ann' })).toBe('ab');
    expect(await found(cairn, { agent_id: 'agent' })).toBe('cd');
    expect(await found(cairn, { thread_id: 't' })).toBe('abcd');
    expect(await found(cairn, { thread_id: 't', namespace: '' })).toBe('ab');
    expect(await found(cairn, { namespace: 'sub' })).toBe('cd');
    for (const [checkpoint_reason, ids] of [
      ['manual', 'a'],
      ['tool_error', 'b'],
      ['step_complete', 'c'],
      ['auto', 'd'],
      ['low_confidence', ''],
    ] as const)
      expect(await found(cairn, { checkpoint_reason })).toBe(ids);
    expect(await found(cairn, { name: 'first' })).toBe('ac');
    expect(await found(cairn, { name: 'fir' })).toBe('');
    expect(await found(cairn, { taken_after: at(2000) })).toBe('bcd');
    expect(await found(cairn, { taken_before: at(2000) })).toBe('a');
    expect(await found(cairn, { taken_after: at(3000), taken_before: at(3001) })).toBe('c');
    expect(await found(cairn, { name: 'first', thread_id: 't', namespace: 'sub' })).toBe('c');
    expect(await found(cairn, { execution_id: 'nobody' })).toBe('');
  });

  it('CKPT-10 labels are found by members of any value', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    const odd: JsonObject = { '': 'empty', 'a"b': '\n\u0001"\\', $: 1, 'x.y[0]': 'p', é: '😀/', constructor: 2 };
    const labels: JsonObject[] = [
      { kind: 'a', n: 1, nested: { deep: [1, { z: null, a: 'x' }] } },
      { kind: 'a', n: 1.5, tiny: 1e-7, large: 1e21, none: null },
      { kind: 'b', n: '1', flag: true, list: [] },
      odd,
    ];
    const names = ['a', 'b', 'c', 'd'];
    for (const [i, checkpoint_id] of names.entries())
      await take(cairn, execution_id, numbered(0), { checkpoint_id, labels: labels[i]! });
    await take(cairn, execution_id, numbered(0), { checkpoint_id: 'e' });
    expect(await found(cairn, { labels: {} })).toBe('abcde');
    expect(await found(cairn, { labels: { kind: 'a' } })).toBe('ab');
    expect(await found(cairn, { labels: { kind: 'a', n: 1 } })).toBe('a');
    expect(await found(cairn, { labels: { n: '1' } })).toBe('c');
    expect(await found(cairn, { labels: { nested: { deep: [1, { a: 'x', z: null }] } } })).toBe('a');
    expect(await found(cairn, { labels: { nested: { deep: [1] } } })).toBe('');
    for (const own of [{ n: 1.5 }, { tiny: 1e-7 }, { large: 1e21 }, { none: null }])
      expect(await found(cairn, { labels: own }), JSON.stringify(own)).toBe('b');
    expect(await found(cairn, { labels: { flag: true } })).toBe('c');
    expect(await found(cairn, { labels: { flag: 'true' } })).toBe('');
    expect(await found(cairn, { labels: { list: [] } })).toBe('c');
    for (const [name, value] of Object.entries(odd))
      expect(await found(cairn, { labels: { [name]: value } }), JSON.stringify(name)).toBe('d');
    expect(await found(cairn, { labels: JSON.parse('{"__proto__":1}') as JsonObject })).toBe('');
    expect(await found(cairn, { labels: { missing: null } })).toBe('');
  });

  it('CKPT-10 lists go by id in either order, from before an id, page by page through any filter', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someRun(cairn, ['c', 'B', '10', 'é', 'a', '9']);
    await someRun(cairn, ['0', 'zz']);
    const ordered = ['10', '9', 'B', 'a', 'c', 'é'];
    expect(idsOf(await cairn.checkpoints.list({ execution_id }))).toEqual(ordered);
    const desc = await cairn.checkpoints.list({ execution_id, order: 'desc' });
    expect(idsOf(desc)).toEqual(ordered.toReversed());
    expect(await found(cairn, { execution_id, before_id: 'a', order: 'desc' })).toBe('B910');
    expect(await found(cairn, { execution_id, before_id: '10' })).toBe('');
    const filters: [Filter, string[]][] = [
      [{ execution_id }, ordered],
      [{ execution_id, order: 'desc' }, ordered.toReversed()],
      [{ execution_id, checkpoint_reason: 'manual', before_id: 'é' }, ordered.slice(0, 5)],
      [{ execution_id, labels: {}, before_id: 'é', order: 'desc' }, ordered.slice(0, 5).toReversed()],
    ];
    for (const [filter, expected] of filters) {
      const ids = await walked(async (page) => {
        const { checkpoints, next_cursor } = await cairn.checkpoints.list({ ...filter, ...page });
        return { items: checkpoints.map(({ id }) => id), next_cursor };
      });
      expect(ids).toEqual(expected);
    }
    const { next_cursor } = await cairn.checkpoints.list({ execution_id, limit: 2 });
    const other = { execution_id, limit: 2, order: 'desc' as const, cursor: next_cursor! };
    expect(await refusalOf(cairn.checkpoints.list(other))).toMatchObject({ code: 'INVALID_CURSOR' });
    expect(idsOf(await cairn.checkpoints.list({ execution_id, offset: 4 }))).toEqual(['c', 'é']);
  });

  it('CKPT-11 checkpoints are found by the tool calls and thoughts that they brought', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await branched(cairn);
    await someRun(cairn, ['x']);
    expect(await found(cairn, { tool_id: 'shell' })).toBe('ab');
    expect(await found(cairn, { tool_id: 'shell', tool_success: true })).toBe('a');
    expect(await found(cairn, { tool_success: false })).toBe('b');
    expect(await found(cairn, { tool_slower_than_ms: 50.5 })).toBe('c');
    expect(await found(cairn, { tool_slower_than_ms: 50.4 })).toBe('bc');
    expect(await found(cairn, { tool_id: 'shell', tool_slower_than_ms: 100 })).toBe('');
    expect(await found(cairn, { tool_id: 'shel' })).toBe('');
    expect(await found(cairn, { thought_type: 'planning' })).toBe('abe');
    expect(await found(cairn, { confidence_below: 0.5 })).toBe('b');
    expect(await found(cairn, { confidence_below: 0.2 })).toBe('');
    expect(await found(cairn, { confidence_below: 0.95 })).toBe('ab');
    expect(await found(cairn, { thought_text: 'login' })).toBe('abe');
    expect(await found(cairn, { thought_text: 'lOGIN AGAIN' })).toBe('b');
    expect(await found(cairn, { thought_text: '%' })).toBe('');
    // Of one and the same thought.
    expect(await found(cairn, { thought_type: 'planning', confidence_below: 0.5 })).toBe('b');
    expect(await found(cairn, { thought_type: 'reasoning', confidence_below: 0.3 })).toBe('');
    // Of both kinds, each holds.
    expect(await found(cairn, { thought_type: 'planning', tool_success: false })).toBe('b');
    expect(await found(cairn, { execution_id, agent_id: 'ann', thought_text: 'the', order: 'desc' })).toBe('eba');
    expect(await found(cairn, { agent_id: 'agent', thought_text: 'the' })).toBe('');
  });

  it('CKPT-11 with inherited, also those that have it from before, on every branch until it is edited or taken out', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await branched(cairn);
    const inherited = (filter: Filter) => found(cairn, { ...filter, execution_id, inherited: true });
    expect(await inherited({ tool_id: 'shell' })).toBe('abcdef');
    expect(await inherited({ tool_id: 'shell', tool_success: true })).toBe('abce');
    expect(await inherited({ tool_success: false })).toBe('bcdef');
    expect(await inherited({ tool_id: 'fetch' })).toBe('c');
    expect(await inherited({ thought_type: 'planning' })).toBe('abce');
    expect(await inherited({ confidence_below: 0.3 })).toBe('bc');
    expect(await inherited({ thought_text: 'again' })).toBe('bdef');
    expect(await inherited({ thought_type: 'planning', confidence_below: 0.5, tool_success: false })).toBe('bc');
    expect(await found(cairn, { inherited: true, tool_id: 'shell', tool_success: true, order: 'desc' })).toBe('ecba');
    const ids = await walked(async (page) => {
      const filter = { inherited: true, tool_success: false, execution_id };
      const { checkpoints, next_cursor } = await cairn.checkpoints.list({ ...filter, ...page });
      return { items: checkpoints.map(({ id }) => id), next_cursor };
    });
    expect(ids.join('')).toBe('bcdef');
  });

  it('CKPT-12 thoughts are listed with the checkpoint that brought them; of one checkpoint, all that it has', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await branched(cairn);
    type Thoughts = NonNullable<Parameters<Api['checkpoints']['thoughts']>[0]>;
    const listed = async (filter: Thoughts) => {
      const { thoughts, total } = await cairn.checkpoints.thoughts(filter);
      expect(total).toBe(thoughts.length);
      return thoughts.map(({ checkpoint_id, id, confidence }) => `${checkpoint_id}${id}${confidence}`);
    };
    expect(await listed({})).toEqual(['ap0.9', 'bp0.2', 'bq0.4', 'ep0.95']);
    expect(await listed({ execution_id, confidence_below: 0.5 })).toEqual(['bp0.2', 'bq0.4']);
    expect(await listed({ thought_type: 'planning', thought_text: 'look' })).toEqual(['ap0.9', 'bp0.2', 'ep0.95']);
    expect(await listed({ agent_id: 'bob' })).toEqual([]);
    expect(await listed({ checkpoint_id: 'e' })).toEqual(['ep0.95', 'eq0.4']);
    expect(await listed({ checkpoint_id: 'f' })).toEqual(['fq0.4']);
    expect(await listed({ checkpoint_id: 'b', confidence_below: 0.3 })).toEqual(['bp0.2']);
    expect(await listed({ checkpoint_id: 'b', thought_text: 'AGAIN' })).toEqual(['bq0.4']);
    expect(await listed({ checkpoint_id: 'b', agent_id: 'bob' })).toEqual([]);
    expect(await listed({ checkpoint_id: 'b', execution_id: 'other' })).toEqual([]);
    const [first] = (await cairn.checkpoints.thoughts({ checkpoint_id: 'a' })).thoughts;
    const { children: _, ...p } = thought('p', { type: 'planning', content: 'Look at the Login', confidence: 0.9 });
    expect(first).toEqual({ execution_id, checkpoint_id: 'a', ...p });
    const paged = await walked(async (page) => {
      const { thoughts, next_cursor } = await cairn.checkpoints.thoughts(page);
      return { items: thoughts.map(({ checkpoint_id, id }) => `${checkpoint_id}${id}`), next_cursor };
    });
    expect(paged).toEqual(['ap', 'bp', 'bq', 'ep']);
  });

  it('LIST-2 a cursor that no list of thoughts or tool calls has made is refused', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await branched(cairn);
    const lists = [cairn.checkpoints.thoughts, cairn.checkpoints.tool_calls];
    for (const read of lists) {
      for (const where of [{ execution_id }, { checkpoint_id: 'b' }]) {
        const real = (await read({ ...where, limit: 1 })).next_cursor!;
        const [mark] = JSON.parse(Buffer.from(real, 'base64url').toString()) as [string, string];
        for (const key of ['', '[]', '["a"]', '["a",1]', '["\\u0000","p"]', '["\\x","p"]', '["\\ud800","p"]']) {
          const cursor = Buffer.from(JSON.stringify([mark, key])).toString('base64url');
          const refusal = await refusalOf(read({ ...where, cursor }));
          expect(refusal, key).toMatchObject({ code: 'INVALID_CURSOR', status: 400 });
        }
      }
    }
  });

  it('CKPT-11 a thought that only got a child is not brought again', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    const confidences = [0.25, 0.5, 0.75, 1];
    const chain: Thought[] = [];
    for (const [i, confidence] of confidences.entries()) {
      const parent = chain.at(-1);
      parent?.children.push(`t${i}`);
      chain.push(thought(`t${i}`, { confidence, ...(parent ? { parent_id: parent.id } : {}) }));
      await take(cairn, execution_id, state({ steps: structuredClone(chain) }), { checkpoint_id: `c${i}` });
    }
    const { thoughts, total } = await cairn.checkpoints.thoughts({ execution_id });
    expect(total).toBe(4);
    expect(thoughts.map(({ checkpoint_id, id }) => checkpoint_id + id)).toEqual(['c0t0', 'c1t1', 'c2t2', 'c3t3']);
    expect(await found(cairn, { confidence_below: 0.3 })).toBe('c0');
    expect(await found(cairn, { confidence_below: 0.3, inherited: true })).toBe('c0c1c2c3');
    const { steps } = await cairn.executions.stats({ execution_id });
    expect(steps.map(({ mean_confidence }) => mean_confidence)).toEqual(confidences);
    const { snapshot, diff } = await cairn.checkpoints.get({ checkpoint_id: 'c3', diff: true });
    expect(snapshot.thought_chain.steps).toEqual(chain);
    expect(diff?.summary).toBe('1 thought added');
    // One that names children of whom nobody else knows has them all the same, and is found without.
    chain[0]!.children = ['nobody'];
    await take(cairn, execution_id, state({ steps: chain }), { checkpoint_id: 'c4' });
    expect((await cairn.checkpoints.get({ checkpoint_id: 'c4' })).snapshot.thought_chain.steps).toEqual(chain);
    const listed = await cairn.checkpoints.thoughts({ checkpoint_id: 'c4' });
    const across = await cairn.checkpoints.thoughts({ execution_id });
    for (const each of [...listed.thoughts, ...across.thoughts]) expect(each).not.toHaveProperty('children');
  });

  it('CKPT-12 letters from A to Z are found in either case, others as they are, in both kinds of list', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    await take(cairn, execution_id, state({ steps: [thought('t', { content: 'Ärger mit 100% İ' })] }), {
      checkpoint_id: 'a',
    });
    for (const where of [{}, { checkpoint_id: 'a' }]) {
      const count = async (thought_text: string) =>
        (await cairn.checkpoints.thoughts({ ...where, thought_text })).thoughts.length;
      expect(await count('RGER MIT')).toBe(1);
      expect(await count('Ärger')).toBe(1);
      expect(await count('ärger')).toBe(0);
      expect(await count('100% İ')).toBe(1);
      expect(await count('i̇')).toBe(0);
    }
  });

  it('CKPT-12 tool calls are listed in the same way', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await branched(cairn);
    type ToolCalls = NonNullable<Parameters<Api['checkpoints']['tool_calls']>[0]>;
    const listed = async (filter: ToolCalls) => {
      const { tool_calls, total } = await cairn.checkpoints.tool_calls(filter);
      expect(total).toBe(tool_calls.length);
      return tool_calls.map(({ checkpoint_id, id }) => `${checkpoint_id} ${id}`);
    };
    expect(await listed({})).toEqual(['a shell@1', 'b shell@2', 'c fetch@3']);
    expect(await listed({ execution_id, tool_success: false })).toEqual(['b shell@2']);
    expect(await listed({ tool_slower_than_ms: 5 })).toEqual(['b shell@2', 'c fetch@3']);
    expect(await listed({ agent_id: 'ann', tool_id: 'shell' })).toEqual(['a shell@1', 'b shell@2']);
    expect(await listed({ checkpoint_id: 'c' })).toEqual(['c shell@1', 'c shell@2', 'c fetch@3']);
    expect(await listed({ checkpoint_id: 'c', tool_slower_than_ms: 5 })).toEqual(['c shell@2', 'c fetch@3']);
    expect(await listed({ checkpoint_id: 'd', tool_success: true })).toEqual([]);
    const paged = await walked(async (page) => {
      const { tool_calls, next_cursor } = await cairn.checkpoints.tool_calls({ checkpoint_id: 'c', ...page });
      return { items: tool_calls.map(({ id }) => id), next_cursor };
    });
    expect(paged).toEqual(['shell@1', 'shell@2', 'fetch@3']);
    const [slow] = (await cairn.checkpoints.tool_calls({ tool_id: 'fetch' })).tool_calls;
    const sent = toolCall('fetch', { duration_ms: 900, timestamp: 3 });
    expect(slow).toEqual({ execution_id, checkpoint_id: 'c', id: 'fetch@3', ...sent });
  });

  it('CKPT-13 a tool call without an id has one from its tool, time and place, which the snapshot does not get', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    const same = toolCall('shell', { timestamp: 7.5 });
    const completed = [same, toolCall('shell', { id: 'own', timestamp: 7.5 }), same, toolCall('x'), { ...same }];
    const { id } = await take(cairn, execution_id, state({ completed }));
    const expected = ['shell@7.5', 'own', 'shell@7.5#2', 'x@1', 'shell@7.5#3'];
    const ofOne = await cairn.checkpoints.tool_calls({ checkpoint_id: id });
    expect(ofOne.tool_calls.map((call) => call.id)).toEqual(expected);
    const all = await cairn.checkpoints.tool_calls({});
    expect(all.tool_calls.map((call) => call.id)).toEqual(expected.toSorted());
    expect((await cairn.checkpoints.get({ checkpoint_id: id })).snapshot.tool_state.completed).toEqual(completed);
    const clash = [same, toolCall('y', { id: 'shell@7.5' })];
    expect(await refusalOf(take(cairn, execution_id, state({ completed: clash })))).toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('shell@7.5'),
    });
  });
});

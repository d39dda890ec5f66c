import { expect, it } from 'vitest';
import { MAX_ENTRIES } from '#cairn/checkpoints/checkpoints/model.js';
import type { Api } from '#cairn/client/index.js';
import type { Json } from '#cairn/kernel/contract.js';
import {
  message,
  numbered,
  snapshotOf,
  someExecution,
  state,
  take,
  thought,
  toolCall,
} from '../support/nouns/checkpoints.js';
import { latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const invalid = { code: 'INVALID_INPUT', status: 400 };

/** Each is refused by a message that has the word in it; nothing is written, and the run goes on as if nothing was. */
async function refusedByName(cairn: Api, cases: readonly (readonly [unknown, string])[]): Promise<void> {
  const execution_id = await someExecution(cairn);
  const good = state({ messages: [message('m')], variables: { big: { text: 'x'.repeat(5000), n: 1 } } });
  await take(cairn, execution_id, good, { checkpoint_id: 'good' });
  const before = await latestToken(cairn);
  for (const [snapshot, word] of cases) {
    const refusal = await refusalOf(take(cairn, execution_id, snapshot as never));
    expect(refusal, word).toMatchObject(invalid);
    expect(refusal.message).toContain(word);
    expect(refusal.message.length).toBeLessThan(500);
  }
  expect(await latestToken(cairn)).toBe(before);
  const next = await take(cairn, execution_id, numbered(2));
  expect(next.parent?.checkpoint_id).toBe('good');
  expect(await snapshotOf(cairn, 'good')).toEqual(good);
  expect(await snapshotOf(cairn, next.id)).toEqual(numbered(2));
}

const nested = (depth: number): Json => {
  let value: Json = 1;
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value };
  return value;
};
const variables = (value: unknown) => state({ variables: { x: value } as never });
const { thought_chain, context, tool_state } = state();

onEveryTarget('input of checkpoints', (test) => {
  it('CKPT-16 what is no snapshot is refused by the name of what is wrong', async () => {
    await refusedByName(await test().freshTenant(), [
      ['text', 'snapshot'],
      [null, 'snapshot'],
      [[], 'snapshot'],
      [7, 'snapshot'],
      [{}, 'thought_chain'],
      [{ thought_chain, context }, 'tool_state'],
      [{ thought_chain: null, context, tool_state }, 'thought_chain'],
      [{ thought_chain: { steps: {} }, context, tool_state }, 'steps'],
      [{ thought_chain, context: { ...context, messages: 'x' }, tool_state }, 'messages'],
      [{ thought_chain, context: { ...context, variables: [] }, tool_state }, 'variables'],
      [{ thought_chain, context: { ...context, memory: 'x' }, tool_state }, 'memory'],
      [{ thought_chain, context, tool_state: { pending: [1], completed: [] } }, 'pending'],
      [{ thought_chain, context, tool_state: { pending: [], completed: [null] } }, 'completed[0]'],
    ]);
  });

  it('CKPT-16 an unknown field is named at every level', async () => {
    const more = { no_such_field: 1 };
    await refusedByName(
      await test().freshTenant(),
      [
        { ...state(), ...more },
        { thought_chain: { ...thought_chain, ...more }, context, tool_state },
        { thought_chain, context: { ...context, ...more }, tool_state },
        { thought_chain, context, tool_state: { ...tool_state, ...more } },
        state({ steps: [thought('a'), { ...thought('b'), ...more }] }),
        state({ messages: [{ ...message('m'), ...more }] }),
        state({ memory: [{ key: 'k', value: 1, importance: 1, ...more }] }),
        state({ completed: [toolCall('t'), { ...toolCall('t'), ...more }] }),
      ].map((snapshot) => [snapshot, 'no_such_field'] as const),
    );
  });

  it('CKPT-16 a wrong value of an element is named with its place', async () => {
    const steps = (more: object) => state({ steps: [thought('a'), { ...thought('b'), ...more }] });
    const at = 'snapshot.thought_chain.steps[1]';
    const { id: _, ...noId } = thought('b');
    await refusedByName(await test().freshTenant(), [
      [steps({ type: 'dreaming' }), `${at}.type`],
      [steps({ confidence: 1.1 }), `${at}.confidence`],
      [steps({ confidence: -0.1 }), `${at}.confidence`],
      [steps({ timestamp: -1 }), `${at}.timestamp`],
      [steps({ content: 7 }), `${at}.content`],
      [steps({ children: 'x' }), `${at}.children`],
      [steps({ metadata: [] }), `${at}.metadata`],
      [steps({ id: '..' }), `${at}.id`],
      [state({ steps: [noId as never] }), 'snapshot.thought_chain.steps[0].id'],
      [
        state({ messages: [message('m'), { role: 'boss', content: '' } as never] }),
        'snapshot.context.messages[1].role',
      ],
      [state({ memory: [{ key: 'k', value: 1, importance: 'high' } as never] }), 'memory[0].importance'],
      [state({ completed: [toolCall('t', { duration_ms: -1 })] }), 'completed[0].duration_ms'],
      [state({ completed: [toolCall('t', { success: 1 as never })] }), 'completed[0].success'],
      [state({ completed: [toolCall('')] }), 'completed[0].tool_id'],
    ]);
  });

  it('CKPT-16 two thoughts or tool calls with one id are refused', async () => {
    await refusedByName(await test().freshTenant(), [
      [state({ steps: [thought('a'), thought('twice'), thought('twice')] }), 'twice'],
      [state({ completed: [toolCall('x', { id: 'twice' }), toolCall('y', { id: 'twice' })] }), 'twice'],
    ]);
  });

  it('CKPT-16 NUL and half surrogates are refused wherever text is', async () => {
    const cases: [unknown, string][] = [];
    for (const [bad, word] of [
      ['a\u0000b', 'NUL'],
      ['x\ud83d', 'surrogate'],
    ] as const)
      cases.push(
        [state({ messages: [message(bad)] }), word],
        [state({ messages: [{ ...message('m'), tool_results: { deep: [bad] } }] }), word],
        [state({ steps: [thought('a', { content: bad })] }), word],
        [state({ steps: [thought('a', { metadata: { [bad]: 1 } })] }), word],
        [state({ completed: [toolCall('t', { arguments: { a: bad } })] }), word],
        [state({ memory: [{ key: bad, value: 1, importance: 1 }] }), word],
        [variables(bad), word],
        [variables({ [bad]: 1 }), word],
        [state({ variables: { [bad]: 1 } }), word],
        [state({ variables: { big: { text: 'x'.repeat(5000), n: bad } } }), word],
        [state({ variables: { big: { text: 'x'.repeat(5000), n: 1, [bad]: 1 } } }), word],
        [variables(['y'.repeat(5000), { [bad]: [] }]), word],
      );
    await refusedByName(await test().freshTenant(), cases);
  });

  it('CKPT-16 what is nested deeper than 64 levels is refused, also where it grows bit by bit', async () => {
    const deep = nested(70);
    await refusedByName(await test().freshTenant(), [
      [variables(deep), '64'],
      [variables(['y'.repeat(5000), deep]), '64'],
      [state({ variables: { big: { text: 'x'.repeat(5000), n: deep } } }), '64'],
      [state({ messages: [{ ...message('m'), tool_calls: deep }] }), '64'],
      [state({ steps: [thought('a', { metadata: { deep } })] }), '64'],
      [state({ completed: [toolCall('t', { result: deep })] }), '64'],
      [state({ memory: [{ key: 'k', value: deep, importance: 1 }] }), '64'],
    ]);
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    const long = 'z'.repeat(5000);
    let value: Json = [long];
    let grown = 0;
    const grow = async (): Promise<void> => {
      for (; grown < 80; grown++) {
        value = [long, value];
        await take(cairn, execution_id, variables(value));
      }
    };
    expect(await refusalOf(grow())).toMatchObject(invalid);
    expect(grown).toBeGreaterThan(50);
    expect(grown).toBeLessThan(64);
  });

  it('CKPT-16 what JSON cannot hold is refused, never rewritten', async () => {
    const values: unknown[] = [Number.NaN, Number.POSITIVE_INFINITY, 10n, new Date(0), new Map(), () => 1, [undefined]];
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    for (const value of values)
      for (const snapshot of [
        variables(value),
        variables({ text: 'x'.repeat(5000), deep: [value] }),
        state({ messages: [{ ...message('m'), tool_calls: { a: value } as never }] }),
      ])
        expect((await refusalOf(take(cairn, execution_id, snapshot))).code, String(value)).toBe('INVALID_INPUT');
    expect((await cairn.executions.get({ execution_id })).checkpoints).toBe(0);
  });

  it('CKPT-16 fields around the snapshot are checked as others are', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    for (const [more, word] of [
      [{ checkpoint_id: '.' }, 'checkpoint_id'],
      [{ name: '' }, 'name'],
      [{ description: 7 }, 'description'],
      [{ labels: [] }, 'labels'],
      [{ labels: { a: 'x'.repeat(70_000) } }, 'labels'],
      [{ timestamp: -1 }, 'timestamp'],
      [{ timestamp: 253_402_300_800_000 }, 'timestamp'],
      [{ metadata: { step_number: 1.5 } }, 'metadata.step_number'],
      [{ metadata: { checkpoint_reason: 'whim' } }, 'metadata.checkpoint_reason'],
      [{ metadata: { extra: 1 } }, 'extra'],
      [{ parent_checkpoint_id: '' }, 'parent_checkpoint_id'],
      [{ extra: 1 }, 'extra'],
    ] as const) {
      const refusal = await refusalOf(take(cairn, execution_id, state(), more as object));
      expect(refusal, word).toMatchObject(invalid);
      expect(refusal.message).toContain(word);
    }
    expect(await refusalOf(cairn.checkpoints.branch({ checkpoint_id: 'x', reason: '' }))).toMatchObject(invalid);
    const none = { checkpoint_id: 'x', writes: [] };
    expect(await refusalOf(cairn.checkpoints.write(none))).toMatchObject(invalid);
    expect((await cairn.executions.get({ execution_id })).checkpoints).toBe(0);
  });

  it('CKPT-17 a list has 100,000 entries at most, and a snapshot 32 MiB', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    const many = new Array(MAX_ENTRIES + 1);
    const pending = await refusalOf(take(cairn, execution_id, state({ pending: many.fill('p').slice() })));
    expect(pending).toMatchObject(invalid);
    expect(pending.message).toMatch(/100,?000/);
    const messages = state({ messages: many.fill(message('')).slice() });
    // Over HTTP a body ends at 200,000 values, which are fewer messages.
    expect(await refusalOf(take(cairn, execution_id, messages))).toMatchObject(
      test().target === 'http' ? { code: 'TOO_LARGE', details: { max_values: 200_000 } } : invalid,
    );
    const chunk = 'x'.repeat(7 * 1024 * 1024);
    const heavy = state({ variables: { a: chunk, b: chunk, c: chunk, d: chunk, e: chunk } });
    expect(await refusalOf(take(cairn, execution_id, heavy))).toMatchObject({ code: 'TOO_LARGE', status: 413 });
    expect((await cairn.executions.get({ execution_id })).checkpoints).toBe(0);
  });
});

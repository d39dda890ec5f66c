/** The difference between two states: how it is written, that it leads from one to the other, and how it is told. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Changes, Snapshot, Thought, ToolCall } from '#cairn/checkpoints/checkpoints/model.js';
import { diffStates } from '#cairn/checkpoints/states/diff.js';
import { describeChanges } from '#cairn/checkpoints/states/diff-summary.js';
import { applyChanges } from '#cairn/checkpoints/states/patch.js';
import { toolCallIds } from '#cairn/checkpoints/states/tool-call-ids.js';
import type { Json } from '#cairn/kernel/contract.js';
import { canonical } from '#cairn/kernel/node.js';

const text = (json: Json): string => JSON.stringify(json);
const parsed = (json: string): Json => JSON.parse(json);
const list = (length: number, from = 0): Json[] =>
  Array.from({ length }, (_, i) => ({ role: 'user', content: `message ${from + i}` }));

/** Small, so that two of them have much in common. */
const alike = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Json>(0, 1, 'a', null, true, ''),
    fc.array(tie('value'), { maxLength: 7 }),
    fc
      .array(fc.tuple(fc.constantFrom('id', 'a', 'b', '', '0', '1:2', '~/', '__proto__', '/'), tie('value')), {
        maxLength: 5,
      })
      .map((entries) => Object.fromEntries(entries) as Json),
  ),
})).value;
// As it comes from JSON: without -0.
const anything = fc.oneof(alike, fc.json().map(parsed).map(text).map(parsed));

function refusal(action: () => unknown): { code: string; message: string } {
  try {
    action();
  } catch (error) {
    return error as { code: string; message: string };
  }
  throw new Error('it was not refused');
}

describe('diffStates', () => {
  it('leads from any value to any other, changes neither and is the same each time', () => {
    fc.assert(
      fc.property(anything, anything, (a, b) => {
        const before = [text(a), text(b)];
        const changes = diffStates(a, b);
        const through = parsed(text(changes as Json)) as Changes;
        expect(applyChanges(a, changes)).toEqual(b);
        expect(canonical(applyChanges(a, through))).toBe(canonical(b));
        expect(diffStates(parsed(text(a)), parsed(text(b)))).toEqual(changes);
        expect(Object.keys(diffStates(a, b))).toEqual(Object.keys(changes));
        expect([text(a), text(b)]).toEqual(before);
      }),
      { numRuns: 2000 },
    );
  });

  it('is empty for what is the same, in any order of members, with 0 for -0 and undefined for absent', () => {
    fc.assert(
      fc.property(anything, (a) => {
        expect(diffStates(a, parsed(text(a)))).toEqual({});
      }),
    );
    expect(diffStates({ a: 1, b: [{ c: 0, d: 2 }] }, { b: [{ d: 2, c: -0 }], a: 1 })).toEqual({});
    expect(diffStates({ a: 1 }, { a: 1, b: undefined } as unknown as Json)).toEqual({});
  });

  it('names members by their path, and says what was there and what is', () => {
    const a = { plan: { title: 'x', steps: 3 }, gone: null, 'a/b~c': 1, '': { '': 1 } };
    const b = { plan: { title: 'y', steps: 3 }, now: [], 'a/b~c': 2, '': { '': 2 } };
    const changes = diffStates(a, b);
    expect(changes).toEqual({
      '//': { before: 1, after: 2 },
      '/a~1b~0c': { before: 1, after: 2 },
      '/gone': { before: null },
      '/now': { after: [] },
      '/plan/title': { before: 'x', after: 'y' },
    });
    expect(Object.keys(changes)).toEqual(['//', '/a~1b~0c', '/gone', '/now', '/plan/title']);
    expect(diffStates([], {})).toEqual({ '': { before: [], after: {} } });
  });

  it('says little when little happened to a long list', () => {
    const old = list(1000);
    expect(diffStates(old, [...old, ...list(1, 1000)])).toEqual({ '/1000:1000': { before: [], after: list(1, 1000) } });
    expect(diffStates(old, old.toSpliced(400, 1))).toEqual({ '/400:401': { before: [old[400]], after: [] } });
    expect(diffStates(old, old.toSpliced(400, 0, 'new'))).toEqual({ '/400:400': { before: [], after: ['new'] } });
    expect(diffStates(old, [...old.slice(1), ...list(1, 1000)])).toEqual({
      '/0:1': { before: [old[0]], after: [] },
      '/1000:1000': { before: [], after: list(1, 1000) },
    });
    expect(diffStates(old, old.with(7, { role: 'user', content: 'else' }))).toEqual({
      '/7/content': { before: 'message 7', after: 'else' },
    });
  });

  it('says no more than about what was done to a long list, wherever that was', () => {
    const splices = fc.array(fc.tuple(fc.nat(300), fc.nat(5), fc.array(fc.nat(400), { maxLength: 5 })), {
      maxLength: 10,
    });
    fc.assert(
      fc.property(splices, (all) => {
        const old = Array.from({ length: 300 }, (_, i) => i);
        const now = [...old];
        let done = 0;
        for (const [at, removed, put] of all) done += now.splice(at, removed, ...put).length + put.length;
        const changes = diffStates(old, now);
        const said = Object.values(changes).reduce(
          (sum, { before, after }) => sum + (before as Json[]).length + (after as Json[]).length,
          0,
        );
        expect(applyChanges(old, changes)).toEqual(now);
        // An edit in place counts twice, and is preferred.
        expect(said).toBeLessThanOrEqual(2 * done);
      }),
    );
  });

  it('goes into elements that stayed what they are, and replaces the others', () => {
    const a: Json = [{ id: 1, n: 1 }, { id: 2, n: 2 }, [1, 2], 4, { n: 5 }];
    const b: Json = [{ id: 1, n: 'x' }, { id: 3, n: 2 }, [1, 3], 5, { m: 5 }];
    expect(diffStates(a, b)).toEqual({
      '/0/n': { before: 1, after: 'x' },
      '/1:2': { before: [{ id: 2, n: 2 }], after: [{ id: 3, n: 2 }] },
      '/2/1:2': { before: [2], after: [3] },
      '/3:4': { before: [4], after: [5] },
      '/4/m': { after: 5 },
      '/4/n': { before: 5 },
    });
  });

  it('sees that an element was edited and others appended', () => {
    const a = [{ id: 't1', children: [] }];
    const b = [
      { id: 't1', children: ['t2'] },
      { id: 't2', children: [] },
    ];
    expect(diffStates(a, b)).toEqual({
      '/0/children/0:0': { before: [], after: ['t2'] },
      '/1:1': { before: [], after: [{ id: 't2', children: [] }] },
    });
  });
});

describe('applyChanges', () => {
  it('shares what did not change', () => {
    const a = { kept: { deep: [1] }, list: [{ x: 1 }, { x: 1 }], n: 1 };
    const b = applyChanges(a, {
      '/n': { before: 1, after: 2 },
      '/list/1/x': { before: 1, after: 2 },
    }) as unknown as typeof a;
    expect(b).toEqual({ kept: { deep: [1] }, list: [{ x: 1 }, { x: 2 }], n: 2 });
    expect(b.kept).toBe(a.kept);
    expect(b.list[0]).toBe(a.list[0]);
  });

  const state = { a: { b: 1 }, list: [1, 2, { c: 3 }], text: 'x' };
  it.each<[string, Changes]>([
    ['a', { a: { after: 1 } }],
    ['/a/~2', { '/a/~2': { after: 1 } }],
    ['/a/b', { '/a/b': { after: 2 } }],
    ['/a/b', { '/a/b': { before: 3, after: 2 } }],
    ['/a/b', { '/a/b': {} }],
    ['/a/c', { '/a/c': { before: 1 } }],
    ['/a/toString', { '/a/toString': { before: 1, after: 2 } }],
    ['/a/b/c', { '/a/b/c': { after: 1 } }],
    ['/b/c', { '/b/c': { after: 1 } }],
    ['/text/0', { '/text/0': { before: 'x', after: 'y' } }],
    ['/a', { '/a': { before: { b: 1 } }, '/a/b': { before: 1 } }],
    ['', { '': { before: state } }],
    ['', { '': { before: 1, after: 2 } }],
    ['/list/1', { '/list/1': { before: 2, after: 3 } }],
    ['/list/01/c', { '/list/01/c': { before: 3 } }],
    ['/list/3/c', { '/list/3/c': { before: 3 } }],
    ['/list/-', { '/list/-': { after: 3 } }],
    ['/list/2:4', { '/list/2:4': { before: [], after: [] } }],
    ['/list/2:1', { '/list/2:1': { before: [], after: [] } }],
    ['/list/0:1', { '/list/0:1': { before: [2], after: [] } }],
    ['/list/0:1', { '/list/0:1': { before: [1, 2], after: [] } }],
    ['/list/0:1', { '/list/0:1': { before: [1] } }],
    ['/list/0:1/a', { '/list/0:1/a': { after: 1 } }],
    ['/list/1:2', { '/list/0:2': { before: [1, 2], after: [] }, '/list/1:2': { before: [2], after: [] } }],
    ['/list/2/c', { '/list/1:3': { before: [2, { c: 3 }], after: [] }, '/list/2/c': { before: 3 } }],
  ])('refuses what does not fit at "%s": %o', (path, changes) => {
    const before = text(state);
    const { code, message } = refusal(() => applyChanges(state, changes));
    expect(code).toBe('INVALID_INPUT');
    expect(message).toContain(`"${path}"`);
    expect(text(state)).toBe(before);
  });
});

const thought = (id: string, content = id): Thought => ({
  id,
  type: 'planning',
  content,
  confidence: 0.5,
  children: [],
  timestamp: 1,
});
const call = (tool_id: string, success = true, id?: string): ToolCall => ({
  ...(id === undefined ? {} : { id }),
  tool_id,
  arguments: {},
  result: null,
  success,
  duration_ms: 1,
  timestamp: 5,
});
const message = (content: string) => ({ role: 'user' as const, content });

function snapshot(parts: {
  steps?: Thought[];
  current?: string;
  messages?: string[];
  variables?: { [name: string]: Json };
  memory?: string[];
  pending?: string[];
  completed?: ToolCall[];
}): Snapshot {
  const { steps = [], current, messages = [], variables = {}, memory, pending = [], completed = [] } = parts;
  return {
    thought_chain: { steps, ...(current === undefined ? {} : { current_step_id: current }) },
    context: {
      messages: messages.map(message),
      variables,
      ...(memory ? { memory: memory.map((key) => ({ key, value: 1, importance: 1 })) } : {}),
    },
    tool_state: { pending, completed },
  };
}

type Parts = Parameters<typeof snapshot>[0];
const described = (a: Parts, b: Parts) => {
  const [from, to] = [snapshot(a), snapshot(b)];
  return describeChanges(from, to, diffStates(from as Json, to as Json));
};

describe('describeChanges', () => {
  it('names thoughts, variables and tools, and counts messages', () => {
    const a = {
      steps: [thought('t1'), thought('t2'), thought('t3')],
      messages: ['hello'],
      variables: { plan: { title: 'a', n: 1 }, old: 1, kept: 1 },
      completed: [call('shell')],
    };
    const b = {
      steps: [thought('t1'), thought('t2', 'better'), thought('t4'), thought('t5')],
      current: 't5',
      messages: ['hello', 'there', 'again', 'and again'],
      variables: { plan: { title: 'b', n: 2 }, new: 1, kept: 1 },
      completed: [call('shell'), call('shell', false)],
    };
    expect(described(a, b)).toEqual({
      summary:
        '2 thoughts added, 1 changed, 1 removed; 3 messages appended; variable "new" added; variable "plan" {"n":1,"title":"a"} → {"n":2,"title":"b"}; variable "old" removed; tool shell run (failed)',
      thoughts: { added: ['t4', 't5'], changed: ['t2'], removed: ['t3'] },
      messages: { appended: 3, changed: false },
      variables: {
        added: ['new'],
        changed: [{ name: 'plan', before: a.variables.plan, after: b.variables.plan }],
        removed: ['old'],
      },
      tools: { run: [{ id: 'shell@5#2', tool_id: 'shell', success: false }] },
    });
  });

  it.each<[string, Parts, Parts]>([
    ['nothing changed', { messages: ['a'] }, { messages: ['a'] }],
    ['1 thought added', {}, { steps: [thought('t')], current: 't' }],
    ['thoughts rearranged', { steps: [thought('a'), thought('b')] }, { steps: [thought('b'), thought('a')] }],
    [
      '1 thought added',
      { steps: [thought('a')] },
      {
        steps: [
          { ...thought('a'), children: ['b'] },
          { ...thought('b'), parent_id: 'a' },
        ],
      },
    ],
    ['another thought is current', { current: 'a' }, { current: 'b' }],
    ['1 message appended', { messages: ['a'] }, { messages: ['a', 'b'] }],
    ['1 message appended, others changed', { messages: ['a', 'b', 'c', 'd'] }, { messages: ['b', 'c', 'd', 'e'] }],
    ['2 messages appended, others changed', { messages: ['a'] }, { messages: ['x', 'b', 'c'] }],
    ['messages changed', { messages: ['a', 'b'] }, { messages: ['a'] }],
    ['messages changed', { messages: ['a', 'b'] }, { messages: ['a', 'c'] }],
    ['variables "a", "b" added', {}, { variables: { a: 1, b: 1 } }],
    ['4 variables removed', { variables: { a: 1, b: 1, c: 1, d: 1 } }, {}],
    ['variable "a\\n; b" [1] → [1,2]', { variables: { 'a\n; b': [1] } }, { variables: { 'a\n; b': [1, 2] } }],
    ['variable "x" 1 → "1\\n"', { variables: { x: 1 } }, { variables: { x: '1\n' } }],
    ['variable "x" 1 → "\ufffd"', { variables: { x: 1 } }, { variables: { x: '\u2028' } }],
    [`variable "x" null → "${'y'.repeat(38)}"`, { variables: { x: null } }, { variables: { x: 'y'.repeat(38) } }],
    ['variable "x" changed', { variables: { x: null } }, { variables: { x: 'y'.repeat(39) } }],
    [
      'variable "x" [1,2,3,4,5,6,7,8,9] → {}; variable "long" changed',
      { variables: { long: 'a'.repeat(1000), x: [1, 2, 3, 4, 5, 6, 7, 8, 9] } },
      { variables: { long: 'b'.repeat(1000), x: {} } },
    ],
    ['4 variables changed', { variables: { a: 1, b: 1, c: 1, d: 1 } }, { variables: { a: 2, b: 2, c: 2, d: 2 } }],
    ['variable "a/~b" added', {}, { variables: { 'a/~b': [1] } }],
    ['memory changed', {}, { memory: ['k'] }],
    ['2 tools run (1 failed)', { pending: ['x'] }, { completed: [call('a'), call('b', false)] }],
    ['tool a run', {}, { completed: [call('a')] }],
    ['pending tools changed', {}, { pending: ['x'] }],
    ['earlier tool calls changed', { completed: [call('a')] }, { completed: [call('a', false)] }],
  ])('says "%s"', (summary, a, b) => {
    expect(described(a, b).summary).toBe(summary);
  });

  it('says something of every change that a snapshot can have', () => {
    const ids = fc.subarray(['a', 'b', 'c'], { minLength: 0 });
    const some = fc.record({
      steps: ids.map((all) => all.map((id) => thought(id))),
      current: fc.option(fc.constantFrom('a', 'b'), { nil: undefined }),
      messages: ids,
      variables: ids.map((all) => Object.fromEntries(all.map((id) => [id, 1]))),
      memory: fc.option(ids, { nil: undefined }),
      pending: ids,
      completed: ids.map((all) => all.map((id) => call(id))),
    });
    fc.assert(
      fc.property(some, some, (a, b) => {
        const changed = Object.keys(diffStates(snapshot(a) as Json, snapshot(b) as Json)).length > 0;
        expect(described(a as Parts, b as Parts).summary !== 'nothing changed').toBe(changed);
      }),
    );
  });
});

describe('toolCallIds', () => {
  it('derives what was not given from tool, time and place', () => {
    const calls = [call('a'), call('b'), call('a', true, 'own'), call('a'), call('a')];
    expect(toolCallIds(calls)).toEqual(['a@5', 'b@5', 'own', 'a@5#2', 'a@5#3']);
  });
});

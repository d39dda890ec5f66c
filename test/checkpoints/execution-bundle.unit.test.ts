/** Bundles: a tree of states goes into one file and comes out the same, and what does not fit is refused by name. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Snapshot } from '#cairn/checkpoints/checkpoints/model.js';
import {
  type BundledCheckpoint,
  type BundledExecution,
  bundleSteps,
  bundleText,
  readSteps,
} from '#cairn/checkpoints/executions/bundle.js';
import type { Bundle } from '#cairn/checkpoints/executions/model.js';
import { snapshotCheck } from '#cairn/checkpoints/states/snapshot-check.js';
import type { Json } from '#cairn/kernel/contract.js';
import { runSteps } from '#cairn/kernel/index.js';
import * as arbitrary from '../support/nouns/snapshots.js';

const makeBundle = (...args: Parameters<typeof bundleSteps>): Bundle => runSteps(bundleSteps(...args));
const readBundle = (value: unknown) => runSteps(readSteps(value));

const execution: BundledExecution = { execution_id: 'run-1', agent_id: 'coder', status: 'paused', created_at: 5 };

const state = (messages: string[], variables: { [name: string]: Json } = {}): Snapshot => ({
  thought_chain: { steps: [] },
  context: { messages: messages.map((content) => ({ role: 'user', content })), variables },
  tool_state: { pending: [], completed: [] },
});

const bundled = (id: string, parent: string | undefined, snapshot: Snapshot): BundledCheckpoint => ({
  summary: {
    version: '1.0.0',
    id,
    timestamp: 1,
    execution_id: 'run-1',
    agent_id: 'coder',
    metadata: { step_number: 1, tokens_used: 0, duration_ms: 0, checkpoint_reason: 'manual' },
    ...(parent === undefined ? {} : { parent: { checkpoint_id: parent, is_branch: false } }),
  },
  snapshot,
  pending_writes: [],
});

const three = () =>
  makeBundle(execution, [
    bundled('a', undefined, state(['1'])),
    bundled('b', 'a', state(['1', '2'], { n: 1 })),
    bundled('c', 'a', state(['1'], { n: 2 })),
  ]);

/** Some states of a run, each another parent's with a part exchanged, so that they have much in common. */
const histories = fc
  .array(
    fc.record({
      parent: fc.option(fc.nat(), { nil: undefined, freq: 8 }),
      away: fc.boolean(),
      part: fc.constantFrom('thought_chain', 'context', 'tool_state', 'none', 'all'),
      snapshot: arbitrary.snapshot,
      metadata: arbitrary.metadata,
      writes: fc.array(
        fc.record(
          { task_id: fc.constantFrom('x', 'y'), index: fc.nat(9), channel: fc.constant('c'), value: arbitrary.json },
          { noNullPrototype: true },
        ),
        { maxLength: 2 },
      ),
    }),
    { maxLength: 8 },
  )
  .map((steps) => {
    const made: BundledCheckpoint[] = [];
    for (const [i, { parent, away, part, snapshot, metadata, writes }] of steps.entries()) {
      const from = parent === undefined || i === 0 ? undefined : made[parent % i]!;
      const next =
        from === undefined || part === 'all'
          ? snapshot
          : part === 'none'
            ? from.snapshot
            : { ...from.snapshot, [part]: snapshot[part as keyof Snapshot] };
      const one = bundled(`cp-${i}`, from?.summary.id ?? (away ? 'elsewhere' : undefined), next);
      made.push({ ...one, summary: { ...one.summary, metadata }, pending_writes: writes });
    }
    return made;
  });

describe('a bundle', () => {
  it('gives back any tree of states, and has the same bytes each time', () => {
    fc.assert(
      fc.property(histories, (checkpoints) => {
        const made = makeBundle(execution, checkpoints);
        const text = bundleText(made);
        const read = readBundle(JSON.parse(text));
        expect(read).toEqual({ execution, checkpoints });
        expect(bundleText(makeBundle(read.execution, read.checkpoints))).toBe(text);
        expect(bundleText(arbitrary.turned(made))).toBe(text);
      }),
      { numRuns: 150 },
    );
  });

  it('has the first state of a line in full and the others as changes from their parents', () => {
    const { checkpoints } = three();
    expect(checkpoints.map(({ snapshot }) => snapshot !== undefined)).toEqual([true, false, false]);
    expect(checkpoints[1]!.changes).toEqual({
      '/context/messages/1:1': { before: [], after: [{ role: 'user', content: '2' }] },
      '/context/variables/n': { after: 1 },
    });
    expect(checkpoints[2]!.changes).toEqual({ '/context/variables/n': { after: 2 } });
    const pruned = makeBundle(execution, [bundled('x', 'gone', state([])), bundled('y', 'x', state([]))]);
    expect(pruned.checkpoints.map(({ changes }) => changes)).toEqual([undefined, {}]);
  });

  it('takes the room of what changed, and so do the states that are read from it', () => {
    const messages = Array.from({ length: 300 }, (_, i) => `${i} `.repeat(50));
    const run = messages.map((_, i) =>
      bundled(`cp-${i}`, i === 0 ? undefined : `cp-${i - 1}`, state(messages.slice(0, i + 1))),
    );
    const made = makeBundle(execution, run);
    expect(bundleText(made).length).toBeLessThan(4 * JSON.stringify(messages).length + 300 * 700);
    const { checkpoints } = readBundle(made);
    const [before, after] = [checkpoints[200]!, checkpoints[299]!].map(({ snapshot }) => snapshot.context.messages);
    expect(after).toHaveLength(300);
    expect(before!.every((message, i) => message === after![i])).toBe(true);
  });
});

describe('readBundle', () => {
  type Alter = (bundle: { checkpoints: Record<string, unknown>[]; [member: string]: unknown }) => void;
  it.each<[string, Alter, string, string]>([
    ['another format', (b) => (b.format = 'x'), 'INVALID_INPUT', 'not a bundle'],
    [
      'another version',
      (b) => (b.version = '2.0.0'),
      'UNSUPPORTED_VERSION',
      '"2.0.0" is not supported: supported versions are 1.0.0',
    ],
    ['no version', (b) => delete b.version, 'UNSUPPORTED_VERSION', 'has no `version`'],
    ['a bad execution', (b) => (b.execution = { ...execution, status: 'x' }), 'INVALID_INPUT', 'execution.status'],
    ['a name with NUL', (b) => (b.execution = { ...execution, name: '\u0000' }), 'INVALID_INPUT', 'execution.name'],
    [
      'a place outside of it',
      (b) => (b.execution = { ...execution, latest_checkpoint_id: 'z' }),
      'INVALID_INPUT',
      'checkpoint z of',
    ],
    ['no id', (b) => delete b.checkpoints[1]!.id, 'INVALID_INPUT', 'checkpoints[1]: id'],
    ['an id twice', (b) => (b.checkpoints[2]!.id = 'b'), 'INVALID_INPUT', 'checkpoint b of the bundle: another'],
    ['a parent later', (b) => b.checkpoints.reverse(), 'INVALID_INPUT', 'checkpoint c of the bundle: it has `changes`'],
    [
      'a parent later, in full',
      (b) => b.checkpoints.unshift({ ...b.checkpoints[0], id: 'd', parent: { checkpoint_id: 'b' } }),
      'INVALID_INPUT',
      'checkpoint d of the bundle: its parent b does not come before',
    ],
    [
      'its own parent',
      (b) => (b.checkpoints[0]!.parent = { checkpoint_id: 'a' }),
      'INVALID_INPUT',
      'checkpoint a of the bundle: its parent a',
    ],
    [
      'both',
      (b) => (b.checkpoints[1]!.snapshot = state([])),
      'INVALID_INPUT',
      'checkpoint b of the bundle: it must have either',
    ],
    [
      'neither',
      (b) => delete b.checkpoints[0]!.snapshot,
      'INVALID_INPUT',
      'checkpoint a of the bundle: it must have either',
    ],
    [
      'another execution',
      (b) => (b.checkpoints[2]!.execution_id = 'run-2'),
      'INVALID_INPUT',
      'checkpoint c of the bundle: its execution is run-2',
    ],
    [
      'a bad field',
      (b) => (b.checkpoints[2]!.timestamp = -1),
      'INVALID_INPUT',
      'checkpoint c of the bundle: timestamp',
    ],
    [
      'changes that do not fit',
      (b) => (b.checkpoints[1]!.changes = { '/context/messages/0:1': { before: [], after: [] } }),
      'INVALID_INPUT',
      'checkpoint b of the bundle: the change at "/context/messages/0:1"',
    ],
    [
      'a state that is none',
      (b) => (b.checkpoints[1]!.changes = { '/context/messages/1:1': { before: [], after: [{ role: 'user' }] } }),
      'INVALID_INPUT',
      'checkpoint b of the bundle: context.messages[1].content',
    ],
    [
      'a part too few',
      (b) => (b.checkpoints[2]!.changes = { '/tool_state': { before: { pending: [], completed: [] } } }),
      'INVALID_INPUT',
      'checkpoint c of the bundle: tool_state',
    ],
    ['no state at all', (b) => (b.checkpoints[0]!.snapshot = null), 'INVALID_INPUT', 'checkpoint a of the bundle'],
    ['a list for a state', (b) => (b.checkpoints[0]!.snapshot = []), 'INVALID_INPUT', 'checkpoint a of the bundle'],
  ])('refuses %s', (_, alter, code, message) => {
    const file = JSON.parse(bundleText(three()));
    alter(file);
    expect(() => readBundle(file)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    );
  });

  it.each([[null], [[]], ['x'], [undefined], [{}]])('refuses what is no bundle: %j', (value) => {
    expect(() => readBundle(value)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
  });

  it('keeps where the execution stands', () => {
    const standing = { ...three(), execution: { ...execution, latest_checkpoint_id: 'b' } };
    expect(readBundle(JSON.parse(bundleText(standing))).execution.latest_checkpoint_id).toBe('b');
  });
});

describe('makeBundle and bundleText', () => {
  it('refuse what could not be read', () => {
    const [a, b] = [bundled('a', 'b', state([])), bundled('b', undefined, state([]))];
    expect(() => makeBundle(execution, [a, b])).toThrow(/checkpoint a .* parent b/);
    expect(() => makeBundle(execution, [b, b])).toThrow(/checkpoint b .* same id/);
    const wrong = { ...three(), execution: { ...execution, created_at: -1 } } satisfies Bundle;
    expect(() => bundleText(wrong)).toThrow(/bundle of execution run-1: execution\.created_at/);
  });
});

describe('snapshotCheck', () => {
  it('looks again at whatever is another object, at every place', () => {
    const good = {
      thought_chain: { steps: [{ id: 't', type: 'planning', content: '', confidence: 1, children: [], timestamp: 1 }] },
      context: {
        messages: [{ role: 'user', content: 'a' }],
        variables: { v: { w: 1 } },
        memory: [{ key: 'k', value: 1, importance: 1 }],
      },
      tool_state: {
        pending: ['p'],
        completed: [{ tool_id: 't', arguments: {}, result: 1, success: true, duration_ms: 1, timestamp: 1 }],
      },
    };
    const bad: [string, (copy: typeof good) => void][] = [
      ['thought_chain.steps[0].confidence', (s) => (s.thought_chain.steps[0]!.confidence = 2)],
      ['context.messages[0].role', (s) => (s.context.messages[0]!.role = 'x')],
      ['context.variables', (s) => (s.context.variables.v.w = Number.NaN)],
      ['context.memory[0].importance', (s) => (s.context.memory[0]!.importance = Number.NaN)],
      ['tool_state.pending[0]', (s) => (s.tool_state.pending[0] = '')],
      ['tool_state.completed[0].duration_ms', (s) => (s.tool_state.completed[0]!.duration_ms = -1)],
    ];
    for (const [field, alter] of bad) {
      const check = snapshotCheck();
      expect(check(good, 'state')).toBe(good);
      expect(check({ ...good, context: { ...good.context } }, 'state')).toEqual(good);
      const copy = structuredClone(good);
      alter(copy);
      expect(() => check(copy, 'state')).toThrow(`state: ${field}`);
    }
  });

  it('takes nothing for a message because it was a good variable', () => {
    const check = snapshotCheck();
    const value = { any: 'thing' };
    check(state([], { value }), 'first');
    const next = state([]);
    next.context.messages.push(value as unknown as Snapshot['context']['messages'][number]);
    expect(() => check(next, 'second')).toThrow(/second: context\.messages\[0\]\.role: must be user/);
  });
});

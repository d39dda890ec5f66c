/** Random histories of a state with branches: every revision shows again what it was given, and appends cost what they add. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Snapshot, Thought } from '#cairn/checkpoints/checkpoints/model.js';
import type { StoredPart } from '#cairn/checkpoints/states/assembly.js';
import { containerNumber, ROOTS, vacatedSlots } from '#cairn/checkpoints/states/parts.js';
import { emptyState, nextState, type State, snapshotOf, stateOf } from '#cairn/checkpoints/states/snapshot-state.js';
import type { Json } from '#cairn/kernel/contract.js';
import { canonical } from '#cairn/kernel/node.js';

const NEVER = Number.MAX_SAFE_INTEGER;

/** What the store does with an edit, in memory. */
class Rows {
  readonly rows: (StoredPart & { removed: number })[] = [];
  readonly lines: { base: { line: number; revision: number } | undefined }[] = [{ base: undefined }];
  #revision = 0;

  add(before: State, sent: unknown, line: number): { state: State; revision: number; characters: number } {
    const { state, stamp, added, ended } = nextState(before, sent);
    const revision = ++this.#revision;
    Object.assign(stamp, { line, revision });
    for (const end of ended) {
      if (end.ref.stamp.line === line) {
        const row = this.rows.find(
          (each) => each.line === line && each.added === end.ref.stamp.revision && each.ordinal === end.ref.ordinal,
        )!;
        expect(row.removed).toBe(NEVER);
        row.removed = revision;
      }
    }
    if (this.lines[line]!.base) {
      for (const { parent, key, position } of vacatedSlots({ added, ended })) {
        const ordinal = 1_000_000 + this.rows.length;
        const slot = { parent: containerNumber(parent), key, position };
        const gone = { kind: 'gone', child: null, value: null, removed: NEVER, depth: 0 } as const;
        this.rows.push({ ...slot, ...gone, line, added: revision, ordinal });
      }
    }
    for (const part of added) {
      const { kind, child, text, ref } = part;
      const slot = { parent: containerNumber(part.parent), key: part.key, position: part.position };
      this.rows.push({
        ...slot,
        line,
        added: revision,
        ordinal: ref.ordinal,
        kind,
        child: child === null ? null : containerNumber(child),
        value: text,
        removed: NEVER,
        depth: 0,
      });
    }
    return { state, revision, characters: added.reduce((sum, { text }) => sum + (text?.length ?? 0), 0) };
  }

  branch(line: number, revision: number): number {
    return this.lines.push({ base: { line, revision } }) - 1;
  }

  show(line: number, revision: number, rest: State['rest'], retained: boolean): State {
    const segments = [{ line, revision }];
    for (let base = this.lines[line]!.base; base; base = this.lines[base.line]!.base) segments.unshift(base);
    const parts = segments.flatMap((segment, i) =>
      this.rows
        .filter((row) => row.line === segment.line && row.added <= segment.revision && row.removed > segment.revision)
        .map((row) => ({ ...row, depth: segments.length - 1 - i })),
    );
    return stateOf(parts, rest, retained);
  }
}

const long = fc.integer({ min: 0, max: 3 }).map((n) => `${n}`.repeat(1500));
const leaf = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  long,
  fc.boolean(),
  fc.constant(null),
  fc.string({ maxLength: 5 }),
);
const value = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.array(tie('tree'), { maxLength: 6 }),
    fc.dictionary(fc.constantFrom('a', 'b', '', '__proto__', 'long/one'), tie('tree'), { maxKeys: 4 }),
  ),
})).tree as fc.Arbitrary<Json>;
const message = fc.record({
  role: fc.constantFrom('user' as const, 'assistant' as const),
  content: fc.oneof(fc.string(), long),
});
const thoughtId = fc.constantFrom('1', '2', '3', '4', '5');
const snapshots = fc.record({
  messages: fc.array(message, { maxLength: 8 }),
  variables: fc.dictionary(fc.constantFrom('x', 'y', 'z'), value, { maxKeys: 3 }),
  thoughts: fc.uniqueArray(
    fc.record({
      id: thoughtId,
      content: fc.oneof(fc.constantFrom('', 'a'), long),
      parent: fc.option(thoughtId, { nil: undefined }),
      // Mostly those that name it as their parent.
      children: fc.option(fc.array(thoughtId, { maxLength: 2 }), { nil: undefined, freq: 3 }),
    }),
    { selector: ({ id }) => id },
  ),
  pending: fc.array(
    fc.oneof(
      fc.constantFrom('a', 'b', 'c'),
      fc.nat({ max: 3 }).map((n) => `${n}`.repeat(180)),
    ),
    { maxLength: 8 },
  ),
  memory: fc.option(
    fc.array(fc.record({ key: fc.string({ maxLength: 3 }), value: leaf, importance: fc.constant(1) }), {
      maxLength: 3,
    }),
    { nil: undefined },
  ),
});

function toSnapshot(from: {
  messages: Json[];
  variables: Record<string, Json>;
  thoughts: { id: string; content: string; parent?: string; children?: string[] }[];
  memory: unknown;
  pending: string[];
}): Snapshot {
  return {
    thought_chain: {
      steps: from.thoughts.map(({ id, content, parent: parent_id, children }) => ({
        id,
        content,
        ...(parent_id === undefined ? {} : { parent_id }),
        type: 'planning',
        confidence: 0.5,
        children: children ?? from.thoughts.filter(({ parent }) => parent === id).map((child) => child.id),
        timestamp: 1,
      })),
    },
    context: {
      messages: from.messages as never,
      variables: from.variables,
      ...(from.memory === undefined ? {} : { memory: from.memory as never }),
    },
    tool_state: { pending: from.pending, completed: [] },
  };
}

/** The same thoughts as the very same frozen objects, as careful callers send them. */
class Frozen {
  readonly #known = new Map<string, Thought>();

  of(thoughts: readonly Thought[]): Thought[] {
    return thoughts.map((thought) => {
      const text = canonical(thought as Json);
      const known =
        this.#known.get(text) ?? Object.freeze({ ...thought, children: Object.freeze([...thought.children]) });
      this.#known.set(text, known as Thought);
      return known as Thought;
    });
  }
}

describe('a stored state', () => {
  it('CKPT-3 shows every revision again, on every branch', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ snapshot: snapshots, from: fc.nat(), reload: fc.boolean(), frozen: fc.boolean() }), {
          minLength: 1,
          maxLength: 12,
        }),
        (steps) => {
          const rows = new Rows();
          const frozen = new Frozen();
          const taken: { line: number; revision: number; state: State; snapshot: Snapshot }[] = [];
          for (const step of steps) {
            const parent = taken.length === 0 ? undefined : taken[step.from % taken.length]!;
            const isTip =
              !parent || !taken.some((each) => each.line === parent.line && each.revision > parent.revision);
            const line = !parent ? 0 : isTip ? parent.line : rows.branch(parent.line, parent.revision);
            const before = !parent
              ? emptyState
              : step.reload
                ? rows.show(parent.line, parent.revision, parent.state.rest, true)
                : parent.state;
            // Mutable, as callers have it; what is stored must not follow what they do to it later.
            const sent = structuredClone(toSnapshot(step.snapshot as never));
            const kept = structuredClone(sent);
            if (step.frozen) sent.thought_chain.steps = frozen.of(sent.thought_chain.steps);
            const { state, revision } = rows.add(before, sent, line);
            sent.context.messages.length = 0;
            sent.tool_state.pending.length = 0;
            if (!step.frozen) for (const each of sent.thought_chain.steps) each.children.push('late');
            taken.push({ line, revision, state, snapshot: kept });
          }
          for (const { line, revision, state, snapshot } of taken) {
            expect(snapshotOf(rows.show(line, revision, state.rest, false))).toEqual(snapshot);
            expect(snapshotOf(state)).toEqual(snapshot);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('CKPT-4 takes what changed: an append, an edit in place, a window that moves', () => {
    const rows = new Rows();
    const variables = { log: [] as Json[], plan: { title: 'x'.repeat(3000), steps: [] as Json[], done: 0 } };
    const messages = Array.from({ length: 400 }, (_, i) => ({
      role: 'user' as const,
      content: `${i}`.padEnd(300, '.'),
    }));
    const thoughts = [{ id: 'first', content: 'x'.repeat(3000) }] as { id: string; content: string; parent?: string }[];
    const pending = ['p'.repeat(180)];
    for (let i = 0; i < 300; i++) variables.log.push(`line ${i}`.padEnd(40, '.'));
    for (let i = 0; i < 50; i++) variables.plan.steps.push({ step: i, text: 'y'.repeat(200) });
    const snapshot = () =>
      toSnapshot({ messages, variables: variables as never, thoughts, memory: undefined, pending });
    let { state } = rows.add(emptyState, snapshot(), 0);
    const cost = (change: () => void): number => {
      change();
      const added = rows.add(state, snapshot(), 0);
      state = added.state;
      expect(snapshotOf(rows.show(0, added.revision, state.rest, false))).toEqual(snapshot());
      return added.characters;
    };
    expect(cost(() => undefined)).toBe(0);
    expect(cost(() => messages.push({ role: 'user', content: 'new' }))).toBeLessThan(100);
    expect(cost(() => void (messages[7]!.content = 'edited'))).toBeLessThan(100);
    expect(cost(() => void messages.splice(0, 3, { role: 'user', content: 'short' }))).toBeLessThan(100);
    expect(
      cost(() => {
        messages.shift();
        messages.push({ role: 'user', content: 'newest' });
      }),
    ).toBeLessThan(100);
    expect(cost(() => variables.log.push('one more'))).toBeLessThan(100);
    expect(cost(() => void (variables.plan.done = 1))).toBeLessThan(20);
    expect(cost(() => void ((variables.plan.steps[20] as { step: number }).step = 99))).toBeLessThan(1300);
    for (let i = 0; i < 3; i++) {
      const parent = thoughts.at(-1)!.id;
      expect(cost(() => thoughts.push({ id: `${i}`, content: 'next', parent }))).toBeLessThan(150);
      expect(cost(() => pending.push(`tool ${i}`))).toBeLessThan(20);
    }
    expect(cost(() => void thoughts.splice(2, 1))).toBe(0);
    expect(state.messages.id).toBe(ROOTS.messages);
  });
});

/** Random edits of a run: thoughts stay a tree, JSON is the identity, and no capture ever changes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Snapshot, snapshot } from '#cairn/checkpoints/contract.js';
import { Context, Execution, ThoughtChain, ToolState } from '#cairn/runtime/index.js';

/** A place in a list of whatever length, or a choice among what there is. */
const pick = fc.nat(1000);
const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)));
const confidence = fc.integer({ min: 0, max: 10 }).map((tenths) => tenths / 10);
const name = fc.constantFrom('a', 'b', 'plan', '__proto__', 'constructor', '7');
const id = fc.option(
  fc.integer({ min: 0, max: 20 }).map((n) => `id-${n}`),
  { nil: undefined },
);

const edit = fc.oneof(
  fc.record({ do: fc.constant('think' as const), id, confidence, parent: fc.option(pick), root: fc.boolean() }),
  fc.record({
    do: fc.constant('rethink' as const),
    at: pick,
    confidence,
    metadata: fc.option(fc.dictionary(name, json)),
  }),
  fc.record({ do: fc.constant('attach' as const), at: pick, to: fc.option(pick) }),
  fc.record({ do: fc.constant('drop' as const), at: pick }),
  fc.record({ do: fc.constant('move' as const), to: fc.option(pick) }),
  fc.record({ do: fc.constant('say' as const), content: fc.string({ maxLength: 8 }), tool_calls: json }),
  fc.record({ do: fc.constant('unsay' as const), at: pick, count: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ do: fc.constant('reword' as const), at: pick, content: fc.string({ maxLength: 8 }) }),
  fc.record({ do: fc.constant('truncate' as const), length: fc.nat(6) }),
  fc.record({ do: fc.constant('set' as const), values: fc.dictionary(name, json) }),
  fc.record({ do: fc.constant('unset' as const), name }),
  fc.record({ do: fc.constant('remember' as const), name, value: json }),
  fc.record({ do: fc.constant('forget' as const), name }),
  fc.record({ do: fc.constant('call' as const), id, arguments: fc.dictionary(name, json) }),
  fc.record({ do: fc.constant('end' as const), at: pick, success: fc.boolean(), result: json }),
  fc.record({ do: fc.constant('cancel' as const), at: pick }),
);
type Edit = typeof edit extends fc.Arbitrary<infer E> ? E : never;

/** Does an edit, on whatever of the state is there for it. What is refused is fine, if it changes nothing. */
function apply({ thoughts, context, tools }: Execution, one: Edit): void {
  const among = <T>(list: readonly T[], at: number): T | undefined => list[at % Math.max(list.length, 1)];
  const step = (at: number) => among(thoughts.list(), at)?.id ?? 'nobody';
  const call = (at: number) => among(tools.pending, at) ?? 'nobody';
  switch (one.do) {
    case 'think': {
      const parent_id = one.root ? null : one.parent === null ? undefined : step(one.parent);
      thoughts.add({ id: one.id, parent_id, type: 'decision', content: 'x', confidence: one.confidence });
      return;
    }
    case 'rethink':
      thoughts.update(step(one.at), { confidence: one.confidence, metadata: one.metadata });
      return;
    case 'attach':
      thoughts.attach(step(one.at), one.to === null ? null : step(one.to));
      return;
    case 'drop':
      thoughts.remove(step(one.at));
      return;
    case 'move':
      thoughts.moveTo(one.to === null ? null : step(one.to));
      return;
    case 'say':
      context.append({ role: 'tool', content: one.content, tool_calls: one.tool_calls });
      return;
    case 'unsay':
      context.removeAt(one.at % 8, one.count);
      return;
    case 'reword':
      context.updateAt(one.at % 8, { content: one.content });
      return;
    case 'truncate':
      context.truncate(one.length);
      return;
    case 'set':
      context.setMany(one.values);
      return;
    case 'unset':
      context.delete(one.name);
      return;
    case 'remember':
      context.remember(one.name, one.value);
      return;
    case 'forget':
      context.forget(one.name);
      return;
    case 'call':
      tools.start('shell', { id: one.id, arguments: one.arguments });
      return;
    case 'end':
      tools.finish(call(one.at), { success: one.success, result: one.result, timestamp: 1 });
      return;
    case 'cancel':
      tools.cancel(call(one.at));
      return;
  }
}

const text = (value: unknown): string => JSON.stringify(value);
const reread = <T>(value: T): T => JSON.parse(text(value));

describe('after any edits', () => {
  it('RUN-11 RUN-15 RUN-20 the state is well formed, JSON is the identity, captures stay, and what is refused changes nothing', () => {
    const done = new Map<string, number>();
    fc.assert(
      fc.property(fc.array(edit, { maxLength: 60, size: 'max' }), (edits) => {
        const run = new Execution();
        const captures: { state: unknown; as: string }[] = [];
        let told = 0;
        for (const event of ['thought.added', 'thought.changed', 'thought.removed', 'thought.current'] as const)
          run.on(event, () => told++);
        for (const one of edits) {
          const before = run.snapshot();
          const toldBefore = told;
          try {
            apply(run, one);
            done.set(one.do, (done.get(one.do) ?? 0) + 1);
          } catch (error) {
            expect(error).toMatchObject({ code: 'INVALID_INPUT' });
            expect(run.snapshot()).toBe(before);
            expect(told).toBe(toldBefore);
          }
          captures.push({ state: run.snapshot(), as: text(run.snapshot()) });
        }
        for (const { state, as } of captures) expect(text(state)).toBe(as);

        const state = run.snapshot() as Snapshot;
        expect(snapshot.safeParse(state).error).toBeUndefined();
        // fromJSON refuses parents and children that disagree, ids twice, and cycles.
        expect(ThoughtChain.fromJSON(reread(run.thoughts.toJSON())).toJSON()).toEqual(run.thoughts.toJSON());
        expect(text(Context.fromJSON(reread(run.context.toJSON())))).toBe(text(run.context));
        expect(text(ToolState.fromJSON(reread(run.tools.toJSON())))).toBe(text(run.tools));
        expect(text(Execution.fromJSON(reread(run.toJSON())).snapshot())).toBe(text(run.snapshot()));
      }),
      { numRuns: 200 },
    );
    // Every kind of edit was not only tried, but done.
    expect([...done.keys()].sort()).toEqual([
      'attach',
      'call',
      'cancel',
      'drop',
      'end',
      'forget',
      'move',
      'remember',
      'rethink',
      'reword',
      'say',
      'set',
      'think',
      'truncate',
      'unsay',
      'unset',
    ]);
  });

  it('RUN-4 a tree whose links were tampered with is refused', () => {
    const family = fc
      .array(fc.nat(1000), { minLength: 2, maxLength: 12 })
      .map((places) => {
        const chain = new ThoughtChain();
        for (const [i, place] of places.entries())
          chain.add({
            id: `s${i}`,
            type: 'planning',
            content: '',
            confidence: 1,
            parent_id: i === 0 || place % 5 === 0 ? null : `s${place % i}`,
          });
        return reread(chain.toJSON()) as Snapshot['thought_chain'];
      })
      .filter(({ steps }) => steps.some(({ parent_id }) => parent_id !== undefined));
    fc.assert(
      fc.property(family, fc.nat(1000), fc.nat(4), (chain, at, how) => {
        expect(ThoughtChain.fromJSON(chain).toJSON()).toEqual(chain);
        const children = chain.steps.filter(({ parent_id }) => parent_id !== undefined);
        const child = children[at % children.length]!;
        const parent = chain.steps.find((step) => step.id === child.parent_id)!;
        if (how === 0) parent.children = parent.children.filter((one) => one !== child.id);
        else if (how === 1) parent.children.push(child.id);
        else if (how === 2) child.parent_id = undefined;
        else if (how === 3) chain.steps.push({ ...child, children: [] });
        else chain.steps.splice(chain.steps.indexOf(child), 1);
        expect(() => ThoughtChain.fromJSON(chain)).toThrow(/^thought_chain: /);
      }),
      { numRuns: 200 },
    );
  });
});

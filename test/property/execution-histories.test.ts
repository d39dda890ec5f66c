/**
 * Random histories of executions: states that change in place, branches, restores, prunes, a bundle to another store.
 * Whatever happened, every checkpoint that remains has the state that it was taken from, and queries find it by that.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { applyChanges } from '#cairn/domain/state-patch.js';
import type { Snapshot } from '#cairn/model/checkpoint.js';
import type { Json, JsonObject } from '#cairn/model/json.js';
import { message, parentsOf, someExecution, state, take, thought, toolCall } from '../support/checkpoints.js';
import { databases } from '../support/http.js';
import { openTarget, type TestStore } from '../support/targets.js';

const RUNS = Number(process.env.CAIRN_TEST_RUNS ?? 12);
/** CAIRN_TEST_SEED=… repeats a run. */
const seed = Number(process.env.CAIRN_TEST_SEED ?? Math.trunc(Math.random() * 2 ** 31));

/** One thing that a run does to the state that it holds, in place; `n` and `at` say what and where. */
const edits: readonly ((held: Snapshot, n: number, at: number) => void)[] = [
  ({ context }, n) => context.messages.push(message(`${n}`.repeat(n * 40))),
  ({ context }, n, at) => void context.messages.splice(at % 5, 1, message(`edited ${n}`)),
  ({ context }, n, at) => void context.messages.splice(at % 5, n % 3),
  ({ context }, n, at) => void context.messages.splice(at % 5, 0, message(`${n}`), message('x'.repeat(900))),
  ({ context }) => void context.messages.reverse(),
  ({ context }, n, at) => void (context.variables[`v${at % 3}`] = n),
  ({ context }, n, at) => void (context.variables[`v${at % 3}`] = { n, list: [n, 'y'.repeat(n * 300)] }),
  ({ context }, n) => {
    const plan = (context.variables.plan ??= { log: [], text: 'p'.repeat(4500) }) as { log: Json[] };
    plan.log.push({ n, text: 'l'.repeat(n * 100) });
  },
  ({ context }, n, at) => {
    const log = (context.variables.plan as { log: JsonObject[] } | undefined)?.log;
    if (log?.[at % 4]) log[at % 4]!.n = -n;
  },
  ({ context }, _, at) => void delete context.variables[['v0', 'v1', 'v2', 'plan'][at % 4]!],
  ({ thought_chain }, n) => {
    const { steps } = thought_chain;
    if (!steps.some(({ id }) => id === `t${n}`)) steps.push(thought(`t${n}`, { confidence: n / 20 }));
  },
  ({ thought_chain }, n, at) => {
    const one = thought_chain.steps[at % 4];
    if (one) one.confidence = n / 20;
  },
  ({ thought_chain }, _, at) => void thought_chain.steps.splice(at % 4, 1),
  ({ thought_chain }) => void thought_chain.steps.reverse(),
  ({ tool_state }, n) =>
    tool_state.completed.push(toolCall(`tool${n % 3}`, { success: n % 2 === 0, timestamp: n })),
  ({ tool_state }, _, at) => void tool_state.completed.splice(at % 3, 1),
  ({ context }, n) =>
    void (context.memory = n % 2 === 0 ? [{ key: `${n}`, value: n, importance: 1 }] : undefined!),
];

const edit = fc.record({
  kind: fc.nat(edits.length - 1),
  n: fc.integer({ min: 1, max: 20 }),
  at: fc.nat(11),
});
const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ does: fc.constant('take' as const), edits: fc.array(edit, { maxLength: 3 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constantFrom('restore' as const, 'branch' as const), at: fc.nat() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      does: fc.constant('prune' as const),
      keep_newest: fc.integer({ min: 1, max: 6 }),
      keep_branch_points: fc.boolean(),
    }),
  },
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** What is known of a run besides the store. */
interface Known {
  readonly states: Map<string, Snapshot>;
  held: Snapshot;
}

async function play(cairn: Api, execution_id: string, steps: readonly Step[]): Promise<Known> {
  const known: Known = { states: new Map(), held: state() };
  const pick = (at: number): string | undefined =>
    [...known.states.keys()][at % Math.max(1, known.states.size)];
  for (const one of steps) {
    if (one.does === 'take') {
      for (const { kind, n, at } of one.edits) edits[kind]!(known.held, n, at);
      if (known.held.context.memory === undefined) delete known.held.context.memory;
      const { id } = await take(cairn, execution_id, known.held);
      known.states.set(id, structuredClone(known.held));
    } else if (one.does === 'prune') {
      const { removed_checkpoint_ids } = await cairn.executions.prune({
        execution_id,
        keep_newest: one.keep_newest,
        keep_branch_points: one.keep_branch_points,
      });
      for (const id of removed_checkpoint_ids) expect(known.states.delete(id)).toBe(true);
    } else {
      const checkpoint_id = pick(one.at);
      if (checkpoint_id === undefined) continue;
      known.held = structuredClone(known.states.get(checkpoint_id)!);
      if (one.does === 'restore')
        expect((await cairn.checkpoints.restore({ checkpoint_id })).snapshot).toEqual(known.held);
      else {
        const { id } = await cairn.checkpoints.branch({ checkpoint_id, reason: 'try' });
        known.states.set(id, structuredClone(known.held));
      }
    }
  }
  return known;
}

/** The ids of the known states that a condition holds for, as lists give them. */
const having = ({ states }: Known, holds: (one: Snapshot) => boolean): string[] =>
  [...states]
    .filter(([, one]) => holds(one))
    .map(([id]) => id)
    .sort();

async function check(cairn: Api, execution_id: string, known: Known): Promise<void> {
  const listed = async (filter: object): Promise<string[]> => {
    const { checkpoints, total } = await cairn.checkpoints.list({ execution_id, limit: 500, ...filter });
    expect(total).toBe(checkpoints.length);
    return checkpoints.map(({ id }) => id);
  };
  expect(await listed({})).toEqual([...known.states.keys()].sort());
  for (const [checkpoint_id, given] of known.states)
    expect((await cairn.checkpoints.get({ checkpoint_id })).snapshot).toEqual(given);
  const parents = await parentsOf(cairn, execution_id);
  for (const parent of Object.values(parents)) if (parent !== null) expect(parents).toHaveProperty(parent);
  for (const tool_id of ['tool0', 'tool1']) {
    const has = having(known, ({ tool_state }) =>
      tool_state.completed.some((call) => call.tool_id === tool_id),
    );
    expect(await listed({ tool_id, inherited: true })).toEqual(has);
    const brought = await listed({ tool_id });
    expect(has).toEqual(expect.arrayContaining(brought));
    expect(brought.length > 0).toBe(has.length > 0);
  }
  const low = having(known, ({ thought_chain }) => thought_chain.steps.some((one) => one.confidence < 0.3));
  expect(await listed({ confidence_below: 0.3, inherited: true })).toEqual(low);
  const { thoughts } = await cairn.checkpoints.thoughts({ execution_id, limit: 500 });
  for (const { checkpoint_id, id } of thoughts)
    expect(known.states.get(checkpoint_id)?.thought_chain.steps.map((one) => one.id)).toContain(id);
}

for (const database of databases()) {
  describe(`histories of executions on ${database}, seed ${seed}`, () => {
    let test: TestStore;
    let elsewhere: TestStore;
    beforeAll(async () => {
      test = await openTarget(database);
      elsewhere = await openTarget('sqlite');
    });
    afterAll(async () => {
      await test.close();
      await elsewhere.close();
    });

    it('CKPT-3 EXEC-11 FILE-6 every checkpoint that remains has the state it was taken from, here and carried elsewhere', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
          const cairn = await test.freshTenant();
          const execution_id = await someExecution(cairn);
          const known = await play(cairn, execution_id, steps);
          await check(cairn, execution_id, known);
          const bundle = await cairn.executions.export({ execution_id });
          const other = await elsewhere.freshTenant();
          await other.executions.import({ bundle: bundle as unknown as JsonObject });
          await check(other, execution_id, known);
          expect(JSON.stringify(await other.executions.export({ execution_id }))).toBe(
            JSON.stringify(bundle),
          );
        }),
        { numRuns: RUNS, seed },
      );
    }, 120_000);

    it('CKPT-14 the changes between any two lead from one to the other', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 15 }), async (steps) => {
          const cairn = await test.freshTenant();
          const known = await play(cairn, await someExecution(cairn), steps);
          const all = [...known.states];
          for (const [i, [from, before]] of all.entries()) {
            const [to, after] = all[(i * 7 + 3) % all.length]!;
            const { changes } = await cairn.checkpoints.diff({ checkpoint_id: from, to });
            expect(applyChanges(before as unknown as Json, changes)).toEqual(after);
          }
        }),
        { numRuns: 10, seed },
      );
    });
  });
}

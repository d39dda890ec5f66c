/** Histories of a run: what its caller does to the very objects that it sent before, and when it keeps, goes back, prunes. */
import fc from 'fast-check';
import type { Snapshot, Thought, ToolCall } from '#cairn/checkpoints/checkpoints/model.js';
import type { Json, JsonObject } from '#cairn/kernel/contract.js';

/** Long enough that a few of them are cut into parts of their own. */
const LONG = 1500;

const KINDS = [
  'say',
  'say',
  'reword',
  'unsay',
  'say between',
  'log',
  'log',
  'log window',
  'relog',
  'plan step',
  'plan step',
  'replan',
  'plan title',
  'drop variable',
  'turn kind',
  'small variable',
  'think',
  'think',
  'think again',
  'forget thought',
  'start tool',
  'finish tool',
  'finish tool',
  'correct tool',
  'forget tool',
  'remember',
  'no memory',
  'look at',
] as const;

export interface Edit {
  readonly kind: (typeof KINDS)[number];
  readonly n: number;
  readonly long: boolean;
}

/** `older` counts back from the newest that is left; undefined goes on from where the run stands. */
export type Step =
  | {
      readonly do: 'keep';
      readonly edits: readonly Edit[];
      readonly parent: { readonly older: number } | null | undefined;
      readonly named: boolean;
      readonly day: number;
      readonly store: 0 | 1;
    }
  | { readonly do: 'restore'; readonly older: number; readonly adopt: boolean; readonly store: 0 | 1 }
  | { readonly do: 'branch'; readonly older: number; readonly adopt: boolean; readonly store: 0 | 1 }
  | {
      readonly do: 'prune';
      readonly rules: {
        readonly keep_newest: number;
        readonly keep_daily: boolean;
        readonly keep_branch_points: boolean;
        readonly keep_named: boolean;
      };
    }
  | { readonly do: 'reopen'; readonly store: 0 | 1 };

const edit: fc.Arbitrary<Edit> = fc.record({
  kind: fc.constantFrom(...KINDS),
  n: fc.nat({ max: 30 }),
  long: fc.boolean(),
});
// Mostly the same store, so that it retains the state that is compared with.
const store = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0 as const) },
  { weight: 1, arbitrary: fc.constant(1 as const) },
);
const older = fc.nat({ max: 6 });
const edits = fc.array(edit, { minLength: 1, maxLength: 5 });
const keep = (parent: fc.Arbitrary<{ older: number } | null | undefined>): fc.Arbitrary<Step> =>
  fc.record({
    do: fc.constant('keep' as const),
    edits,
    parent,
    named: fc.nat({ max: 5 }).map((n) => n === 0),
    day: fc.nat({ max: 2 }),
    store,
  });
const back = <D extends 'restore' | 'branch'>(what: D) =>
  fc.record({ do: fc.constant(what), older, adopt: fc.boolean(), store });

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: keep(fc.constant(undefined)) },
  { weight: 4, arbitrary: keep(fc.record({ older })) },
  { weight: 1, arbitrary: keep(fc.constant(null)) },
  { weight: 2, arbitrary: back('restore') },
  { weight: 2, arbitrary: back('branch') },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('prune' as const),
      rules: fc.record({
        keep_newest: fc.integer({ min: 1, max: 6 }),
        keep_daily: fc.boolean(),
        keep_branch_points: fc.boolean(),
        keep_named: fc.boolean(),
      }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reopen' as const), store }) },
);

export const histories = (length: number): fc.Arbitrary<Step[]> =>
  fc.array(step, { minLength: length / 2, maxLength: length, size: 'max' });

export const noSnapshot = (): Snapshot => ({
  thought_chain: { steps: [] },
  context: { messages: [], variables: {} },
  tool_state: { pending: [], completed: [] },
});

/** What a caller works with: one object, changed in place all the time. */
export class Working {
  snapshot: Snapshot = noSnapshot();
  #words = 0;

  #text(long: boolean): string {
    const word = `word-${++this.#words} `;
    return long ? word.repeat(LONG / word.length) : word;
  }

  apply({ kind, n, long }: Edit): void {
    const { thought_chain, context, tool_state } = this.snapshot;
    if (/say|reword/.test(kind)) this.#say(kind, n, long);
    else if (/variable|plan|log|turn/.test(kind)) this.#set(kind, n, long);
    else if (/think|thought/.test(kind)) this.#think(kind, n, long);
    else if (/tool/.test(kind)) this.#use(kind, n, long);
    else if (kind === 'remember')
      (context.memory ??= []).unshift({ key: `k${n}`, value: this.#text(long), importance: n });
    else if (kind === 'no memory') delete context.memory;
    else {
      thought_chain.current_step_id = `thought-${n}`;
      tool_state.last_tool_call_id = `call-${n}`;
    }
  }

  #say(kind: Edit['kind'], n: number, long: boolean): void {
    const { messages } = this.snapshot.context;
    const said = { role: 'user' as const, content: this.#text(long) };
    const at = n % (messages.length || 1);
    if (kind === 'say' || messages.length === 0) messages.push(said);
    else if (kind === 'say between') messages.splice(at, 0, said);
    else if (kind === 'unsay') messages.splice(at, 1 + (n % 2));
    else {
      messages[at]!.content = said.content;
      messages[at]!.tool_results = { n };
    }
  }

  #set(kind: Edit['kind'], n: number, long: boolean): void {
    const { variables } = this.snapshot.context;
    if (kind === 'small variable') variables[`v${n % 3}`] = n % 5;
    else if (kind === 'drop variable') delete variables[['log', 'plan', 'v0', '__proto__'][n % 4]!];
    else if (kind === 'turn kind')
      Object.defineProperty(variables, n % 2 ? '__proto__' : 'plan', {
        value: n % 3 ? [this.#text(true), n] : { [this.#text(false)]: this.#text(true) },
        enumerable: true,
        configurable: true,
        writable: true,
      });
    else if (kind.includes('log')) {
      if (!Array.isArray(variables.log)) variables.log = [];
      const log = variables.log as Json[];
      if (kind === 'log window') log.splice(0, n % 3);
      if (kind === 'relog' && log.length > 0) log[n % log.length] = this.#text(long);
      else log.push(long ? { line: n, lines: [this.#text(true), this.#text(true)] } : this.#text(false));
    } else {
      if (!isPlan(variables.plan)) variables.plan = { title: '', steps: [] };
      const plan = variables.plan as JsonObject & { steps: { text: Json; by: { name: Json } }[] };
      if (kind === 'plan title') plan.title = this.#text(long);
      else if (kind === 'plan step' || plan.steps.length === 0)
        plan.steps.push({ text: this.#text(true), by: { name: n, ...(long ? { of: this.#text(true) } : {}) } });
      else plan.steps[n % plan.steps.length]!.by.name = this.#text(long);
    }
  }

  #think(kind: Edit['kind'], n: number, long: boolean): void {
    const { steps } = this.snapshot.thought_chain;
    const at = n % (steps.length || 1);
    if (kind === 'think' || steps.length === 0) {
      const types: Thought['type'][] = ['planning', 'reasoning', 'decision'];
      const id = `thought-${++this.#words}`;
      const [type, content] = [types[n % 3]!, this.#text(long)];
      const parent = n % 3 === 0 ? undefined : steps[at];
      // As chains do it, unless the caller forgets.
      if (n % 5 !== 0) parent?.children.push(id);
      const under = parent ? { parent_id: parent.id } : {};
      steps.push({ id, type, content, confidence: (n % 10) / 10, ...under, children: [], timestamp: n });
    } else if (kind === 'forget thought') steps.splice(at, 1);
    else {
      steps[at]!.confidence = (n % 10) / 10;
      steps[at]!.reasoning = this.#text(long);
    }
  }

  #use(kind: Edit['kind'], n: number, long: boolean): void {
    const { pending, completed } = this.snapshot.tool_state;
    const at = n % (completed.length || 1);
    if (kind === 'start tool') pending.push(`tool-${n % 3}`);
    else if (kind === 'finish tool' || completed.length === 0) {
      const finished: ToolCall = {
        tool_id: pending.shift() ?? `tool-${n % 3}`,
        arguments: { n },
        result: this.#text(long),
        success: n % 4 !== 0,
        duration_ms: n * 10,
        timestamp: n % 2,
      };
      // Some without an id of their own, of the same tool at the same time.
      if (n % 3 === 0) finished.id = `call-${++this.#words}`;
      completed.push(finished);
    } else if (kind === 'forget tool') completed.splice(at, 1);
    else {
      completed[at]!.success = !completed[at]!.success;
      completed[at]!.result = { again: this.#text(long) };
    }
  }
}

const isPlan = (value: Json | undefined): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Array.isArray(value.steps);

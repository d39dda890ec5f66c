/** Whatever is done to a run, every checkpoint that is left is the state that it was taken from, here and elsewhere. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Snapshot } from '#cairn/checkpoints/checkpoints/model.js';
import { checkpointText } from '#cairn/checkpoints/checkpoints/versions.js';
import { bundleText } from '#cairn/checkpoints/executions/bundle.js';
import { applyChanges } from '#cairn/checkpoints/states/patch.js';
import type { Api } from '#cairn/client/index.js';
import type { Json } from '#cairn/kernel/contract.js';
import { contentUnseen } from '../support/inspect/state-rows.js';
import { targetNames } from '../support/targets.js';
import { histories, type Step, Working } from './histories.js';
import { openWorld, type World } from './reopened-stores.js';

const LENGTH = 30;
const RUNS = { sqlite: 30, postgres: 6 } as const;
/** Whoever is slow does fewer of them. */
const TIME_LIMIT_MS = { sqlite: 8000, postgres: 5000 } as const;
const MOVES = 6;
const DAY_MS = 86_400_000;
/** CAIRN_TEST_SEED=… repeats a run. */
const SEED = process.env.CAIRN_TEST_SEED;
const kinds = (['sqlite', 'postgres'] as const).filter((kind) => targetNames().includes(kind));
const EXECUTION = { execution_id: 'run' };

interface Taken {
  readonly id: string;
  /** A deep copy of what was sent. */
  readonly snapshot: Snapshot;
  /** As it was when this was taken; nobody forgets it. */
  readonly parent: string | null;
  readonly name: string | null;
  readonly timestamp: number;
}

/** One run of a caller against the stores, and what must be there of it. */
class Run {
  readonly taken = new Map<string, Taken>();
  readonly left: Taken[] = [];
  readonly #working = new Working();
  readonly #world: World;
  readonly #tenant: string;
  #head: string | null = null;
  #count = 0;

  constructor(world: World, tenant: string) {
    this.#world = world;
    this.#tenant = tenant;
  }

  api(store: 0 | 1 = 0): Api {
    return this.#world.api(store, this.#tenant);
  }

  async carryOut(steps: readonly Step[]): Promise<void> {
    await this.api().executions.create(EXECUTION);
    for (const step of steps) await this.#take(step);
  }

  #back(older: number): Taken | undefined {
    return this.left.at(-1 - (older % (this.left.length || 1)));
  }

  async #take(step: Step): Promise<void> {
    if (step.do === 'reopen') return this.#world.reopen(step.store);
    if (step.do === 'prune') return this.#prune(step.rules);
    if (step.do === 'keep') return this.#keep(step);
    const from = this.#back(step.older);
    if (!from) return;
    const checkpoint_id = from.id;
    if (step.do === 'restore') {
      const { snapshot } = await this.api(step.store).checkpoints.restore({ checkpoint_id });
      expect(snapshot).toEqual(from.snapshot);
      this.#head = checkpoint_id;
    } else {
      const made = await this.api(step.store).checkpoints.branch({ checkpoint_id, reason: 'another way' });
      expect(made.parent).toEqual({ checkpoint_id, is_branch: true, branch_reason: 'another way' });
      this.#note({ ...from, id: made.id, parent: checkpoint_id, name: null, timestamp: made.timestamp });
    }
    // Either it goes on with what it had in its hands, or with what it went back to.
    if (step.adopt) this.#working.snapshot = structuredClone(from.snapshot);
  }

  async #keep({ edits, parent, named, day, store }: Extract<Step, { do: 'keep' }>): Promise<void> {
    for (const edit of edits) this.#working.apply(edit);
    const { snapshot } = this.#working;
    const parent_id = parent === undefined ? this.#head : ((parent && this.#back(parent.older)?.id) ?? null);
    const timestamp = day * DAY_MS + ++this.#count;
    const name = named ? `name ${this.#count}` : null;
    const { id } = await this.api(store).checkpoints.create({
      ...EXECUTION,
      snapshot,
      timestamp,
      ...(name === null ? {} : { name }),
      ...(parent === undefined ? {} : parent_id === null ? { root: true } : { parent_checkpoint_id: parent_id }),
    });
    this.#note({ id, snapshot: structuredClone(snapshot), parent: parent_id, name, timestamp });
  }

  #note(taken: Taken): void {
    this.taken.set(taken.id, taken);
    this.left.push(taken);
    this.#head = taken.id;
  }

  /** The nearest of its ancestors that is left. */
  parentOf({ parent }: Taken): string | null {
    let at = parent;
    while (at !== null && !this.left.some(({ id }) => id === at)) at = this.taken.get(at)!.parent;
    return at;
  }

  async #prune(rules: Extract<Step, { do: 'prune' }>['rules']): Promise<void> {
    const parents = this.left.map((one) => this.parentOf(one));
    const keeps = this.left.filter(
      ({ id, name, timestamp }, i) =>
        id === this.#head ||
        i >= this.left.length - rules.keep_newest ||
        (rules.keep_named && name !== null) ||
        (rules.keep_branch_points && parents.filter((parent) => parent === id).length > 1) ||
        (rules.keep_daily && !this.left.slice(i + 1).some((later) => dayOf(later.timestamp) === dayOf(timestamp))),
    );
    const kept = new Set(keeps);
    const gone = this.left.filter((one) => !kept.has(one)).map(({ id }) => id);
    const asked = { ...EXECUTION, ...rules };
    const before = await this.api().executions.stats(EXECUTION);
    const dry = await this.api().executions.prune({ ...asked, dry_run: true });
    const answer = await this.api().executions.prune(asked);
    const after = await this.api().executions.stats(EXECUTION);
    expect(after.stored_bytes).toBe(before.stored_bytes - answer.freed_bytes);
    expect(answer).toEqual(dry);
    expect(answer.removed_checkpoint_ids).toEqual(gone);
    expect([answer.kept, answer.removed]).toEqual([keeps.length, gone.length]);
    this.left.splice(0, this.left.length, ...keeps);
    const unseen = await contentUnseen(this.#world.driver(), this.#tenant, EXECUTION.execution_id);
    expect(unseen, 'stored content that no checkpoint shows').toEqual([]);
  }

  /** What is left is what was taken, and a tree with the edges of the ancestry. */
  async check(): Promise<void> {
    const { checkpoints, latest_checkpoint_id } = await this.api().executions.get(EXECUTION);
    expect([checkpoints, latest_checkpoint_id]).toEqual([this.left.length, this.#head]);
    const { nodes, roots } = await this.api(1).executions.tree(EXECUTION);
    const edges = nodes.map(({ checkpoint_id, parent_checkpoint_id }) => [checkpoint_id, parent_checkpoint_id]);
    expect(edges).toEqual(this.left.map((one) => [one.id, this.parentOf(one)]));
    expect(roots).toEqual(this.left.filter((one) => this.parentOf(one) === null).map(({ id }) => id));
    for (const { id, snapshot } of this.left)
      expect((await this.api().checkpoints.get({ checkpoint_id: id })).snapshot).toEqual(snapshot);
    for (const id of this.taken.keys())
      if (!this.left.some((one) => one.id === id))
        await expect(this.api().checkpoints.get({ checkpoint_id: id })).rejects.toThrow('there is no');
  }

  async checkDiffs(pairs: readonly (readonly [number, number])[]): Promise<void> {
    for (const [a, b] of pairs) {
      const [from, to] = [this.#back(a), this.#back(b)];
      if (!from || !to) return;
      const asked = { checkpoint_id: from.id, to: to.id };
      const { changes, summary } = await this.api().checkpoints.diff(asked);
      expect(applyChanges(from.snapshot as unknown as Json, changes)).toEqual(to.snapshot);
      expect(summary === 'nothing changed').toBe(Object.keys(changes).length === 0);
    }
  }

  async checkInherited(): Promise<void> {
    const ask = async (filter: Parameters<Api['checkpoints']['list']>[0]) => {
      const asked = { ...EXECUTION, ...filter, inherited: true, limit: 500 };
      return (await this.api().checkpoints.list(asked)).checkpoints.map(({ id }) => id).sort();
    };
    const having = (has: (snapshot: Snapshot) => boolean) =>
      this.left
        .filter(({ snapshot }) => has(snapshot))
        .map(({ id }) => id)
        .sort();
    const calls = ({ tool_state }: Snapshot) => tool_state.completed;
    const thoughts = ({ thought_chain }: Snapshot) => thought_chain.steps;
    for (const tool_id of ['tool-0', 'tool-1', 'tool-2']) {
      expect(await ask({ tool_id })).toEqual(having((one) => calls(one).some((c) => c.tool_id === tool_id)));
      expect(await ask({ tool_id, tool_success: false, tool_slower_than_ms: 50 })).toEqual(
        having((one) => calls(one).some((c) => c.tool_id === tool_id && !c.success && c.duration_ms > 50)),
      );
    }
    expect(await ask({ thought_type: 'decision', confidence_below: 0.5 })).toEqual(
      having((one) => thoughts(one).some(({ type, confidence }) => type === 'decision' && confidence < 0.5)),
    );
    expect(await ask({ thought_text: 'WORD-1' })).toEqual(
      having((one) =>
        thoughts(one).some(({ content, reasoning = '' }) => `${content} ${reasoning}`.includes('word-1')),
      ),
    );
  }
}

const dayOf = (timestamp: number): number => Math.floor(timestamp / DAY_MS);
const pairs = fc.array(fc.tuple(fc.nat({ max: 40 }), fc.nat({ max: 40 })), { minLength: 4, maxLength: 4 });

/** Runs until the time is up, but at least twice, and says if that was early. */
async function explore(
  title: string,
  runs: number,
  time_limit_ms: number,
  each: (steps: Step[], pairs: [number, number][]) => Promise<void>,
): Promise<void> {
  const until = performance.now() + time_limit_ms;
  let done = 0;
  let failed = false;
  const property = fc.asyncProperty(histories(LENGTH), pairs, async (steps, some) => {
    if (!failed && done > 1 && performance.now() > until) return;
    done++;
    await each(steps, some).catch((error: unknown) => {
      failed = true;
      throw error;
    });
  });
  await fc.assert(property, {
    numRuns: runs,
    unbiased: true,
    endOnFailure: process.env.CAIRN_TEST_SHRINK === undefined,
    ...(SEED === undefined ? {} : { seed: Number(SEED) }),
  });
  if (done < runs) console.log(`${title}: no time for more than ${done} histories`);
  expect(done).toBeGreaterThan(1);
}

describe.each(kinds)('checkpoints on %s', (kind) => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld(kind);
  });
  afterAll(() => world.close());

  it('CKPT-20 are what they were taken from, whatever is edited, branched off and pruned', async () => {
    await explore(`checkpoints on ${kind}`, RUNS[kind], TIME_LIMIT_MS[kind], async (steps, some) => {
      const run = new Run(world, await world.freshTenant());
      await run.carryOut(steps);
      await run.check();
      await run.checkDiffs(some);
      await run.checkInherited();
      await world.reopen(0);
      await run.check();
    });
  });
});

describe.runIf(kinds.length === 2)('checkpoints elsewhere', () => {
  const worlds: World[] = [];
  beforeAll(async () => {
    worlds.push(await openWorld('sqlite'), await openWorld('postgres'));
  });
  afterAll(() => Promise.all(worlds.map((world) => world.close())));

  it('CKPT-21 are the same to the last byte, as files and as a bundle that went there and back', async () => {
    const [here, there] = worlds as [World, World];
    await explore('checkpoints elsewhere', MOVES, 8000, async (steps) => {
      const run = new Run(here, await here.freshTenant());
      await run.carryOut(steps);
      const bundle = await run.api().executions.export(EXECUTION);
      const text = bundleText(bundle);
      const [far, back, files, last] = [
        there.api(0, await there.freshTenant()),
        here.api(0, await here.freshTenant()),
        there.api(0, await there.freshTenant()),
        here.api(0, await here.freshTenant()),
      ];
      await far.executions.import({ bundle: JSON.parse(text) });
      const passed = await far.executions.export(EXECUTION);
      expect(bundleText(passed)).toBe(text);
      await back.executions.import({ bundle: passed as never });
      expect(bundleText(await back.executions.export(EXECUTION))).toBe(text);
      // Files come in any order, also before those of their parents.
      const inAnyOrder = steps.length % 2 === 0 ? run.left : run.left.toReversed();
      for (const { id, snapshot } of inAnyOrder) {
        const checkpoint_id = id;
        const file = checkpointText(await run.api().checkpoints.get({ checkpoint_id }));
        expect(JSON.parse(file).snapshot).toEqual(JSON.parse(JSON.stringify(snapshot)));
        expect(checkpointText(await back.checkpoints.get({ checkpoint_id }))).toBe(file);
        await files.checkpoints.import({ checkpoint: JSON.parse(file) });
        expect(checkpointText(await files.checkpoints.get({ checkpoint_id }))).toBe(file);
      }
      if (run.left.length === 0) return;
      const gathered = await files.executions.export(EXECUTION);
      expect(gathered.checkpoints).toHaveLength(run.left.length);
      await last.executions.import({ bundle: gathered as never });
      expect(bundleText(await last.executions.export(EXECUTION))).toBe(bundleText(gathered));
    });
  });
});

/** The commands of the property test of memory: each does the same to the store and to the model, and compares. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
import { runBatch } from './batches.js';
import {
  checkHistory,
  checkLists,
  checkMemory,
  checkPast,
  checkTurns,
  expectedBudget,
  expectedMemory,
  expectedScope,
  expectedTrajectory,
  HALF_STEP_MS,
  outcomeOf,
  type Real,
  seenMemory,
  seenScope,
  seenTrajectory,
  tally,
} from './check.js';
import { look, looks } from './looks.js';
import * as hierarchy from './model.js';
import { type Apply, type End, type Kind, type Model, NOTHING, Refused } from './model.js';
import * as versions from './model-versions.js';

type Of<A> = A extends fc.Arbitrary<infer T> ? T : never;
type Run<A> = (args: A, model: Model, real: Real) => Promise<void>;

class Step<A> implements fc.AsyncCommand<Model, Real> {
  readonly #name: string;
  readonly #args: A;
  readonly #run: Run<A>;

  constructor(name: string, args: A, run: Run<A>) {
    this.#name = name;
    this.#args = args;
    this.#run = run;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, real: Real): Promise<void> {
    pass(model, real, 2 * HALF_STEP_MS);
    model.steps += 1;
    await this.#run(this.#args, model, real);
    await checkLists(real, model);
    const scopes = [...model.scopes.values()];
    const scope = scopes[model.steps % scopes.length];
    if (scope) await checkTurns(real, model, scope);
    const moment = model.moments[(model.steps * 7) % model.moments.length];
    if (moment !== undefined) await checkPast(real, model, moment);
    model.moments.push(real.now() + HALF_STEP_MS);
    model.between.push(real.now() + HALF_STEP_MS);
  }

  toString(): string {
    return `${this.#name}(${JSON.stringify(this.#args)})`;
  }
}

/** Lets time pass; no command comes so near to the end of a lifetime that the time it takes would matter. */
export function pass(model: Model, real: Real, ms: number): void {
  real.advance(ms);
  const isNear = () =>
    [...model.memories.values()].some(
      ({ expires_at }) => expires_at !== null && Math.abs(expires_at - real.now()) < HALF_STEP_MS,
    );
  while (isNear()) real.advance(HALF_STEP_MS);
}

const command = <A>(
  weight: number,
  name: string,
  args: fc.Arbitrary<A>,
  run: Run<A>,
): { weight: number; arbitrary: fc.Arbitrary<Step<A>> } => ({
  weight,
  arbitrary: args.map((one) => new Step(name, one, run)),
});

/** Refused by both with the same code, or done by both; then gives what is to be done to the model, and the answer. */
async function agree<P extends (...args: never[]) => void, T>(
  name: string,
  plan: () => P,
  call: Promise<T>,
): Promise<{ apply: P; answer: T } | undefined> {
  let apply: P | undefined;
  let expected: string | null = null;
  try {
    apply = plan();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    expected = error.code;
  }
  const { answer, code } = await outcomeOf(call);
  tally(name, code);
  expect(code, name).toBe(expected);
  return apply === undefined ? undefined : { apply, answer: answer as T };
}

/** Which of the entities there are, whatever has become of them; mostly one that can still be worked with. */
const ref = fc.record({
  n: fc.nat(1000),
  any: fc.oneof({ weight: 6, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
});
type Ref = { n: number; any: boolean };

function pick<T>(all: Iterable<T>, { n, any }: Ref, good: (one: T) => boolean): T | undefined {
  const list = [...all];
  const pool = any ? list : list.filter(good);
  const from = pool.length > 0 ? pool : list;
  return from[n % from.length];
}

const trajectoryId = (model: Model, at: Ref): string =>
  pick(model.trajectories.values(), at, (one) => !one.deleted && !hierarchy.isFinished(one))?.id ?? randomUUID();
const scopeId = (model: Model, at: Ref): string =>
  pick(model.scopes.values(), at, ({ closed_at }) => closed_at === null)?.id ?? randomUUID();
const turnId = (model: Model, at: Ref): string =>
  pick(model.turns.keys(), at, (id) => hierarchy.scopesWith(model, id).length > 0) ?? randomUUID();
/** Those that may be left out: only there is something to name, or now and then something unknown. */
const memoryIds = (model: Model, refs: readonly Ref[], kind: Kind, now: number): string[] | undefined => {
  const ids = refs.map((at) => memoryId(model, at, kind, now));
  const named = ids.filter((id, i) => model.memories.has(id) || refs[i]!.any);
  return named.length > 0 ? named : undefined;
};
const memoryId = (model: Model, at: Ref, kind: Kind, now: number): string =>
  pick(
    [...model.memories.values()].filter((one) => one.kind === kind),
    at,
    (one) => versions.isReadable(model, kind, one.id, now),
  )?.id ?? randomUUID();

const name = fc.constantFrom('alpha', 'alphabet', 'beta', 'ばら');
const content = fc.constantFrom('one', 'two', 'three', '');
const level = fc.constantFrom<'L0' | 'L1' | 'L2'>('L0', 'L1', 'L2');
const milliseconds = fc.integer({ min: 1, max: 12 }).map((n) => n * 3 * HALF_STEP_MS);
const ttl = fc.oneof(
  fc.constantFrom('Persistent', 'Permanent', 'Session', 'Scope', 'Ephemeral'),
  fc.constantFrom('ShortTerm', 'MediumTerm', 'LongTerm'),
  milliseconds.map((ms) => ({ Duration: ms })),
  milliseconds.map((ms) => `Duration(${ms})`),
);
const kind = fc.constantFrom<Kind>('artifact', 'note');
const some = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined, freq: 2 });

/** Leaves out what is undefined: that is not the same as being sent. */
const given = <T extends object>(values: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;

const trajectoryCommands = [
  command(3, 'createTrajectory', fc.record({ parent: some(ref), name }), async ({ parent, name }, model, real) => {
    const parent_trajectory_id = parent && trajectoryId(model, parent);
    const input = given({ trajectory_id: randomUUID(), name, parent_trajectory_id });
    const done = await agree(
      'createTrajectory',
      () => hierarchy.createTrajectory(model, input),
      real.api.trajectories.create(input),
    );
    if (!done) return;
    done.apply(real.now());
    expect(seenTrajectory(done.answer)).toEqual(expectedTrajectory(model.trajectories.get(input.trajectory_id)!));
  }),
  command(
    5,
    'updateTrajectory',
    fc.record({
      at: ref,
      name: some(name),
      description: some(fc.constantFrom('why', null)),
      status: some(fc.constantFrom<hierarchy.Status>('Active', 'Suspended', 'Completed', 'Failed')),
      summary: some(fc.constantFrom('', 'done')),
      produced: some(ref),
    }),
    async ({ at, name, description, status, summary, produced }, model, real) => {
      const now = real.now();
      const trajectory_id = trajectoryId(model, at);
      const produced_artifacts = produced && memoryIds(model, [produced], 'artifact', now);
      const said = given({ summary, produced_artifacts });
      const outcome = Object.keys(said).length > 0 && (at.any || status?.length === 6) ? said : undefined;
      const patch = given({ name, description, status, outcome }) as hierarchy.TrajectoryPatch;
      const plan = () =>
        hierarchy.updateTrajectory(
          model,
          trajectory_id,
          patch,
          (id) => versions.isReadable(model, 'artifact', id, now),
          () => versions.producedBy(model, trajectory_id, now),
        );
      const done = await agree('updateTrajectory', plan, real.api.trajectories.update({ trajectory_id, ...patch }));
      if (!done) return;
      done.apply(now);
      expect(seenTrajectory(done.answer)).toEqual(expectedTrajectory(model.trajectories.get(trajectory_id)!));
    },
  ),
  command(1, 'deleteTrajectory', fc.record({ at: ref, wait: fc.boolean() }), async ({ at, wait }, model, real) => {
    const trajectory_id = trajectoryId(model, at);
    const done = await agree(
      'deleteTrajectory',
      () => hierarchy.deleteTrajectory(model, trajectory_id),
      real.api.trajectories.delete({ trajectory_id, wait }),
    );
    done?.apply(real.now());
  }),
];

const isRestorable = (model: Model, { checkpoint, trajectory }: hierarchy.ModelScope): boolean =>
  checkpoint?.recoverable === true && !hierarchy.isFinished(model.trajectories.get(trajectory)!);

const budget = {
  token_budget: some(fc.oneof(fc.constantFrom(20, 50, 80, 100), fc.integer({ min: 1, max: 120 }))),
  threshold_percent: some(fc.oneof(fc.constantFrom(50, 80, 100), fc.integer({ min: 1, max: 100 }))),
  enforce: some(fc.boolean()),
};

const scopeCommands = [
  command(
    4,
    'createScope',
    fc.record({ trajectory: ref, parent: some(ref), name, ...budget }),
    async ({ trajectory, parent, name, ...rest }, model, real) => {
      const parent_scope_id = parent && scopeId(model, parent);
      const inside = parent_scope_id && model.scopes.get(parent_scope_id)?.trajectory;
      const trajectory_id = (!trajectory.any && inside) || trajectoryId(model, trajectory);
      const input = given({ scope_id: randomUUID(), trajectory_id, parent_scope_id, name, ...rest });
      const done = await agree('createScope', () => hierarchy.createScope(model, input), real.api.scopes.create(input));
      if (!done) return;
      done.apply(real.now());
      expect(seenScope(done.answer)).toEqual(expectedScope(model.scopes.get(input.scope_id)!));
    },
  ),
  command(
    3,
    'updateScope',
    fc.record({ at: ref, name: some(name), ...budget }),
    async ({ at, ...rest }, model, real) => {
      const scope_id = scopeId(model, at);
      const patch = given(rest);
      const done = await agree(
        'updateScope',
        () => hierarchy.updateScope(model, scope_id, patch),
        real.api.scopes.update({ scope_id, ...patch }),
      );
      if (!done) return;
      done.apply(real.now());
      expect(seenScope(done.answer)).toEqual(expectedScope(model.scopes.get(scope_id)!));
    },
  ),
  command(2, 'closeScope', fc.record({ at: ref, wait: fc.boolean() }), async ({ at, wait }, model, real) => {
    const scope_id = scopeId(model, at);
    const closing = hierarchy.closingWith(model, scope_id).map(({ id }) => id);
    const done = await agree(
      'closeScope',
      () => hierarchy.closeScope(model, scope_id),
      real.api.scopes.close({ scope_id, wait }),
    );
    if (!done) return;
    done.apply(real.now());
    expect(seenScope(done.answer)).toEqual(expectedScope(model.scopes.get(scope_id)!));
    expect([...done.answer.closed_scope_ids].sort()).toEqual(closing.sort());
    if (wait) expect(done.answer.erasure?.state).toBe('done');
  }),
  command(
    3,
    'checkpoint',
    fc.record({ at: ref, context_state: fc.constantFrom('AAAA', null), recoverable: fc.nat(3) }),
    async ({ at, context_state, recoverable }, model, real) => {
      const scope_id = scopeId(model, at);
      const done = await agree(
        'checkpoint',
        () => hierarchy.checkpoint(model, scope_id, context_state, recoverable > 0),
        real.api.scopes.checkpoint({ scope_id, context_state, recoverable: recoverable > 0 }),
      );
      if (!done) return;
      done.apply(real.now());
      expect(seenScope(done.answer)).toEqual(expectedScope(model.scopes.get(scope_id)!));
    },
  ),
  command(
    2,
    'restore',
    fc.record({ at: ref, name: some(name), token_budget: budget.token_budget }),
    async ({ at, ...rest }, model, real) => {
      const kept = pick(model.scopes.values(), at, (one) => isRestorable(model, one));
      const scope_id = kept?.id ?? randomUUID();
      const more = given(rest);
      const done = await agree(
        'restore',
        () => hierarchy.restore(model, scope_id, more),
        real.api.scopes.restore({ scope_id, ...more }),
      );
      if (!done) return;
      done.apply(real.now(), done.answer.scope_id);
      expect(seenScope(done.answer)).toEqual(expectedScope(model.scopes.get(done.answer.scope_id)!));
      expect(done.answer.context_state).toBe(kept!.checkpoint!.state);
    },
  ),
];

const turn = fc.record({
  at: ref,
  content,
  /** Round numbers meet budgets and thresholds exactly. */
  token_count: fc.oneof(fc.constantFrom(0, 10, 20, 40), fc.nat(40)),
  /** Behind the next, if it is not 0; not given, if it is undefined. */
  ahead: fc.constantFrom(undefined, undefined, undefined, undefined, undefined, 0, 0, 1, -1),
});

function turnInput(model: Model, { at, content, token_count, ahead }: Of<typeof turn>) {
  const scope_id = scopeId(model, at);
  const next = (model.scopes.get(scope_id)?.turns.length ?? 0) + 1;
  const sequence = ahead === undefined ? undefined : Math.max(1, next + ahead);
  return given({ turn_id: randomUUID(), scope_id, role: 'User', content, token_count, sequence });
}

const turnCommands = [
  command(7, 'addTurn', turn, async (args, model, real) => {
    const input = turnInput(model, args);
    const done = await agree('addTurn', () => hierarchy.addTurn(model, input), real.api.turns.add(input));
    if (!done) return;
    done.apply(real.now());
    const scope = model.scopes.get(input.scope_id)!;
    expect(done.answer.budget).toEqual(expectedBudget(scope));
    expect(done.answer.sequence).toBe(scope.turns.length);
  }),
  command(
    2,
    'batchTurns',
    fc.record({ items: fc.array(turn, { minLength: 1, maxLength: 4 }), mode: fc.nat(2) }),
    async ({ items, mode }, model, real) => {
      const inputs = items.map((one) => turnInput(model, one));
      await runBatch('batchTurns', model, real, mode === 0 ? 'atomic' : mode === 1 ? 'stop' : 'each', {
        call: (how) =>
          real.api.turns.batch({ items: inputs.map((create) => ({ operation: 'create', create })), ...how }),
        plans: inputs.map((input) => (on: Model) => hierarchy.addTurn(on, input)),
        settle: async (i, apply, answer) => {
          apply(real.now());
          const scope = model.scopes.get(inputs[i]!.scope_id)!;
          expect(answer!.budget).toEqual(expectedBudget(scope));
          expect(answer!.sequence).toBe(scope.turns.length);
        },
      });
    },
  ),
];

const artifact = fc.record({
  trajectory: some(ref),
  scope: some(ref),
  name,
  content,
  artifact_type: fc.constantFrom('Code', 'Fact'),
  abstraction_level: some(level),
  confidence: some(fc.constantFrom(0.5, null)),
  ttl: some(ttl),
  source_turn: some(fc.integer({ min: 1, max: 3 })),
  derived: fc.array(ref, { maxLength: 2 }),
});

function artifactInput(model: Model, args: Of<typeof artifact>, now: number) {
  const { trajectory, scope, derived, source_turn, ...rest } = args;
  const bound = rest.ttl === 'Scope' || rest.ttl === 'Ephemeral';
  const at = scope ?? (bound && trajectory && !trajectory.any ? trajectory : undefined);
  const scope_id = at && scopeId(model, at);
  const inside = scope_id && model.scopes.get(scope_id)?.trajectory;
  const trajectory_id = trajectory && ((!trajectory.any && inside) || trajectoryId(model, trajectory));
  const known = (model.scopes.get(scope_id ?? '')?.turns.length ?? 0) > 0 || args.trajectory?.any;
  const derived_from = memoryIds(model, derived, 'artifact', now);
  return given({
    artifact_id: randomUUID(),
    trajectory_id: trajectory_id ?? (scope_id === undefined ? trajectoryId(model, { n: 0, any: false }) : undefined),
    scope_id,
    ...rest,
    source_turn: known ? source_turn : undefined,
    derived_from,
  });
}

const note = fc.record({
  title: name,
  content,
  note_type: fc.constantFrom('Gotcha', 'Fact', 'Procedure'),
  abstraction_level: some(level),
  confidence: some(fc.constantFrom(0.5, null)),
  ttl: some(ttl),
  trajectories: fc.array(ref, { maxLength: 2 }),
  artifacts: fc.array(ref, { maxLength: 2 }),
});

function noteInput(model: Model, args: Of<typeof note>, now: number) {
  const { trajectories, artifacts, ...rest } = args;
  const list = (ids: string[]) => (ids.length > 0 ? ids : undefined);
  return given({
    note_id: randomUUID(),
    ...rest,
    source_trajectory_ids: list(trajectories.map((one) => trajectoryId(model, one))),
    source_artifact_ids: memoryIds(model, artifacts, 'artifact', now),
  });
}

const patch = fc.record({
  at: ref,
  name: some(name),
  content: some(content),
  type: some(fc.constantFrom('Fact', 'Procedure')),
  abstraction_level: some(level),
  confidence: some(fc.constantFrom(0.5, null)),
  ttl: some(ttl),
});

function patchInput(kind: Kind, { at: _at, name, type, ...rest }: Of<typeof patch>) {
  const own = kind === 'artifact' ? { name, artifact_type: type } : { title: name, note_type: type };
  return given({ ...own, ...rest }) as versions.Changeable;
}

type Shown = Parameters<typeof seenMemory>[0];

/** What was made or changed, after the store has told when. */
async function settleMemory(model: Model, real: Real, id: string, apply: Apply, answer: Shown | null): Promise<void> {
  const now = real.now();
  if (apply === NOTHING) {
    if (answer) expectShown(model, id, answer, now);
    return;
  }
  const at = answer ? Date.parse(answer.updated_at) : await deletedAt(model, real, id);
  expect(Math.abs(at - now), 'recorded when it was written').toBeLessThan(HALF_STEP_MS / 2);
  apply(at);
  model.moments.push(at - 1, at);
  if (!answer) return;
  versions.learnCard(model, id, answer.version, answer.card_id);
  expectShown(model, id, answer, now);
}

function expectShown(model: Model, id: string, answer: Shown, now: number): void {
  const memory = model.memories.get(id)!;
  expect(seenMemory(answer)).toEqual(expectedMemory(model, memory, versions.currentOf(memory)!, now));
}

/** A deletion is answered by nothing, so the history is asked when it was. */
async function deletedAt(model: Model, { api }: Real, id: string): Promise<number> {
  const { deleted_at } =
    model.memories.get(id)!.kind === 'artifact'
      ? await api.artifacts.history({ artifact_id: id })
      : await api.notes.history({ note_id: id });
  expect(deleted_at, `${id} was deleted`).not.toBeNull();
  return Date.parse(deleted_at!);
}

const item = fc.oneof(
  fc.record({ operation: fc.constant('create' as const), artifact, note }),
  fc.record({ operation: fc.constant('update' as const), patch }),
  fc.record({ operation: fc.constant('delete' as const), at: ref }),
);

const memoryCommands = [
  command(7, 'createArtifact', artifact, async (args, model, real) => {
    const input = artifactInput(model, args, real.now());
    const done = await agree(
      'createArtifact',
      () => versions.createArtifact(model, input, real.now()),
      real.api.artifacts.create(input),
    );
    if (done) await settleMemory(model, real, input.artifact_id, done.apply, done.answer);
  }),
  command(5, 'createNote', note, async (args, model, real) => {
    const input = noteInput(model, args, real.now());
    const done = await agree(
      'createNote',
      () => versions.createNote(model, input, real.now()),
      real.api.notes.create(input),
    );
    if (done) await settleMemory(model, real, input.note_id, done.apply, done.answer);
  }),
  command(
    9,
    'updateMemory',
    fc.record({ kind, patch, version: some(fc.constantFrom(0, 0, 0, 1)) }),
    async ({ kind, patch, version: ahead }, model, real) => {
      const id = memoryId(model, patch.at, kind, real.now());
      const change = patchInput(kind, patch);
      const version = ahead === undefined ? undefined : (model.memories.get(id)?.versions.length ?? 1) + ahead;
      const sent = given({ ...change, version }) as { abstraction_level?: 'L0' };
      const done = await agree<Apply, Shown>(
        'updateMemory',
        () => versions.updateMemory(model, kind, id, change, real.now(), version),
        kind === 'artifact'
          ? real.api.artifacts.update({ artifact_id: id, ...sent })
          : real.api.notes.update({ note_id: id, ...sent }),
      );
      if (done) await settleMemory(model, real, id, done.apply, done.answer);
    },
  ),
  command(2, 'deleteMemory', fc.record({ kind, at: ref }), async ({ kind, at }, model, real) => {
    const id = memoryId(model, at, kind, real.now());
    const done = await agree(
      'deleteMemory',
      () => versions.deleteMemory(model, kind, id, real.now()),
      kind === 'artifact' ? real.api.artifacts.delete({ artifact_id: id }) : real.api.notes.delete({ note_id: id }),
    );
    if (done) await settleMemory(model, real, id, done.apply, null);
  }),
  command(
    3,
    'batchMemories',
    fc.record({ kind, items: fc.array(item, { minLength: 1, maxLength: 4 }), atomic: fc.boolean() }),
    async ({ kind, items, atomic }, model, real) => {
      const now = real.now();
      const planned = items.map((one) => {
        if (one.operation === 'create') {
          if (kind === 'artifact') {
            const create = artifactInput(model, one.artifact, now);
            const sent = { operation: 'create' as const, create };
            return { id: create.artifact_id, sent, plan: (on: Model) => versions.createArtifact(on, create, now) };
          }
          const create = noteInput(model, one.note, now);
          const sent = { operation: 'create' as const, create };
          return { id: create.note_id, sent, plan: (on: Model) => versions.createNote(on, create, now) };
        }
        const id = memoryId(model, one.operation === 'update' ? one.patch.at : one.at, kind, now);
        const named = kind === 'artifact' ? { artifact_id: id } : { note_id: id };
        if (one.operation === 'delete') {
          const sent = { operation: 'delete' as const, ...named };
          return { id, sent, plan: (on: Model) => versions.deleteMemory(on, kind, id, now) };
        }
        const update = patchInput(kind, one.patch);
        const sent = { operation: 'update' as const, ...named, update };
        return { id, sent, plan: (on: Model) => versions.updateMemory(on, kind, id, update, now) };
      });
      await runBatch<Shown | null>('batchMemories', model, real, atomic ? 'atomic' : 'stop', {
        call: (how) => {
          const sent = { items: planned.map(({ sent }) => sent), ...how } as never;
          return kind === 'artifact' ? real.api.artifacts.batch(sent) : real.api.notes.batch(sent);
        },
        plans: planned.map(({ plan }) => plan),
        settle: (i, apply, answer) => settleMemory(model, real, planned[i]!.id, apply, answer),
      });
    },
  ),
  command(3, 'readMemory', fc.record({ kind, at: ref, past: some(fc.nat(1000)) }), async (args, model, real) => {
    const { kind, at, past } = args;
    const memory = model.memories.get(memoryId(model, at, kind, real.now()));
    if (!memory) return;
    const as_of = past === undefined ? undefined : model.moments[past % model.moments.length];
    await checkMemory(real, model, memory, as_of);
    await checkHistory(real, model, memory);
  }),
];

const endType = fc.constantFrom<End['entity_type']>(
  'Artifact',
  'Artifact',
  'Artifact',
  'Note',
  'Note',
  'Trajectory',
  'Scope',
  'Turn',
);

function endOf(model: Model, { type, at }: { type: End['entity_type']; at: Ref }, now: number): End {
  const entity_id = {
    Trajectory: () => trajectoryId(model, at),
    Scope: () => scopeId(model, at),
    Turn: () => turnId(model, at),
    Artifact: () => memoryId(model, at, 'artifact', now),
    Note: () => memoryId(model, at, 'note', now),
    Card: () => randomUUID(),
  }[type]();
  return { entity_type: type, entity_id };
}

const edgeCommands = [
  command(
    8,
    'createEdge',
    fc.record({
      edge_type: fc.constantFrom('Supersedes', 'Contradicts', 'DerivedFrom'),
      ends: fc.array(fc.record({ type: endType, at: ref }), { minLength: 2, maxLength: 3 }),
    }),
    async ({ edge_type, ends }, model, real) => {
      const now = real.now();
      const participants = ends.map((end) => endOf(model, end, now));
      const input = { edge_id: randomUUID(), edge_type: edge_type as 'Supersedes', participants };
      const done = await agree(
        'createEdge',
        () => versions.createEdge(model, input, now),
        real.api.edges.create(input),
      );
      if (!done) return;
      const at = Date.parse(done.answer.created_at);
      done.apply(at);
      model.moments.push(at - 1, at);
    },
  ),
  command(2, 'deleteEdge', ref, async (at, model, real) => {
    const edges = model.edges.filter(({ id }) => id !== '');
    const edge_id = pick(edges, at, ({ deleted_at }) => deleted_at === null)?.id ?? randomUUID();
    const done = await agree(
      'deleteEdge',
      () => versions.deleteEdge(model, edge_id),
      real.api.edges.delete({ edge_id }),
    );
    done?.apply(real.now());
  }),
];

const otherCommands = [
  command(2, 'wait', fc.constantFrom(30_000, 90_000, 3_600_000, 86_400_000, 8 * 86_400_000), async (ms, model, real) =>
    pass(model, real, ms),
  ),
  command(1, 'sweep', fc.constant(null), async (_, _model, real) => {
    await real.api.lifetime.sweep({});
  }),
  command(1, 'reopen', fc.constant(null), async (_, _model, real) => real.reopen?.()),
  command(4, 'look', looks, look),
  command(2, 'again', fc.record({ n: fc.nat(1000), other: fc.boolean() }), again),
];

/** Sends what made an entity once more, as it was or with another name. */
async function again({ n, other }: { n: number; other: boolean }, model: Model, real: Real): Promise<void> {
  const now = real.now();
  const made: (() => Promise<void>)[] = [];
  const but = <T extends object>(sent: T, change: Partial<T>): T => (other ? { ...sent, ...change } : sent);
  const unchanged = (done: { apply: Apply } | undefined) => {
    if (done) expect(done.apply).toBe(NOTHING);
  };
  for (const { sent } of model.trajectories.values()) {
    const input = but(sent, { name: 'another' });
    made.push(async () => {
      const plan = () => hierarchy.createTrajectory(model, input);
      unchanged(await agree('again', plan, real.api.trajectories.create(input)));
    });
  }
  for (const { sent } of model.scopes.values()) {
    if (!sent) continue;
    const input = but(sent, { name: 'another' });
    made.push(async () => {
      const plan = () => hierarchy.createScope(model, input);
      unchanged(await agree('again', plan, real.api.scopes.create(input)));
    });
  }
  for (const { sent } of model.turns.values()) {
    const input = but(sent, { content: 'another' });
    made.push(async () => {
      const plan = () => hierarchy.addTurn(model, input);
      unchanged(await agree('again', plan, real.api.turns.add(input)));
    });
  }
  for (const { kind, sent } of model.memories.values()) {
    const input = but(sent as { content: string }, { content: 'another' }) as never;
    made.push(async () => {
      const create = kind === 'artifact' ? versions.createArtifact : versions.createNote;
      const call: Promise<Shown> =
        kind === 'artifact' ? real.api.artifacts.create(input) : real.api.notes.create(input);
      unchanged(await agree('again', () => create(model, input, now), call));
    });
  }
  for (const { sent } of model.edges) {
    if (sent === null) continue;
    const input = but(sent as versions.EdgeInput & { edge_type: 'Supersedes' }, {});
    made.push(async () => {
      const plan = () => versions.createEdge(model, input, now);
      unchanged(await agree('again', plan, real.api.edges.create({ ...input, participants: [...input.participants] })));
    });
  }
  await made[n % made.length]?.();
}

/** Sequences of commands. */
export const sequences = (length: number): fc.Arbitrary<Iterable<fc.AsyncCommand<Model, Real>>> =>
  fc.commands(
    [
      fc.oneof(
        ...trajectoryCommands,
        ...scopeCommands,
        ...turnCommands,
        ...memoryCommands,
        ...edgeCommands,
        ...otherCommands,
      ) as fc.Arbitrary<fc.AsyncCommand<Model, Real>>,
    ],
    { maxCommands: length, size: 'max' },
  );

/** What every sequence starts with, so that there is something to work with. */
export async function start(model: Model, real: Real): Promise<void> {
  const { api } = real;
  // The model knows no jobs.
  await api.settings.update({ retain: 'nothing' });
  const now = real.now();
  const trajectories = ['first', 'second'].map((name) => ({ trajectory_id: randomUUID(), name }));
  for (const input of trajectories) {
    await api.trajectories.create(input);
    hierarchy.createTrajectory(model, input)(now);
  }
  const [{ trajectory_id }, other] = trajectories as [(typeof trajectories)[0], (typeof trajectories)[0]];
  const scopes = [
    { scope_id: randomUUID(), trajectory_id, name: 'first', token_budget: 100 },
    { scope_id: randomUUID(), trajectory_id: other.trajectory_id, name: 'second', token_budget: 60, enforce: true },
  ];
  for (const input of scopes) {
    await api.scopes.create(input);
    hierarchy.createScope(model, input)(now);
  }
  const [{ scope_id }] = scopes as [(typeof scopes)[0]];
  for (const content of ['one', 'two']) {
    const input = { turn_id: randomUUID(), scope_id, role: 'User', content, token_count: 20 };
    await api.turns.add(input);
    hierarchy.addTurn(model, input)(now);
  }
  await api.scopes.checkpoint({ scope_id });
  hierarchy.checkpoint(model, scope_id, null, true)(now);
  const artifact = {
    artifact_id: randomUUID(),
    scope_id,
    artifact_type: 'Fact',
    name: 'alpha',
    content: 'one',
    source_turn: 1,
  };
  const second = { ...artifact, artifact_id: randomUUID(), derived_from: [artifact.artifact_id] };
  for (const input of [artifact, second]) {
    const apply = versions.createArtifact(model, input, now);
    await settleMemory(model, real, input.artifact_id, apply, await api.artifacts.create(input));
  }
  const note = {
    note_id: randomUUID(),
    note_type: 'Gotcha',
    title: 'beta',
    content: 'two',
    source_trajectory_ids: [trajectory_id],
  };
  const learned = { ...note, note_id: randomUUID(), source_artifact_ids: [artifact.artifact_id] };
  for (const input of [note, learned]) {
    const apply = versions.createNote(model, input, now);
    await settleMemory(model, real, input.note_id, apply, await api.notes.create(input));
  }
  await checkLists(real, model);
}

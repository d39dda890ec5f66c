/**
 * Group commit, for both databases: writes that wait at the same time run in one transaction and share its commit. Every
 * outcome waits for the commit, refusals included, since a refusal may depend on a sibling's row. A refused write has
 * mostly changed nothing, so a group runs without savepoints first; if one write must be undone, the group rolls back and
 * runs again with a savepoint per write.
 */
import { CairnError, type ErrorCode } from '../kernel/index.js';
import type { Channel } from './channel.js';
import { DriverError, type Joint, type Journal, type Tx } from './driver.js';
import { type Ending, newEnding, OpenTx } from './open-tx.js';
import { collectKeys, type Keys } from './wakes.js';

export const GROUP_LIMIT = 64;
const ATTEMPTS = 8;

export interface Write {
  readonly tenant: string;
  readonly work: (tx: Tx) => Promise<unknown>;
  /** The entity that it changes, if it may overlap with writes to other entities. */
  readonly entity: string | undefined;
  readonly joint?: Joint | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Thrown when a write must be undone and has no savepoint. */
class NeedsSavepoints extends Error {}

/** Writes that run as one, or a single write. */
type Unit = readonly Write[];

/** Collected from the writes of a group, for its end, by tenant. */
interface Gathered {
  readonly endings: Map<string, Ending>;
  readonly keys: Keys;
}

const journalledIn = ({ endings }: Gathered) => [...endings].filter(([, { entries }]) => entries.length > 0);

type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** Thrown when the connection broke at COMMIT: the journal entries tell whether it succeeded. */
class CommitUnknown extends Error {
  readonly gathered: Gathered;
  readonly outcomes: readonly Outcome[];

  constructor(gathered: Gathered, outcomes: readonly Outcome[], cause: unknown) {
    super('the connection was lost at COMMIT', { cause });
    this.gathered = gathered;
    this.outcomes = outcomes;
  }
}

export interface GroupHost {
  readonly journal: Journal;
  /** Begins a transaction; throws a DriverError when it cannot. */
  begin(tenant: string): Promise<Channel>;
  committed(tenants: Iterable<string>): void;
  /** Notifies the waiters for these keys on other servers, with the last statements before COMMIT. */
  announce?(channel: Channel, keys: Keys): Promise<void>;
  /** Wakes the waiters for these keys in this process. */
  wake(keys: Keys): void;
  /** The connection was lost at a COMMIT with announced keys, which may still succeed. */
  commitLost?(): void;
  /** The database was unreachable for the maximum wait. Later writes fail at once instead of waiting as long. */
  unreachable?(error: unknown): void;
}

/** Runs a group; every write is resolved or rejected when this returns. */
export async function commitGroup(host: GroupHost, group: readonly Write[], attempt = 1): Promise<void> {
  let outcomes: readonly Outcome[];
  try {
    outcomes = await runOnce(host, group, false).catch((error) => {
      if (error instanceof NeedsSavepoints) return runOnce(host, group, true);
      throw error;
    });
  } catch (error) {
    const resolved = error instanceof CommitUnknown ? await resolveUnknown(host, error) : undefined;
    if (error instanceof CommitUnknown && resolved !== 'absent') host.wake(error.gathered.keys);
    if (resolved === 'unknown') return rejectAll(group, unknownOutcome(error));
    if (error instanceof DriverError && error.kind === 'busy') {
      // The lock or the head row timed out: no write of the group is the cause, and none would do better alone.
      return giveUp(host, group, error);
    }
    if (resolved === undefined || resolved === 'absent') {
      const reason = error instanceof CommitUnknown ? error.cause : error;
      return runAgain(host, group, attempt, reason);
    }
    outcomes = resolved;
  }
  const again: { write: Write; error: DriverError }[] = [];
  group.forEach((write, i) => {
    const outcome = outcomes[i]!;
    if ('value' in outcome) write.resolve(outcome.value);
    else if (outcome.error instanceof DriverError) again.push({ write, error: outcome.error });
    else write.reject(outcome.error);
  });
  for (const { write, error } of again) await runAgain(host, [write], attempt, error);
}

async function runOnce(host: GroupHost, group: readonly Write[], savepoints: boolean): Promise<readonly Outcome[]> {
  const channel = await host.begin(group[0]!.tenant);
  const gathered: Gathered = { endings: new Map(), keys: new Map() };
  const { keys } = gathered;
  let outcomes: Outcome[];
  try {
    const alone = group.length === 1;
    if (!alone) channel.sharing();
    const undo = alone ? 'transaction' : savepoints ? 'savepoint' : 'none';
    outcomes = alone
      ? [await runWork(channel, group[0]!, gathered, undo)]
      : await runAll(channel, group, gathered, undo);
    if (alone && 'error' in outcomes[0]!) {
      await channel.rollback();
      return outcomes;
    }
    if (!alone) channel.ending();
    for (const [tenant, { entries, late }] of gathered.endings) {
      if (entries.length === 0 && late.length === 0) continue;
      const tx = new OpenTx(tenant, channel, newEnding(), false);
      await host.journal.append(tx, entries, late);
      collectKeys(keys, tenant, tx.keys);
    }
    if (keys.size > 0) await host.announce?.(channel, keys);
  } catch (error) {
    await channel.rollback().catch(() => undefined);
    throw error;
  }
  const journalled = journalledIn(gathered).map(([tenant]) => tenant);
  try {
    await channel.commit();
  } catch (error) {
    await channel.rollback().catch(() => undefined);
    const oneFailed = error instanceof DriverError && (error.kind === 'conflict' || error.kind === 'constraint');
    if (oneFailed && group.length > 1 && !savepoints) throw new NeedsSavepoints();
    if (!(error instanceof DriverError) || error.kind !== 'connection') throw error;
    if (keys.size > 0) host.commitLost?.();
    if (journalled.length > 0) throw new CommitUnknown(gathered, outcomes, error);
    // Nothing journalled, so the outcome stays unknown: waiters have to look.
    host.wake(keys);
    throw error;
  }
  if (journalled.length > 0) host.committed(journalled);
  host.wake(keys);
  return outcomes;
}

/** The outcomes of the writes of a group, in its order. */
async function runAll(channel: Channel, group: readonly Write[], gathered: Gathered, undo: Undo): Promise<Outcome[]> {
  const settled = new Map<Write, Outcome>();
  for (const run of runsOf(group, undo === 'none', channel.locksRows)) {
    const outcomes =
      run.length > 1 ? await overlap(channel, run, gathered) : [await runUnit(channel, run[0]!, gathered, undo)];
    for (const [i, unit] of run.entries())
      for (const [j, write] of unit.entries()) settled.set(write, outcomes[i]![j]!);
  }
  return group.map((write) => settled.get(write)!);
}

/**
 * Splits a group into runs of units that may overlap. Writes join an earlier one of their key unless a write between them
 * is not joint: that one may be about the same rows.
 */
function runsOf(group: readonly Write[], mayJoin: boolean, locksRows: boolean): Unit[][] {
  const runs: Write[][][] = [];
  const joint = new Map<string, Write[]>();
  let open: Write[][] | undefined;
  for (const write of group) {
    const key = mayJoin && write.joint ? `${write.tenant} ${write.joint.key}` : undefined;
    const known = key === undefined ? undefined : joint.get(key);
    if (known) {
      known.push(write);
      continue;
    }
    const unit = [write];
    if (key === undefined) joint.clear();
    else joint.set(key, unit);
    if (open && write.entity !== undefined) open.push(unit);
    else {
      const run = [unit];
      runs.push(run);
      open = mayJoin && locksRows && write.entity !== undefined ? run : undefined;
    }
  }
  return runs;
}

/** Runs units pipelined, those of one entity in order; returns when none uses the connection any more. */
async function overlap(channel: Channel, units: readonly Unit[], gathered: Gathered): Promise<Outcome[][]> {
  const last = new Map<string, Promise<Outcome[]>>();
  const started = units.map((unit) => {
    const run = () => runUnit(channel, unit, gathered, 'none');
    const { entity } = unit[0]!;
    const before = last.get(entity!);
    const outcomes = before ? before.then(run) : run();
    last.set(entity!, outcomes);
    return outcomes;
  });
  await Promise.allSettled(started);
  return Promise.all(started);
}

async function runUnit(channel: Channel, unit: Unit, gathered: Gathered, undo: Undo): Promise<Outcome[]> {
  if (unit.length > 1) {
    const { tenant, joint } = unit[0]!;
    const items = unit.map((write) => write.joint!.item);
    const together = { tenant, work: (tx: Tx) => joint!.work(tx, items) };
    const outcome = await runWork(channel, together, gathered, undo);
    const each =
      'value' in outcome ? (outcome.value as readonly PromiseSettledResult<unknown>[] | undefined) : undefined;
    if (each) return each.map((one) => (one.status === 'fulfilled' ? one : { error: one.reason as unknown }));
  }
  const outcomes: Outcome[] = [];
  for (const write of unit) outcomes.push(await runWork(channel, write, gathered, undo));
  return outcomes;
}

/** The means by which a failing write is undone. */
type Undo = 'transaction' | 'savepoint' | 'none';

async function runWork(
  channel: Channel,
  { tenant, work }: Pick<Write, 'tenant' | 'work'>,
  { endings, keys }: Gathered,
  undo: Undo,
): Promise<Outcome> {
  let ending = endings.get(tenant);
  if (!ending) endings.set(tenant, (ending = newEnding()));
  const tx = new OpenTx(tenant, channel, ending, undo === 'savepoint');
  try {
    const value = await work(tx);
    if (tx.inSavepoint) await channel.release();
    collectKeys(keys, tenant, tx.keys);
    return { value };
  } catch (error) {
    tx.withdraw();
    if (undo === 'savepoint') {
      if (tx.inSavepoint) await channel.rollbackTo().catch(() => Promise.reject(error));
      if (channel.lost()) throw error;
    }
    if (undo === 'none') {
      if (error instanceof DriverError && error.kind === 'connection') throw error;
      if (tx.changed || channel.lost()) throw new NeedsSavepoints();
    }
    return { error };
  } finally {
    tx.end();
  }
}

/** Runs a failed group again, up to `ATTEMPTS` times; one by one if a sibling may be the cause. */
async function runAgain(host: GroupHost, group: readonly Write[], attempt: number, error: unknown): Promise<void> {
  if (!(error instanceof DriverError)) {
    if (group.length === 1) return rejectAll(group, error);
    for (const write of group) await commitGroup(host, [write], attempt + 1);
    return;
  }
  const hopeless = error.kind === 'full' || error.kind === 'failed' || error.kind === 'busy';
  if (attempt >= ATTEMPTS || (hopeless && group.length === 1)) {
    if (error.kind === 'connection') return giveUp(host, group, error);
    return rejectAll(group, toCairnError(error));
  }
  if (error.kind === 'connection') {
    await sleep(Math.min(1000, 25 * 2 ** attempt) * (0.5 + Math.random()));
    return commitGroup(host, group, attempt + 1);
  }
  if (group.length === 1) await sleep(Math.random() * 10 * attempt);
  for (const write of group) await commitGroup(host, [write], attempt + 1);
}

async function resolveUnknown(host: GroupHost, lost: CommitUnknown) {
  const journalled = journalledIn(lost.gathered);
  const [tenant, { entries }] = journalled[0]!;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    try {
      const channel = await host.begin(tenant);
      try {
        const landed = await host.journal.landed(new OpenTx(tenant, channel, newEnding(), false), entries);
        if (landed) host.committed(journalled.map(([one]) => one));
        return landed ? lost.outcomes : ('absent' as const);
      } finally {
        await channel.rollback().catch(() => undefined);
      }
    } catch {
      await sleep(Math.min(1000, 25 * 2 ** attempt));
    }
  }
  return 'unknown' as const;
}

const unknownOutcome = (cause: unknown) =>
  new CairnError(
    'COMMIT_UNKNOWN',
    'the connection to the database was lost at COMMIT, so this may or may not have been written: repeat it with the same id or Idempotency-Key',
    undefined,
    cause,
  );

/** Rejects the group, and all writes behind it. */
function giveUp(host: GroupHost, group: readonly Write[], error: DriverError): void {
  const refusal = toCairnError(error);
  rejectAll(group, refusal);
  host.unreachable?.(refusal);
}

export function rejectAll(group: readonly Write[], error: unknown): void {
  for (const write of group) write.reject(error);
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The error for the caller of a read when the database failed. */
export function readingError(error: unknown): unknown {
  const inTheWay = error instanceof DriverError && (error.kind === 'busy' || error.kind === 'conflict');
  if (!inTheWay) return toCairnError(error);
  const message = `the database canceled this read, which took too long or conflicted with another transaction: ask for less, or try again later: ${error.message}`;
  return new CairnError('OVERLOADED', message, undefined, error);
}

/** The error for the caller of an operation when the database failed. */
export function toCairnError(error: unknown): unknown {
  if (!(error instanceof DriverError)) return error;
  const failure = FAILURES[error.kind];
  return failure ? new CairnError(failure[0], `${failure[1]}: ${error.message}`, undefined, error) : error;
}

const CONTENTION = ['OVERLOADED', 'other writers kept the rows locked, nothing was written'] as const;

/** A constraint violation is a defect, and stays as it is. */
const FAILURES: Readonly<Record<DriverError['kind'], readonly [ErrorCode, string] | undefined>> = {
  full: ['STORAGE_FULL', 'the disk is full, nothing was written'],
  failed: ['STORAGE_FAILED', 'the storage failed'],
  constraint: undefined,
  busy: CONTENTION,
  conflict: CONTENTION,
  connection: ['DATABASE_UNAVAILABLE', 'the database cannot be reached'],
};

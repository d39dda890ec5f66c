/**
 * Group commit, for both databases: writes that wait at the same time run in one transaction and share its commit. Every
 * outcome waits for the commit, refusals included, since a refusal may depend on a sibling's row. A refused write has
 * mostly changed nothing, so a group runs without savepoints first; if one write must be undone, the group rolls back and
 * runs again with a savepoint per write.
 */
import { CairnError, type ErrorCode } from '../kernel/index.js';
import type { Channel } from './channel.js';
import { DriverError, type Journal, type Tx } from './driver.js';
import { type Ending, newEnding, OpenTx } from './open-tx.js';
import { collectKeys, type Keys } from './wakes.js';

export const GROUP_LIMIT = 64;
const ATTEMPTS = 8;

export interface Write {
  readonly tenant: string;
  readonly work: (tx: Tx) => Promise<unknown>;
  /** The entity that it changes, if it may overlap with writes to other entities. */
  readonly entity: string | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Thrown when a write must be undone and has no savepoint. */
class NeedsSavepoints extends Error {}

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
  const outcomes: Outcome[] = [];
  try {
    const alone = group.length === 1;
    if (!alone) channel.sharing();
    const undo = alone ? 'transaction' : savepoints ? 'savepoint' : 'none';
    for (const run of runsOf(group, undo === 'none' && channel.locksRows)) {
      if (run.length > 1) outcomes.push(...(await overlap(channel, run, gathered)));
      else outcomes.push(await runWrite(channel, run[0]!, gathered, undo));
    }
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

/** Splits a group into single writes and runs of writes that may overlap. */
function runsOf(group: readonly Write[], mayOverlap: boolean): Write[][] {
  const runs: Write[][] = [];
  let open: Write[] | undefined;
  for (const write of group) {
    if (open && write.entity !== undefined) open.push(write);
    else {
      runs.push([write]);
      open = mayOverlap && write.entity !== undefined ? runs.at(-1) : undefined;
    }
  }
  return runs;
}

/** Runs writes pipelined, those of one entity in order; returns when none uses the connection any more. */
async function overlap(channel: Channel, writes: readonly Write[], gathered: Gathered): Promise<Outcome[]> {
  const last = new Map<string, Promise<Outcome>>();
  const started = writes.map((write) => {
    const run = () => runWrite(channel, write, gathered, 'none');
    const before = last.get(write.entity!);
    const outcome = before ? before.then(run) : run();
    last.set(write.entity!, outcome);
    return outcome;
  });
  await Promise.allSettled(started);
  return Promise.all(started);
}

/** `undo` is the means by which a failing write is undone. */
async function runWrite(
  channel: Channel,
  write: Write,
  { endings, keys }: Gathered,
  undo: 'transaction' | 'savepoint' | 'none',
): Promise<Outcome> {
  let ending = endings.get(write.tenant);
  if (!ending) endings.set(write.tenant, (ending = newEnding()));
  const tx = new OpenTx(write.tenant, channel, ending, undo === 'savepoint');
  try {
    const value = await write.work(tx);
    if (tx.inSavepoint) await channel.release();
    collectKeys(keys, write.tenant, tx.keys);
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

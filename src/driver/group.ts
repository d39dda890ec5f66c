/**
 * Group commit, for both databases: writes that wait at the same time run one after another in one transaction and
 * share its commit. No outcome is told before the commit, refusals included, since a refusal may rest on a sibling's
 * row. A write that is refused has mostly changed nothing yet, so a group runs without savepoints first; if one of it
 * has to be undone, all is rolled back and run again in savepoints, by which that one goes and the others stay.
 */
import { CairnError } from '../kernel/index.js';
import type { Channel } from './channel.js';
import { DriverError, type Journal, type JournalEntry, type Tx } from './driver.js';
import { OpenTx } from './open-tx.js';
import { collectKeys, type Keys } from './wakes.js';

export const GROUP_LIMIT = 64;
const ATTEMPTS = 8;

export interface Write {
  readonly tenant: string;
  readonly work: (tx: Tx) => Promise<unknown>;
  /** What it changes, if it may overlap with writes that change something else. */
  readonly entity: string | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Thrown when a write has to be undone and there is no savepoint to go back to. */
class NeedsSavepoints extends Error {}

/** What the writes of a group leave to its end, by tenant. */
interface Gathered {
  readonly entries: Map<string, JournalEntry[]>;
  readonly keys: Keys;
}

type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** Thrown when the connection broke at COMMIT: what was journalled tells whether it happened. */
class CommitUnknown extends Error {
  readonly entries: ReadonlyMap<string, readonly JournalEntry[]>;
  readonly keys: Keys;
  readonly outcomes: readonly Outcome[];

  constructor({ entries, keys }: Gathered, outcomes: readonly Outcome[], cause: unknown) {
    super('the connection was lost at COMMIT', { cause });
    this.entries = new Map([...entries].filter(([, list]) => list.length > 0));
    this.keys = keys;
    this.outcomes = outcomes;
  }
}

export interface GroupHost {
  readonly journal: Journal;
  /** Begins a transaction; throws a DriverError when it cannot. */
  begin(tenant: string): Promise<Channel>;
  committed(tenants: Iterable<string>): void;
  /** Sends, with the last statements before COMMIT, what wakes those who wait for these keys on other servers. */
  announce?(channel: Channel, keys: Keys): Promise<void>;
  /** Wakes those who wait for these keys in this process. */
  wake(keys: Keys): void;
  /** The connection was lost at a COMMIT that announced keys, and it may still happen. */
  commitLost?(): void;
  /** The database stayed away for as long as a write waits for it: those behind would wait the same time in vain. */
  unreachable?(error: unknown): void;
}

/** Runs a group to its end: every write is resolved or rejected when this returns. */
export async function commitGroup(host: GroupHost, group: readonly Write[], attempt = 1): Promise<void> {
  let outcomes: readonly Outcome[];
  try {
    outcomes = await runOnce(host, group, false).catch((error) => {
      if (error instanceof NeedsSavepoints) return runOnce(host, group, true);
      throw error;
    });
  } catch (error) {
    const resolved = error instanceof CommitUnknown ? await resolveUnknown(host, error) : undefined;
    if (error instanceof CommitUnknown && resolved !== 'absent') host.wake(error.keys);
    if (resolved === 'unknown') return rejectAll(group, unknownOutcome(error));
    if (error instanceof DriverError && error.kind === 'busy') {
      // The lock or the head row was not to be had: no write of the group is to blame, nor would one do better alone.
      const refusal = toCairnError(error);
      rejectAll(group, refusal);
      host.unreachable?.(refusal);
      return;
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
  const gathered: Gathered = { entries: new Map(), keys: new Map() };
  const { entries, keys } = gathered;
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
    for (const [tenant, list] of entries) {
      if (list.length === 0) continue;
      const tx = new OpenTx(tenant, channel, [], false);
      await host.journal.append(tx, list);
      collectKeys(keys, tenant, tx.keys);
    }
    if (keys.size > 0) await host.announce?.(channel, keys);
  } catch (error) {
    await channel.rollback().catch(() => undefined);
    throw error;
  }
  const journalled = [...entries].filter(([, list]) => list.length > 0).map(([tenant]) => tenant);
  try {
    await channel.commit();
  } catch (error) {
    await channel.rollback().catch(() => undefined);
    const oneFailed = error instanceof DriverError && (error.kind === 'conflict' || error.kind === 'constraint');
    if (oneFailed && group.length > 1 && !savepoints) throw new NeedsSavepoints();
    if (!(error instanceof DriverError) || error.kind !== 'connection') throw error;
    if (keys.size > 0) host.commitLost?.();
    if (journalled.length > 0) throw new CommitUnknown(gathered, outcomes, error);
    // Nobody will learn whether it happened: whoever waits has to look.
    host.wake(keys);
    throw error;
  }
  if (journalled.length > 0) host.committed(journalled);
  host.wake(keys);
  return outcomes;
}

/** Cuts a group into writes that run one after another, and stretches of those that may overlap. */
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

/**
 * Runs writes at once, those of one entity one after another: on a connection that pipelines they wait for answers
 * together. Ends when all have ended, since none may use the connection after that.
 */
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

/** `undo` says by what a write that fails is undone. */
async function runWrite(
  channel: Channel,
  write: Write,
  { entries, keys }: Gathered,
  undo: 'transaction' | 'savepoint' | 'none',
): Promise<Outcome> {
  let list = entries.get(write.tenant);
  if (!list) entries.set(write.tenant, (list = []));
  const tx = new OpenTx(write.tenant, channel, list, undo === 'savepoint');
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

/** What failed as a whole is run again, one by one where a sibling may be to blame, a bounded number of times. */
async function runAgain(host: GroupHost, group: readonly Write[], attempt: number, error: unknown): Promise<void> {
  if (!(error instanceof DriverError)) {
    if (group.length === 1) return rejectAll(group, error);
    for (const write of group) await commitGroup(host, [write], attempt + 1);
    return;
  }
  const hopeless = error.kind === 'full' || error.kind === 'failed' || error.kind === 'busy';
  if (attempt >= ATTEMPTS || (hopeless && group.length === 1)) {
    const refusal = toCairnError(error);
    rejectAll(group, refusal);
    if (error.kind === 'connection') host.unreachable?.(refusal);
    return;
  }
  if (error.kind === 'connection') {
    await sleep(Math.min(1000, 25 * 2 ** attempt) * (0.5 + Math.random()));
    return commitGroup(host, group, attempt + 1);
  }
  if (group.length === 1) await sleep(Math.random() * 10 * attempt);
  for (const write of group) await commitGroup(host, [write], attempt + 1);
}

async function resolveUnknown(
  host: GroupHost,
  lost: CommitUnknown,
): Promise<readonly Outcome[] | 'absent' | 'unknown'> {
  const [tenant, entries] = [...lost.entries][0]!;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    try {
      const channel = await host.begin(tenant);
      try {
        const landed = await host.journal.landed(new OpenTx(tenant, channel, [], false), entries);
        if (landed) host.committed(lost.entries.keys());
        return landed ? lost.outcomes : 'absent';
      } finally {
        await channel.rollback().catch(() => undefined);
      }
    } catch {
      await sleep(Math.min(1000, 25 * 2 ** attempt));
    }
  }
  return 'unknown';
}

const unknownOutcome = (cause: unknown) =>
  new CairnError(
    'COMMIT_UNKNOWN',
    'the connection to the database was lost at COMMIT, so this may or may not have been written: ask again with the same id or Idempotency-Key',
    undefined,
    cause,
  );

function rejectAll(group: readonly Write[], error: unknown): void {
  for (const write of group) write.reject(error);
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** What the caller of a read is told when the database failed. */
export function readingError(error: unknown): unknown {
  const inTheWay = error instanceof DriverError && (error.kind === 'busy' || error.kind === 'conflict');
  if (!inTheWay) return toCairnError(error);
  const message = `the database ended this read, which took too long or met another's change: ask for less, or try again later: ${error.message}`;
  return new CairnError('OVERLOADED', message, undefined, error);
}

/** What the caller of an operation is told when the database failed. */
export function toCairnError(error: unknown): unknown {
  if (!(error instanceof DriverError)) return error;
  const reason = error.message;
  switch (error.kind) {
    case 'full':
      return new CairnError('STORAGE_FULL', `the disk is full, nothing was written: ${reason}`, undefined, error);
    case 'failed':
      return new CairnError('STORAGE_FAILED', `the storage failed: ${reason}`, undefined, error);
    case 'constraint':
      return error;
    case 'busy':
    case 'conflict':
      return new CairnError(
        'OVERLOADED',
        `other writers stayed in the way, nothing was written: ${reason}`,
        undefined,
        error,
      );
    default:
      return new CairnError('DATABASE_UNAVAILABLE', `the database cannot be reached: ${reason}`, undefined, error);
  }
}

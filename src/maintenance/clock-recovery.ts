/**
 * What a clock that was ahead leaves in rows that steer what comes. Times that tell when something was made, changed or
 * erased are records and stay; those that anything is compared with later are brought back to the present.
 */
import { PLACE_MS } from '../coordination/index.js';
import { type Sql, sql, TENANT, type Tx } from '../driver/index.js';
import { lockSweeps } from '../facts/sql.js';
import { broughtBack } from './clock-order.js';

interface Moment {
  readonly id: string;
  readonly moment: number;
}

/** What is sealed, deleted or ended in the future: which rows, and how their times are set. */
const ORDERED: Readonly<
  Record<'sealed' | 'deleted' | 'ended', { find(now: number): Sql; set(ids: readonly string[], moment: number): Sql }>
> = {
  sealed: {
    find: (now) =>
      sql`SELECT box_id AS id, sealed_at AS moment FROM boxes WHERE tenant_id = ${TENANT} AND sealed_at > ${now}`,
    set: (ids, moment) =>
      sql`UPDATE boxes SET sealed_at = ${moment} WHERE tenant_id = ${TENANT} AND box_id = ANY(${ids})`,
  },
  deleted: {
    find: (now) =>
      sql`SELECT card_id AS id, deleted_at AS moment FROM cards WHERE tenant_id = ${TENANT} AND deleted_at > ${now}`,
    set: (ids, moment) =>
      sql`UPDATE cards SET deleted_at = ${moment} WHERE tenant_id = ${TENANT} AND card_id = ANY(${ids})`,
  },
  ended: {
    find: (now) =>
      sql`SELECT holder AS id, ended_at AS moment FROM endings WHERE tenant_id = ${TENANT} AND ended_at > ${now}`,
    set: (ids, moment) =>
      sql`UPDATE endings SET ended_at = ${moment} WHERE tenant_id = ${TENANT} AND holder = ANY(${ids})`,
  },
};

/**
 * Brings back when boxes were sealed, and cards deleted or ended, in the order in which it was: a box keeps what was
 * deleted after it was sealed. What is sealed or deleted from now on comes behind all of it, and not behind the wrong clock.
 */
export async function bringBackSeals(tx: Tx, now: number): Promise<void> {
  await lockSweeps(tx);
  const [sealed, deleted, ended] = [
    await tx.all<Moment>(ORDERED.sealed.find(now)),
    await tx.all<Moment>(ORDERED.deleted.find(now)),
    await tx.all<Moment>(ORDERED.ended.find(now)),
  ];
  const times = broughtBack(
    now,
    sealed.map(({ moment }) => Number(moment)),
    [...deleted, ...ended].map(({ moment }) => Number(moment)),
  );
  for (const [kind, rows] of Object.entries({ sealed, deleted, ended })) {
    const groups = new Map<number, string[]>();
    for (const { id, moment } of rows) {
      const time = times.get(Number(moment))!;
      const group = groups.get(time);
      if (group) group.push(id);
      else groups.set(time, [id]);
    }
    for (const [time, ids] of groups) await tx.run(ORDERED[kind as keyof typeof ORDERED].set(ids, time));
  }
  const last = Math.max(now, ...[...times.values()].slice(-1));
  await tx.run(sql`UPDATE sweeps SET sealed_at = CASE WHEN sealed_at > ${now} THEN ${last} ELSE sealed_at END,
      swept_at = CASE WHEN swept_at > ${now} THEN ${last} ELSE swept_at END WHERE tenant_id = ${TENANT}`);
}

/** No lease is longer. */
const LONGEST_MS = 24 * 3_600_000;

/**
 * Ends the leases that the wrong clock gave. `until` is what it reached: a lease of it that was not over by then ends later.
 * Where the row says when it was given, that tells. A lock is ended by that alone: one that is rightly held for a day must
 * not be given to another, while an agent_turn or a message that comes again is refused or known. Deadlines are not among
 * them: somebody may have named a far one on purpose.
 */
export async function endFutureLeases(tx: Tx, now: number, until: number): Promise<void> {
  const longest = now + LONGEST_MS;
  const reached = Math.min(until, longest);
  const end = (which: Sql) =>
    tx.run(sql`UPDATE leases SET expires_at = ${now} WHERE tenant_id = ${TENANT} AND expires_at > ${now} AND ${which}`);
  // How long an agent is online its row says.
  await end(sql`kind = 'agent'`);
  await end(sql`kind = 'lock' AND (expires_at > ${longest} OR subject_id IN (
    SELECT lock_id FROM locks WHERE tenant_id = ${TENANT} AND ended_at IS NULL
      AND (asked_at > ${now} OR granted_at > ${now})))`);
  await end(sql`kind = 'lock' AND expires_at > ${now + PLACE_MS} AND subject_id IN (
    SELECT lock_id FROM locks WHERE tenant_id = ${TENANT} AND ended_at IS NULL AND state = 'waiting')`);
  await end(sql`kind = 'agent_turn' AND (expires_at > ${reached} OR subject_id IN (
    SELECT agent_turn_id FROM agent_turns WHERE tenant_id = ${TENANT} AND ended_at IS NULL AND claimed_at > ${now}))`);
  await end(sql`kind = 'job' AND (expires_at > ${reached} OR subject_id IN (
    SELECT job_id FROM jobs WHERE tenant_id = ${TENANT} AND ended_at IS NULL AND updated_at > ${now}))`);
  await end(sql`kind = 'message' AND expires_at > ${reached}`);
}

/** Sets to the present what later times are compared with; the turns of ended scopes are kept for `closing_ms` at most. */
export async function bringBackTimes(tx: Tx, now: number, closing_ms: number): Promise<void> {
  const kept = now + closing_ms;
  for (const statement of [
    // Idempotency keys count from now.
    sql`UPDATE requests SET recorded_at = ${now} WHERE tenant_id = ${TENANT} AND recorded_at > ${now}`,
    // An agent is silent from now on.
    sql`UPDATE agents SET last_seen_at = ${now} WHERE tenant_id = ${TENANT} AND last_seen_at > ${now}`,
    // Policies ask whether they came since a scope, or its box, was last looked at.
    sql`UPDATE boxes SET updated_at = ${now} WHERE tenant_id = ${TENANT} AND updated_at > ${now}`,
    sql`UPDATE scopes SET updated_at = ${now} WHERE tenant_id = ${TENANT} AND updated_at > ${now}`,
    sql`UPDATE summarization_policies SET updated_at = ${now} WHERE tenant_id = ${TENANT} AND updated_at > ${now}`,
    // Those that wait come in this order, and the ones of the same moment in that of their ids.
    sql`UPDATE agent_turns SET dispatched_at = ${now}
        WHERE tenant_id = ${TENANT} AND ended_at IS NULL AND dispatched_at > ${now}`,
    sql`UPDATE jobs SET pinned_until = ${kept} WHERE tenant_id = ${TENANT} AND pinned_until > ${kept}`,
    // Ended locks are forgotten after a day.
    sql`UPDATE locks SET ended_at = ${now} WHERE tenant_id = ${TENANT} AND ended_at > ${now}`,
    // The latest access counts, and those to come are later.
    sql`UPDATE memory_access SET accessed_at = ${now} WHERE tenant_id = ${TENANT} AND accessed_at > ${now}`,
    sql`UPDATE vector_docs SET retry_at = ${now} WHERE tenant_id = ${TENANT} AND retry_at > ${now}`,
    sql`UPDATE vector_progress SET held_until = ${now} WHERE tenant_id = ${TENANT} AND held_until > ${now}`,
  ])
    await tx.run(statement);
}

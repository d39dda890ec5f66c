/**
 * Time limits of a job: the time of a provider, how long the job is held, when its lease expires next. If turns are pinned
 * for it, the last part of that time is for the offline fallback.
 */
import type { Limits } from '../../engine/index.js';
import type { JobRow } from './store.js';

/** Longest provider call, and the lease that covers it. */
const PROVIDER_MS = 60_000;
const LEASE_MS = 90_000;
/** The share of the time before a deadline for providers; the rest is for the offline fallback and the write. */
export const PROVIDER_SHARE = 5 / 6;
/** How long a waiting job stays unnoticed if the process that noticed it does nothing: longer if many wait. */
const NOTICE_MS = 5000;
const NOTICE_MS_EACH = 10;
const MAX_NOTICE_MS = 60_000;

type Pinned = Pick<JobRow, 'pinned_until'>;

/** When provider calls for a pinned job end. */
const providersUntil = ({ max_closing_ms }: Limits, pinned_until: number): number =>
  Math.floor(pinned_until - max_closing_ms * (1 - PROVIDER_SHARE));

/** When another process may take over a running job, with time left for the offline fallback. */
export const takenOverAt = (limits: Limits, pinned_until: number): number =>
  Math.floor((providersUntil(limits, pinned_until) + pinned_until) / 2);

export const isOverdue = ({ pinned_until }: Pinned, now: number): boolean =>
  pinned_until !== null && pinned_until <= now;

/** Whether only the offline fallback is left. */
export const isUrgent = (limits: Limits, { pinned_until }: Pinned, now: number): boolean =>
  pinned_until !== null && providersUntil(limits, pinned_until) <= now;

/** Time of a provider: always shorter than the pins, since a running job may come to pin turns. */
export function providerTime(limits: Limits, { pinned_until }: Pinned, now: number): number {
  const most = Math.min(PROVIDER_MS, limits.max_closing_ms * PROVIDER_SHARE);
  return pinned_until === null ? most : Math.min(most, providersUntil(limits, pinned_until) - now);
}

/** When the lease of a claimed job expires. */
export function heldUntil(limits: Limits, job: Pinned, now: number): number {
  const { pinned_until } = job;
  if (pinned_until === null) return now + LEASE_MS;
  return isUrgent(limits, job, now) ? pinned_until : takenOverAt(limits, pinned_until);
}

/** When the lease of a waiting job expires, given how many others wait. */
export function noticedAt(limits: Limits, job: Pinned, waiting: number, now: number): number {
  const { pinned_until } = job;
  const next = now + Math.min(NOTICE_MS + waiting * NOTICE_MS_EACH, MAX_NOTICE_MS);
  if (pinned_until === null) return next;
  return Math.min(next, isUrgent(limits, job, now) ? pinned_until : providersUntil(limits, pinned_until));
}

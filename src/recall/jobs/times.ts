/**
 * How long all about a job may take: what a provider has of the time, for how long the job is held, when it is noticed
 * again. Where turns are kept for it, the last part of that time is for the way that needs no provider.
 */
import type { Limits } from '../../engine/index.js';
import type { JobRow } from './store.js';

/** How long a provider has for one attempt at most, and how long a job is held for it. */
const PROVIDER_MS = 60_000;
const LEASE_MS = 90_000;
/** The share of the time to a deadline that providers have; the rest is for the offline way and the writing. */
export const PROVIDER_SHARE = 5 / 6;
/** When a job that waits is noticed again, should whoever noticed it do nothing: the later, the more wait. */
const NOTICE_MS = 5000;
const NOTICE_MS_EACH = 10;
const MAX_NOTICE_MS = 60_000;

type Kept = Pick<JobRow, 'pinned_until'>;

/** Until when a provider may be asked for what is kept until a moment. */
const askedUntil = ({ max_closing_ms }: Limits, pinned_until: number): number =>
  Math.floor(pinned_until - max_closing_ms * (1 - PROVIDER_SHARE));

/** When another may take over what is under way: it still has time for the offline way. */
export const takenOverAt = (limits: Limits, pinned_until: number): number =>
  Math.floor((askedUntil(limits, pinned_until) + pinned_until) / 2);

export const isOverdue = ({ pinned_until }: Kept, now: number): boolean => pinned_until !== null && pinned_until <= now;

/** Whether the time has come to do it without a provider. */
export const isUrgent = (limits: Limits, { pinned_until }: Kept, now: number): boolean =>
  pinned_until !== null && askedUntil(limits, pinned_until) <= now;

/** How long a provider has: never as long as turns are kept, since a job that is under way may come to keep them. */
export function providerTime(limits: Limits, { pinned_until }: Kept, now: number): number {
  const most = Math.min(PROVIDER_MS, limits.max_closing_ms * PROVIDER_SHARE);
  return pinned_until === null ? most : Math.min(most, askedUntil(limits, pinned_until) - now);
}

/** Until when a job that is taken is held. */
export function heldUntil(limits: Limits, job: Kept, now: number): number {
  const { pinned_until } = job;
  if (pinned_until === null) return now + LEASE_MS;
  return isUrgent(limits, job, now) ? pinned_until : takenOverAt(limits, pinned_until);
}

/** When one that waits, beside so many others, is noticed again. */
export function noticedAt(limits: Limits, job: Kept, waiting: number, now: number): number {
  const { pinned_until } = job;
  const next = now + Math.min(NOTICE_MS + waiting * NOTICE_MS_EACH, MAX_NOTICE_MS);
  if (pinned_until === null) return next;
  return Math.min(next, isUrgent(limits, job, now) ? pinned_until : askedUntil(limits, pinned_until));
}

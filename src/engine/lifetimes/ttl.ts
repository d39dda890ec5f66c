/** The lifetime of a card, artifact or note: from a TTL to its class and expiry. */
import { invalid, toMs } from '../../kernel/index.js';
import type { LifetimeClass, Ttl } from './model.js';

const HOUR_MS = 60 * 60 * 1000;

interface Lifetime {
  readonly lifetime: LifetimeClass;
  /** Only of class Duration. */
  readonly expires_at: number | null;
}

const classes: Readonly<Record<string, LifetimeClass>> = {
  Persistent: 'Persistent',
  Permanent: 'Persistent',
  Session: 'Session',
  Scope: 'Scope',
  Ephemeral: 'Scope',
};

const terms: Readonly<Record<string, number>> = {
  ShortTerm: HOUR_MS,
  MediumTerm: 24 * HOUR_MS,
  LongTerm: 7 * 24 * HOUR_MS,
};

/** The milliseconds of a TTL that names a duration. */
function durationOf(ttl: Ttl): number {
  if (typeof ttl === 'object') return ttl.Duration;
  return terms[ttl] ?? Number(/^Duration\((\d+)\)$/.exec(ttl)![1]);
}

/** Tolerance between the clocks of two stores, for content that moves between them. */
const CLOCK_SKEW_MS = 60 * 1000;

/** The expiry of content posted back with both a duration and `expires_at`, which must not be later than the duration. */
export function agreedExpiry(expires_at: string, ttl: string, duration_ms: number, now: number): number {
  const at = toMs(expires_at);
  if (at <= now) throw invalid(`expires_at ${expires_at} is not in the future`);
  if (at > now + duration_ms + CLOCK_SKEW_MS)
    throw invalid(`expires_at ${expires_at} is later than ${ttl} from now: give only one of them, or an earlier time`);
  return at;
}

export function lifetimeOf(ttl: Ttl, now: number, expires_at?: string | null): Lifetime {
  const named = typeof ttl === 'string' ? classes[ttl] : undefined;
  if (named !== undefined && expires_at != null)
    throw invalid(`expires_at needs a ttl with a duration, not ${ttl}: omit it, or give a ttl such as Duration(ms)`);
  if (named !== undefined) return { lifetime: named, expires_at: null };
  const duration = durationOf(ttl);
  if (expires_at == null) return { lifetime: 'Duration', expires_at: now + duration };
  const at = agreedExpiry(expires_at, `ttl ${JSON.stringify(ttl)}`, duration, now);
  return { lifetime: 'Duration', expires_at: at };
}

/** Refuses a posted-back `lifetime` that contradicts `ttl`. */
export function checkLifetime(lifetime: LifetimeClass | null | undefined, ttl: Ttl): void {
  const expected = lifetimeClassOf(ttl);
  if (lifetime == null || lifetime === expected) return;
  throw invalid(`lifetime is ${lifetime}, but its ttl gives ${expected}: omit lifetime and give ttl`);
}

export const lifetimeClassOf = (ttl: Ttl): LifetimeClass => lifetimeOf(ttl, 0).lifetime;

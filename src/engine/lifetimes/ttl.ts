/** How long a card, artifact or note lives: every form that is taken, as what it ends with and when. */
import { invalid, toMs } from '../../kernel/index.js';
import type { LifetimeClass, Ttl } from './model.js';

const HOUR_MS = 60 * 60 * 1000;

export interface Lifetime {
  readonly lifetime: LifetimeClass;
  /** Of the class Duration alone. */
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

/** The milliseconds of a form that names a time; the schema has seen that it is one. */
function durationOf(ttl: Ttl): number {
  if (typeof ttl === 'object') return ttl.Duration;
  return terms[ttl] ?? Number(/^Duration\((\d+)\)$/.exec(ttl)![1]);
}

/** How far the clocks of two stores may be apart, when one takes over what the other gave a lifetime to. */
const CLOCKS_APART_MS = 60 * 1000;

/**
 * When something expires that has both a duration and a moment, as what was read and is posted back: at that moment. It
 * must come no later than the duration from now, or the two are about different things.
 */
export function agreedExpiry(expires_at: string, ttl: string, duration_ms: number, now: number): number {
  const at = toMs(expires_at);
  if (at <= now) throw invalid(`expires_at ${expires_at} is not in the future`);
  if (at > now + duration_ms + CLOCKS_APART_MS) {
    throw invalid(`expires_at ${expires_at} is later than ${ttl} from now: give one of them, or an expires_at by then`);
  }
  return at;
}

export function lifetimeOf(ttl: Ttl, now: number, expires_at?: string | null): Lifetime {
  const named = typeof ttl === 'string' ? classes[ttl] : undefined;
  if (named !== undefined && expires_at != null) {
    throw invalid(
      `expires_at goes with a ttl that names a time, not with ${ttl}: leave it out, or give a ttl such as Duration(ms)`,
    );
  }
  if (named !== undefined) return { lifetime: named, expires_at: null };
  const duration = durationOf(ttl);
  if (expires_at == null) return { lifetime: 'Duration', expires_at: now + duration };
  const at = agreedExpiry(expires_at, `ttl ${JSON.stringify(ttl)}`, duration, now);
  return { lifetime: 'Duration', expires_at: at };
}

/** Refuses a lifetime, as it is answered, that does not follow from the ttl. */
export function checkLifetime(lifetime: LifetimeClass | null | undefined, ttl: Ttl): void {
  const follows = lifetimeClassOf(ttl);
  if (lifetime == null || lifetime === follows) return;
  throw invalid(`lifetime is ${lifetime}, but from its ttl it follows as ${follows}: leave lifetime out and give ttl`);
}

/** The class alone, where no moment is known yet. */
export const lifetimeClassOf = (ttl: Ttl): LifetimeClass => lifetimeOf(ttl, 0).lifetime;

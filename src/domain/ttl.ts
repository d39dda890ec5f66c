/** How long an artifact or note lives: every form that is taken, as what it ends with and when. */
import type { LifetimeClass, Ttl } from '../model/memory.js';

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

export function lifetimeOf(ttl: Ttl, now: number): Lifetime {
  const named = typeof ttl === 'string' ? classes[ttl] : undefined;
  if (named !== undefined) return { lifetime: named, expires_at: null };
  return { lifetime: 'Duration', expires_at: now + durationOf(ttl) };
}

/** The class alone, where no moment is known yet. */
export const lifetimeClassOf = (ttl: Ttl): LifetimeClass => lifetimeOf(ttl, 0).lifetime;

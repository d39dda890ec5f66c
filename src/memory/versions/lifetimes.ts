/** The lifetime of a new artifact or note: as requested, else the default of the tenant for its type. */
import type { LifetimeClass, Ttl } from '../../engine/contract.js';
import { type AssumedRevision, lifetimeClassOf, type Work } from '../../engine/index.js';
import { assumedSettings, defaultTtl } from '../../identity/index.js';
import type { MemoryKind } from './store.js';

/** What a new entity can end with, besides a time. */
export interface LifetimeBounds {
  /** Whether it is in an open scope that it may end with. */
  readonly in_scope: boolean;
  /** Whether it is in a session that has not ended. */
  readonly in_session: boolean;
  /** The holder of the entity with this lifetime; refuses a lifetime that it cannot have. */
  readonly holder: (lifetime: LifetimeClass) => string;
}

/** Widens a default that the entity cannot have, since its request did not ask for it: Scope, Session, Persistent. */
function attainable(ttl: Ttl, { in_scope, in_session }: Omit<LifetimeBounds, 'holder'>): Ttl {
  const lifetime = lifetimeClassOf(ttl);
  if (lifetime !== 'Scope' && lifetime !== 'Session') return ttl;
  if (lifetime === 'Scope' && in_scope) return ttl;
  if (!in_session) return 'Persistent';
  return lifetime === 'Session' ? ttl : 'Session';
}

/** The TTL that a create names, else that of the tenant, and the settings that the latter rests on. */
export async function ttlOf(
  work: Work,
  kind: MemoryKind,
  { type, ttl }: { readonly type: string; readonly ttl?: Ttl | undefined },
  bounds: LifetimeBounds,
): Promise<{ readonly ttl: Ttl; readonly assumes: AssumedRevision | undefined }> {
  if (ttl !== undefined) return { ttl, assumes: undefined };
  const { settings, assumes } = await assumedSettings(work);
  const wanted = defaultTtl(settings, kind, type);
  return { ttl: wanted === undefined ? 'Persistent' : attainable(wanted, bounds), assumes };
}

/** The TTL of a posted-back answer counts as given, even if only `lifetime` or `expires_at` is left of it. */
export const givenTtl = (input: {
  readonly ttl?: Ttl | undefined;
  readonly lifetime?: LifetimeClass | null | undefined;
  readonly expires_at?: string | null | undefined;
}): Ttl | undefined => input.ttl ?? (input.lifetime == null && input.expires_at == null ? undefined : 'Persistent');

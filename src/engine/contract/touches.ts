/** What an operation touches, declared in its entry: the one basis for checks of an agent's rights. */
import type { MemoryType } from '../access/model.js';
import type { ReachedBy } from '../access/reach.js';

export type MemoryKind = Exclude<MemoryType, '*'>;
/** Nouns whose access is derived: containers from Turns, edges from their participants. */
export type DerivedKind = 'Trajectory' | 'Scope' | 'Edge';
export type Need = 'read' | 'write';

/** The id in the input by which the owner is found: of the entity, or of its container. */
export type OwnerId = ReachedBy | 'card_id';

/** A member that names the container of a new entity. A thread is one if it is a trajectory; other threads are free. */
type PlaceMember = 'trajectory_id' | 'scope_id' | 'thread_id';

export interface MemoryUse {
  readonly type: MemoryKind | DerivedKind;
  readonly need: Need;
  /**
   * An id: its entity must be within reach, if the id is given. listed: the answer omits entities beyond reach. named: the
   * use case checks the entities that the input names. made: the caller owns the new entity, whose container must be
   * within reach. items: each item of a batch is checked alone. tenant: the whole tenant, which takes the scope `all`.
   */
  readonly by: OwnerId | 'listed' | 'named' | 'made' | 'items' | 'tenant';
  /** The member of the input with the id, if its name differs. */
  readonly member?: string;
  /** For `made`: the members that name the container. */
  readonly places?: readonly PlaceMember[];
  /**
   * What it takes from a caller that acts for a user. own: the entity is about this user; the default of writes. shared: it
   * may also be about nobody; the default of reads, and of what is made in a container. none: refused.
   */
  readonly of_user?: 'own' | 'shared' | 'none';
  /** The use counts only if this member of the input has one of these values. */
  readonly where?: { readonly member: string; readonly is: readonly unknown[] };
}

/**
 * Access beyond memory_access:
 * - self: identity and registration of the caller; the only calls of an unregistered agent.
 * - directory: every agent sees all agents; an agent changes itself, but never its own rights.
 * - parties: the agents involved, whatever their memory_access, or a worker could not work.
 * - box: the owner of the box and its grantees.
 * - recipe: every agent sees name and description; the creator sees and changes the rest.
 * - tenant_key: needs a key without an agent.
 * - nothing: computes from its input alone, for every registered agent.
 */
type AccessRule = 'self' | 'directory' | 'parties' | 'box' | 'recipe' | 'tenant_key' | 'nothing';

/** A rule, uses of memory, or both. */
export type Touches = AccessRule | readonly [AccessRule | MemoryUse, ...MemoryUse[]];

export const usesOf = (touches: Touches): readonly MemoryUse[] =>
  typeof touches === 'string' ? [] : touches.filter((one): one is MemoryUse => typeof one !== 'string');

export const ruleOf = (touches: Touches): AccessRule | undefined => {
  const first = typeof touches === 'string' ? touches : touches[0];
  return typeof first === 'string' ? first : undefined;
};

export const reads = (type: MemoryUse['type'], by: MemoryUse['by'], member?: string): MemoryUse =>
  member === undefined ? { type, need: 'read', by } : { type, need: 'read', by, member };

export const writes = (...of: Parameters<typeof reads>): MemoryUse => ({ ...reads(...of), need: 'write' });

/** A use that takes something else from a caller that acts for a user. */
export const ofUser = (use: MemoryUse, of_user: NonNullable<MemoryUse['of_user']>): MemoryUse => ({ ...use, of_user });

export const makes = (type: MemoryKind, ...places: PlaceMember[]): MemoryUse => ({ ...writes(type, 'made'), places });

/** A use that depends on a member of the input. */
export const where = (use: MemoryUse, member: string, ...is: unknown[]): MemoryUse => ({
  ...use,
  where: { member, is },
});

/** A search: of each type, what the caller reaches. */
export const readsAnything = (['Turn', 'Artifact', 'Note', 'Card', 'Packet', 'Checkpoint'] as const).map((type) =>
  reads(type, 'listed'),
) as [MemoryUse, ...MemoryUse[]];

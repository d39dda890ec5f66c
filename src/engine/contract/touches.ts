/** What an operation touches, declared with it: by this an agent's rights are checked, in one place for all operations. */
import type { MemoryType } from '../access/model.js';

/** The types that a rule of memory_access names one by one. */
export type MemoryKind = Exclude<MemoryType, '*'>;
/** The nouns whose access follows from the types of memory: containers from Turns, an edge from its participants. */
export type DerivedKind = 'Trajectory' | 'Scope' | 'Edge';
export type Need = 'read' | 'write';

/** By which id of the input the owner is found: its own, or that of what it belongs to. */
export type OwnerId =
  | 'artifact_id'
  | 'note_id'
  | 'card_id'
  | 'packet_id'
  | 'execution_id'
  | 'checkpoint_id'
  | 'manifest_id'
  | 'turn_id'
  | 'job_id'
  | 'policy_id'
  | 'scope_id'
  | 'trajectory_id';

/** A member that names where something is put. A thread is a place where it is a trajectory; other threads are free. */
export type PlaceMember = 'trajectory_id' | 'scope_id' | 'thread_id';

export interface MemoryUse {
  readonly type: MemoryKind | DerivedKind;
  readonly need: Need;
  /**
   * An id: what it names must be within reach; nothing is checked where it is absent. listed: the answer leaves out what
   * is beyond reach. named: the use case checks what the input names, where it looks it up. made: the caller owns what is
   * made, in a place that must be within reach. items: each item of a batch is checked as if it came alone. tenant: the
   * whole tenant is touched, which takes the scope `all`.
   */
  readonly by: OwnerId | 'listed' | 'named' | 'made' | 'items' | 'tenant';
  /** The member of the input that has the id, if it is called otherwise. */
  readonly member?: string;
  /** For `made`: the members that name the place. */
  readonly places?: readonly PlaceMember[];
  /** The use counts only where this member of the input is one of these. */
  readonly where?: { readonly member: string; readonly is: readonly unknown[] };
}

/**
 * For what memory_access does not decide:
 * - self: who the caller is, and registering it. All that an agent without a registration may call.
 * - directory: every agent sees who is there; an agent changes itself, and never its own rights.
 * - parties: the agents that it is between, whatever their memory_access, or a worker could not work.
 * - box: the owner of the box, and those it was granted to.
 * - recipe: every agent sees name and description; its creator sees and changes the rest.
 * - tenant_key: takes a key without an agent.
 */
export type AccessRule = 'self' | 'directory' | 'parties' | 'box' | 'recipe' | 'tenant_key';

/** What an agent's rights are checked against: a rule, uses of memory, or both. */
export type Touches = AccessRule | readonly [AccessRule | MemoryUse, ...MemoryUse[]];

export const usesOf = (touches: Touches): readonly MemoryUse[] =>
  typeof touches === 'string' ? [] : touches.filter((one): one is MemoryUse => typeof one !== 'string');

export const ruleOf = (touches: Touches): AccessRule | undefined => {
  const first = typeof touches === 'string' ? touches : touches[0];
  return typeof first === 'string' ? first : undefined;
};

export const reads = (type: MemoryUse['type'], by: MemoryUse['by'], member?: string): MemoryUse => ({
  type,
  need: 'read',
  by,
  ...(member === undefined ? {} : { member }),
});

export const writes = (type: MemoryUse['type'], by: MemoryUse['by'], member?: string): MemoryUse => ({
  ...reads(type, by, member),
  need: 'write',
});

export const makes = (type: MemoryKind, ...places: PlaceMember[]): MemoryUse => ({
  type,
  need: 'write',
  by: 'made',
  places,
});

/** Of an input that says what is made. */
export const where = (use: MemoryUse, member: string, ...is: unknown[]): MemoryUse => ({
  ...use,
  where: { member, is },
});

/** Whatever can be found: of each type what the caller reaches. */
export const readsAnything: readonly [MemoryUse, ...MemoryUse[]] = [
  reads('Turn', 'listed'),
  reads('Artifact', 'listed'),
  reads('Note', 'listed'),
  reads('Card', 'listed'),
  reads('Packet', 'listed'),
  reads('Checkpoint', 'listed'),
];

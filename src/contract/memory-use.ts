/** What memory an operation touches: by this the memory_access of an agent is checked, in one place for all operations. */
import type { MemoryType } from '../model/agent.js';

/** The types that a rule of memory_access names one by one. */
export type MemoryKind = Exclude<MemoryType, '*'>;
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

export interface MemoryUse {
  readonly type: MemoryKind;
  readonly need: Need;
  /**
   * An id: what it names must be within reach; nothing is checked where it is not given. listed: what is beyond reach is
   * left out of the answer; of a scope, the state that its checkpoint keeps. named: the cards that the
   * input names, alone or by their boxes, are asked for where they are looked up. made: what it makes is the caller's own, in a place that must be within reach. items: each
   * item of a batch is checked as if it came alone.
   */
  readonly by: OwnerId | 'listed' | 'named' | 'made' | 'items';
  /** The member of the input that has the id, if it is called otherwise. */
  readonly member?: string;
  /** Of what is made: the members that name where. */
  readonly places?: readonly ('trajectory_id' | 'scope_id')[];
  /** It counts only where this member of the input is one of these. */
  readonly where?: { readonly member: string; readonly is: readonly unknown[] };
}

export const reads = (type: MemoryKind, by: MemoryUse['by'], member?: string): MemoryUse => ({
  type,
  need: 'read',
  by,
  ...(member === undefined ? {} : { member }),
});

export const writes = (type: MemoryKind, by: MemoryUse['by']): MemoryUse => ({ type, need: 'write', by });

export const makes = (type: MemoryKind, ...places: ('trajectory_id' | 'scope_id')[]): MemoryUse => ({
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
export const readsAnything: readonly MemoryUse[] = (
  ['Turn', 'Artifact', 'Note', 'Card', 'Packet', 'Checkpoint'] as const
).map((type) => reads(type, 'listed'));

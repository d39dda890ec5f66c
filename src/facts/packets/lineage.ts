/** Lineage of packets: who counts as a parent, and what generation and root follow. */
import { NIL_ID, uuid } from '../../kernel/contract.js';
import { CairnError, invalid } from '../../kernel/index.js';
import type { PacketInput } from './model.js';

export interface Ancestor {
  readonly packet_id: string;
  readonly generation: number;
  readonly root_packet_id: string;
}

/** The parents that a packet names: those of its lineage, then provenance.parent_packet. Nil means none. */
export function parentsOf(packet: PacketInput): string[] {
  const parents = new Set(packet.lineage?.parent_ids ?? []);
  const origin = packet.provenance?.parent_packet;
  if (origin !== undefined && origin !== null && origin !== NIL_ID) {
    const parsed = uuid.safeParse(origin);
    if (!parsed.success) throw invalid('provenance.parent_packet must be a UUID; leave it out if there is no parent');
    parents.add(parsed.data);
  }
  parents.delete(NIL_ID);
  return [...parents];
}

export interface Descent {
  readonly generation: number;
  readonly root_packet_id: string;
}

/**
 * Generation is one more than the highest of the parents, the root is the first parent's. A wrong claim is refused; 0
 * claims nothing, since models that know no generation have it as their default.
 */
export function descend(packet_id: string, parents: readonly Ancestor[], claimed: PacketInput['lineage']): Descent {
  const generation = parents.reduce((highest, parent) => Math.max(highest, parent.generation + 1), 0);
  const root_packet_id = parents[0]?.root_packet_id ?? packet_id;
  if (claimed?.generation && claimed.generation !== generation) {
    throw new CairnError(
      'INVALID_LINEAGE',
      `lineage.generation is ${claimed.generation}, but from its parents it follows as ${generation}: leave it out`,
    );
  }
  if (claimed?.root_packet_id !== undefined && claimed.root_packet_id !== root_packet_id) {
    throw new CairnError(
      'INVALID_LINEAGE',
      `lineage.root_packet_id is ${claimed.root_packet_id}, but from its parents it follows as ${root_packet_id}: leave it out`,
    );
  }
  return { generation, root_packet_id };
}

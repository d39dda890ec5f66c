/** Lineage of packets: parents, generation and root. */
import { NIL_ID, uuid } from '../../kernel/contract.js';
import { CairnError, invalid } from '../../kernel/index.js';
import type { PacketInput } from './model.js';

export interface Ancestor {
  readonly packet_id: string;
  readonly generation: number;
  readonly root_packet_id: string;
}

/** The parents that a packet names: lineage.parent_ids, then provenance.parent_packet. The nil UUID means none. */
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

/** One generation above the highest parent, the root of the first. Refuses other claims, but 0, a default of clients. */
export function descend(
  packet_id: string,
  parents: readonly Ancestor[],
  claimed: PacketInput['lineage'],
): Omit<Ancestor, 'packet_id'> {
  const generation = parents.reduce((highest, parent) => Math.max(highest, parent.generation + 1), 0);
  const root_packet_id = parents[0]?.root_packet_id ?? packet_id;
  const refuse = (field: string, claim: unknown, actual: unknown) => {
    const message = `lineage.${field} is ${claim}, but its parents give ${actual}: leave it out`;
    throw new CairnError('INVALID_LINEAGE', message);
  };
  if ((claimed?.generation || generation) !== generation) refuse('generation', claimed?.generation, generation);
  if ((claimed?.root_packet_id ?? root_packet_id) !== root_packet_id) {
    refuse('root_packet_id', claimed?.root_packet_id, root_packet_id);
  }
  return { generation, root_packet_id };
}

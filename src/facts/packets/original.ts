/** A packet as it was sent, kept as what differs from the envelope: the store completes some members and writes others anew. */
import type { Json, JsonObject } from '../../kernel/contract.js';
import { canonical } from '../../kernel/node.js';
import type { PacketInput } from './model.js';

/** The members of an envelope that may differ from what was sent. */
const COMPLETED = ['packet_id', 'timestamp', 'metadata', 'subject_ids', 'ttl', 'lineage'] as const;

interface Difference {
  /** Members that were not sent. */
  readonly added?: readonly string[];
  /** Members that were sent with another value. */
  readonly sent?: JsonObject;
}

/** What it takes to get from the envelope to what was sent; null where they are the same. */
export function differenceOf(sent: PacketInput, envelope: JsonObject): string | null {
  const added: string[] = [];
  const changed: JsonObject = {};
  for (const name of COMPLETED) {
    const given = sent[name] as Json | undefined;
    if (given === undefined) {
      if (envelope[name] !== undefined) added.push(name);
    } else if (canonical(given) !== canonical(envelope[name])) changed[name] = given;
  }
  const difference: Difference = {
    ...(added.length > 0 ? { added } : {}),
    ...(Object.keys(changed).length > 0 ? { sent: changed } : {}),
  };
  return Object.keys(difference).length === 0 ? null : canonical(difference as unknown as Json);
}

export function originalOf(envelope: string, difference: string | null): JsonObject {
  const { added = [], sent = {} } = JSON.parse(difference ?? '{}') as Difference;
  const packet = { ...(JSON.parse(envelope) as JsonObject), ...sent };
  for (const name of added) delete packet[name];
  return packet;
}

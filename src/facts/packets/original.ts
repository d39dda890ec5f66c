/** The original of a packet, stored as its difference to the envelope, in which the store completes some members. */
import type { Json, JsonObject } from '../../kernel/contract.js';
import { canonical } from '../../kernel/node.js';
import type { PacketInput } from './model.js';

/** The members of an envelope that may differ from the packet as sent. */
const COMPLETED = ['packet_id', 'timestamp', 'metadata', 'subject_ids', 'ttl', 'lineage'] as const;

interface Difference {
  /** Members that were not sent. */
  readonly added?: readonly string[];
  /** Members that were sent with another value. */
  readonly sent?: JsonObject;
}

/** The difference between the envelope and the packet as sent; null if there is none. */
export function differenceOf(sent: PacketInput, envelope: JsonObject): string | null {
  const added: string[] = [];
  const changed: JsonObject = {};
  for (const name of COMPLETED) {
    const given = sent[name] as Json | undefined;
    if (given === undefined) {
      if (envelope[name] !== undefined) added.push(name);
    } else if (canonical(given) !== canonical(envelope[name])) changed[name] = given;
  }
  const isChanged = Object.keys(changed).length > 0;
  if (added.length === 0 && !isChanged) return null;
  return canonical({ ...(added.length > 0 ? { added } : {}), ...(isChanged ? { sent: changed } : {}) });
}

export function originalOf(envelope: string, difference: string | null): JsonObject {
  const { added = [], sent = {} } = JSON.parse(difference ?? '{}') as Difference;
  const packet = { ...(JSON.parse(envelope) as JsonObject), ...sent };
  for (const name of added) delete packet[name];
  return packet;
}

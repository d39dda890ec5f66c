/** The envelope of a packet: upcasts older versions, and restores the packet as it was sent. */
import { SCHEMA_VERSION } from '../../engine/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { invalid } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import { EXTENSIONS, OLDER_VERSIONS, type PacketInput } from './model.js';

/** An empty list counts as absent: clients of 1.1.0 send one with an older version. */
const isEmpty = (value: unknown): boolean => value === undefined || (Array.isArray(value) && value.length === 0);

/** Converts 1.0.0 and 1.0.1 to 1.1.0, which only adds four fields. */
export function upcast(packet: PacketInput): PacketInput {
  const version = packet.metadata?.schema_version;
  if (version === undefined || version === null || version === SCHEMA_VERSION) return packet;
  if (!OLDER_VERSIONS.some((known) => known === version)) {
    throw invalid(
      `metadata.schema_version ${JSON.stringify(version)} is unknown: use one of ${[...OLDER_VERSIONS, SCHEMA_VERSION].join(', ')}`,
    );
  }
  const extra = EXTENSIONS.filter((field) => !isEmpty(packet[field]));
  if (extra.length > 0) {
    throw invalid(
      `${extra.join(', ')} needs schema version ${SCHEMA_VERSION}, but metadata.schema_version is ${version}`,
    );
  }
  return { ...packet, metadata: { ...packet.metadata, schema_version: SCHEMA_VERSION } };
}

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

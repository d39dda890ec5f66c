/** The envelope of a packet: upcasts older versions, completes it, and restores the packet as it was sent. */
import { SCHEMA_VERSION } from '../../engine/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { invalid, toIso } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import type { Ancestor } from './lineage.js';
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

/** The members of a packet as canonical JSON; absent ones are undefined. Each is made only once. */
export type MemberTexts = { readonly [name in Member]?: string | undefined };

/** In the order of canonical JSON. */
const MEMBERS = [
  ...(['confidence', 'lineage', 'metadata', 'packet_id', 'packet_type', 'payload', 'provenance'] as const),
  ...(['reasoning_block', 'routing', 'subject_ids', 'tags', 'thread_id', 'timestamp', 'ttl'] as const),
];
type Member = (typeof MEMBERS)[number];

/** Text of a value that is known to need no sorting. */
const plain = (value: string | readonly string[]): string => JSON.stringify(value);

export function memberTexts(packet: PacketInput): MemberTexts {
  const texts: { [name in Member]?: string } = {};
  for (const name of MEMBERS) {
    const value = packet[name];
    if (value !== undefined) texts[name] = typeof value === 'string' ? plain(value) : canonical(value as Json);
  }
  return texts;
}

/** The packet as canonical JSON; `completed` members replace its own. */
export function textOf(texts: MemberTexts, completed: MemberTexts = texts): string {
  let text = '';
  for (const name of MEMBERS) {
    const member = completed[name] ?? texts[name];
    if (member !== undefined) text += `${text === '' ? '{' : ','}"${name}":${member}`;
  }
  return `${text}}`;
}

interface Completion extends Ancestor {
  readonly timestamp: number;
  readonly metadata: string;
  readonly expires_at: number | null;
  readonly parent_ids: readonly string[];
  readonly derivation: string | undefined;
  readonly subject_ids: readonly string[];
}

/** The members that an envelope completes. */
export const completedTexts = (c: Completion): MemberTexts => ({
  lineage:
    `{${c.derivation === undefined ? '' : `"derivation_type":"${c.derivation}",`}"generation":${c.generation},` +
    `"parent_ids":${plain(c.parent_ids)},"root_packet_id":"${c.root_packet_id}"}`,
  metadata: c.metadata,
  packet_id: `"${c.packet_id}"`,
  subject_ids: c.subject_ids.length > 0 ? plain(c.subject_ids) : undefined,
  timestamp: `"${toIso(c.timestamp)}"`,
  ttl: c.expires_at === null ? undefined : `"${toIso(c.expires_at)}"`,
});

/** The members of an envelope that may differ from the packet as sent. Never reordered: stored packets count on it. */
const COMPLETED = ['packet_id', 'timestamp', 'metadata', 'subject_ids', 'ttl', 'lineage'] as const;
/** The members of its metadata that may have been added; likewise. */
const COMPLETED_METADATA = ['schema_version', 'agent'] as const;

/**
 * The difference between the envelope and the packet as sent: the members that were added, as bits in the order of
 * COMPLETED and COMPLETED_METADATA, alone or in a list before the members that were sent with another value.
 */
type Difference = number | readonly [number, JsonObject];

/** As text; null if there is none. `packet` is the sent one with its metadata completed. */
export function differenceOf(
  sent: PacketInput,
  texts: MemberTexts,
  packet: PacketInput,
  completed: MemberTexts,
): string | null {
  let added = 0;
  let changed: JsonObject | undefined;
  COMPLETED.forEach((name, i) => {
    if (completed[name] === undefined || texts[name] === completed[name]) return;
    if (texts[name] === undefined) added |= 1 << i;
    else if (name === 'metadata' && isExtended(sent.metadata!, packet.metadata!)) {
      COMPLETED_METADATA.forEach((member, j) => {
        if (sent.metadata![member] !== packet.metadata![member]) added |= 1 << (COMPLETED.length + j);
      });
    } else (changed ??= {})[name] = sent[name] as Json;
  });
  if (changed !== undefined) return JSON.stringify([added, changed] satisfies Difference);
  return added === 0 ? null : String(added);
}

/** Whether members were added to the metadata, and none was changed. */
const isExtended = (sent: JsonObject, completed: JsonObject): boolean =>
  COMPLETED_METADATA.every((name) => sent[name] === undefined || sent[name] === completed[name]);

export function originalOf(envelope: string, difference: string | null): JsonObject {
  const stored = JSON.parse(difference ?? '0') as Difference;
  const [added, sent] = typeof stored === 'number' ? [stored, {}] : stored;
  const packet = { ...(JSON.parse(envelope) as JsonObject), ...sent };
  COMPLETED.forEach((name, i) => {
    if (added & (1 << i)) delete packet[name];
  });
  COMPLETED_METADATA.forEach((name, i) => {
    if (added & (1 << (COMPLETED.length + i))) delete (packet.metadata as JsonObject)[name];
  });
  return packet;
}

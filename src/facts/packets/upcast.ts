/** Converts envelopes of 1.0.0 and 1.0.1 to 1.1.0, which only adds four fields. */
import { SCHEMA_VERSION } from '../../engine/index.js';
import { invalid } from '../../kernel/index.js';
import { EXTENSIONS, OLDER_VERSIONS, type PacketInput } from './model.js';

/** An empty list counts as absent: clients of 1.1.0 send one with an older version. */
const isEmpty = (value: unknown): boolean => value === undefined || (Array.isArray(value) && value.length === 0);

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

/** Older envelopes become 1.1.0 ones. 1.0.0 and 1.0.1 are 1.1.0 without its four extensions. */
import { SCHEMA_VERSION } from '../../engine/index.js';
import { invalid } from '../../kernel/index.js';
import { EXTENSIONS, OLDER_VERSIONS, type PacketInput } from './model.js';

/** An empty list of tags says no more than none: models of 1.1.0 send it beside an older version. */
const isEmpty = (value: unknown): boolean => value === undefined || (Array.isArray(value) && value.length === 0);

/** The packet as 1.1.0. */
export function upcast(packet: PacketInput): PacketInput {
  const version = packet.metadata?.schema_version;
  if (version === undefined || version === null || version === SCHEMA_VERSION) return packet;
  if (!OLDER_VERSIONS.some((known) => known === version)) {
    throw invalid(
      `metadata.schema_version ${JSON.stringify(version)} is not known: ${[...OLDER_VERSIONS, SCHEMA_VERSION].join(', ')} are`,
    );
  }
  const extra = EXTENSIONS.filter((field) => !isEmpty(packet[field]));
  if (extra.length > 0) {
    throw invalid(
      `${extra.join(', ')} came with schema version ${SCHEMA_VERSION}, but metadata.schema_version says ${version}`,
    );
  }
  return { ...packet, metadata: { ...packet.metadata, schema_version: SCHEMA_VERSION } };
}

/** Own events as rows: rendered on read, from their row alone, and checked by a checksum. */
import { crc32 } from 'node:zlib';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { entityName, toIso } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';

/** The columns that an envelope is rendered from. */
export interface EventColumns {
  readonly packet_id: string;
  readonly packet_type: string;
  readonly timestamp: number;
  readonly thread_id: string | null;
  readonly agent: string | null;
  readonly key_id: string | null;
  readonly entity_type: string;
  readonly entity_id: string;
  readonly facts: string;
  /** How to render the row, which it keeps for ever. */
  readonly format: number;
}

/** The format of new events. Another rendering gets another number; the renderings of older ones stay. */
export const EVENT_FORMAT = 1;

/** The envelope of an own event, as canonical JSON. */
export function renderEvent(event: EventColumns): string {
  if (event.format !== EVENT_FORMAT) {
    throw new Error(`event ${event.packet_id} has format ${event.format}, which this version of Cairn does not know`);
  }
  return renderFormat1(event);
}

function renderFormat1(event: EventColumns): string {
  const { packet_id, packet_type, agent, key_id, entity_type, entity_id, thread_id, timestamp } = event;
  // Members in canonical order, absent ones as undefined: sorting and spreading would double the cost.
  return canonical({
    lineage: { generation: 0, parent_ids: [], root_packet_id: packet_id },
    metadata: { agent: agent ?? undefined, schema_version: '1.1.0' },
    packet_id,
    packet_type,
    payload: {
      actor: { agent_id: agent, key_id },
      ...factsOf(event),
      entity: { id: entity_id, type: entityName(entity_type) },
    },
    provenance: { source: 'cairn' },
    thread_id: thread_id ?? undefined,
    timestamp: toIso(timestamp),
  } as Json);
}

/** The payload of an event besides its actor and its entity. */
export const factsOf = ({ facts }: Pick<EventColumns, 'facts'>): JsonObject => JSON.parse(facts) as JsonObject;

/** Tells whether columns were altered, at a tenth of the cost of hashing the envelope. Signed, so that it fits 4 bytes. */
export const checksumOf = (e: EventColumns): number =>
  crc32(
    `${e.format}\n${e.packet_id}\n${e.packet_type}\n${e.timestamp}\n${e.thread_id}\n${e.agent}\n${e.key_id}\n` +
      `${e.entity_type}\n${e.entity_id}\n${e.facts}`,
  ) | 0;

/** What turns, artifacts, notes, cards and packets are found by: the same when they are written and when all is indexed anew. */
import type { Json, JsonObject } from '../kernel/json.js';
import type { NewVersion } from '../memory/versions/store.js';
import type { Doc } from './documents.js';
import { categoryOf, type Measured } from './searchable.js';

/** What most of them do not have. */
const NONE = {
  type: null,
  name: null,
  trajectory_id: null,
  scope_id: null,
  position: null,
  role: null,
  abstraction_level: 'L0',
} as const;

export interface PlacedTurn {
  readonly turn_id: string;
  readonly sequence: number;
  readonly role: string;
  readonly scope: { readonly trajectory_id: string; readonly scope_id: string };
}

export const turnDoc = ({ turn_id, sequence, role, scope }: PlacedTurn, measured: Measured): Doc => ({
  ...NONE,
  entity_type: 'turn',
  entity_id: turn_id,
  trajectory_id: scope.trajectory_id,
  scope_id: scope.scope_id,
  position: sequence,
  role,
  category: 'ephemeral',
  measured,
});

/** A note is in no trajectory: it is found in the first, by its id, of those that it was learned in. */
export function memoryDoc(row: NewVersion, learned_in: readonly string[], measured: Measured): Doc {
  return {
    ...NONE,
    entity_type: row.kind,
    entity_id: row.memory_id,
    type: row.type,
    name: row.name,
    trajectory_id: row.trajectory_id ?? [...learned_in].sort()[0] ?? null,
    scope_id: row.scope_id,
    abstraction_level: row.abstraction_level,
    category: categoryOf(row.kind, row.type, row.lifetime),
    measured,
  };
}

/** Profiles, prompts, tools, pointers and the texts of requests for a context are not memory. */
export const isSearched = (type: Json | undefined): boolean =>
  typeof type !== 'string' || !/^((sys|meta)\.|context\.(user_input|instructions|query)$)/.test(type);

/** A card that ends with something, or at a time, is for work in hand. */
export function cardDoc(card_id: string, metadata: JsonObject, ends: boolean, measured: Measured): Doc {
  const { type, role } = metadata;
  return {
    ...NONE,
    entity_type: 'card',
    entity_id: card_id,
    type: typeof type === 'string' ? type : null,
    role: typeof role === 'string' ? role.toLowerCase() : null,
    category: ends ? 'working' : 'episodic',
    measured,
  };
}

export const packetDoc = (
  packet: { readonly packet_id: string; readonly packet_type: string; readonly thread_id: string | null },
  measured: Measured,
): Doc => ({
  ...NONE,
  entity_type: 'packet',
  entity_id: packet.packet_id,
  type: packet.packet_type,
  trajectory_id: packet.thread_id,
  category: 'episodic',
  measured,
});

/** The packet_index entries of a packet: tags, subjects, and the simple members of its routing. */
import type { IndexKind } from '../../engine/index.js';
import type { PacketInput } from './model.js';

export function indexEntries(packet: Pick<PacketInput, 'tags' | 'subject_ids' | 'routing'>): [IndexKind, string][] {
  const routes = Object.entries(packet.routing ?? {})
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    // An index entry has to fit a page of either database.
    .filter(([name, value]) => name.length <= 200 && !(typeof value === 'string' && value.length > 200))
    .map(([name, value]) => `${name}:${value}`);
  const entries = (kind: IndexKind, values: readonly string[] | undefined) =>
    [...new Set(values)].map((value): [IndexKind, string] => [kind, value]);
  // Two routing members may give the same entry: {"a:b": "c"} and {"a": "b:c"}.
  return [...entries('tag', packet.tags), ...entries('subject', packet.subject_ids), ...entries('routing', routes)];
}

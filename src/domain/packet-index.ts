/** What a packet can be found by besides its columns: tags, subjects, and the simple members of its routing. */
import type { PacketInput } from '../model/packet.js';

export type IndexKind = 'tag' | 'parent' | 'subject' | 'routing';

export function indexOf(
  packet: Pick<PacketInput, 'tags' | 'subject_ids' | 'routing'>,
): [IndexKind, string][] {
  const entries: [IndexKind, string][] = [];
  for (const tag of new Set(packet.tags)) entries.push(['tag', tag]);
  for (const subject of new Set(packet.subject_ids)) entries.push(['subject', subject]);
  for (const [name, value] of Object.entries(packet.routing ?? {})) {
    // Long values are not for filtering; an index entry has to fit a page of either database.
    if (
      (typeof value === 'string' && value.length <= 200 && name.length <= 200) ||
      typeof value === 'number' ||
      typeof value === 'boolean'
    ) {
      entries.push(['routing', `${name}:${value}`]);
    }
  }
  return entries;
}

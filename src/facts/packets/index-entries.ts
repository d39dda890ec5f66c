/** What a packet can be found by besides its columns: tags, subjects, and the simple members of its routing. */
import type { IndexKind } from '../../engine/index.js';
import type { PacketInput } from './model.js';

export function indexOf(packet: Pick<PacketInput, 'tags' | 'subject_ids' | 'routing'>): [IndexKind, string][] {
  const entries: [IndexKind, string][] = [];
  for (const tag of new Set(packet.tags)) entries.push(['tag', tag]);
  for (const subject of new Set(packet.subject_ids)) entries.push(['subject', subject]);
  // Two members can read the same: {"a:b": "c"} and {"a": "b:c"}.
  const routes = new Set<string>();
  for (const [name, value] of Object.entries(packet.routing ?? {})) {
    // Long names and values are not for filtering; an index entry has to fit a page of either database.
    if (name.length > 200 || (typeof value === 'string' && value.length > 200)) continue;
    if (['string', 'number', 'boolean'].includes(typeof value)) routes.add(`${name}:${value}`);
  }
  for (const route of routes) entries.push(['routing', route]);
  return entries;
}

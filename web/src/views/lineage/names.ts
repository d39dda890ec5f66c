/** What an entity is called in a graph. */
import { words } from '../../data/format.js';
import { useName } from '../../data/names.js';
import type { GraphNode } from './graph.js';

export const shortId = (id: string): string => (id.length > 14 ? `…${id.slice(-8)}` : id);

/** The type of a packet; else its name, and the end of its id until that is known. */
export function useNodeName({ type, id, packet }: GraphNode): string {
  const name = useName(type, id, packet === undefined);
  return packet?.packet_type ?? name ?? `${words(type)} ${shortId(id)}`;
}

/** What an entity is called in a graph. Asked only for what is shown, and without counting as a use of it. */
import { useQuery } from '@tanstack/react-query';
import type { Api } from 'cairndb/client';
import { useSession } from '../../app/session.js';
import { textOf, words } from '../../data/format.js';
import type { GraphNode } from './graph.js';

/** What was recorded within the last moment may not be readable as of a time. */
const MOMENT_MS = 1500;

async function nameOf(api: Api, { type, id }: GraphNode, signal: AbortSignal): Promise<string> {
  const as_of = new Date(Date.now() - MOMENT_MS).toISOString();
  switch (type) {
    case 'Note': {
      const { title, content } = await api.notes.get({ note_id: id, as_of }, { signal });
      return title || textOf(content);
    }
    case 'Artifact':
      return (await api.artifacts.get({ artifact_id: id, as_of }, { signal })).name;
    case 'Turn':
    case 'Card': {
      const { cards } = await api.cards.get_batch({ card_ids: [id] }, { signal });
      return cards[0] ? textOf(cards[0].content) : '';
    }
    case 'Trajectory':
      return (await api.trajectories.get({ trajectory_id: id }, { signal })).name;
    case 'Scope':
      return (await api.scopes.get({ scope_id: id }, { signal })).name;
    default:
      return '';
  }
}

export const shortId = (id: string): string => (id.length > 14 ? `…${id.slice(-8)}` : id);

/** The end of its id until the name is known, and where there is none. */
export function useName(node: GraphNode): string {
  const { api } = useSession();
  const { data } = useQuery({
    queryKey: ['names', node.type, node.id],
    queryFn: ({ signal }) => nameOf(api, node, signal),
    enabled: node.type !== 'Packet',
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  if (node.packet) return node.packet.packet_type;
  return data?.slice(0, 120) || `${words(node.type)} ${shortId(node.id)}`;
}

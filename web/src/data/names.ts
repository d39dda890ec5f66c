/** What an entity is called: read once by its id, since lists and events name entities by ids alone. */
import { useQuery } from '@tanstack/react-query';
import type { Api, CallOptions } from 'cairndb/client';
import { useSession } from '../app/session.js';
import { textOf, words } from './format.js';

type Read = (api: Api, id: string, options: CallOptions) => Promise<string | null | undefined>;

async function textOfCard(api: Api, card_id: string, options: CallOptions): Promise<string | undefined> {
  const [card] = (await api.cards.get_batch({ card_ids: [card_id] }, options)).cards;
  return card && textOf(card.content ?? card.tool_calls);
}

/** Histories, since a read by id would count as an access. */
const readers: Readonly<Record<string, Read>> = {
  Note: async (api, note_id, options) =>
    (await api.notes.history({ note_id, order: 'desc', limit: 1 }, options)).versions[0]?.title,
  Artifact: async (api, artifact_id, options) =>
    (await api.artifacts.history({ artifact_id, order: 'desc', limit: 1 }, options)).versions[0]?.name,
  // Turns are cards, and a batch leaves out what is gone instead of failing.
  Turn: async (api, card_id, options) => textOfCard(api, card_id, options),
  Card: async (api, card_id, options) => textOfCard(api, card_id, options),
  Trajectory: async (api, trajectory_id, options) => (await api.trajectories.get({ trajectory_id }, options)).name,
  Scope: async (api, scope_id, options) => (await api.scopes.get({ scope_id }, options)).name,
  Execution: async (api, execution_id, options) => (await api.executions.get({ execution_id }, options)).name,
  // An id that somebody chose is a name.
  Agent: async (api, agent_id, options) =>
    agent_id.length > 14 ? (await api.agents.get({ agent_id }, options)).agent_type : agent_id,
};

const MAX_LENGTH = 200;

/** The name of an entity, or the beginning of its text; undefined until it is known, and for what has none. */
export function useName(type: string, id: string): string | undefined {
  const { api } = useSession();
  const kind = words(type).replaceAll(' ', '');
  const name = Object.keys(readers).find((known) => known.toLowerCase() === kind);
  const { data, isError } = useQuery({
    queryKey: ['names', name, id],
    queryFn: async ({ signal }) => (await readers[name!]!(api, id, { signal }))?.trim().slice(0, MAX_LENGTH) ?? '',
    enabled: name !== undefined,
    staleTime: 600_000,
    retry: false,
  });
  // Erased since: the text that is still in the cache is not shown.
  return isError || data === '' ? undefined : data;
}

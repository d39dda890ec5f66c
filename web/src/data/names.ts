/** What an entity is called: read once by its id, since lists and events name entities by ids alone. */
import { useQuery } from '@tanstack/react-query';
import type { Api, CallOptions, Card } from 'cairndb/client';
import { useSession } from '../app/session.js';
import { textOf, words } from './format.js';

type Read = (api: Api, id: string, options: CallOptions) => Promise<string | null | undefined>;

interface Wanted {
  readonly card_id: string;
  readonly resolve: (text: string | undefined) => void;
  readonly reject: (error: unknown) => void;
}

const MAX_BATCH = 100;
const BATCH_MS = 60;
let wanted: Wanted[] = [];

/** Such as "calls search, read_file". */
function callsOf({ tool_calls }: Pick<Card, 'tool_calls'>): string {
  const calls = (Array.isArray(tool_calls) ? tool_calls : []) as { function?: { name?: unknown } }[];
  const names = calls.map((call) => call.function?.name).filter((name) => typeof name === 'string');
  return names.length > 0 ? `calls ${names.join(', ')}` : '';
}

async function readWanted(api: Api): Promise<void> {
  const batch = wanted.slice(0, MAX_BATCH);
  wanted = wanted.slice(MAX_BATCH);
  if (wanted.length > 0) setTimeout(() => void readWanted(api), 0);
  try {
    const { cards } = await api.cards.get_batch({ card_ids: batch.map(({ card_id }) => card_id) });
    const texts = new Map(cards.map((card) => [card.card_id, textOf(card.content) || callsOf(card)]));
    for (const { card_id, resolve } of batch) resolve(texts.get(card_id));
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}

/** Texts of cards and turns, many in one request. What is gone is left out. */
function textOfCard(api: Api, card_id: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    wanted.push({ card_id, resolve, reject });
    if (wanted.length === 1) setTimeout(() => void readWanted(api), BATCH_MS);
  });
}

/** Histories, since a read by id would count as an access. */
const readers: Readonly<Record<string, Read>> = {
  Note: async (api, note_id, options) =>
    (await api.notes.history({ note_id, order: 'desc', limit: 1 }, options)).versions[0]?.title,
  Artifact: async (api, artifact_id, options) =>
    (await api.artifacts.history({ artifact_id, order: 'desc', limit: 1 }, options)).versions[0]?.name,
  Turn: textOfCard,
  Card: textOfCard,
  Trajectory: async (api, trajectory_id, options) => (await api.trajectories.get({ trajectory_id }, options)).name,
  Scope: async (api, scope_id, options) => (await api.scopes.get({ scope_id }, options)).name,
  Execution: async (api, execution_id, options) => (await api.executions.get({ execution_id }, options)).name,
  // An id that somebody chose is a name.
  Agent: async (api, agent_id, options) =>
    agent_id.length > 14 ? (await api.agents.get({ agent_id }, options)).agent_type : agent_id,
};

const MAX_LENGTH = 200;

/**
 * The name of an entity, or the beginning of its text; undefined until it is known, and for what has none. Not asked for
 * while `enabled` is false, such as in a row that may be gone in a moment.
 */
export function useName(type: string, id: string, enabled = true): string | undefined {
  const { api } = useSession();
  const kind = words(type).replaceAll(' ', '');
  const name = Object.keys(readers).find((known) => known.toLowerCase() === kind);
  const { data, isError } = useQuery({
    queryKey: ['names', name, id],
    queryFn: async ({ signal }) => (await readers[name!]!(api, id, { signal }))?.trim().slice(0, MAX_LENGTH) ?? '',
    enabled: enabled && name !== undefined,
    staleTime: 600_000,
    gcTime: 60_000,
    retry: false,
  });
  // Erased since: the text that is still in the cache is not shown.
  return isError || data === '' ? undefined : data;
}

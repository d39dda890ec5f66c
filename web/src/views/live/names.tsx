/** Names for the entities in events: of whole lists, since an event may name what is gone by now. */
import { useQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { useSession } from '../../app/session.js';
import { type LiveEvent, useLive } from '../../data/events.js';
import { useName } from '../../data/names.js';
import { Entity } from '../../ui/text.js';
import { entityOf, type Reference } from './describe.js';

const LISTED = 200;

/** Events that give a name to something. */
const NAMING =
  /^cairn\.(scope\.(created|updated|restored)|trajectory\.(created|updated)|agent\.|execution\.(created|updated))/;

const NamesContext = createContext<ReadonlyMap<string, string>>(new Map());

/** An id that nobody chose says nothing: the type of the agent does. */
const agentName = ({ agent_id, agent_type }: { agent_id: string; agent_type: string }): string =>
  agent_id.length > 14 ? `${agent_type} ${agent_id.slice(-4)}` : agent_id;

export function NamesProvider({ children }: { children: ReactNode }): ReactNode {
  const { api } = useSession();
  const { events } = useLive();
  const named = events.findLast(({ packet_type }) => NAMING.test(packet_type))?.seq;
  const { data, refetch } = useQuery({
    queryKey: ['names', 'live'],
    queryFn: async ({ signal }) => {
      const page = { limit: LISTED, order: 'desc' } as const;
      const lists = await Promise.allSettled([
        api.scopes
          .list(page, { signal })
          .then(({ scopes }) => scopes.map(({ scope_id, name }) => [scope_id, name] as const)),
        api.trajectories
          .list(page, { signal })
          .then(({ trajectories }) => trajectories.map(({ trajectory_id, name }) => [trajectory_id, name] as const)),
        api.agents
          .list(page, { signal })
          .then(({ agents }) => agents.map((agent) => [agent.agent_id, agentName(agent)] as const)),
        api.executions
          .list(page, { signal })
          .then(({ executions }) => executions.map(({ execution_id, name }) => [execution_id, name ?? ''] as const)),
      ]);
      return lists.flatMap((list) => (list.status === 'fulfilled' ? list.value : []));
    },
    staleTime: 60_000,
  });
  useEffect(() => {
    if (named === undefined) return;
    const timer = setTimeout(() => void refetch(), 500);
    return () => clearTimeout(timer);
  }, [named, refetch]);
  const names = useMemo(() => new Map((data ?? []).filter(([, name]) => name !== '')), [data]);
  return <NamesContext.Provider value={names}>{children}</NamesContext.Provider>;
}

/** The cards with the newest texts of notes and artifacts, as far as known events tell. */
const CardsContext = createContext<ReadonlyMap<string, string>>(new Map());

export function CardsProvider({ events, children }: { events: readonly LiveEvent[]; children: ReactNode }): ReactNode {
  const cards = useMemo(() => {
    const found = new Map<string, string>();
    for (const event of events) {
      const { id, card_id } = entityOf(event);
      if (card_id !== undefined && !found.has(id)) found.set(id, card_id);
    }
    return found;
  }, [events]);
  return <CardsContext.Provider value={cards}>{children}</CardsContext.Provider>;
}

export const useListedName = (id: string): string | undefined => useContext(NamesContext).get(id);

/** A row that is pushed out of sight at once is not worth a request. */
const SETTLED_MS = 300;

function useSettled(): boolean {
  const [settled, setSettled] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(true), SETTLED_MS);
    return () => clearTimeout(timer);
  }, []);
  return settled;
}

/** The text of a turn, a card, or a version of a note or artifact, while it is there. */
export function useText(card_id: string | undefined): string | undefined {
  const settled = useSettled();
  return useName('Card', card_id ?? '', settled && card_id !== undefined);
}

/** An entity of an event by its name. */
export function Referred({ reference: { type, id, label, card_id } }: { reference: Reference }): ReactNode {
  const listed = useListedName(id);
  const isMemory = type === 'Note' || type === 'Artifact' || type === 'Card';
  const newest = useContext(CardsContext).get(id);
  const text = useText(isMemory ? (card_id ?? newest) : undefined);
  const short = id.length > 14 ? `…${id.slice(-6)}` : id;
  const noun = type.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return (
    <Entity type={type} id={id}>
      {label ?? listed ?? text ?? (id === short ? short : `${noun} ${short}`)}
    </Entity>
  );
}

/** The cards of a context, a hundred at a time. */
import { useQueries } from '@tanstack/react-query';
import type { Card } from 'cairndb/client';
import { useMemo } from 'react';
import { useSession } from '../../app/session.js';
import { keyOf, useCall } from '../../data/api.js';

/** `cards.get_batch` reads so many. */
const BATCH = 100;

function batchesOf(ids: readonly string[]): string[][] {
  const batches: string[][] = [];
  for (let from = 0; from < ids.length; from += BATCH) batches.push(ids.slice(from, from + BATCH));
  return batches;
}

const cardsById = (
  answers: readonly { readonly data: { readonly cards: readonly Card[] } | undefined }[],
): ReadonlyMap<string, Card> =>
  new Map(answers.flatMap(({ data }) => data?.cards ?? []).map((card) => [card.card_id, card]));

/** Those that still exist, by id; a smaller map until all have been read. */
export function useCards(ids: readonly string[]): ReadonlyMap<string, Card> {
  const { api } = useSession();
  const batches = useMemo(() => batchesOf([...new Set(ids)]), [ids]);
  return useQueries({
    queries: batches.map((card_ids) => ({
      queryKey: keyOf('cards.get_batch', { card_ids }),
      queryFn: ({ signal }: { signal: AbortSignal }) => api.cards.get_batch({ card_ids }, { signal }),
    })),
    combine: cardsById,
  });
}

/** One card, read together with its neighbours. `undefined` while it is read, null if it is gone or out of reach. */
export function useCardOf(card_id: string, chunk: readonly string[]): Card | null | undefined {
  const card_ids = useMemo(() => [...new Set(chunk)], [chunk]);
  const { data, error } = useCall('cards.get_batch', { card_ids });
  if (error) return null;
  if (!data) return undefined;
  return data.cards.find((card) => card.card_id === card_id) ?? null;
}

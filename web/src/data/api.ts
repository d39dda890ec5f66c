/** Calls of the Api as queries: named by the table of operations, cached by name and input. */
import {
  keepPreviousData,
  type QueryKey,
  type UseInfiniteQueryResult,
  type UseMutationResult,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQuery,
} from '@tanstack/react-query';
import type { Api } from 'cairndb/client';
import { useMemo } from 'react';
import { useSession } from '../app/session.js';
import { queryClient } from './query-client.js';

type Group = keyof Api & string;

// biome-ignore lint/suspicious/noExplicitAny: the input of any operation.
type AnyCall = (input?: any, options?: { signal?: AbortSignal }) => Promise<unknown>;

/** `notes.list`, `scopes.turns`, …: operations that answer once. */
export type Operation = {
  [G in Group]: {
    [V in keyof Api[G] & string]: Api[G][V] extends AnyCall ? `${G}.${V}` : never;
  }[keyof Api[G] & string];
}[Group];

type MethodOf<N extends Operation> = N extends `${infer G extends Group}.${infer V}`
  ? V extends keyof Api[G]
    ? Api[G][V]
    : never
  : never;

export type InputOf<N extends Operation> = NonNullable<Parameters<Extract<MethodOf<N>, AnyCall>>[0]>;
export type AnswerOf<N extends Operation> = Awaited<ReturnType<Extract<MethodOf<N>, AnyCall>>>;

/** What a change of anything in the group `turns` makes stale is found by the first member. */
export const keyOf = (name: Operation, input?: object, ...more: unknown[]): QueryKey => [
  ...name.split('.'),
  input ?? {},
  ...more,
];

function methodOf(api: Api, name: Operation): AnyCall {
  const [group, verb] = name.split('.') as [Group, string];
  return (api[group] as unknown as Record<string, AnyCall>)[verb]!;
}

export interface CallSettings {
  /** False: the call waits, such as for an id. Default: true. */
  readonly enabled?: boolean;
  /** Keeps the former answer while the input changes, so that a list does not flash. */
  readonly keep?: boolean;
  /** Asks again after so many milliseconds: for what no event tells, such as heartbeats. */
  readonly every_ms?: number;
}

/** One answer. */
export function useCall<N extends Operation>(
  name: N,
  input: InputOf<N>,
  { enabled = true, keep = false, every_ms }: CallSettings = {},
): UseQueryResult<AnswerOf<N>> {
  const { api } = useSession();
  return useQuery({
    queryKey: keyOf(name, input as object),
    queryFn: ({ signal }) => methodOf(api, name)(input, { signal }) as Promise<AnswerOf<N>>,
    enabled,
    ...(keep ? { placeholderData: keepPreviousData } : {}),
    ...(every_ms === undefined ? {} : { refetchInterval: every_ms }),
  });
}

interface Page {
  readonly next_cursor: string | null;
  readonly total?: number | null;
}

export interface Pages<T> {
  readonly query: UseInfiniteQueryResult<unknown>;
  readonly items: readonly T[];
  /** Of the whole list, where the first page has it. */
  readonly total: number | undefined;
  /** For the end of a list that scrolls. */
  readonly loadMore: () => void;
}

type ListOf<A> = {
  [M in keyof A]: A[M] extends readonly (infer T)[] ? T : never;
}[keyof A];

/** A list, page by page. `member` is the name of its array: `notes`, `results`. */
export function usePages<N extends Operation, M extends keyof AnswerOf<N> & string>(
  name: N,
  member: M,
  input: InputOf<N>,
  { enabled = true, keep = true, every_ms }: CallSettings = {},
): Pages<ListOf<Pick<AnswerOf<N>, M>>> {
  const { api } = useSession();
  const query = useInfiniteQuery({
    queryKey: keyOf(name, input as object, 'pages'),
    queryFn: ({ pageParam, signal }) =>
      methodOf(api, name)(
        { ...(input as object), ...(pageParam ? { cursor: pageParam } : {}) },
        { signal },
      ) as Promise<Page>,
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    enabled,
    ...(keep ? { placeholderData: keepPreviousData } : {}),
    ...(every_ms === undefined ? {} : { refetchInterval: every_ms }),
  });
  const items = useMemo(
    () =>
      (query.data?.pages ?? []).flatMap(
        (page) => (page as unknown as Record<string, ListOf<Pick<AnswerOf<N>, M>>[]>)[member] ?? [],
      ),
    [query.data, member],
  );
  return {
    query: query as UseInfiniteQueryResult<unknown>,
    items,
    total: query.data?.pages[0]?.total ?? undefined,
    loadMore: () => {
      if (query.hasNextPage && !query.isFetchingNextPage) void query.fetchNextPage();
    },
  };
}

/** A change. Its groups (default: its own) are asked again when it succeeded. */
export function useChange<N extends Operation>(
  name: N,
  groups: readonly Group[] = [name.split('.')[0] as Group],
): UseMutationResult<AnswerOf<N>, Error, InputOf<N>> {
  const { api } = useSession();
  return useMutation({
    mutationFn: (input: InputOf<N>) => methodOf(api, name)(input) as Promise<AnswerOf<N>>,
    onSuccess: () => {
      for (const group of groups) void queryClient.invalidateQueries({ queryKey: [group] });
    },
  });
}

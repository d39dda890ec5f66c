/** The cache of answers. Events of the server refresh it, so nothing is polled. */
import { QueryClient } from '@tanstack/react-query';
import { CairnError } from 'cairndb/client';

/** What another try cannot change: the input, the rights, or something that is gone. */
const isFinal = (error: unknown): boolean => error instanceof CairnError && error.code !== 'SERVER_UNREACHABLE';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      gcTime: 120_000,
      refetchOnWindowFocus: false,
      retry: (failures, error) => !isFinal(error) && failures < 2,
    },
    mutations: { retry: false },
  },
});

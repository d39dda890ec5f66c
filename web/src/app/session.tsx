/** Who reads: the client of the server that served this page, with the key of the reader where keys are on. */
import { type Api, type CairnClient, CairnError, type Caller, connectCairn } from 'cairndb/client';
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react';
import { followEvents } from '../data/events.js';
import { queryClient } from '../data/query-client.js';
import { Loading } from '../ui/states.js';
import { SignIn } from './sign-in.js';

interface Session {
  readonly api: Api;
  readonly client: CairnClient;
  readonly who: Caller;
  /** False for a key that may only read: views then offer no changes. */
  readonly canWrite: boolean;
  readonly isAdmin: boolean;
  readonly hasKey: boolean;
  readonly signOut: () => void;
}

const SessionContext = createContext<Session | undefined>(undefined);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error('useSession needs a SessionProvider above it');
  return session;
}

const KEY = 'cairn.key';

/** With consent alone: until the tab closes. It is never in a URL. */
const remembered = (): string | undefined => sessionStorage.getItem(KEY) ?? undefined;

type State =
  | { readonly status: 'asking' }
  | { readonly status: 'signed-out'; readonly error?: Error | undefined }
  | { readonly status: 'ready'; readonly client: CairnClient; readonly who: Caller; readonly hasKey: boolean };

export function SessionProvider({ children }: { children: ReactNode }): ReactNode {
  const [state, setState] = useState<State>({ status: 'asking' });

  const connect = useCallback(async (key: string | undefined, remember: boolean) => {
    setState({ status: 'asking' });
    const client = connectCairn({ url: location.origin, key });
    try {
      const who = await client.auth.whoami();
      if (key !== undefined && remember) sessionStorage.setItem(KEY, key);
      queryClient.clear();
      setState({ status: 'ready', client, who, hasKey: key !== undefined });
    } catch (error) {
      sessionStorage.removeItem(KEY);
      const isFirst = key === undefined && error instanceof CairnError && error.code === 'UNAUTHORIZED';
      setState({ status: 'signed-out', error: isFirst ? undefined : (error as Error) });
    }
  }, []);

  useEffect(() => void connect(remembered(), true), [connect]);

  const client = state.status === 'ready' ? state.client : undefined;
  useEffect(() => {
    if (!client) return;
    const stop = new AbortController();
    void followEvents(client, stop.signal);
    return () => stop.abort();
  }, [client]);

  const signOut = useCallback(() => {
    sessionStorage.removeItem(KEY);
    queryClient.clear();
    setState({ status: 'signed-out' });
  }, []);

  const session = useMemo<Session | undefined>(
    () =>
      state.status === 'ready'
        ? {
            api: state.client,
            client: state.client,
            who: state.who,
            canWrite: state.who.role !== 'read',
            isAdmin: state.who.role === 'admin',
            hasKey: state.hasKey,
            signOut,
          }
        : undefined,
    [state, signOut],
  );

  if (state.status === 'asking') return <Loading label="Connecting" />;
  if (!session) return <SignIn error={state.status === 'signed-out' ? state.error : undefined} onKey={connect} />;
  return <SessionContext.Provider value={session}>{children}</SessionContext.Provider>;
}

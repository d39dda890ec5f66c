/** The live stream: one connection for the page. Keeps the newest events, and makes stale what they changed. */
import type { Api, FollowedEvent } from 'cairndb/client';
import { useSyncExternalStore } from 'react';
import { queryClient } from './query-client.js';

export type LiveEvent = NonNullable<FollowedEvent['packet']>;
export type LiveState = 'connecting' | 'live' | 'lost';

/** So many are kept: the memory of a page that is open for days stays flat. */
export const MAX_EVENTS = 2000;
/** A burst refreshes each list once. */
const REFRESH_MS = 700;
/** No list, and no call that waits, holds up the others for longer. */
const PATIENCE_MS = 10_000;

interface Live {
  readonly state: LiveState;
  readonly error: Error | undefined;
  /** Oldest first. A new array for each change. */
  readonly events: readonly LiveEvent[];
  /** Events since the page was opened. */
  readonly count: number;
}

let live: Live = { state: 'connecting', error: undefined, events: [], count: 0 };
const listeners = new Set<() => void>();

function set(next: Partial<Live>): void {
  live = { ...live, ...next };
  for (const listener of listeners) listener();
}

/** Lists that show more than their own noun. */
const shownIn: Readonly<Record<string, readonly string[]>> = {
  turn: ['turns', 'scopes', 'search'],
  scope: ['scopes', 'trajectories'],
  trajectory: ['trajectories'],
  artifact: ['artifacts', 'scopes', 'search', 'memory', 'edges', 'names'],
  note: ['notes', 'search', 'memory', 'edges', 'names'],
  edge: ['edges', 'notes', 'artifacts'],
  card: ['cards', 'boxes', 'search'],
  box: ['boxes'],
  checkpoint: ['checkpoints', 'executions'],
  execution: ['executions'],
  agent: ['agents'],
  agent_turn: ['agent_turns', 'pmo', 'manifests'],
  batch: ['pmo', 'agent_turns'],
  context: ['manifests', 'context'],
  manifest: ['manifests'],
  pause: ['pauses'],
  lock: ['locks'],
  message: ['messages'],
  delegation: ['delegations', 'trajectories'],
  handoff: ['handoffs'],
  memory: ['notes', 'artifacts', 'turns', 'search', 'erasures', 'manifests', 'cards'],
  erasure: ['erasures', 'notes', 'artifacts', 'turns', 'search', 'memory', 'edges', 'cards'],
  lifetime: ['scopes', 'trajectories', 'notes', 'artifacts', 'search'],
  key: ['keys'],
  settings: ['settings'],
  job: ['jobs'],
  profile: ['profiles'],
};

const stale = new Set<string>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Long lists are asked again page by page: one round ends before the next begins, and events meanwhile wait for that. */
async function askAgain(): Promise<void> {
  const groups = [...stale];
  stale.clear();
  await Promise.race([
    Promise.all(groups.map((group) => queryClient.invalidateQueries({ queryKey: [group] }))),
    new Promise((resolve) => setTimeout(resolve, PATIENCE_MS)),
  ]);
  timer = stale.size > 0 ? setTimeout(() => void askAgain(), REFRESH_MS) : undefined;
}

function refresh(packet_type: string): void {
  const noun = /^cairn\.([a-z_]+)/.exec(packet_type)?.[1];
  stale.add('packets');
  if (noun) for (const group of shownIn[noun] ?? [noun, `${noun}s`]) stale.add(group);
  if (timer !== undefined) return;
  timer = setTimeout(() => void askAgain(), REFRESH_MS);
}

/** Frames of the screen, not events, decide how often views render. */
let pending: LiveEvent[] = [];
let scheduled = false;

function flush(): void {
  scheduled = false;
  if (pending.length === 0) return;
  const events = [...live.events, ...pending].slice(-MAX_EVENTS);
  const count = live.count + pending.length;
  pending = [];
  set({ events, count });
}

function add(event: LiveEvent): void {
  pending.push(event);
  if (pending.length > MAX_EVENTS) pending = pending.slice(-MAX_EVENTS);
  refresh(event.packet_type);
  if (scheduled) return;
  scheduled = true;
  setTimeout(flush, 100);
}

/** Follows from now on, until the signal is aborted. */
export async function followEvents(api: Api, signal: AbortSignal): Promise<void> {
  set({ state: 'connecting', error: undefined, events: [], count: 0 });
  let after: string | undefined;
  while (!signal.aborted) {
    try {
      for await (const { token, packet } of api.events.follow(after === undefined ? {} : { after }, { signal })) {
        after = token;
        if (live.state !== 'live') set({ state: 'live', error: undefined });
        if (packet) add(packet);
      }
    } catch (error) {
      if (signal.aborted) return;
      set({ state: 'lost', error: error as Error });
      // The store was restored, or this position is too old: all that is shown may be.
      if ((error as { code?: string }).code === 'STREAM_RESET') {
        after = undefined;
        void queryClient.invalidateQueries();
      }
    }
    if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, 2000));
  }
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useLive = (): Live => useSyncExternalStore(subscribe, () => live);

/** The focused node, and what is before and after it. Nodes listen one by one: a change renders only what it concerns. */
import { createContext, useContext, useSyncExternalStore } from 'react';
import { type Graph, reachable } from './graph.js';

export type Relation = 'focus' | 'before' | 'after' | 'apart' | 'none';

export type Way = 'next' | 'way' | 'apart' | 'none';

export interface Focus {
  readonly key: () => string | undefined;
  readonly set: (graph: Graph, key: string | undefined) => void;
  readonly relationOf: (key: string) => Relation;
  /** A link of the focus itself, one on the ways from and to it, or another. */
  readonly wayOf: (from: string, to: string) => Way;
  readonly subscribe: (listener: () => void) => () => void;
}

export function createFocus(): Focus {
  const listeners = new Set<() => void>();
  let key: string | undefined;
  let before: ReadonlySet<string> = new Set();
  let after: ReadonlySet<string> = new Set();
  const relationOf = (other: string): Relation => {
    if (key === undefined) return 'none';
    if (other === key) return 'focus';
    if (before.has(other)) return 'before';
    return after.has(other) ? 'after' : 'apart';
  };
  return {
    key: () => key,
    set: (graph, next) => {
      key = next !== undefined && graph.nodes.has(next) ? next : undefined;
      before = key === undefined ? new Set() : reachable(graph.before, key);
      after = key === undefined ? new Set() : reachable(graph.after, key);
      for (const listener of listeners) listener();
    },
    relationOf,
    wayOf: (from, to) => {
      if (key === undefined) return 'none';
      if (from === key || to === key) return 'next';
      return (before.has(from) && before.has(to)) || (after.has(from) && after.has(to)) ? 'way' : 'apart';
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export const FocusContext = createContext<Focus>(createFocus());

export function useRelation(key: string): Relation {
  const focus = useContext(FocusContext);
  return useSyncExternalStore(focus.subscribe, () => focus.relationOf(key));
}

export function useWay(from: string, to: string): Way {
  const focus = useContext(FocusContext);
  return useSyncExternalStore(focus.subscribe, () => focus.wayOf(from, to));
}

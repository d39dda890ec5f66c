/** What turns, artifacts and closing scopes trigger in the modules above, which fill this in: policies fire. */
import type { Query, Sql } from '../../driver/index.js';
import type { Call, Work } from '../../engine/index.js';
import { SlotRegistry } from '../../engine/sql.js';
import type { Made } from './model.js';
import type { ScopeRow } from './store.js';

/** Where something was made. */
export interface TriggerPlace {
  readonly trajectory_id: string;
  readonly scope_id: string | null;
}

/** How full a scope is. */
export interface ScopeUsage {
  readonly turns: number;
  readonly tokens_used: number;
  readonly token_budget: number;
}

/** The scopes that are about to close: some with those nested in them, or all of some trajectories. */
export type ClosingScopes = { readonly scope_ids: readonly string[] } | { readonly trajectory_ids: readonly string[] };

export interface Triggers {
  /**
   * 1 if a turn of this tenant may trigger anything, else 0; the scope has the alias s. Part of the statement that locks a
   * scope: a tenant without policies needs no statement more.
   */
  readonly watched: Sql;
  /** In the transaction that adds turns, or changes the budget; the scope is locked. `looked_at`: when this was last called. */
  onUse(
    work: Work,
    scope: TriggerPlace & { readonly scope_id: string },
    before: ScopeUsage & { readonly looked_at: number },
    after: ScopeUsage,
  ): Promise<void>;
  /** In the transaction that makes an artifact. */
  onArtifact(work: Work, artifact: TriggerPlace & { readonly abstraction_level: string }): Promise<void>;
  /** Before the transaction that closes scopes: does the work that needs their turns. `check` may refuse the closing first. */
  beforeClosing(call: Call, closing: ClosingScopes, check?: (query: Query) => Promise<void>): Promise<readonly Made[]>;
  /** In the transaction that closes scopes, which are locked: queues work that is still left. */
  onClose(work: Work, scopes: readonly ScopeRow[]): Promise<void>;
}

export const triggers = new SlotRegistry<'policies', Triggers>('what changes of memory trigger', ['policies']);

/** Triggers of policies: on turns, artifacts and closing scopes. Higher modules fill them in. */
import type { Query, Sql } from '../../driver/index.js';
import type { AssumedRevision, Call, Work } from '../../engine/index.js';
import { SlotRegistry } from '../../engine/sql.js';
import type { PolicyOutput } from './model.js';
import type { ScopeRow } from './store.js';

export interface TriggerSource {
  readonly trajectory_id: string;
  readonly scope_id: string | null;
}

export interface ScopeUsage {
  readonly turns: number;
  readonly tokens_used: number;
  readonly token_budget: number;
}

/** The scopes that are about to close: these with their nested scopes, or all of these trajectories. */
export type ClosingScopes = { readonly scope_ids: readonly string[] } | { readonly trajectory_ids: readonly string[] };

interface Triggers {
  /** 1 if a turn in scope s can trigger anything, else 0. Part of the statement that locks a scope, which saves another. */
  readonly watched: Sql;
  /** In the transaction that adds turns or changes the budget; the scope is locked. `looked_at`: the previous call. */
  onUse(
    work: Work,
    scope: TriggerSource & { readonly scope_id: string },
    before: ScopeUsage & { readonly looked_at: number },
    after: ScopeUsage,
  ): Promise<void>;
  /** In the transaction that creates an artifact. */
  onArtifact(work: Work, artifact: TriggerSource & { readonly abstraction_level: string }): Promise<void>;
  /** Before the transaction that closes scopes: does the work that needs their turns. `check` can refuse first. */
  beforeClosing(
    call: Call,
    closing: ClosingScopes,
    check?: (query: Query) => Promise<void>,
  ): Promise<readonly PolicyOutput[]>;
  /** In the transaction that closes locked scopes: queues the remaining work. Returns the settings that it rests on. */
  onClose(work: Work, scopes: readonly ScopeRow[]): Promise<AssumedRevision | undefined>;
}

export const triggers = new SlotRegistry<'policies', Triggers>('triggers of memory changes', ['policies']);

/** Turns: cards in the box of a scope. */
import { type Query, sql, TENANT, type Tx, textToList } from '../../driver/index.js';
import type { CardRow } from '../../facts/sql.js';
import type { JsonObject } from '../../kernel/contract.js';
import { toIso } from '../../kernel/index.js';
import type { ScopeRow, ScopeState } from '../scopes/store.js';
import { triggers } from '../scopes/triggers.js';
import type { Turn } from './model.js';

/** A scope and its box. */
export interface OpenScope extends ScopeState {
  readonly revision: number;
  readonly length: number;
  readonly next_position: number;
  /** When the last turn was added, or the box was made. */
  readonly last_turn_at: number;
  /** 1 if the tenant has policies that a turn can trigger. */
  readonly watched: number;
  /** The highest sequence that an artifact named as its source before the turn was added. */
  readonly awaited_turn: number | null;
}

/** Locks a scope and its box, which serializes the turns of a scope. */
export const lockForTurn = (tx: Tx, scope_id: string): Promise<OpenScope | undefined> =>
  tx.get<OpenScope>(
    sql`SELECT s.scope_id, s.trajectory_id, s.box_id, s.token_budget, s.tokens_used, s.threshold, s.threshold_at,
          s.enforce, s.subject_ids, s.awaited_turn, s.closed_at, s.deleted_at, b.revision, b.length, b.next_position, b.updated_at AS last_turn_at,
          ${triggers.get('policies').watched} AS watched
        FROM scopes s JOIN boxes b ON b.tenant_id = s.tenant_id AND b.box_id = s.box_id
        WHERE s.tenant_id = ${TENANT} AND s.scope_id = ${scope_id} FOR UPDATE`,
  );

export const updateUsage = (
  tx: Tx,
  {
    scope_id,
    tokens_used,
    threshold_at,
    updated_at,
  }: Pick<ScopeRow, 'scope_id' | 'tokens_used' | 'threshold_at' | 'updated_at'>,
): Promise<void> =>
  tx.send(
    sql`UPDATE scopes SET tokens_used = ${tokens_used}, threshold_at = ${threshold_at}, updated_at = ${updated_at}
        WHERE tenant_id = ${TENANT} AND scope_id = ${scope_id}`,
  );

/** The first open scope that a card is a turn of, with its position: its own, or one restored from it. */
export const scopesOfTurn = (
  query: Query,
  card_id: string,
): Promise<{ scope_id: string; position: number; depth: number }[]> =>
  query.all(
    sql`WITH RECURSIVE held(box_id, position, depth) AS (
          SELECT e.box_id, e.position, 0 FROM box_entries e
            WHERE e.tenant_id = ${TENANT} AND e.card_id = ${card_id} AND e.removed_revision IS NULL
          UNION
          SELECT f.box_id, h.position, h.depth + 1 FROM held h CROSS JOIN boxes f
            WHERE f.tenant_id = ${TENANT} AND f.base_box_id = h.box_id AND h.position < f.base_position
        )
        SELECT s.scope_id, h.position, h.depth FROM held h CROSS JOIN scopes s
          WHERE s.tenant_id = ${TENANT} AND s.box_id = h.box_id AND s.closed_at IS NULL
          ORDER BY h.depth, s.scope_id LIMIT 1`,
  );

export interface TurnMetadata {
  readonly type: 'turn';
  readonly role: string;
  readonly token_count: number;
  readonly model_id?: string;
  readonly tool_results?: NonNullable<Turn['tool_results']>;
  readonly metadata?: JsonObject;
}

/** The JSON columns of a turn's card, parsed. */
export interface TurnContent {
  readonly stored: TurnMetadata;
  readonly content: Turn['content'];
  readonly tool_calls: Turn['tool_calls'];
}

export const toTurn = (scope_id: string, sequence: number, row: CardRow): Turn =>
  describeTurn(scope_id, sequence, row, textToList(row.subject_ids), {
    stored: JSON.parse(row.metadata!) as TurnMetadata,
    content: JSON.parse(row.content!) as Turn['content'],
    tool_calls: row.tool_calls === null ? null : (JSON.parse(row.tool_calls) as Turn['tool_calls']),
  });

export function describeTurn(
  scope_id: string,
  sequence: number,
  row: Pick<CardRow, 'card_id' | 'author_id' | 'created_at'>,
  subject_ids: readonly string[],
  { stored, content, tool_calls }: TurnContent,
): Turn {
  return {
    turn_id: row.card_id,
    scope_id,
    sequence,
    role: (stored.role.charAt(0).toUpperCase() + stored.role.slice(1)) as Turn['role'],
    content,
    token_count: stored.token_count,
    model_id: stored.model_id ?? null,
    tool_calls,
    tool_results: stored.tool_results ?? null,
    metadata: stored.metadata ?? {},
    agent_id: row.author_id,
    subject_ids: [...subject_ids],
    created_at: toIso(row.created_at),
  };
}

/** Turns: cards in the box of a scope. What adding one must know, and where one is. */
import { type Query, sql, TENANT, type Tx } from '../../driver/index.js';
import type { CardRow } from '../../facts/sql.js';
import type { JsonObject } from '../../kernel/contract.js';
import { toIso } from '../../kernel/index.js';
import { triggers } from '../scopes/triggers.js';
import type { Turn } from './model.js';

/** A scope and its box, as adding a turn needs them. */
export interface OpenScope {
  readonly scope_id: string;
  readonly trajectory_id: string;
  readonly box_id: string;
  readonly token_budget: number;
  readonly tokens_used: number;
  readonly threshold: number;
  readonly threshold_at: number | null;
  readonly enforce: number;
  readonly closed_at: number | null;
  readonly deleted_at: number | null;
  readonly revision: number;
  readonly length: number;
  readonly next_position: number;
  /** When the last turn was added, or the box was made. */
  readonly last_turn_at: number;
  /** Whether the tenant has policies, by which a turn may make something fire. */
  readonly watched: number;
  /** The highest sequence that an artifact named as its source before the turn was there. */
  readonly awaited_turn: number | null;
}

/** Locks a scope and its box: turns are added one after another. */
export function lockForTurn(tx: Tx, scope_id: string): Promise<OpenScope | undefined> {
  return tx.get<OpenScope>(
    sql`SELECT s.scope_id, s.trajectory_id, s.box_id, s.token_budget, s.tokens_used, s.threshold, s.threshold_at,
          s.enforce, s.awaited_turn, s.closed_at, s.deleted_at, b.revision, b.length, b.next_position, b.updated_at AS last_turn_at,
          ${triggers.get('policies').watched} AS watched
        FROM scopes s JOIN boxes b ON b.tenant_id = s.tenant_id AND b.box_id = s.box_id
        WHERE s.tenant_id = ${TENANT} AND s.scope_id = ${scope_id} FOR UPDATE`,
  );
}

export async function noteUse(
  tx: Tx,
  scope_id: string,
  use: { readonly tokens_used: number; readonly threshold_at: number | null; readonly updated_at: number },
): Promise<void> {
  await tx.send(
    sql`UPDATE scopes SET tokens_used = ${use.tokens_used}, threshold_at = ${use.threshold_at},
          updated_at = ${use.updated_at}
        WHERE tenant_id = ${TENANT} AND scope_id = ${scope_id}`,
  );
}

/** The open scopes that a card is a turn of, and at which place: its own first, then those restored from it. */
export function placesOfTurn(
  query: Query,
  card_id: string,
): Promise<{ scope_id: string; position: number; depth: number }[]> {
  return query.all(
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
}

/** What a turn keeps in the metadata of its card, besides what every card may have there. */
export interface TurnMetadata {
  readonly type: 'turn';
  readonly role: string;
  readonly token_count: number;
  readonly model_id?: string;
  readonly tool_results?: NonNullable<Turn['tool_results']>;
  readonly metadata?: JsonObject;
}

/** What of a turn is JSON in its row. */
export interface SaidTurn {
  readonly kept: TurnMetadata;
  readonly content: Turn['content'];
  readonly tool_calls: Turn['tool_calls'];
}

type Place = Pick<CardRow, 'card_id' | 'author_id' | 'created_at'>;

export const toTurn = (scope_id: string, sequence: number, row: CardRow): Turn =>
  describeTurn(scope_id, sequence, row, {
    kept: JSON.parse(row.metadata!) as TurnMetadata,
    content: JSON.parse(row.content!) as Turn['content'],
    tool_calls: row.tool_calls === null ? null : (JSON.parse(row.tool_calls) as Turn['tool_calls']),
  });

export function describeTurn(scope_id: string, sequence: number, row: Place, said: SaidTurn): Turn {
  const { kept, content, tool_calls } = said;
  return {
    turn_id: row.card_id,
    scope_id,
    sequence,
    role: (kept.role.charAt(0).toUpperCase() + kept.role.slice(1)) as Turn['role'],
    content,
    token_count: kept.token_count,
    model_id: kept.model_id ?? null,
    tool_calls,
    tool_results: kept.tool_results ?? null,
    metadata: kept.metadata ?? {},
    agent_id: row.author_id,
    created_at: toIso(row.created_at),
  };
}

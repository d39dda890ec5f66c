/** Scopes and their turns: a restored scope also shows turns of the scope that it was restored from. */
import { type Query, sql, TENANT } from '../../driver/index.js';
import { findBox, segmentsOf } from '../../facts/sql.js';
import { findScope, scopesOfTurn } from '../../memory/sql.js';
import type { ScopeRange } from './conditions.js';
import type { DocRow } from './rows.js';

/** The turns of a scope: its own, and those of its origins up to the restore. */
export async function scopeRanges(query: Query, scope_id: string): Promise<ScopeRange[]> {
  const own = { scope_id, until: null };
  const scope = await findScope(query, scope_id);
  if (!scope || scope.restored_from === null) return [own];
  const box = await findBox(query, scope.box_id);
  if (!box) return [own];
  const segments = await segmentsOf(query, box);
  const rows = await query.all<{ scope_id: string; box_id: string }>(
    sql`SELECT scope_id, box_id FROM scopes
        WHERE tenant_id = ${TENANT} AND box_id = ANY(${segments.map(({ box_id }) => box_id)})`,
  );
  const byBox = new Map(rows.map((row) => [row.box_id, row.scope_id]));
  const before = segments.flatMap(({ box_id, until }): ScopeRange[] => {
    const origin = byBox.get(box_id);
    return origin === undefined || origin === scope_id ? [] : [{ scope_id: origin, until }];
  });
  return [own, ...before];
}

/** Moves turns of closed scopes to the open scope that shows them. */
export async function inOpenScopes(query: Query, rows: readonly DocRow[]): Promise<DocRow[]> {
  const scope_ids = [...new Set(rows.filter(isTurn).map(({ scope_id }) => scope_id!))];
  if (scope_ids.length === 0) return [...rows];
  const closed = await query.all<{ scope_id: string }>(
    sql`SELECT scope_id FROM scopes WHERE tenant_id = ${TENANT} AND scope_id = ANY(${scope_ids}) AND closed_at IS NOT NULL`,
  );
  const isClosed = new Set(closed.map(({ scope_id }) => scope_id));
  const shown: DocRow[] = [];
  for (const row of rows) {
    const [place] = isTurn(row) && isClosed.has(row.scope_id!) ? await scopesOfTurn(query, row.entity_id) : [];
    shown.push(place ? { ...row, scope_id: place.scope_id, position: place.position } : row);
  }
  return shown;
}

const isTurn = ({ entity_type, scope_id }: DocRow): boolean => entity_type === 'turn' && scope_id !== null;

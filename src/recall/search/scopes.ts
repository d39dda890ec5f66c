/** In which scopes a turn is: that of its own, and open ones that were restored from it. */
import { type Query, sql, TENANT } from '../../driver/index.js';
import { findBox, segmentsOf } from '../../facts/sql.js';
import { findScope, placesOfTurn } from '../../memory/sql.js';
import type { WantedScope } from './conditions.js';
import type { DocRow } from './rows.js';

/** Whose turns a scope shows: its own, and those before it of what it was restored from. */
export async function scopesShown(query: Query, scope_id: string): Promise<WantedScope[]> {
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
  const before = segments.flatMap(({ box_id, until }): WantedScope[] => {
    const origin = byBox.get(box_id);
    return origin === undefined || origin === scope_id ? [] : [{ scope_id: origin, until }];
  });
  return [own, ...before];
}

/** Turns of closed scopes as they are read: in the open scope that has them. */
export async function inOpenScopes(query: Query, rows: readonly DocRow[]): Promise<DocRow[]> {
  const scope_ids = [...new Set(rows.filter(isTurn).map(({ scope_id }) => scope_id!))];
  if (scope_ids.length === 0) return [...rows];
  const closed = await query.all<{ scope_id: string }>(
    sql`SELECT scope_id FROM scopes WHERE tenant_id = ${TENANT} AND scope_id = ANY(${scope_ids}) AND closed_at IS NOT NULL`,
  );
  const isClosed = new Set(closed.map(({ scope_id }) => scope_id));
  const shown: DocRow[] = [];
  for (const row of rows) {
    const [place] = isTurn(row) && isClosed.has(row.scope_id!) ? await placesOfTurn(query, row.entity_id) : [];
    shown.push(place ? { ...row, scope_id: place.scope_id, position: place.position } : row);
  }
  return shown;
}

const isTurn = ({ entity_type, scope_id }: DocRow): boolean => entity_type === 'turn' && scope_id !== null;

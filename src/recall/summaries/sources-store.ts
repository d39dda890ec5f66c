/** Reads the sources of summaries and facts: turns of a scope, open or just closed, and artifacts. */
import { type Query, sql, TENANT, type Tx } from '../../driver/index.js';
import { type CardRow, entriesAfter, findBox, findCards, segmentsOf } from '../../facts/sql.js';
import type { Turn } from '../../memory/contract.js';
import {
  liveAt,
  type ScopeRow,
  scopesOfTurn,
  type TriggerSource,
  toTurn,
  VERSION_COLUMNS,
  VERSIONS,
  type VersionRow,
} from '../../memory/sql.js';
import { versionsIn } from '../policies/store.js';

type ScopeBox = Pick<ScopeRow, 'scope_id' | 'box_id'>;

/** Number of turns of each scope. */
export async function lengthsOf(query: Query, scopes: readonly ScopeBox[]): Promise<Map<string, number>> {
  const ids = scopes.map(({ box_id }) => box_id);
  const rows = await query.all<{ box_id: string; length: number }>(
    sql`SELECT b.box_id, b.length FROM boxes b WHERE b.tenant_id = ${TENANT} AND b.box_id = ANY(${ids})`,
  );
  const byBox = new Map(rows.map(({ box_id, length }) => [box_id, length]));
  return new Map(scopes.map(({ scope_id, box_id }) => [scope_id, byBox.get(box_id) ?? 0]));
}

/** Turns of a scope after a sequence number, in order, without those whose content is erased. */
export async function turnsAfter(query: Query, scope: ScopeBox, after: number, limit: number): Promise<Turn[]> {
  const box = await findBox(query, scope.box_id);
  if (!box) return [];
  const entries = await entriesAfter(query, await segmentsOf(query, box), { after, limit });
  const ids = entries.map(({ card_id }) => card_id);
  const cards = await findCards(query, ids);
  return entries.flatMap(({ position, card_id }) => {
    const card = cards.get(card_id);
    return card && card.content !== null ? [toTurn(scope.scope_id, position, card)] : [];
  });
}

/** The readable turns among these, each in its scope or in an open scope restored with it. */
export async function readableTurns(query: Query, turn_ids: readonly string[], now: number): Promise<Turn[]> {
  const cards = await findCards(query, turn_ids);
  const there = turn_ids.filter((id) => isReadable(cards.get(id), now));
  const places = await query.all<{ card_id: string; scope_id: string; position: number }>(
    sql`SELECT e.card_id, s.scope_id, e.position FROM box_entries e
          JOIN scopes s ON s.tenant_id = e.tenant_id AND s.box_id = e.box_id AND s.closed_at IS NULL
        WHERE e.tenant_id = ${TENANT} AND e.card_id = ANY(${there})`,
  );
  const placeOf = new Map(places.map((place) => [place.card_id, place]));
  const turns: Turn[] = [];
  for (const id of there) {
    const place = placeOf.get(id) ?? (await scopesOfTurn(query, id))[0];
    if (place) turns.push(toTurn(place.scope_id, place.position, cards.get(id)!));
  }
  return turns;
}

const isReadable = (card: CardRow | undefined, now: number): boolean =>
  card !== undefined &&
  card.content !== null &&
  card.deleted_at === null &&
  (card.expires_at === null || card.expires_at > now);

/** L0 artifacts of a scope, or of a trajectory outside any scope, that are in no summary yet, oldest first. */
export function unsummarizedArtifacts(
  query: Query,
  { scope_id, trajectory_id }: TriggerSource,
  now: number,
  limit: number,
): Promise<VersionRow[]> {
  const there =
    scope_id === null ? sql`v.trajectory_id = ${trajectory_id} AND v.scope_id IS NULL` : sql`v.scope_id = ${scope_id}`;
  return query.all(
    sql`SELECT ${VERSION_COLUMNS} FROM ${VERSIONS}
        WHERE v.tenant_id = ${TENANT} AND ${there} AND v.kind = 'artifact' AND v.abstraction_level = 'L0'
          AND v.superseded_at IS NULL AND v.summarized_by IS NULL AND ${liveAt(now)}
        ORDER BY v.memory_id LIMIT ${limit}`,
  );
}

/** The newest L1 summaries within a place that are in no principle yet, ordered by id. */
export async function unusedSummaries(query: Query, within: string, now: number, limit: number): Promise<VersionRow[]> {
  const rows = await query.all<VersionRow>(
    sql`SELECT ${VERSION_COLUMNS} FROM ${VERSIONS}
        WHERE v.tenant_id = ${TENANT} AND v.kind = 'artifact' AND v.abstraction_level = 'L1'
          AND v.superseded_at IS NULL AND v.summarized_by IS NULL AND ${liveAt(now)}${versionsIn(within)}
        ORDER BY v.memory_id DESC LIMIT ${limit}`,
  );
  return rows.reverse();
}

/** Marks memories as summarised; false if one is already in a summary, or gone. */
export async function markSummarized(tx: Tx, memory_ids: readonly string[], summarized_by: string): Promise<boolean> {
  const changed = await tx.run(
    sql`UPDATE memory_versions SET summarized_by = ${summarized_by}
        WHERE tenant_id = ${TENANT} AND memory_id = ANY(${memory_ids}) AND superseded_at IS NULL
          AND summarized_by IS NULL`,
  );
  return changed === memory_ids.length;
}

/** What summaries and facts are made from: the turns of a scope, open or just closed, and artifacts. */
import { type Query, sql, TENANT, type Tx } from '../../driver/index.js';
import { type CardRow, entriesAfter, findBox, findCards, segmentsOf } from '../../facts/sql.js';
import type { Turn } from '../../memory/contract.js';
import { livesAt, placesOfTurn, toTurn, VERSION_COLUMNS, VERSIONS, type VersionRow } from '../../memory/sql.js';

/** How many turns each of these scopes has. */
export async function lengthsOf(
  query: Query,
  scopes: readonly { readonly scope_id: string; readonly box_id: string }[],
): Promise<Map<string, number>> {
  const ids = scopes.map(({ box_id }) => box_id);
  const rows = await query.all<{ box_id: string; length: number }>(
    sql`SELECT b.box_id, b.length FROM boxes b WHERE b.tenant_id = ${TENANT} AND b.box_id = ANY(${ids})`,
  );
  const byBox = new Map(rows.map(({ box_id, length }) => [box_id, length]));
  return new Map(scopes.map(({ scope_id, box_id }) => [scope_id, byBox.get(box_id) ?? 0]));
}

/** Turns of a scope behind one of them, in order, as far as their content is still there. */
export async function turnsBehind(
  query: Query,
  scope: { readonly scope_id: string; readonly box_id: string },
  after: number,
  limit: number,
): Promise<Turn[]> {
  const box = await findBox(query, scope.box_id);
  if (!box) return [];
  const segments = await segmentsOf(query, box);
  const entries = await entriesAfter(query, segments, { after, limit });
  const cards = await findCards(
    query,
    entries.map(({ card_id }) => card_id),
  );
  return entries.flatMap(({ position, card_id }) => {
    const card = cards.get(card_id);
    return card && card.content !== null ? [toTurn(scope.scope_id, position, card)] : [];
  });
}

/** Those of these turns that can be read, each where it was said, or in a scope that was restored with it. */
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
    const place = placeOf.get(id) ?? (await placesOfTurn(query, id))[0];
    if (place) turns.push(toTurn(place.scope_id, place.position, cards.get(id)!));
  }
  return turns;
}

const isReadable = (card: CardRow | undefined, now: number): boolean =>
  card !== undefined &&
  card.content !== null &&
  card.deleted_at === null &&
  (card.expires_at === null || card.expires_at > now);

/** Artifacts of L0 of a scope, or of a trajectory without one, that no summary was made from, the oldest first. */
export function looseArtifacts(
  query: Query,
  place: { readonly trajectory_id: string; readonly scope_id: string | null },
  now: number,
  limit: number,
): Promise<VersionRow[]> {
  const { scope_id, trajectory_id } = place;
  const there =
    scope_id === null ? sql`v.trajectory_id = ${trajectory_id} AND v.scope_id IS NULL` : sql`v.scope_id = ${scope_id}`;
  return query.all<VersionRow>(
    sql`SELECT ${VERSION_COLUMNS} FROM ${VERSIONS}
        WHERE v.tenant_id = ${TENANT} AND ${there} AND v.kind = 'artifact' AND v.abstraction_level = 'L0'
          AND v.superseded_at IS NULL AND v.summarized_by IS NULL AND ${livesAt(now)}
        ORDER BY v.memory_id LIMIT ${limit}`,
  );
}

/** The newest summaries of L1 that no principle was made from, in the order of their ids: of the tenant, a trajectory or a scope. */
export async function looseSummaries(query: Query, within: string, now: number, limit: number): Promise<VersionRow[]> {
  const id = within.slice(within.indexOf(':') + 1);
  const there = within.startsWith('scope:')
    ? sql` AND v.scope_id = ${id}`
    : within.startsWith('trajectory:')
      ? sql` AND v.trajectory_id = ${id}`
      : sql``;
  const rows = await query.all<VersionRow>(
    sql`SELECT ${VERSION_COLUMNS} FROM ${VERSIONS}
        WHERE v.tenant_id = ${TENANT} AND v.kind = 'artifact' AND v.abstraction_level = 'L1'
          AND v.superseded_at IS NULL AND v.summarized_by IS NULL AND ${livesAt(now)}${there}
        ORDER BY v.memory_id DESC LIMIT ${limit}`,
  );
  return rows.reverse();
}

/** Notes what went into a summary; false when some of it did so before, or is there no longer. */
export async function noteSummarized(tx: Tx, memory_ids: readonly string[], summarized_by: string): Promise<boolean> {
  const changed = await tx.run(
    sql`UPDATE memory_versions SET summarized_by = ${summarized_by}
        WHERE tenant_id = ${TENANT} AND memory_id = ANY(${memory_ids}) AND superseded_at IS NULL
          AND summarized_by IS NULL`,
  );
  return changed === memory_ids.length;
}

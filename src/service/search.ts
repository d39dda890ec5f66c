/** Holds the place of the search: looks through the newest by words, until the index is there. */
import type { Query } from '../driver/driver.js';
import { sql } from '../driver/sql.js';
import { CARD_COLUMNS, type CardRow, readableAt } from '../store/cards.js';
import { artifactsWithin, notesWithin } from '../store/reach.js';
import { reachOf } from './memory-access.js';
import type { Call } from './runtime.js';

export interface PassageQuery {
  readonly query: string;
  readonly entity_types?: readonly string[];
  readonly trajectory_id?: string | undefined;
  readonly scope_id?: string | undefined;
  readonly limit: number;
  readonly min_score?: number | undefined;
}

export interface Hit {
  readonly entity_type: 'turn' | 'artifact' | 'note';
  readonly id: string;
  readonly card_id: string;
  readonly score: number;
  readonly type: string;
  readonly abstraction_level: string | null;
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];

interface Row extends CardRow {
  readonly memory_id: string;
  readonly type: string;
  readonly name: string | null;
  readonly abstraction_level: string;
}

async function memories(
  call: Call,
  query: Query,
  kind: 'artifact' | 'note',
  trajectory?: string,
): Promise<Row[]> {
  const { tenant } = call;
  const reach = reachOf(call, kind === 'note' ? 'Note' : 'Artifact');
  const within = kind === 'note' ? notesWithin : artifactsWithin;
  return query.all<Row>(
    sql`SELECT ${CARD_COLUMNS}, v.memory_id, v.type, v.name, v.abstraction_level
        FROM memory_versions v JOIN cards c ON c.tenant_id = v.tenant_id AND c.card_id = v.card_id
        WHERE v.tenant_id = ${tenant} AND v.kind = ${kind} AND v.superseded_at IS NULL AND ${readableAt(call.driver.now())}
          AND ${trajectory === undefined ? sql`1 = 1` : sql`v.trajectory_id = ${trajectory}`}
          AND ${reach ? within(tenant, reach) : sql`1 = 1`}
        ORDER BY v.memory_id DESC LIMIT 1000`,
  );
}

async function turns(call: Call, query: Query, trajectory: string): Promise<Row[]> {
  const { tenant } = call;
  if (reachOf(call, 'Turn')) return [];
  const rows = await query.all<CardRow>(
    sql`SELECT ${CARD_COLUMNS} FROM scopes s CROSS JOIN box_entries e CROSS JOIN cards c
        WHERE s.tenant_id = ${tenant} AND s.trajectory_id = ${trajectory} AND s.closed_at IS NULL
          AND e.tenant_id = ${tenant} AND e.box_id = s.box_id AND c.tenant_id = ${tenant} AND c.card_id = e.card_id
          AND ${readableAt(call.driver.now())} LIMIT 1000`,
  );
  return rows.map((row) => ({
    ...row,
    memory_id: row.card_id,
    type: 'turn',
    name: null,
    abstraction_level: 'L0',
  }));
}

export async function findPassages(call: Call, wanted: PassageQuery): Promise<Hit[]> {
  const query = call.driver.at(call.tenant);
  const words = new Set(wordsOf(wanted.query));
  const hits: Hit[] = [];
  for (const entity_type of wanted.entity_types ?? []) {
    const rows =
      entity_type === 'turn'
        ? await turns(call, query, wanted.trajectory_id!)
        : await memories(call, query, entity_type as 'note', wanted.trajectory_id);
    for (const row of rows) {
      const found = new Set(wordsOf(`${row.name ?? ''} ${row.content}`).filter((word) => words.has(word)));
      const score = found.size / Math.max(1, words.size);
      const { memory_id: id, card_id, type, abstraction_level } = row;
      if (score > (wanted.min_score ?? 0))
        hits.push({ entity_type: entity_type as 'note', id, card_id, score, type, abstraction_level });
    }
  }
  return hits.sort((a, b) => b.score - a.score || (a.id < b.id ? 1 : -1)).slice(0, wanted.limit);
}

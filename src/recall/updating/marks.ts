/** Marks of notes and artifacts: since when a value holds, what it replaced, and what contradicts it. */
import { type Query, sql, TENANT } from '../../driver/index.js';
import type { Call } from '../../engine/index.js';
import type { Json } from '../../kernel/contract.js';
import { liveAt, VERSIONS, versionNotSuperseded } from '../../memory/sql.js';
import { isReached } from '../extraction/known-facts.js';
import { readCardTexts } from '../search/contents.js';
import { textOf } from '../summaries/turn-sources.js';
import { calledBy } from '../windows/conflicts.js';
import { changeMark, contradicted } from './mark-text.js';
import { happenedAt, partsOfVersions, replacedPart } from './replaced-part.js';

/** A value that was replaced. */
interface FormerValue {
  readonly id: string;
  readonly value: string;
  /** When it happened, in ms. */
  readonly at: number;
}

export interface Mark {
  /** Newest first. */
  readonly before: readonly FormerValue[];
  /** What contradicts it, by name. */
  readonly contradicts: readonly { readonly called: string; readonly at: number }[];
}

interface EdgeRow {
  readonly edge_type: 'Supersedes' | 'Contradicts';
  readonly of_id: string;
  readonly of_position: number;
  readonly body: string;
  readonly memory_id: string;
  readonly kind: 'note' | 'artifact';
  readonly card_id: string;
  readonly version: number;
  readonly name: string | null;
  readonly metadata: string | null;
  readonly agent_id: string | null;
  readonly created_at: number;
}

/** Edges read for one page. */
const MAX_EDGES = 500;

/** What the entities supersede, and what they contradict in either direction and nothing supersedes. */
const edgesOf = (query: Query, ids: readonly string[], now: number): Promise<EdgeRow[]> =>
  query.all<EdgeRow>(
    sql`SELECT y.edge_type, y.entity_id AS of_id, y.position AS of_position, e.body, v.memory_id, v.kind, v.card_id, v.version, v.name,
          v.metadata, v.agent_id, v.created_at
        FROM edge_participants y CROSS JOIN edge_participants f CROSS JOIN edges e CROSS JOIN ${VERSIONS}
        WHERE y.tenant_id = ${TENANT} AND y.entity_id = ANY(${ids}) AND y.entity_type IN ('Note', 'Artifact')
          AND y.edge_type IN ('Supersedes', 'Contradicts') AND y.deleted_at IS NULL
          AND f.tenant_id = ${TENANT} AND f.edge_id = y.edge_id AND f.entity_type IN ('Note', 'Artifact')
          AND (y.position = 1) <> (f.position = 1) AND (y.edge_type = 'Contradicts' OR y.position = 1)
          AND e.tenant_id = ${TENANT} AND e.edge_id = y.edge_id
          AND v.tenant_id = ${TENANT} AND v.memory_id = f.entity_id AND v.superseded_at IS NULL AND ${liveAt(now)}
          AND (y.edge_type = 'Supersedes' OR ${versionNotSuperseded(now)})
        ORDER BY y.edge_id, f.position LIMIT ${MAX_EDGES}`,
  );

/** The texts of cards by id, without erased ones. */
export async function textsOfCards(query: Query, card_ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await readCardTexts(query, [...new Set(card_ids)]);
  return new Map(rows.map(({ card_id, content }) => [card_id, textOf(JSON.parse(content) as Json)]));
}

async function readable(call: Call, query: Query, rows: readonly EdgeRow[]): Promise<EdgeRow[]> {
  if (!call.acting) return [...rows];
  const own: EdgeRow[] = [];
  for (const row of rows) if (await isReached(call, query, row, 'read')) own.push(row);
  return own;
}

/** By the first id of each group; the others repeat it. */
export async function marksOf(call: Call, groups: readonly (readonly string[])[]): Promise<Map<string, Mark>> {
  const ids = groups.flat();
  if (ids.length === 0) return new Map();
  const query = call.driver.at(call.tenant);
  const rows = await readable(call, query, await edgesOf(query, ids, call.driver.now()));
  if (rows.length === 0) return new Map();
  const parts = await partsOfVersions(
    query,
    rows.map((version) => ({ body: version.body, version })),
  );
  const texts = await textsOfCards(
    query,
    [...parts, ...rows].map(({ card_id }) => card_id),
  );
  const marks = new Map<string, Mark>();
  for (const group of groups) {
    const before = new Map<string, FormerValue>();
    const contradicts = new Map<string, Mark['contradicts'][number]>();
    for (const [i, row] of rows.entries()) {
      if (!group.includes(row.of_id) || group.includes(row.memory_id)) continue;
      const { card_id, start, end } = parts[i]!;
      const text = texts.get(row.card_id);
      const at = happenedAt(row);
      const value = texts.get(card_id)?.slice(start, end);
      const isReplaced =
        row.edge_type === 'Supersedes' || (row.of_position === 1 && replacedPart(row.body) !== undefined);
      if (isReplaced && value) before.set(row.memory_id, { id: row.memory_id, value, at });
      if (row.edge_type === 'Contradicts' && text !== undefined)
        contradicts.set(row.memory_id, { called: calledBy(row.name, text), at });
    }
    if (before.size + contradicts.size === 0) continue;
    const newestFirst = [...before.values()].sort((a, b) => b.at - a.at);
    marks.set(group[0]!, { before: newestFirst, contradicts: [...contradicts.values()] });
  }
  return marks;
}

/** Such as `since 2026-03-01; before: Hamburg`, of a statement that happened at `at`. */
export const markText = (at: number, { before, contradicts }: Mark): string =>
  [
    ...(before.length === 0 ? [] : [changeMark(at, before[0]!.value)]),
    ...contradicts.map((other) => `contradicts: ${contradicted(other.called, other.at, at)}`),
  ].join('; ');

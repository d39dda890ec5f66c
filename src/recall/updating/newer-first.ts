/** Ranks a statement that replaced another one before it. */
import { byDialect, type Query, sql } from '../../driver/index.js';
import type { Result } from '../search/pages.js';
import { replacedPart } from './replaced-part.js';

/** The best results that are looked up. */
const CHECKED = 30;
const MAX_EDGES = 100;
/** So that an equal score does not leave the order to the numbers. */
const JUST_ABOVE = 1 + 1e-9;

interface Replacement {
  readonly known: number;
  readonly newer: number;
  readonly body: string;
}

/** Of statements that state more than the replaced value, and of those that are hidden as superseded. */
function replacementsOf(query: Query, tenant: string, doc_nos: readonly number[]): Promise<Replacement[]> {
  const links = sql`CROSS JOIN edge_participants y CROSS JOIN edge_participants f CROSS JOIN edges e CROSS JOIN memory_versions v
    CROSS JOIN search_docs n
    WHERE d.tenant_id = ${tenant} AND d.entity_type IN ('note', 'artifact')
      AND y.tenant_id = ${tenant} AND y.entity_id = d.entity_id AND y.edge_type IN ('Contradicts', 'Supersedes') AND y.position > 1
      AND y.deleted_at IS NULL
      AND f.tenant_id = ${tenant} AND f.edge_id = y.edge_id AND f.position = 1
      AND e.tenant_id = ${tenant} AND e.edge_id = y.edge_id
      AND v.tenant_id = ${tenant} AND v.memory_id = f.entity_id AND v.superseded_at IS NULL
      AND n.tenant_id = ${tenant} AND n.content_id = v.card_id`;
  return query.all<Replacement>(
    byDialect({
      sqlite: sql`SELECT d.doc_no AS known, n.doc_no AS newer, e.body
        FROM json_each(${JSON.stringify(doc_nos)}) i CROSS JOIN search_docs d ${links} AND d.doc_no = i.value LIMIT ${MAX_EDGES}`,
      postgres: sql`SELECT d.doc_no AS known, n.doc_no AS newer, e.body
        FROM search_docs d ${links} AND d.doc_no = ANY(${doc_nos}) LIMIT ${MAX_EDGES}`,
    }),
  );
}

interface NewerFirst {
  readonly results: readonly Result[];
  /** Numbers of statements that others replaced. */
  readonly replaced: ReadonlySet<number>;
}

/** `results`: best first. */
export async function newerFirst(query: Query, tenant: string, results: readonly Result[]): Promise<NewerFirst> {
  const best = results.slice(0, CHECKED);
  const replaced = new Set<number>();
  if (best.length < 2) return { results, replaced };
  const rows = await replacementsOf(
    query,
    tenant,
    best.map(({ doc_no }) => doc_no),
  );
  const scores = new Map(best.map(({ doc_no, score }) => [doc_no, score]));
  const raised = new Map<number, number>();
  for (const { known, newer, body } of rows) {
    if (replacedPart(body) === undefined) continue;
    const least = (scores.get(Number(known)) ?? 0) * JUST_ABOVE;
    replaced.add(Number(known));
    raised.set(Number(newer), Math.max(raised.get(Number(newer)) ?? 0, least));
  }
  if (raised.size === 0) return { results, replaced };
  const ranked = results
    .map((one) => {
      const { doc_no, score, matched, nearby, boosts } = one;
      const least = raised.get(doc_no) ?? 0;
      return least > score ? { doc_no, score: least, matched, nearby, boosts } : one;
    })
    .sort((a, b) => b.score - a.score || b.doc_no - a.doc_no);
  return { results: ranked, replaced };
}

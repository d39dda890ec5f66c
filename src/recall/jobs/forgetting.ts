/** What jobs made of entities that are forgotten. */
import { type Query, type Sql, sql, TENANT } from '../../driver/index.js';
import type { Forgettable } from '../../engine/index.js';
import type { EntityRef } from '../../memory/sql.js';
import { entriesByCard } from '../manifests/store.js';
import { SourcesChanged } from './job-task.js';
import { type JobRow, resultOf, sourcesOf } from './store.js';

type MadeBy = Pick<JobRow, 'job_id' | 'sources' | 'result'>;

const jobsBy = (query: Query, which: Sql): Promise<MadeBy[]> =>
  query.all<MadeBy>(
    sql`SELECT j.job_id, j.sources, j.result FROM jobs j
        WHERE j.tenant_id = ${TENANT} AND j.result IS NOT NULL AND ${which}`,
  );

/**
 * Summaries, which need not have edges. Jobs on turns are found by their scopes; jobs on artifacts are named by the
 * versions that they summarized. Extracted facts have edges to the turns that state them.
 */
export async function derivedByJobs(query: Query, ids: readonly string[]): Promise<Forgettable[]> {
  const wanted = new Set(ids);
  const ofTurns = await jobsBy(
    query,
    sql`j.action = 'summarize' AND j.scope_id IN (
          WITH RECURSIVE held(box_id, position) AS (
            SELECT e.box_id, e.position FROM ${entriesByCard} WHERE e.tenant_id = ${TENANT} AND e.card_id = ANY(${ids})
            UNION
            SELECT f.box_id, h.position FROM held h CROSS JOIN boxes f
              WHERE f.tenant_id = ${TENANT} AND f.base_box_id = h.box_id AND h.position < f.base_position
          )
          SELECT s.scope_id FROM held h CROSS JOIN scopes s WHERE s.tenant_id = ${TENANT} AND s.box_id = h.box_id)`,
  );
  const ofArtifacts = await jobsBy(
    query,
    sql`j.job_id IN (SELECT v.summarized_by FROM memory_versions v
        WHERE v.tenant_id = ${TENANT} AND v.memory_id = ANY(${ids}) AND v.summarized_by IS NOT NULL)`,
  );
  const fromTurns = ofTurns.filter((job) => sourcesOf(job).some(({ entity_id }) => wanted.has(entity_id)));
  return [...fromTurns, ...ofArtifacts].flatMap((job) =>
    resultOf(job).made.map(({ kind, id }): Forgettable => ({ kind: kind === 'note' ? 'note' : 'artifact', id })),
  );
}

/** Refuses the result of a job whose sources were forgotten while it ran. Locks them: they are forgotten before, or after. */
export async function refuseForgotten(query: Query, sources: readonly EntityRef[]): Promise<void> {
  const ids = sources.map(({ entity_id }) => entity_id);
  if (ids.length === 0) return;
  const forgotten = await query.all<{ card_id: string; erased_at: number | null }>(
    sql`SELECT c.card_id, c.erased_at FROM cards c
        WHERE c.tenant_id = ${TENANT} AND c.card_id = ANY(${ids}) ORDER BY c.card_id FOR UPDATE`,
  );
  const versions = await query.all<{ memory_id: string; erased_at: number | null }>(
    sql`SELECT v.memory_id, v.erased_at FROM memory_versions v
        WHERE v.tenant_id = ${TENANT} AND v.memory_id = ANY(${ids}) AND v.version = 1
        ORDER BY v.memory_id FOR UPDATE`,
  );
  if ([...forgotten, ...versions].every(({ erased_at }) => erased_at === null)) return;
  throw new SourcesChanged('a source was erased meanwhile');
}

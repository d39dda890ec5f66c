/** The doctor's checks of policies, jobs and their results. */
import { type Sql, sql, TENANT } from '../../driver/index.js';
import { type Check, MAX_EXAMPLES } from '../../engine/index.js';

/** Id of the first result of the job `j`. */
const FIRST_MADE: Sql = sql`(j.result -> 'made' -> 0 ->> 'id')`;

export const jobChecks: readonly Check[] = [
  {
    name: 'a job that waits or runs has its lease, and none that has ended',
    broken: () =>
      sql`SELECT 'job ' || j.job_id || ' is ' || j.state AS what FROM jobs j
            LEFT JOIN leases l ON l.tenant_id = j.tenant_id AND l.kind = 'job' AND l.subject_id = j.job_id
            WHERE j.tenant_id = ${TENANT} AND j.ended_at IS NULL
              AND (l.subject_id IS NULL OR j.state NOT IN ('waiting', 'running'))
          UNION ALL
          SELECT 'job ' || j.job_id || ' has ended as ' || j.state AS what FROM jobs j
            WHERE j.tenant_id = ${TENANT} AND j.ended_at IS NOT NULL
              AND (j.state NOT IN ('done', 'failed') OR j.pins IS NOT NULL)
          LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'a job that is done says what it made, and that was made',
    broken: () =>
      sql`SELECT 'job ' || j.job_id || CASE WHEN j.result IS NULL OR j.sources IS NULL THEN ' says nothing'
            ELSE ' made ' || ${FIRST_MADE} || ', which is not there' END AS what FROM jobs j
          LEFT JOIN memory_versions v ON v.tenant_id = j.tenant_id AND v.memory_id = ${FIRST_MADE} AND v.version = 1
          WHERE j.tenant_id = ${TENANT} AND j.state = 'done'
            AND (j.result IS NULL OR j.sources IS NULL OR (${FIRST_MADE} IS NOT NULL AND v.memory_id IS NULL)) LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'a summary is linked to all that it was made from',
    broken: () =>
      sql`SELECT x.id || ' is linked to ' || x.linked || ' of ' || x.told AS what FROM (
            SELECT ${FIRST_MADE} AS id, json_array_length(j.sources) AS told,
              (SELECT COUNT(*) FROM edge_participants a
                JOIN edge_participants o ON o.tenant_id = a.tenant_id AND o.edge_id = a.edge_id AND o.position > 1
                WHERE a.tenant_id = j.tenant_id AND a.entity_id = ${FIRST_MADE} AND a.edge_type = 'SynthesizedFrom'
                  AND a.position = 1) AS linked
            FROM jobs j WHERE j.tenant_id = ${TENANT} AND j.state = 'done' AND j.action = 'summarize'
              AND CAST(j.settings ->> 'create_edges' AS TEXT) IN ('1', 'true')) x
          WHERE x.id IS NOT NULL AND x.linked < x.told LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'a scope was summarised and looked through up to a turn that it has',
    broken: () =>
      sql`SELECT 'scope ' || s.scope_id AS what FROM scopes s
          JOIN boxes b ON b.tenant_id = s.tenant_id AND b.box_id = s.box_id
          WHERE s.tenant_id = ${TENANT} AND (s.summarized_turns > b.length OR s.extracted_turns > b.length) LIMIT ${MAX_EXAMPLES}`,
  },
];

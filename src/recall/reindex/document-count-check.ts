/** The doctor's check of the document count; doctor.ts has the other checks of the search. */
import { sql, TENANT } from '../../driver/index.js';
import type { Check } from '../../engine/index.js';

export const searchChecks: readonly Check[] = [
  {
    name: 'the stored count of search documents is right',
    broken: () =>
      sql`SELECT 'stored count ' || x.noted || ', documents ' || x.docs AS what FROM (
            SELECT (SELECT COALESCE(SUM(n.docs), 0) FROM search_counts n WHERE n.tenant_id = ${TENANT}) AS noted,
              (SELECT COUNT(*) FROM search_docs d WHERE d.tenant_id = ${TENANT} AND d.terms IS NOT NULL) AS docs) x
          WHERE x.noted <> x.docs`,
  },
];

/** The doctor's question about how many documents there are; all others about the search are in service/search-doctor.ts. */
import { sql, TENANT } from '../../driver/index.js';
import type { Check } from '../../engine/index.js';

export const searchChecks: readonly Check[] = [
  {
    name: 'as many documents are noted as can be found',
    broken: () =>
      sql`SELECT 'noted are ' || x.noted || ', found are ' || x.docs AS what FROM (
            SELECT (SELECT COALESCE(SUM(n.docs), 0) FROM search_counts n WHERE n.tenant_id = ${TENANT}) AS noted,
              (SELECT COUNT(*) FROM search_docs d WHERE d.tenant_id = ${TENANT} AND d.terms IS NOT NULL) AS docs) x
          WHERE x.noted <> x.docs`,
  },
];

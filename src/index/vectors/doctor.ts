/** Doctor checks of vectors: exactly the searchable documents have them. */
import { sql, TENANT } from '../../driver/index.js';
import { type Check, MAX_EXAMPLES } from '../../engine/index.js';

export const vectorChecks: readonly Check[] = [
  {
    name: 'every document with a vector is searchable',
    broken: () =>
      sql`SELECT 'document ' || l.doc_no AS what FROM vector_docs l
          LEFT JOIN search_docs d ON d.tenant_id = l.tenant_id AND d.doc_no = l.doc_no
          WHERE l.tenant_id = ${TENANT} AND (d.doc_no IS NULL OR d.gone IS NOT NULL) LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'every linked vector exists, and every vector has a document',
    broken: () =>
      sql`SELECT 'the vector of document ' || l.doc_no || ' by ' || l.model AS what FROM vector_docs l
            LEFT JOIN vectors v ON v.tenant_id = l.tenant_id AND v.model = l.model AND v.content_hash = l.content_hash
            WHERE l.tenant_id = ${TENANT} AND l.content_hash IS NOT NULL AND v.content_hash IS NULL
          UNION ALL
          SELECT 'a vector without a document by ' || v.model AS what FROM vectors v
            LEFT JOIN vector_docs l ON l.tenant_id = v.tenant_id AND l.model = v.model AND l.content_hash = v.content_hash
            WHERE v.tenant_id = ${TENANT} AND l.content_hash IS NULL
          LIMIT ${MAX_EXAMPLES}`,
  },
];

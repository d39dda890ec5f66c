/** Doctor checks of segments: each folded document is in one of them. What they say of it, recall compares. */
import { sql, TENANT } from '../../driver/index.js';
import { type Check, MAX_EXAMPLES } from '../../engine/index.js';

export const segmentChecks: readonly Check[] = [
  {
    name: 'segments of the index do not overlap, and end with the folded documents',
    broken: () =>
      sql`SELECT 'segment ' || s.segment AS what FROM search_segments s JOIN tenants t ON t.tenant_id = s.tenant_id
          WHERE s.tenant_id = ${TENANT} AND (s.last_doc > t.folded_doc OR s.first_doc > s.last_doc OR EXISTS (
            SELECT 1 FROM search_segments o WHERE o.tenant_id = s.tenant_id AND o.segment <> s.segment
              AND o.first_doc <= s.last_doc AND o.last_doc >= s.first_doc)) LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'every folded document is in a segment of the index',
    broken: () =>
      sql`SELECT 'document ' || d.doc_no AS what FROM tenants t CROSS JOIN search_docs d
          WHERE t.tenant_id = ${TENANT} AND d.tenant_id = ${TENANT} AND d.doc_no <= t.folded_doc AND d.gone IS NULL
            AND NOT EXISTS (SELECT 1 FROM search_segments s WHERE s.tenant_id = ${TENANT}
              AND s.first_doc <= d.doc_no AND s.last_doc >= d.doc_no) LIMIT ${MAX_EXAMPLES}`,
  },
  {
    name: 'segments have all their blocks',
    broken: () =>
      sql`SELECT 'segment ' || s.segment AS what FROM search_segments s WHERE s.tenant_id = ${TENANT}
            AND s.blocks <> (SELECT COUNT(*) FROM search_blocks b
              WHERE b.tenant_id = s.tenant_id AND b.segment = s.segment) LIMIT ${MAX_EXAMPLES}`,
  },
];

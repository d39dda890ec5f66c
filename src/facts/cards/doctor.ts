/** Doctor check of erased cards and packets. */
import { type Query, sql, TENANT } from '../../driver/index.js';
import { type Check, type CheckedContent, MAX_EXAMPLES } from '../../engine/index.js';
import { sha256 } from '../../kernel/node.js';

export const cardChecks: readonly Check[] = [
  {
    name: 'erased cards and packets hold no content',
    broken: () =>
      sql`SELECT 'card ' || c.card_id AS what FROM cards c WHERE c.tenant_id = ${TENANT} AND c.erased_at IS NOT NULL
            AND (c.content IS NOT NULL OR c.metadata IS NOT NULL OR c.tool_calls IS NOT NULL OR c.tool_call_id IS NOT NULL
              OR c.author_id IS NOT NULL OR c.subject_ids IS NOT NULL OR c.derived_from IS NOT NULL OR c.sent_hash IS NOT NULL)
          UNION ALL
          SELECT 'packet ' || p.packet_id AS what FROM packet_store p WHERE p.tenant_id = ${TENANT} AND p.erased_at IS NOT NULL
            AND (p.envelope IS NOT NULL OR p.original IS NOT NULL OR p.subject_ids IS NOT NULL OR p.agent IS NOT NULL
              OR p.source IS NOT NULL OR p.sent_hash IS NOT NULL)
          UNION ALL
          SELECT 'packet ' || p.packet_id || ' by its ' || i.kind AS what FROM packet_index i
            JOIN packet_store p ON p.tenant_id = i.tenant_id AND p.seq = i.seq
            WHERE i.tenant_id = ${TENANT} AND i.kind <> 'parent' AND p.erased_at IS NOT NULL
          LIMIT ${MAX_EXAMPLES}`,
  },
];

/** Hashed again page by page. */
export async function cardContents(query: Query, after: string, limit: number): Promise<CheckedContent[]> {
  const rows = await query.all<{ card_id: string; content: string; content_hash: string }>(
    sql`SELECT c.card_id, c.content, c.content_hash FROM cards c
        WHERE c.tenant_id = ${TENANT} AND c.card_id > ${after} AND c.content IS NOT NULL ORDER BY c.card_id LIMIT ${limit}`,
  );
  return rows.map(({ card_id, content, content_hash }) => ({ id: card_id, intact: sha256(content) === content_hash }));
}

/** The doctor's check of idempotency records. */
import { sql, TENANT } from '../../driver/index.js';
import { type Check, MAX_EXAMPLES } from '../doctor.js';

export const requestChecks: readonly Check[] = [
  {
    name: 'every idempotency record has its packet',
    broken: () =>
      sql`SELECT 'key ' || r.idempotency_key AS what FROM requests r
          LEFT JOIN packet_store p ON p.tenant_id = r.tenant_id AND p.packet_id = r.packet_id
          WHERE r.tenant_id = ${TENANT} AND p.seq IS NULL LIMIT ${MAX_EXAMPLES}`,
  },
];

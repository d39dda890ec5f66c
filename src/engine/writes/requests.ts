/** requests: the idempotency records of the last 24 hours, as ids and a hash of the request. */
import { type Query, sql, TENANT, type Tx } from '../../driver/index.js';
import type { Json } from '../../kernel/contract.js';

export const KEEP_REQUESTS_MS = 24 * 60 * 60 * 1000;

interface RequestRecord {
  readonly request_hash: string;
  readonly replay: string;
}

/** The record of a key, unless it has expired. */
export async function findRequest(query: Query, key: string, now: number): Promise<RequestRecord | undefined> {
  return query.get<RequestRecord>(
    sql`SELECT request_hash, replay FROM requests
        WHERE tenant_id = ${TENANT} AND idempotency_key = ${key} AND recorded_at > ${now - KEEP_REQUESTS_MS}`,
  );
}

export async function addRequest(
  tx: Tx,
  record: { key: string; request_hash: string; packet_id: string; replay: Json; recorded_at: number },
): Promise<void> {
  // Removes an expired record of the same key.
  await tx.run(
    sql`DELETE FROM requests WHERE tenant_id = ${TENANT} AND idempotency_key = ${record.key}
        AND recorded_at <= ${record.recorded_at - KEEP_REQUESTS_MS}`,
  );
  await tx.run(
    sql`INSERT INTO requests (tenant_id, idempotency_key, request_hash, packet_id, replay, recorded_at)
        VALUES (${TENANT}, ${record.key}, ${record.request_hash}, ${record.packet_id},
                ${JSON.stringify(record.replay)}, ${record.recorded_at})`,
  );
}

export async function forgetRequests(tx: Tx, before: number, limit: number): Promise<number> {
  return tx.run(
    sql`DELETE FROM requests WHERE tenant_id = ${TENANT} AND idempotency_key IN (
          SELECT idempotency_key FROM requests WHERE tenant_id = ${TENANT} AND recorded_at <= ${before} LIMIT ${limit})`,
  );
}

/** For a request that is refused after its record was written. */
export function forgetRequest(tx: Tx, key: string): Promise<void> {
  return tx.send(sql`DELETE FROM requests WHERE tenant_id = ${TENANT} AND idempotency_key = ${key}`);
}

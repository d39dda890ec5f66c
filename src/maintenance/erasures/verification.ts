/** Verifies a receipt: reads what it names again, and looks for the erased texts in the SQLite file. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { acrossTenants, longQuery, type Query, type Sql, sql, TENANT, verbatim } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import type { Call } from '../../engine/index.js';
import { groupBy } from '../../kernel/index.js';
import { firstHash, markOf, marksByHash, nextHash, PART_BYTES } from './marks.js';
import { openErasure, statusOf, typeOf } from './service.js';
import { type ItemRow, itemsAfter, marksOf, STATE } from './store.js';

const PAGE = 1000;
const MAX_NAMED = 100;

/** By kind, a statement that selects those of these ids that still hold content. */
const holding: Readonly<Record<string, (ids: readonly string[]) => Sql>> = {
  card: (ids) =>
    sql`SELECT c.card_id AS id FROM cards c WHERE c.tenant_id = ${TENANT} AND c.card_id = ANY(${ids})
          AND (c.erased_at IS NULL OR c.content IS NOT NULL OR c.metadata IS NOT NULL OR c.tool_calls IS NOT NULL)`,
  memory: (ids) =>
    sql`SELECT DISTINCT v.memory_id AS id FROM memory_versions v WHERE v.tenant_id = ${TENANT} AND v.memory_id = ANY(${ids})
          AND (v.erased_at IS NULL OR v.name IS NOT NULL OR v.metadata IS NOT NULL)`,
  packet: (ids) =>
    sql`SELECT p.packet_id AS id FROM packet_store p WHERE p.tenant_id = ${TENANT} AND p.packet_id = ANY(${ids})
          AND (p.erased_at IS NULL OR p.envelope IS NOT NULL)`,
  message: (ids) =>
    sql`SELECT m.message_id AS id FROM messages m WHERE m.tenant_id = ${TENANT} AND m.message_id = ANY(${ids})
          AND (m.erased_at IS NULL OR m.payload IS NOT NULL)`,
  scope: (ids) =>
    sql`SELECT s.scope_id AS id FROM scopes s WHERE s.tenant_id = ${TENANT} AND s.scope_id = ANY(${ids})
          AND (s.deleted_at IS NULL OR s.name <> '' OR s.purpose IS NOT NULL)`,
  trajectory: (ids) =>
    sql`SELECT t.trajectory_id AS id FROM trajectories t WHERE t.tenant_id = ${TENANT} AND t.trajectory_id = ANY(${ids})
          AND (t.deleted_at IS NULL OR t.name <> '' OR t.description IS NOT NULL)`,
  execution: (ids) =>
    sql`SELECT e.execution_id AS id FROM executions e WHERE e.tenant_id = ${TENANT} AND e.execution_id = ANY(${ids})
          AND (e.deleted_at IS NULL OR EXISTS (SELECT 1 FROM checkpoints k
            WHERE k.tenant_id = e.tenant_id AND k.execution_id = e.execution_id))`,
};

const STORED_AS: Readonly<Record<string, string>> = {
  turn: 'card',
  version: 'card',
  artifact: 'memory',
  note: 'memory',
};

/** The items among these that still hold content. */
async function remainingOf(query: Query, items: readonly ItemRow[]): Promise<ItemRow[]> {
  const remaining: ItemRow[] = [];
  for (const [stored, of] of groupBy(items, ({ kind }) => STORED_AS[kind] ?? kind)) {
    const rows = await query.all<{ id: string }>(holding[stored]!(of.map(({ id }) => id)));
    const ids = new Set(rows.map(({ id }) => id));
    remaining.push(...of.filter(({ id }) => ids.has(id)));
  }
  return remaining;
}

export async function verify(call: Call, input: In<'erasures.verify'>): Promise<Out<'erasures.verify'>> {
  const { driver, tenant } = call;
  const { erasure_id } = input;
  const query = longQuery(driver, tenant);
  const status = statusOf(await openErasure(call, driver.at(tenant), erasure_id));
  const remaining: ItemRow[] = [];
  let checked = 0;
  for (let after = { kind: '', id: '' }; ; ) {
    const items = await itemsAfter(query, erasure_id, after, PAGE);
    const erased = items.filter(({ state }) => state === STATE.todo || state === STATE.erased);
    checked += erased.length;
    remaining.push(...(await remainingOf(query, erased)));
    if (items.length < PAGE) break;
    after = items.at(-1)!;
  }
  const bytes = input.bytes === true && driver.dialect === 'sqlite' ? await searchFiles(call, erasure_id) : null;
  return {
    erasure_id,
    status,
    verified: status === 'verified' && remaining.length === 0 && (bytes?.found ?? 0) === 0,
    checked,
    remaining: remaining.slice(0, MAX_NAMED).map(({ kind, id }) => ({ entity_type: typeOf(kind), entity_id: id })),
    bytes,
  };
}

async function searchFiles(call: Call, erasure_id: string): Promise<NonNullable<Out<'erasures.verify'>['bytes']>> {
  const { driver, tenant, meta } = call;
  const marks = await marksOf(longQuery(driver, tenant), erasure_id);
  const found = new Map<string, Uint8Array>();
  const files: { name: string; bytes: number }[] = [];
  for (const suffix of ['', '-wal']) {
    const name = `${driver.location}${suffix}`;
    const size = await stat(name).then(
      (one) => one.size,
      () => undefined,
    );
    if (size === undefined) continue;
    files.push({ name: suffix === '' ? 'database' : 'log', bytes: size });
    if (marks.length > 0) await searchFile(name, meta.erasure_key, marks, found);
  }
  let left = 0;
  for (const part of found.values()) if (!(await isRetained(call, part))) left++;
  return { files, parts: marks.length, found: left };
}

/** Parts of the file whose marks these are, by mark. */
async function searchFile(
  name: string,
  key: string,
  marks: readonly string[],
  found: Map<string, Uint8Array>,
): Promise<void> {
  const byHash = marksByHash(marks);
  let before: Uint8Array = new Uint8Array(0);
  for await (const chunk of createReadStream(name, { highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
    const bytes = Buffer.concat([before, chunk]);
    const last = bytes.length - PART_BYTES;
    for (let at = 0, hash = 0; at <= last; at++) {
      hash = at === 0 ? firstHash(bytes, 0) : nextHash(hash, bytes[at - 1]!, bytes[at + PART_BYTES - 1]!);
      const known = byHash.get(hash);
      if (!known) continue;
      const part = bytes.subarray(at, at + PART_BYTES);
      const mark = markOf(key, part);
      if (known.has(mark)) found.set(mark, Uint8Array.from(part));
    }
    before = Uint8Array.from(bytes.subarray(Math.max(0, last + 1)));
  }
}

/** Whether content that remains has a part, in any table: other content may say the same. */
async function isRetained(call: Call, part: Uint8Array): Promise<boolean> {
  const query = longQuery(call.driver, call.tenant);
  const columns = await query.all<{ name: string; column: string }>(
    acrossTenants`SELECT m.name, i.name AS "column" FROM sqlite_master m JOIN pragma_table_info(m.name) i
        WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND i.type <> 'INTEGER'`,
  );
  for (const { name, column } of columns) {
    const row = await query.get(
      acrossTenants`SELECT 1 AS found FROM ${verbatim(name)} WHERE instr(CAST(${verbatim(column)} AS BLOB), ${part}) > 0 LIMIT 1`,
    );
    if (row) return true;
  }
  return false;
}

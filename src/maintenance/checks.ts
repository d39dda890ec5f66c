/** The doctor's questions: each finds rows that break an invariant, and is empty in a healthy store. */
import { checkpointChecks } from '../checkpoints/checkpoints/doctor.js';
import { turnChecks } from '../coordination/agent-turns/doctor.js';
import { lockChecks } from '../coordination/locks/doctor.js';
import { messageChecks } from '../coordination/messages/doctor.js';
import type { Query } from '../driver/driver.js';
import { sql } from '../driver/sql.js';
import type { Check } from '../engine/doctor.js';
import { vectorChecks } from '../index/vectors/doctor.js';
import { scopeChecks } from '../memory/scopes/doctor.js';
import { memoryChecks } from '../memory/versions/doctor.js';
import { jobChecks } from '../recall/jobs/doctor.js';
import { searchChecks } from '../recall/reindex/count-check.js';

const FEW = 5;

export const checks: readonly Check[] = [
  {
    name: 'the stream has no hole: seq runs from 1 to the head',
    broken: (tenant) =>
      sql`SELECT 'head is ' || t.seq || ', packets are ' || COUNT(p.seq) || ' up to ' || COALESCE(MAX(p.seq), 0) AS what
          FROM tenants t LEFT JOIN packet_store p ON p.tenant_id = t.tenant_id WHERE t.tenant_id = ${tenant}
          GROUP BY t.seq HAVING COUNT(p.seq) <> t.seq OR COALESCE(MAX(p.seq), 0) <> t.seq`,
  },
  {
    name: 'recorded times rise with seq, but where a clock was recovered',
    broken: (tenant) =>
      sql`SELECT 'packet ' || p.seq AS what FROM packet_store p
          JOIN packet_store n ON n.tenant_id = p.tenant_id AND n.seq = p.seq + 1
          WHERE p.tenant_id = ${tenant} AND n.recorded_at < p.recorded_at AND NOT EXISTS (
            SELECT 1 FROM clock_overlaps o WHERE o.tenant_id = n.tenant_id AND o.seq = n.seq) LIMIT ${FEW}`,
  },
  {
    name: 'every parent of a packet exists and is older',
    broken: (tenant) =>
      sql`SELECT 'packet ' || i.seq || ' has parent ' || i.value AS what FROM packet_index i
          LEFT JOIN packet_store p ON p.tenant_id = i.tenant_id AND p.packet_id = i.value
          WHERE i.tenant_id = ${tenant} AND i.kind = 'parent' AND (p.seq IS NULL OR p.seq >= i.seq) LIMIT ${FEW}`,
  },
  {
    name: 'the length of a box is the number of its entries, and they are numbered up to it',
    broken: (tenant) =>
      sql`SELECT 'box ' || x.box_id || ' says ' || x.length || ', has ' || (x.inherited + x.own) AS what FROM (
            SELECT b.box_id, b.length, CASE WHEN b.base_until IS NULL THEN COALESCE(b.base_length, 0) ELSE 0 END AS inherited,
              COUNT(e.position) AS own, MIN(e.ordinal) AS first, MAX(e.ordinal) AS last, MIN(e.position) AS start, b.first_position
            FROM boxes b
            LEFT JOIN box_entries e ON e.tenant_id = b.tenant_id AND e.box_id = b.box_id AND e.removed_revision IS NULL
            WHERE b.tenant_id = ${tenant}
            GROUP BY b.box_id, b.length, b.base_until, b.base_length, b.first_position) x
          WHERE x.inherited + x.own <> x.length OR x.first <> x.inherited + 1 OR x.last <> x.length
            OR x.start < x.first_position LIMIT ${FEW}`,
  },
  {
    name: 'a fork starts with as much as its base held',
    broken: (tenant) =>
      sql`SELECT 'box ' || f.box_id || ' says ' || f.base_length || ' of box ' || f.base_box_id AS what FROM boxes f
          WHERE f.tenant_id = ${tenant} AND f.base_box_id IS NOT NULL AND f.base_length <> COALESCE((
            SELECT e.ordinal FROM box_entries e WHERE e.tenant_id = f.tenant_id AND e.box_id = f.base_box_id
              AND e.position >= f.base_first AND e.position < f.base_position AND e.added_revision <= f.base_revision
              AND (e.removed_revision IS NULL OR e.removed_revision > f.base_revision)
            ORDER BY e.position DESC LIMIT 1), 0) LIMIT ${FEW}`,
  },
  {
    name: 'no card is in a box twice',
    broken: (tenant) =>
      sql`SELECT 'card ' || e.card_id || ' in box ' || e.box_id AS what FROM box_entries e
          WHERE e.tenant_id = ${tenant} AND e.removed_revision IS NULL
          GROUP BY e.box_id, e.card_id HAVING COUNT(*) > 1 LIMIT ${FEW}`,
  },
  {
    name: 'every entry of a box is a card, and lies within its box',
    broken: (tenant) =>
      sql`SELECT 'card ' || e.card_id || ' in box ' || e.box_id AS what FROM box_entries e
          LEFT JOIN cards c ON c.tenant_id = e.tenant_id AND c.card_id = e.card_id
          LEFT JOIN boxes b ON b.tenant_id = e.tenant_id AND b.box_id = e.box_id
          WHERE e.tenant_id = ${tenant} AND (c.card_id IS NULL OR b.box_id IS NULL
            OR e.position >= b.next_position OR e.added_revision > b.revision) LIMIT ${FEW}`,
  },
  {
    name: 'every idempotency record has its packet',
    broken: (tenant) =>
      sql`SELECT 'key ' || r.idempotency_key AS what FROM requests r
          LEFT JOIN packet_store p ON p.tenant_id = r.tenant_id AND p.packet_id = r.packet_id
          WHERE r.tenant_id = ${tenant} AND p.seq IS NULL LIMIT ${FEW}`,
  },
  {
    name: 'what is erased holds no content',
    broken: (tenant) =>
      sql`SELECT 'card ' || c.card_id AS what FROM cards c WHERE c.tenant_id = ${tenant} AND c.erased_at IS NOT NULL
            AND (c.content IS NOT NULL OR c.metadata IS NOT NULL OR c.tool_calls IS NOT NULL OR c.tool_call_id IS NOT NULL
              OR c.author_id IS NOT NULL OR c.subject_ids IS NOT NULL OR c.derived_from IS NOT NULL OR c.sent_hash IS NOT NULL)
          UNION ALL
          SELECT 'packet ' || p.packet_id AS what FROM packet_store p WHERE p.tenant_id = ${tenant} AND p.erased_at IS NOT NULL
            AND (p.envelope IS NOT NULL OR p.original IS NOT NULL OR p.subject_ids IS NOT NULL OR p.agent IS NOT NULL
              OR p.source IS NOT NULL OR p.sent_hash IS NOT NULL)
          UNION ALL
          SELECT 'packet ' || p.packet_id || ' by its ' || i.kind AS what FROM packet_index i
            JOIN packet_store p ON p.tenant_id = i.tenant_id AND p.seq = i.seq
            WHERE i.tenant_id = ${tenant} AND i.kind <> 'parent' AND p.erased_at IS NOT NULL
          LIMIT ${FEW}`,
  },
  {
    name: 'the parent of a trajectory is there',
    broken: (tenant) =>
      sql`SELECT 'trajectory ' || t.trajectory_id || ' is part of ' || t.parent_trajectory_id AS what FROM trajectories t
          LEFT JOIN trajectories p ON p.tenant_id = t.tenant_id AND p.trajectory_id = t.parent_trajectory_id
          WHERE t.tenant_id = ${tenant} AND t.parent_trajectory_id IS NOT NULL AND t.deleted_at IS NULL
            AND (p.trajectory_id IS NULL OR p.deleted_at IS NOT NULL) LIMIT ${FEW}`,
  },
  {
    name: 'what is finished has its outcome, and neither it nor what is deleted has an open scope',
    broken: (tenant) =>
      sql`SELECT 'scope ' || s.scope_id || ' of trajectory ' || t.trajectory_id AS what FROM trajectories t
            JOIN scopes s ON s.tenant_id = t.tenant_id AND s.trajectory_id = t.trajectory_id AND s.closed_at IS NULL
            WHERE t.tenant_id = ${tenant} AND (t.finished_at IS NOT NULL OR t.deleted_at IS NOT NULL)
          UNION ALL
          SELECT 'trajectory ' || t.trajectory_id AS what FROM trajectories t
            WHERE t.tenant_id = ${tenant} AND t.deleted_at IS NULL
              AND (t.status = 'Completed' OR t.status = 'Failed') <> (t.finished_at IS NOT NULL AND t.outcome IS NOT NULL)
          LIMIT ${FEW}`,
  },
  {
    name: 'what is deleted of trajectories and scopes holds no text',
    broken: (tenant) =>
      sql`SELECT 'trajectory ' || t.trajectory_id AS what FROM trajectories t
            WHERE t.tenant_id = ${tenant} AND t.deleted_at IS NOT NULL AND (t.name <> '' OR t.description IS NOT NULL
              OR t.metadata IS NOT NULL OR t.outcome IS NOT NULL OR t.sent_hash IS NOT NULL)
          UNION ALL
          SELECT 'scope ' || s.scope_id AS what FROM scopes s
            WHERE s.tenant_id = ${tenant} AND s.deleted_at IS NOT NULL AND (s.name <> '' OR s.purpose IS NOT NULL
              OR s.metadata IS NOT NULL OR s.sent_hash IS NOT NULL)
          LIMIT ${FEW}`,
  },
  ...scopeChecks,
  ...memoryChecks,
  ...jobChecks,
  ...checkpointChecks,
  ...turnChecks,
  ...lockChecks,
  ...messageChecks,
  ...searchChecks,
  ...vectorChecks,
];

/** Content with its hash, page by page, to be hashed again. */
export async function contentPage(
  query: Query,
  tenant: string,
  table: 'cards' | 'packets',
  after: string,
  limit: number,
): Promise<{ id: string; text: string; content_hash: string }[]> {
  return query.all(
    table === 'cards'
      ? sql`SELECT c.card_id AS id, c.content AS text, c.content_hash FROM cards c
            WHERE c.tenant_id = ${tenant} AND c.card_id > ${after} AND c.content IS NOT NULL ORDER BY c.card_id LIMIT ${limit}`
      : sql`SELECT p.packet_id AS id, p.envelope AS text, p.content_hash FROM packet_store p
            WHERE p.tenant_id = ${tenant} AND p.packet_id > ${after} AND p.envelope IS NOT NULL ORDER BY p.packet_id LIMIT ${limit}`,
  );
}

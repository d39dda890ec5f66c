/** The stored notes that a new statement is compared with, found by keyed hashes of what they are about. */
import { createHmac } from 'node:crypto';
import { type Query, sql, TENANT } from '../../driver/index.js';
import type { Call } from '../../engine/index.js';
import { PENDING } from '../../engine/sql.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { liveAt, VERSION_COLUMNS, VERSIONS, type VersionRow, versionNotSuperseded } from '../../memory/sql.js';
import { parseDate } from '../../text/index.js';
import { stringOrNull, textOf } from '../summaries/turn-sources.js';
import { type Moment, type Statement, statementFrom } from './relations.js';

/** Keys of one statement; further claims are not looked up. */
const MAX_KEYS = 12;
/** Newest notes that one statement is compared with. */
const MAX_KNOWN = 40;
/** A longer note states too much to be replaced by one statement. */
const MAX_TOKENS = 2000;

interface StatementKeys {
  /** Of its subjects and attributes: locked, so that of two concurrent writers the later sees the earlier. */
  readonly slots: readonly string[];
  /** Of the slots and of the whole statement. */
  readonly all: readonly string[];
}

const hashOf = ({ meta, tenant }: Call, about: readonly Json[]): string =>
  createHmac('sha256', meta.erasure_key)
    .update(JSON.stringify([tenant, 'statement', about]))
    .digest('hex');

/** `subjects`: as the column subject_ids has them. What is about one user is never compared with what is about another. */
export function keysOf(call: Call, { claims, said, text }: Statement, subjects: string | null): StatementKeys {
  const about = subjects === null ? [] : [subjects];
  const slots = [...new Set(claims.map(({ key }) => hashOf(call, ['slot', key, ...about])))].slice(0, MAX_KEYS);
  const isShort = text.length <= MAX_TOKENS && said !== '';
  return { slots, all: isShort ? [...slots, hashOf(call, ['said', said, ...about])] : slots };
}

/** The keys under which a fact of a conversation is known; its content names the speaker. */
export const factStatementKeys = (call: Call, content: string, subjects: string | null): readonly string[] =>
  keysOf(call, statementFrom(content, null, momentOf(undefined, 0)), subjects).all;

/** The key that serialises writers who replace the same memory. */
export const memoryKey = (call: Call, memory_id: string): string => hashOf(call, ['memory', memory_id]);

/** A day without a time has no order within the day. */
export function momentOf(occurred_at: Json | undefined, told: number): Moment {
  const ms = parseDate(occurred_at);
  if (ms === undefined) return { ms: told, given: false, day: false };
  return { ms, given: true, day: ms % 86_400_000 === 0 };
}

export interface KnownNote {
  readonly row: VersionRow;
  readonly statement: Statement;
}

function knownNote(row: VersionRow, now: number): KnownNote {
  const { speaker, occurred_at } = JSON.parse(row.metadata ?? '{}') as JsonObject;
  const text = textOf(JSON.parse(row.content!) as Json);
  const told = row.created_at === PENDING ? now : row.created_at;
  return { row, statement: statementFrom(text, stringOrNull(speaker), momentOf(occurred_at, told)) };
}

const current = (query: Query, ids: ReturnType<typeof sql>, now: number): Promise<VersionRow[]> =>
  query.all<VersionRow>(
    sql`SELECT ${VERSION_COLUMNS} FROM ${VERSIONS}
        WHERE v.tenant_id = ${TENANT} AND v.abstraction_level = 'L0' AND v.superseded_at IS NULL AND ${liveAt(now)}
          AND v.token_count <= ${MAX_TOKENS} AND v.memory_id IN (${ids}) AND ${versionNotSuperseded(now)}
        ORDER BY v.memory_id DESC`,
  );

/** The current notes, and artifacts with facts, under these keys that nothing supersedes, newest first. */
export async function notesUnder(query: Query, keys: readonly string[], now: number): Promise<KnownNote[]> {
  if (keys.length === 0) return [];
  const ids = sql`SELECT k.memory_id FROM fact_keys k WHERE k.tenant_id = ${TENANT} AND k.fact_key = ANY(${keys})
    AND k.memory_id <> '' ORDER BY k.memory_id DESC LIMIT ${MAX_KNOWN}`;
  return (await current(query, ids, now)).map((row) => knownNote(row, now));
}

/** The same for ids that a search found. */
export async function notesById(query: Query, memory_ids: readonly string[], now: number): Promise<KnownNote[]> {
  if (memory_ids.length === 0) return [];
  const ids = sql`SELECT v2.memory_id FROM memory_versions v2
    WHERE v2.tenant_id = ${TENANT} AND v2.memory_id = ANY(${memory_ids})`;
  return (await current(query, ids, now)).map((row) => knownNote(row, now));
}

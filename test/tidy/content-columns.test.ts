/** Every table with content can say whom it is about and how far it is trusted. */
import { describe, expect, it } from 'vitest';
import { parts } from '#cairn/api/index.js';
import type { SchemaPart } from '#cairn/driver/index.js';

/** Tables with texts or JSON of callers: whose subjects they have, if not their own. */
const CONTENT: Readonly<Record<string, string>> = {
  packet_store: 'own',
  agents: 'nobody',
  search_docs: 'own',
  cards: 'own',
  boxes: 'own',
  trajectories: 'own',
  scopes: 'own',
  scope_checkpoints: 'its scope',
  memory_versions: 'own',
  edges: 'its participants',
  executions: 'own',
  checkpoints: 'its execution',
  checkpoint_items: 'its execution',
  checkpoint_writes: 'its execution',
  thoughts: 'its execution',
  tool_calls: 'its execution',
  manifests: 'own',
  handovers: 'nobody',
  agent_turns: 'its trajectory',
  delegations: 'its trajectory',
  handoffs: 'its trajectory',
  pauses: 'its trajectory or execution',
  messages: 'its trajectory',
};

/** Columns of other tables that could hold a text, and hold none of callers: states, kinds, hashes, settings, codes. */
const WITHOUT_CONTENT: Readonly<Record<string, readonly string[]>> = {
  packet_index: ['kind'],
  requests: ['request_hash', 'replay'],
  leases: ['kind'],
  api_keys: ['role', 'name'],
  tenant_settings: ['settings'],
  search_segments: ['header'],
  search_blocks: ['data'],
  vectors: ['vector'],
  vector_docs: ['bits'],
  vector_progress: ['holder'],
  box_grants: ['access'],
  summarization_policies: ['trigger_type', 'source_level', 'target_level', 'actions', 'sent_hash'],
  jobs: ['action', 'trigger_type', 'settings', 'state', 'sources', 'result', 'cost', 'error'],
  artifact_tallies: ['level'],
  agent_turn_steps: ['format', 'content_hash'],
  turn_batches: ['status'],
  deliveries: ['delivered_to'],
  locks: ['mode', 'state'],
  erasures: ['selected_by', 'request_hash', 'selection'],
  erasure_items: ['entity_type', 'origin'],
};

const ORIGIN = ['subject_ids', 'source_class'];

/** The columns of each table that can hold a text: all but ids, numbers and vectors' bits. */
function textColumns(part: SchemaPart): Map<string, string[]> {
  const statements = part.statements({
    ...{ dialect: 'sqlite', id: 'ID', int: 'INT', real: 'REAL', json: 'JSON', bytes: 'BYTES', table: '', compact: '' },
    origin: 'subject_ids TEXT, source_class TEXT',
  });
  const tables = statements.flatMap((text) => {
    const [, table, body] = /^CREATE TABLE (\w+) \(\s*(.*)\)/s.exec(text) ?? [];
    if (table === undefined) return [];
    const columns = body!.replace(/--.*/g, '').matchAll(/(?:^|,)\s*([a-z_]+) (?:TEXT|JSON|BYTES)\b/g);
    return [[table, [...columns].map(([, column]) => column!)] as const];
  });
  return new Map(tables);
}

const all = new Map(Object.values(parts).flatMap((part) => [...textColumns(part)]));

function problemsOf(tables: ReadonlyMap<string, readonly string[]>): string[] {
  const problems: string[] = [];
  for (const [table, columns] of tables) {
    if (table in CONTENT) {
      for (const column of ORIGIN) if (!columns.includes(column)) problems.push(`${table} has no ${column}`);
    } else {
      const known = WITHOUT_CONTENT[table] ?? [];
      for (const column of columns) if (!known.includes(column)) problems.push(`${table}.${column} is in no list`);
      for (const column of known) if (!columns.includes(column)) problems.push(`there is no ${table}.${column}`);
    }
  }
  const named = [...Object.keys(CONTENT), ...Object.keys(WITHOUT_CONTENT)];
  return [...problems, ...named.filter((table) => !tables.has(table)).map((table) => `there is no ${table}`)];
}

describe('columns of content', () => {
  it('subject_ids and source_class are in every table with content, and each column of another is known to have none', () => {
    expect(all.size).toBe(Object.values(parts).flatMap(({ tables }) => tables).length);
    expect(problemsOf(all)).toEqual([]);
  });

  it('would be missed, and new columns and tables would be found', () => {
    const without = (table: string, column: string): ReadonlyMap<string, readonly string[]> =>
      new Map([...all, [table, all.get(table)!.filter((one) => one !== column)]]);
    expect(problemsOf(without('cards', 'source_class'))).toEqual(['cards has no source_class']);
    expect(problemsOf(without('edges', 'subject_ids'))).toEqual(['edges has no subject_ids']);
    expect(problemsOf(without('locks', 'mode'))).toEqual(['there is no locks.mode']);
    expect(problemsOf(new Map([...all, ['locks', ['mode', 'state', 'reason']]]))).toEqual([
      'locks.reason is in no list',
    ]);
    const statements: SchemaPart['statements'] = ({ id, int, json, table, compact }) => [
      `CREATE TABLE planted (
      tenant_id ${id} NOT NULL,
      body ${json} NOT NULL,
      -- A comment, with note TEXT.
      count ${int}, remark TEXT,
      PRIMARY KEY (tenant_id)
    ) ${table}`,
      `CREATE TABLE bare (tenant_id ${id} NOT NULL PRIMARY KEY, token ${int} NOT NULL) ${compact}`,
    ];
    const planted = textColumns({ tables: ['planted', 'bare'], statements });
    expect(problemsOf(new Map([...all, ...planted]))).toEqual([
      'planted.body is in no list',
      'planted.remark is in no list',
    ]);
  });
});

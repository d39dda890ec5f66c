/** search_docs: a row for each thing that can be found. The database takes it out again when the content goes. */
import type { Measured } from '../domain/searchable.js';
import type { Table, Tx } from '../driver/driver.js';
import { sql } from '../driver/sql.js';
import type { MemoryCategory, SearchedType } from '../model/search.js';

/** What a thing is found by, besides what its card, packet or thought has anyway. */
export interface Doc {
  readonly entity_type: SearchedType;
  readonly entity_id: string;
  readonly type: string | null;
  readonly name: string | null;
  readonly trajectory_id: string | null;
  readonly scope_id: string | null;
  /** Of a turn: its place in the scope. */
  readonly position: number | null;
  readonly role: string | null;
  readonly abstraction_level: string;
  readonly category: MemoryCategory;
  readonly measured: Measured;
}

export interface NewDoc extends Doc {
  /** The card, the packet, or `<checkpoint_id>/<thought_id>`. */
  readonly content_id: string;
  readonly agent_id: string | null;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly held_by: string | null;
}

/** With what its card or packet has anyway; none for what is not searched. */
export const newDoc = (
  doc: Doc | null | undefined,
  content_id: string,
  agent_id: string | null,
  created_at: number,
  expires_at: number | null,
  held_by: string | null,
): NewDoc[] => (doc ? [{ ...doc, content_id, agent_id, created_at, expires_at, held_by }] : []);

const table: Table = {
  name: 'search_docs',
  columns: {
    tenant_id: 'text',
    entity_type: 'text',
    entity_id: 'text',
    content_id: 'text',
    type: 'text',
    name: 'text',
    trajectory_id: 'text',
    scope_id: 'text',
    position: 'bigint',
    role: 'text',
    speaker: 'text',
    agent_id: 'text',
    abstraction_level: 'text',
    category: 'text',
    tags: 'json',
    occurred_at: 'bigint',
    created_at: 'bigint',
    expires_at: 'bigint',
    held_by: 'text',
    length: 'bigint',
    flags: 'bigint',
    terms: 'text',
  },
};

export async function insertDocs(tx: Tx, tenant: string, docs: readonly NewDoc[]): Promise<void> {
  await tx.insert(
    table,
    docs.map((doc) => [
      tenant,
      doc.entity_type,
      doc.entity_id,
      doc.content_id,
      doc.type,
      doc.name,
      doc.trajectory_id,
      doc.scope_id,
      doc.position,
      doc.role,
      doc.measured.speaker,
      doc.agent_id,
      doc.abstraction_level,
      doc.category,
      doc.measured.tags.length === 0 ? null : JSON.stringify(doc.measured.tags),
      doc.measured.occurred_at ?? doc.created_at,
      doc.created_at,
      doc.expires_at,
      doc.held_by,
      doc.measured.length,
      doc.measured.flags,
      doc.measured.terms,
    ]),
  );
}

/** A version that another one follows, or that was deleted, is no longer found; its content may stay. */
export async function forgetDoc(tx: Tx, tenant: string, content_id: string): Promise<void> {
  await tx.send(
    sql`UPDATE search_docs SET terms = NULL, name = NULL, speaker = NULL, tags = NULL
        WHERE tenant_id = ${tenant} AND content_id = ${content_id} AND terms IS NOT NULL`,
  );
}

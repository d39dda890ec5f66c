/** Lists of artifacts and notes, now or at a moment. */
import {
  join,
  type KeysetPage,
  keyset,
  type Query,
  type Sql,
  sql,
  startsWith,
  TENANT,
  type TimeRange,
  timeConditions,
} from '../../driver/index.js';
import type { Reach } from '../../engine/sql.js';
import { artifactsWithin, notesWithin } from '../access/reach.js';
import { edgeExistsAt } from '../edges/store.js';
import { versionNotSuperseded } from '../entities/supersession.js';
import { ENDS_BY_ENTITY, PARTICIPANTS_OF_EDGE } from '../lookups.js';
import { currentAt, liveAt, type MemoryKind, VERSION_COLUMNS, VERSIONS, type VersionRow } from './store.js';

export interface MemoryFilter {
  readonly kind: MemoryKind;
  readonly type?: string | undefined;
  readonly name_prefix?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly subject_id?: string | undefined;
  readonly trajectory_id?: string | undefined;
  readonly scope_id?: string | undefined;
  /** Only entities derived from all of these. */
  readonly source_ids?: readonly string[];
  readonly abstraction_level?: string | undefined;
  readonly lifetime?: string | undefined;
  readonly times: TimeRange;
  readonly include_superseded: boolean;
  readonly as_of?: number | undefined;
  readonly reach?: Reach | undefined;
}

/** Versions with a card about a subject. */
const about = (subject_id: string): Sql =>
  sql`v.card_id IN (SELECT s.card_id FROM card_subjects s WHERE s.tenant_id = ${TENANT} AND s.subject_id = ${subject_id})`;

/** Entities derived or synthesized from a source. */
const derivedFrom = (source_id: string, as_of: number | undefined): Sql =>
  sql`v.memory_id IN (SELECT o.entity_id FROM ${ENDS_BY_ENTITY}
        CROSS JOIN ${PARTICIPANTS_OF_EDGE}
        WHERE o.tenant_id = p.tenant_id AND o.edge_id = p.edge_id AND o.position = 1
          AND p.tenant_id = ${TENANT} AND p.entity_id = ${source_id} AND p.edge_type IN ('DerivedFrom', 'SynthesizedFrom')
          AND p.position > 1 AND (p.edge_type = 'DerivedFrom' OR p.entity_type = 'Artifact')
          AND ${edgeExistsAt(as_of)})`;

function where(filter: MemoryFilter, now: number): Sql {
  const { as_of } = filter;
  const conditions: Sql[] = [sql`v.tenant_id = ${TENANT} AND v.kind = ${filter.kind}`, currentAt(as_of), liveAt(now)];
  const add = <T>(value: T | undefined, condition: (value: T) => Sql) => {
    if (value !== undefined) conditions.push(condition(value));
  };
  add(filter.type, (type) => sql`v.type = ${type}`);
  add(filter.name_prefix, (start) => startsWith(sql`v.name`, start));
  add(filter.agent_id, (agent) => sql`v.agent_id = ${agent}`);
  add(filter.subject_id, about);
  add(filter.trajectory_id, (id) => sql`v.trajectory_id = ${id}`);
  add(filter.scope_id, (id) => sql`v.scope_id = ${id}`);
  add(filter.abstraction_level, (level) => sql`v.abstraction_level = ${level}`);
  add(filter.lifetime, (lifetime) => sql`v.lifetime = ${lifetime}`);
  conditions.push(...timeConditions(sql`v.created_at`, sql`v.recorded_at`, filter.times));
  for (const id of filter.source_ids ?? []) conditions.push(derivedFrom(id, as_of));
  if (!filter.include_superseded) conditions.push(versionNotSuperseded(now, as_of));
  const reached = filter.kind === 'artifact' ? artifactsWithin : notesWithin;
  add(filter.reach, (reach) => reached(reach));
  return join(conditions, ' AND ');
}

export const listMemories = (
  query: Query,
  filter: MemoryFilter,
  page: KeysetPage,
  now: number,
): Promise<VersionRow[]> =>
  query.all<VersionRow>(
    sql`SELECT ${VERSION_COLUMNS} FROM ${VERSIONS} WHERE ${where(filter, now)}${keyset(sql`v.memory_id`, page)}`,
  );

export const countMemories = (filter: MemoryFilter, now: number): Sql =>
  sql`SELECT COUNT(*) AS total FROM memory_versions v WHERE ${where(filter, now)}`;

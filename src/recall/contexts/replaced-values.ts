/** What the memories of a context replaced: the newest former value of each, and its mark. */
import { type Query, sql, TENANT } from '../../driver/index.js';
import type { Call } from '../../engine/index.js';
import type { CardRow } from '../../facts/sql.js';
import type { Json } from '../../kernel/contract.js';
import { liveAt, VERSIONS, type VersionRow } from '../../memory/sql.js';
import { isReached } from '../extraction/known-facts.js';
import { changeMark } from '../updating/mark-text.js';
import { happenedAt, partsOfVersions, replacedPart } from '../updating/replaced-part.js';
import { contentText } from '../windows/content.js';
import type { ReplacedValue } from './model.js';
import { cardsOf } from './parts.js';
import type { MemoryEdge } from './sources.js';

/** Memories whose former values are read for one context. */
const MAX_REPLACED = 200;

type Version = Pick<VersionRow, 'memory_id' | 'kind' | 'card_id' | 'version' | 'metadata' | 'agent_id' | 'created_at'>;

const versionsOf = (query: Query, ids: readonly string[], now: number): Promise<Version[]> =>
  query.all<Version>(
    sql`SELECT v.memory_id, v.kind, v.card_id, v.version, v.metadata, v.agent_id, v.created_at FROM ${VERSIONS}
        WHERE v.tenant_id = ${TENANT} AND v.memory_id = ANY(${ids}) AND v.superseded_at IS NULL AND ${liveAt(now)}`,
  );

interface Replacement {
  readonly value: ReplacedValue;
  /** The text of the value. */
  readonly text: string;
}

/** By the memory that replaced it, the newest former value that the caller may read. */
export async function replacementsOf(
  call: Call,
  query: Query,
  edges: readonly MemoryEdge[],
): Promise<Map<string, Replacement>> {
  const replacing = edges
    .filter(({ edge_type, body }) => edge_type === 'Supersedes' || replacedPart(body) !== undefined)
    .slice(0, MAX_REPLACED);
  const found = new Map<string, Replacement & { readonly at: number }>();
  if (replacing.length === 0) return found;
  const versions = await versionsOf(
    query,
    replacing.map(({ other }) => other),
    call.driver.now(),
  );
  const byId = new Map(versions.map((one) => [one.memory_id, one]));
  const linked = replacing.flatMap(({ one, other, body }) => {
    const version = byId.get(other);
    return version ? [{ one, version, body }] : [];
  });
  const parts = await partsOfVersions(query, linked);
  const cards = await cardsOf(
    query,
    parts.map(({ card_id }) => card_id),
  );
  for (const [i, { one, version }] of linked.entries()) {
    const part = parts[i]!;
    const text = formerText(cards.get(part.card_id), part);
    const at = happenedAt(version);
    if (text === '' || (found.get(one)?.at ?? Number.NEGATIVE_INFINITY) > at) continue;
    if (call.acting && !(await isReached(call, query, version, 'read'))) continue;
    const entity_type = version.kind === 'note' ? 'Note' : 'Artifact';
    found.set(one, { at, text, value: { entity_type, id: version.memory_id, ...part } });
  }
  return found;
}

/** The part of a card's text; empty if it was erased. */
export const formerText = (row: CardRow | undefined, { start, end }: { start: number; end: number }): string =>
  row === undefined || row.deleted_at !== null
    ? ''
    : contentText(JSON.parse(row.content ?? 'null') as Json).slice(start, end);

/** The mark of a memory that replaced a value. */
export const markOf = (row: CardRow, metadata: string | null | undefined, former: string): string =>
  changeMark(happenedAt({ metadata: metadata ?? null, created_at: row.created_at }), former);

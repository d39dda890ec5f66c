/** Where a replaced value is: its position in a card, as the body of an edge has it. */
import { type Query, sql, TENANT } from '../../driver/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { parseDate } from '../../text/index.js';

interface ReplacedPart {
  readonly card_id: string;
  readonly start: number;
  readonly end: number;
}

/** The part that an edge names; without a card it is in that of version 1. */
export function replacedPart(body: string | null): Partial<ReplacedPart> | undefined {
  const { replaced } = ((JSON.parse(body ?? '{}') as JsonObject).metadata ?? {}) as { readonly replaced?: Json };
  const { card_id, start, end } = (replaced ?? {}) as { readonly [name: string]: Json | undefined };
  if (!Number.isInteger(start) || !Number.isInteger(end)) return undefined;
  const part = { start: start as number, end: end as number };
  return typeof card_id === 'string' ? { card_id, ...part } : part;
}

/** An edge, and the current version of the memory that it links. */
interface Linked {
  readonly body: string | null;
  readonly version: { readonly memory_id: string; readonly card_id: string; readonly version: number };
}

/**
 * The parts that edges name, else the whole texts. Anybody may write an edge with a card in its body, so a card counts only
 * if it holds a version of the linked memory.
 */
export async function partsOfVersions(query: Query, linked: readonly Linked[]): Promise<ReplacedPart[]> {
  const parts = linked.map(({ body, version: { card_id, version } }) => {
    const part = replacedPart(body);
    const isNamed = part && (part.card_id !== undefined || version === 1);
    return { card_id, start: 0, end: Number.MAX_SAFE_INTEGER, ...(isNamed ? part : {}) };
  });
  const others = linked.filter(({ version }, i) => parts[i]!.card_id !== version.card_id);
  if (others.length === 0) return parts;
  const rows = await query.all<{ memory_id: string; card_id: string }>(
    sql`SELECT v.memory_id, v.card_id FROM memory_versions v
        WHERE v.tenant_id = ${TENANT} AND v.memory_id = ANY(${others.map(({ version }) => version.memory_id)})
          AND v.card_id = ANY(${parts.map(({ card_id }) => card_id)})`,
  );
  const former = new Set(rows.map(({ memory_id, card_id }) => `${memory_id} ${card_id}`));
  return parts.map((part, i) => {
    const { memory_id, card_id } = linked[i]!.version;
    const isOwn = part.card_id === card_id || former.has(`${memory_id} ${part.card_id}`);
    return isOwn ? part : { card_id, start: 0, end: Number.MAX_SAFE_INTEGER };
  });
}

/** When a memory happened: `occurred_at` of its metadata, else when it was stored. */
export const happenedAt = ({ metadata, created_at }: { metadata: string | null; created_at: number }): number =>
  parseDate((JSON.parse(metadata ?? '{}') as JsonObject).occurred_at) ?? created_at;

/** Use cases on a tenant as a whole. */
import { longQuery } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import type { Call } from '../../engine/index.js';
import { indexState, listSegments } from '../../index/sql.js';
import { toIso } from '../../kernel/index.js';
import { examineTenant } from '../doctor.js';
import { HIDDEN_DOCS, headOf, INDEX_BYTES, KINDS, type KindRow, recordedAt } from './store.js';

export async function stats({ driver, tenant }: Call): Promise<Out<'store.stats'>> {
  const query = longQuery(driver, tenant);
  const kinds: KindRow[] = [];
  for (const kind of KINDS) kinds.push((await query.get<KindRow>(kind))!);
  const { last, folded } = await indexState(query);
  const segments = await listSegments(query);
  const { bytes } = (await query.get<{ bytes: number }>(INDEX_BYTES))!;
  const { hidden } = (await query.get<{ hidden: number }>(HIDDEN_DOCS))!;
  return {
    kinds: kinds.map(({ kind, total, bytes }) => ({
      kind,
      total: Number(total),
      bytes: bytes === null ? null : Number(bytes),
    })),
    index: {
      documents: last,
      tail: last - folded,
      hidden: Number(hidden),
      segments: segments.length,
      bytes: Number(bytes),
    },
  };
}

const POINTS = 100;

/** `seq` has no gaps and `recorded_at` rises with it, so some of the events are the whole curve. */
export async function growth({ driver, tenant }: Call, input: In<'store.growth'>): Promise<Out<'store.growth'>> {
  const query = driver.at(tenant);
  const head = Number((await headOf(query))?.seq ?? 0);
  if (head === 0) return { points: [] };
  const points = input.points ?? POINTS;
  const numbers = Array.from({ length: points }, (_, i) => 1 + Math.round((i * (head - 1)) / (points - 1)));
  const rows = await recordedAt(query, [...new Set(numbers)]);
  return { points: rows.map(({ seq, recorded_at }) => ({ at: toIso(Number(recorded_at)), events: Number(seq) })) };
}

export async function check({ driver, tenant }: Call): Promise<Out<'store.check'>> {
  const started = performance.now();
  const findings: { check: string; ok: boolean; problems: string[] }[] = [];
  for await (const { check, ok, problems } of examineTenant(driver, tenant))
    findings.push({ check, ok, problems: [...problems] });
  return { healthy: findings.every(({ ok }) => ok), duration_ms: Math.round(performance.now() - started), findings };
}

/** Hides artifacts and notes in outcomes that the caller cannot read. */
import type { Query } from '../../driver/index.js';
import type { Call } from '../../engine/index.js';
import { unreadableAmong } from '../entities/access.js';
import type { Trajectory } from './model.js';

/** Bounds the statements: a page of a list can name very many. */
const IDS_PER_READ = 1000;

export async function withReadableOutcomes(
  call: Call,
  query: Query,
  trajectories: readonly Trajectory[],
): Promise<Trajectory[]> {
  if (!call.acting) return [...trajectories];
  const outcomes = trajectories.flatMap(({ outcome }) => outcome ?? []);
  const named = {
    Artifact: new Set(outcomes.flatMap((one) => one.produced_artifacts)),
    Note: new Set(outcomes.flatMap((one) => one.produced_notes)),
  };
  const hidden = new Set<string>();
  for (const type of ['Artifact', 'Note'] as const)
    for (let ids = [...named[type]]; ids.length > 0; ids = ids.slice(IDS_PER_READ))
      for (const id of await unreadableAmong(call, query, type, ids.slice(0, IDS_PER_READ))) hidden.add(id);
  const readable = (ids: readonly string[]) => ids.filter((id) => !hidden.has(id));
  return trajectories.map((one) => ({
    ...one,
    outcome: one.outcome && {
      ...one.outcome,
      produced_artifacts: readable(one.outcome.produced_artifacts),
      produced_notes: readable(one.outcome.produced_notes),
    },
  }));
}

export async function withReadableOutcome(call: Call, query: Query, one: Trajectory): Promise<Trajectory> {
  const [shown] = await withReadableOutcomes(call, query, [one]);
  return shown!;
}

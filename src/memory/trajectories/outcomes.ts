/** What an agent is shown of an outcome: it may name artifacts and notes of others. */
import type { Query } from '../../driver/index.js';
import type { Call } from '../../engine/index.js';
import { beyondAmong } from '../entities/access.js';
import type { Trajectory } from './model.js';

/** A page of a list may name very many: each statement stays short. */
const IDS_PER_READ = 1000;

/** Trajectories with outcomes that name nothing the caller cannot read. */
export async function withReadableOutcomes(
  call: Call,
  query: Query,
  trajectories: readonly Trajectory[],
): Promise<Trajectory[]> {
  if (!call.acting) return [...trajectories];
  const outcomes = trajectories.flatMap(({ outcome }) => outcome ?? []);
  const named = (ids: readonly (readonly string[])[]) => [...new Set(ids.flat())];
  const artifacts = named(outcomes.map((one) => one.produced_artifacts));
  const notes = named(outcomes.map((one) => one.produced_notes));
  const hidden = new Set<string>();
  for (const [type, ids] of [
    ['Artifact', artifacts],
    ['Note', notes],
  ] as const)
    for (let from = 0; from < ids.length; from += IDS_PER_READ)
      for (const id of await beyondAmong(call, query, type, ids.slice(from, from + IDS_PER_READ))) hidden.add(id);
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

/** The same for one. */
export async function withReadableOutcome(call: Call, query: Query, one: Trajectory): Promise<Trajectory> {
  const [shown] = await withReadableOutcomes(call, query, [one]);
  return shown!;
}

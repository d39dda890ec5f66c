/** Policies and their jobs for tests: what they make, and waiting for it. */
import type { Api } from '#cairn/client/index.js';
import type { Artifact } from '#cairn/memory/contract.js';
import type { Job, Trigger } from '#cairn/recall/contract.js';
import { sleep } from '../server.js';
import { say } from './scopes.js';

type PolicyInput = Parameters<Api['summarization_policies']['create']>[0];

export const somePolicy = (cairn: Api, trigger: Trigger, more: Partial<PolicyInput> = {}) =>
  cairn.summarization_policies.create({ trigger, ...more });

/** Sentences that have something to say, each another. */
export const sentence = (i: number): string =>
  `The ${['invoice', 'database', 'customer', 'deployment', 'compiler'][i % 5]} number ${i} was checked by ${
    ['Anna', 'Boris', 'Chen', 'Dora'][i % 4]
  } in ${['Lisbon', 'Oslo', 'Kyoto'][i % 3]}.`;

export async function talk(cairn: Api, scope_id: string, turns: number, from = 0): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < turns; i++) ids.push((await say(cairn, scope_id, sentence(from + i))).turn_id);
  return ids;
}

export async function jobsOf(cairn: Api, scope_id: string): Promise<Job[]> {
  return (await cairn.jobs.list({ scope_id, limit: 500 })).jobs;
}

/** The jobs of a scope, once there are so many and all have ended. */
export async function endedJobs(cairn: Api, scope_id: string, count = 1): Promise<Job[]> {
  for (let tries = 0; ; tries++) {
    const jobs = await jobsOf(cairn, scope_id);
    if (jobs.length >= count && jobs.every(({ ended_at }) => ended_at !== null)) return jobs;
    if (tries === 400) throw new Error(`jobs did not end: ${JSON.stringify(jobs)}`);
    await sleep(25);
  }
}

export const summariesOf = async (cairn: Api, scope_id: string): Promise<Artifact[]> =>
  (await cairn.artifacts.list({ scope_id, artifact_type: 'Summary', limit: 500 })).artifacts;

/** The ids that something is linked to as made from them. */
export async function synthesizedFrom(cairn: Api, id: string): Promise<string[]> {
  const { edges } = await cairn.edges.list({ entity_id: id, edge_type: 'SynthesizedFrom', limit: 500 });
  return edges
    .filter(({ participants }) => participants[0]!.entity_id === id)
    .flatMap(({ participants }) => participants.slice(1).map(({ entity_id }) => entity_id));
}

/** Profiles, boxes and agent_turns for tests, and whether a call has left anything behind. */
import { expect } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import type { AgentTurn, DispatchAnswer } from '#cairn/coordination/contract.js';
import { sql } from '#cairn/driver/index.js';
import type { TestStore } from '../targets.js';
import { tenantOf } from './hierarchy.js';

export const PROFILE = 'researcher';
export type Dispatched = Extract<DispatchAnswer, { status: 'accepted' }>;
type Delegating = Parameters<Api['pmo']['delegate_async']>[0];
type Claiming = Partial<Parameters<Api['agent_turns']['claim']>[0]>;

/** A tenant that has the profile. */
export async function withProfile(test: TestStore): Promise<Api> {
  const cairn = await test.freshTenant();
  await cairn.profiles.create({ name: PROFILE, system_prompt: 'You look things up.' });
  return cairn;
}

/** A box of new cards that say these words; its cards are `<box_id>-<word>`. */
export async function boxOf(cairn: Api, box_id: string, words: readonly string[], agent_id?: string): Promise<string> {
  const card_ids = words.map((word) => `${box_id}-${word}`);
  const cards = words.map((word, i) => ({ card_id: card_ids[i]!, content: word, metadata: { role: 'user' } }));
  if (cards.length > 0) await cairn.cards.add_batch({ cards, atomic: true });
  await cairn.boxes.create({ box_id, card_ids, ...(agent_id === undefined ? {} : { agent_id }) });
  return box_id;
}

export const cardsIn = async (cairn: Api, box_id: string) => (await cairn.boxes.cards({ box_id, limit: 500 })).cards;

export const wordsIn = async (cairn: Api, box_id: string): Promise<unknown[]> =>
  (await cardsIn(cairn, box_id)).map(({ content }) => content);

export function accepted(answer: DispatchAnswer): Dispatched {
  if (answer.status !== 'accepted') throw new Error(`not accepted: ${answer.message}`);
  return answer;
}

/** An agent_turn that waits for a worker: of a new agent, unless another target is named. */
export const dispatched = async (cairn: Api, more: Partial<Delegating> = {}): Promise<Dispatched> =>
  accepted(
    await cairn.pmo.delegate_async({
      target_strategy: 'new',
      target_ref: PROFILE,
      instruction: 'Look it up.',
      ...more,
    }),
  );

export interface Held {
  readonly agent_turn_id: string;
  readonly turn_epoch: number;
}

export async function claim(cairn: Api, wanted: Claiming = {}): Promise<AgentTurn> {
  const { agent_turn } = await cairn.agent_turns.claim({ worker_id: 'worker-1', ...wanted });
  if (agent_turn === null) throw new Error('there was nothing to claim');
  return agent_turn;
}

export const heldOf = ({ agent_turn_id, turn_epoch }: Held): Held => ({ agent_turn_id, turn_epoch });

/** An agent_turn at work. */
export async function atWork(cairn: Api, more: Partial<Delegating> = {}): Promise<{ turn: AgentTurn; held: Held }> {
  const { agent_turn_id } = await dispatched(cairn, more);
  const turn = await claim(cairn, { agent_turn_id });
  return { turn, held: heldOf(turn) };
}

/** A thought for an output box. */
export const thought = (content: string, more: Record<string, unknown> = {}) => ({
  content,
  metadata: { type: 'agent.thought', role: 'assistant' },
  ...more,
});

/** How many rows of each kind a tenant has, its events included. */
export async function rowCounts({ store }: TestStore, cairn: Api): Promise<object> {
  const tenant = await tenantOf(cairn);
  const counts = await store.driver.at(tenant).get<Record<string, number>>(
    sql`SELECT (SELECT COUNT(*) FROM packet_store WHERE tenant_id = ${tenant}) AS packets,
      (SELECT COUNT(*) FROM cards WHERE tenant_id = ${tenant}) AS cards,
      (SELECT COUNT(*) FROM boxes WHERE tenant_id = ${tenant}) AS boxes,
      (SELECT COUNT(*) FROM box_entries WHERE tenant_id = ${tenant}) AS entries,
      (SELECT COUNT(*) FROM box_grants WHERE tenant_id = ${tenant}) AS grants,
      (SELECT COUNT(*) FROM agents WHERE tenant_id = ${tenant}) AS agents,
      (SELECT COUNT(*) FROM agent_turns WHERE tenant_id = ${tenant}) AS turns,
      (SELECT COUNT(*) FROM agent_turn_steps WHERE tenant_id = ${tenant}) AS steps,
      (SELECT COUNT(*) FROM turn_batches WHERE tenant_id = ${tenant}) AS batches,
      (SELECT COUNT(*) FROM delegations WHERE tenant_id = ${tenant}) AS delegations,
      (SELECT COUNT(*) FROM trajectories WHERE tenant_id = ${tenant}) AS trajectories,
      (SELECT COUNT(*) FROM leases WHERE tenant_id = ${tenant}) AS leases,
      (SELECT COUNT(*) FROM profiles WHERE tenant_id = ${tenant}) AS profiles,
      (SELECT COUNT(*) FROM handovers WHERE tenant_id = ${tenant}) AS handovers`,
  );
  return counts!;
}

/** Runs what must leave nothing behind. */
export async function expectNothingWritten(test: TestStore, cairn: Api, action: () => Promise<void>): Promise<void> {
  const before = await rowCounts(test, cairn);
  await action();
  expect(await rowCounts(test, cairn)).toEqual(before);
}

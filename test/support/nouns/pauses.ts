/** Questions of agent_turns and executions, for tests of pauses. */
import type { Api } from '#cairn/client/index.js';
import type { Pause } from '#cairn/coordination/contract.js';
import { atWork, type Held } from './agent-turns.js';

export type Asking = Partial<Parameters<Api['pauses']['create']>[0]>;

export const QUESTION = 'Delete the branch?';

/** A question in an agent_turn at work, which waits from then on. */
export async function asked(
  cairn: Api,
  more: Asking = {},
  delegating: Parameters<typeof atWork>[1] = {},
): Promise<Pause & { agent_turn_id: string; held: Held }> {
  const { held } = await atWork(cairn, delegating);
  const pause = await cairn.pauses.create({ ...held, question: QUESTION, ...more });
  return { ...pause, agent_turn_id: held.agent_turn_id, held };
}

/** The same in an execution. */
export async function askedInRun(cairn: Api, more: Asking = {}): Promise<Pause & { execution_id: string }> {
  const execution_id = more.execution_id ?? (await cairn.executions.create({})).execution_id;
  const pause = await cairn.pauses.create({ question: QUESTION, ...more, execution_id });
  return { ...pause, execution_id };
}

export const statusOf = async (cairn: Api, agent_turn_id: string): Promise<string> =>
  (await cairn.agent_turns.get({ agent_turn_id })).status;

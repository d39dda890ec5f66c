/** Agents that send each other messages, in a project of their own. */
import { randomUUID } from 'node:crypto';
import type { Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import type { DeliveredMessage, Message } from '#cairn/coordination/contract.js';
import { insertAgent } from '#cairn/identity/index.js';
import type { TestStore } from '../targets.js';

/** Registers agents of a type. */
export async function register(
  store: Store,
  tenant: string,
  agent_type: string,
  ...agent_ids: readonly string[]
): Promise<void> {
  const now = store.driver.now();
  await store.driver.write(tenant, async (tx) => {
    for (const agent_id of agent_ids) {
      await insertAgent(tx, {
        agent_id,
        agent_type,
        typed: 1,
        capabilities: '[]',
        memory_access: null,
        can_delegate_to: null,
        status: 'idle',
        current_trajectory_id: null,
        profile_name: null,
        parent_agent_id: null,
        made: 0,
        offline_after_ms: 60_000,
        last_seen_at: now,
        metadata: null,
        sent_hash: null,
        registered_at: now,
        updated_at: now,
        unregistered_at: null,
      });
    }
  });
}

type Sent = Parameters<Api['messages']['send']>[0];

export interface Post {
  readonly tenant: string;
  /** Of a key without an agent. */
  readonly cairn: Api;
  as(agent: string): Promise<Api>;
  register(agent_type: string, ...agent_ids: readonly string[]): Promise<void>;
  /** Sends to `bob` unless said otherwise. */
  send(payload: string, more?: Partial<Sent>): Promise<Message>;
  /** What an agent gets, by payload. */
  take(agent_id: string, more?: Parameters<Api['messages']['receive']>[0]): Promise<string[]>;
}

export async function openPost(test: TestStore): Promise<Post> {
  const tenant = `t-${randomUUID()}`;
  const cairn = await test.as({ tenant });
  return {
    tenant,
    cairn,
    as: (agent) => test.as({ tenant, agent, role: 'write' }),
    register: (agent_type, ...agent_ids) => register(test.store, tenant, agent_type, ...agent_ids),
    send: (payload, more = {}) => {
      const to = more.to_agent_type === undefined ? { to_agent_id: 'bob' } : {};
      return cairn.messages.send({ from_agent_id: 'ann', message_type: 'note', ...to, ...more, payload });
    },
    take: async (agent_id, more = {}) => payloads((await cairn.messages.receive({ agent_id, ...more })).messages),
  };
}

export const payloads = (messages: readonly (Message | DeliveredMessage)[]): string[] =>
  messages.map(({ payload }) => payload);

/** Use cases of the store itself: who am I, keys, the live stream. */
import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import type { Caller } from '../../engine/contract.js';
import { appendEvent, type Call, change } from '../../engine/index.js';
import { newId } from '../../kernel/contract.js';
import { CairnError, invalid, toIso } from '../../kernel/index.js';
import { sha256 } from '../../kernel/node.js';
import { provideAgent } from '../agents/registration.js';
import type { keys as keyOperations } from './contract.js';
import type { Key } from './model.js';
import { addKey, findKey, listKeys, revokeKey } from './store.js';

type KeyIn<V extends keyof typeof keyOperations> = z.output<(typeof keyOperations)[V]['input']>;
type CreatedKey = z.output<(typeof keyOperations)['create']['output']>;
export const auth = { whoami: async (call: Call): Promise<Caller> => call.caller };

export const keyHash = (secret: string): string => sha256(secret);

/** Rights are an agent's: a key without one is not restricted by any. */
function checkAgentRights({ agent_id, access, agent_type, can_delegate_to }: KeyIn<'create'>): void {
  if (agent_id !== undefined) return;
  const named = Object.entries({ access, agent_type, can_delegate_to }).find(([, one]) => one !== undefined);
  if (named) throw invalid(`${named[0]} is given to an agent: name it with agent_id, too`);
}

async function createKey(call: Call, input: KeyIn<'create'>): Promise<CreatedKey> {
  checkAgentRights(input);
  const secret = `cairn_${randomBytes(32).toString('base64url')}`;
  return change<CreatedKey>(call, {
    input,
    work: async (work) => {
      const { tx, now } = work;
      const row = {
        tenant_id: call.tenant,
        key_id: newId(),
        agent_id: input.agent_id ?? null,
        role: input.role ?? 'write',
        name: input.name ?? null,
        created_at: now,
        revoked_at: null,
      };
      // Agents are locked before all else.
      if (row.agent_id !== null) await provideAgent(work, row.agent_id, input, 'own');
      await addKey(tx, { ...row, key_hash: keyHash(secret) });
      appendEvent(
        work,
        'cairn.key.created',
        { type: 'key', id: row.key_id },
        { agent_id: row.agent_id, role: row.role },
      );
      return { ...row, created_at: toIso(now), key: secret };
    },
    remember: ({ key_id }) => key_id,
    again: async (_query, kept) => {
      throw new CairnError(
        'CONTENT_ERASED',
        `key ${String(kept)} was made by this request before; its secret was shown then and is not kept: revoke it and create another`,
        { key_id: kept },
      );
    },
  });
}

export const keys = {
  create: createKey,
  list: async (call: Call, { order }: KeyIn<'list'>): Promise<{ keys: Key[] }> => {
    return { keys: await listKeys(call.driver.at(call.tenant), order) };
  },
  revoke: async (call: Call, input: KeyIn<'revoke'>): Promise<void> => {
    await change(call, {
      input,
      work: async (work) => {
        const { tx, now } = work;
        const key = await findKey(tx, input.key_id);
        if (!key) throw new CairnError('KEY_NOT_FOUND', `there is no key ${input.key_id} in tenant ${call.tenant}`);
        const revoked = await revokeKey(tx, input.key_id, now);
        if (revoked) appendEvent(work, 'cairn.key.revoked', { type: 'key', id: input.key_id }, {});
        return null;
      },
      remember: () => null,
      again: async () => null,
    });
  },
};

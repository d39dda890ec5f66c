/** Use cases of keys, and whoami. */
import { randomBytes } from 'node:crypto';
import type { Caller, In, Out } from '../../engine/contract.js';
import { appendEvent, type Call, change } from '../../engine/index.js';
import { type JsonObject, newId } from '../../kernel/contract.js';
import { CairnError, invalid, notFound, toIso } from '../../kernel/index.js';
import { sha256 } from '../../kernel/node.js';
import { ensureAgentRecord } from '../agents/registration.js';
import { addKey, findKey, listKeys, revokeKey } from './store.js';

export const auth = { whoami: async (call: Call): Promise<Caller> => call.caller };

export const keyHash = (secret: string): string => sha256(secret);

/** Only agents have rights: a key without an agent is unrestricted. */
function checkAgentRights({ agent_id, access, agent_type, can_delegate_to }: In<'keys.create'>): void {
  if (agent_id !== undefined) return;
  const named = Object.entries({ access, agent_type, can_delegate_to }).find(([, one]) => one !== undefined);
  if (named) throw invalid(`\`${named[0]}\` needs \`agent_id\`: rights belong to an agent`);
}

async function createKey(call: Call, input: In<'keys.create'>): Promise<Out<'keys.create'>> {
  checkAgentRights(input);
  const secret = `cairn_${randomBytes(32).toString('base64url')}`;
  return change(call, {
    input,
    work: async (work) => {
      const { tx, now } = work;
      const row = {
        tenant_id: call.tenant,
        key_id: newId(),
        agent_id: input.agent_id ?? null,
        user_id: input.user_id ?? null,
        role: input.role ?? 'write',
        name: input.name ?? null,
        created_at: now,
        revoked_at: null,
      };
      // First in the lock order.
      if (row.agent_id !== null) await ensureAgentRecord(work, row.agent_id, input, 'own');
      await addKey(tx, { ...row, key_hash: keyHash(secret) });
      const { key_id, agent_id, user_id, role } = row;
      const facts: JsonObject = { agent_id, role, ...(user_id === null ? {} : { user_id }) };
      appendEvent(work, 'cairn.key.created', { type: 'key', id: key_id }, facts);
      return { ...row, created_at: toIso(now), key: secret };
    },
    remember: ({ key_id }) => key_id,
    again: async (_query, kept) => {
      throw new CairnError(
        'CONTENT_ERASED',
        `this request already created key ${String(kept)}, and its secret is not stored: revoke it and create another`,
        { key_id: kept },
      );
    },
  });
}

export const keys = {
  create: createKey,
  list: async (call: Call, { order }: In<'keys.list'>): Promise<Out<'keys.list'>> => ({
    keys: await listKeys(call.driver.at(call.tenant), order),
  }),
  revoke: async (call: Call, input: In<'keys.revoke'>): Promise<void> => {
    await change(call, {
      input,
      work: async (work) => {
        const { tx, now } = work;
        if (!(await findKey(tx, input.key_id))) throw notFound(call, 'key', input.key_id);
        if (await revokeKey(tx, input.key_id, now))
          appendEvent(work, 'cairn.key.revoked', { type: 'key', id: input.key_id }, {});
        return null;
      },
      remember: () => null,
      again: async () => null,
    });
  },
};

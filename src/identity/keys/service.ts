/** Use cases of the store itself: who am I, keys, the live stream. */
import { randomBytes } from 'node:crypto';
import type { z } from 'zod';
import type { Call } from '../../engine/calls/call.js';
import { nextPackets, type StreamFilter, toPacket } from '../../engine/journal/store.js';
import { CHUNK, nextLimit, packetBytes } from '../../engine/reads/chunks.js';
import { following, STRETCH } from '../../engine/reads/stream-tail.js';
import { change, event } from '../../engine/writes/change.js';
import { headOf } from '../../engine/writes/tenants.js';
import { sha256 } from '../../kernel/canonical.js';
import { CairnError } from '../../kernel/errors.js';
import { newId } from '../../kernel/ids.js';
import { toIso } from '../../kernel/times.js';
import { stillPermitted, viewerOf } from '../access/permissions.js';
import { provideAgent } from '../agents/registration.js';
import { events as eventOperations, type keys as keyOperations } from './contract.js';
import type { Caller, Key } from './model.js';
import { addKey, findKey, listKeys, revokeKey } from './store.js';

type KeyIn<V extends keyof typeof keyOperations> = z.output<(typeof keyOperations)[V]['input']>;
type CreatedKey = z.output<(typeof keyOperations)['create']['output']>;
type FollowIn = z.output<(typeof eventOperations)['follow']['input']>;
type Followed = z.output<(typeof eventOperations)['follow']['output']>;

export const auth = {
  whoami: async (call: Call): Promise<Caller> => call.caller,
};

export const keyHash = (secret: string): string => sha256(secret);

/** Rights are an agent's: a key without one is not restricted by any. */
function checkAgentRights({ agent_id, access, agent_type, can_delegate_to }: KeyIn<'create'>): void {
  if (agent_id !== undefined) return;
  const named = Object.entries({ access, agent_type, can_delegate_to }).find(([, one]) => one !== undefined);
  if (named)
    throw new CairnError('INVALID_INPUT', `${named[0]} is given to an agent: name it with agent_id, too`);
}

async function createKey(call: Call, input: KeyIn<'create'>): Promise<CreatedKey> {
  checkAgentRights(input);
  const secret = `cairn_${randomBytes(32).toString('base64url')}`;
  return change<CreatedKey>(call, {
    input,
    work: async (tx, now) => {
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
      if (row.agent_id !== null) await provideAgent(call, tx, row.agent_id, input, 'own', now);
      await addKey(tx, { ...row, key_hash: keyHash(secret) });
      tx.journal(
        event(call, now, 'cairn.key.created', 'key', row.key_id, { agent_id: row.agent_id, role: row.role }),
      );
      return { ...row, created_at: toIso(now), key: secret };
    },
    remember: ({ key_id }) => key_id,
    again: async (_query, kept) => {
      throw new CairnError(
        'CONTENT_ERASED',
        `key ${String(kept)} was made by this request before; its secret was shown then and is not kept: revoke it and create another`,
        {
          key_id: kept,
        },
      );
    },
  });
}

export const keys = {
  create: createKey,
  list: async (call: Call, { order }: KeyIn<'list'>): Promise<{ keys: Key[] }> => {
    return { keys: await listKeys(call.driver.at(call.tenant), call.tenant, order) };
  },
  revoke: async (call: Call, input: KeyIn<'revoke'>): Promise<void> => {
    await change(call, {
      input,
      work: async (tx, now) => {
        const key = await findKey(tx, call.tenant, input.key_id);
        if (!key)
          throw new CairnError('KEY_NOT_FOUND', `there is no key ${input.key_id} in tenant ${call.tenant}`);
        const revoked = await revokeKey(tx, call.tenant, input.key_id, now);
        if (revoked) tx.journal(event(call, now, 'cairn.key.revoked', 'key', input.key_id, {}));
        return null;
      },
      remember: () => null,
      again: async () => null,
    });
  },
};

/** Where a token points to. One of another epoch, or from a future that was lost, must not skip events silently. */
function positionOf(call: Call, token: string, head: number): number {
  if (token === '0') return 0;
  const match = /^([0-9a-f]{16})\.(\d{1,15})$/.exec(token);
  if (!match)
    throw new CairnError(
      'INVALID_CURSOR',
      `"${token}" is not a resume token: use one from the stream, or "0"`,
    );
  const seq = Number(match[2]);
  if (match[1] !== call.meta.store_epoch || seq > head) {
    throw new CairnError(
      'STREAM_RESET',
      'this store was restored or replaced since the token was given: read again from "0"',
      {
        latest: tokenAt(call, head),
      },
    );
  }
  return seq;
}

const tokenAt = (call: Call, seq: number): string => `${call.meta.store_epoch}.${seq}`;

function filterOf(input: FollowIn): StreamFilter {
  const type = input.packet_type;
  if (type?.endsWith('*')) return { prefix: type.slice(0, -1), thread_id: input.thread_id };
  return { type, thread_id: input.thread_id };
}

/**
 * Reads page by page from the database, so that a slow reader costs nothing but its place. The first item and the
 * heartbeats carry no packet, only the position that was reached.
 */
function follow(call: Call, input: FollowIn): AsyncGenerator<Followed, void, undefined> {
  const { driver, tenant } = call;
  const query = driver.at(tenant);
  const filter = filterOf(input);
  let position = 0;
  let limit = CHUNK.first;
  const heartbeat = (): Followed => ({ token: tokenAt(call, position), packet: null });
  return following<Followed>(call, {
    open: async () => {
      const start = await headOf(query, tenant);
      position = input.after === undefined ? start : positionOf(call, input.after, start);
      return heartbeat();
    },
    upTo: async function* (head, ended) {
      const viewer = viewerOf(await stillPermitted(call, eventOperations.follow.touches, input));
      while (position < head && !ended()) {
        // A stretch at a time: with a filter that lets little through, one statement could take all of history.
        const range = { after: position, until: Math.min(head, position + STRETCH) };
        const rows = await nextPackets(query, tenant, range, limit, filter, viewer);
        for (const row of rows) {
          position = row.seq;
          yield { token: tokenAt(call, row.seq), packet: toPacket(row, driver.now()) };
        }
        if (rows.length < limit) position = range.until;
        limit = nextLimit(rows, limit, packetBytes);
      }
    },
    heartbeat,
  });
}

export const events = { follow };

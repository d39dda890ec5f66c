/** Following packets as they are committed. */
import type { z } from 'zod';
import { type Call, CHUNK, following, headOf, nextLimit, packetBytes, STRETCH } from '../../engine/index.js';
import { stillPermitted } from '../../identity/index.js';
import { CairnError } from '../../kernel/index.js';
import { events as eventOperations } from './events-contract.js';
import { nextPackets, type StreamFilter, toPacket } from './store.js';
import { viewerOf } from './viewer.js';

export type FollowIn = z.output<(typeof eventOperations)['follow']['input']>;

export type Followed = z.output<(typeof eventOperations)['follow']['output']>;

/** Where a token points to. One of another epoch, or from a future that was lost, must not skip events silently. */
export function positionOf(call: Call, token: string, head: number): number {
  if (token === '0') return 0;
  const match = /^([0-9a-f]{16})\.(\d{1,15})$/.exec(token);
  if (!match)
    throw new CairnError('INVALID_CURSOR', `"${token}" is not a resume token: use one from the stream, or "0"`);
  const seq = Number(match[2]);
  if (match[1] !== call.meta.store_epoch || seq > head) {
    throw new CairnError(
      'STREAM_RESET',
      'this store was restored or replaced since the token was given: read again from "0"',
      { latest: tokenAt(call, head) },
    );
  }
  return seq;
}

export const tokenAt = (call: Call, seq: number): string => `${call.meta.store_epoch}.${seq}`;

export function filterOf(input: FollowIn): StreamFilter {
  const type = input.packet_type;
  if (type?.endsWith('*')) return { prefix: type.slice(0, -1), thread_id: input.thread_id };
  return { type, thread_id: input.thread_id };
}

/**
 * Reads page by page from the database, so that a slow reader costs nothing but its place. The first item and the
 * heartbeats carry no packet, only the position that was reached.
 */
export function follow(call: Call, input: FollowIn): AsyncGenerator<Followed, void, undefined> {
  const { driver, tenant } = call;
  const query = driver.at(tenant);
  const filter = filterOf(input);
  let position = 0;
  let limit = CHUNK.first;
  const heartbeat = (): Followed => ({ token: tokenAt(call, position), packet: null });
  return following<Followed>(call, {
    open: async () => {
      const start = await headOf(query);
      position = input.after === undefined ? start : positionOf(call, input.after, start);
      return heartbeat();
    },
    upTo: async function* (head, ended) {
      const viewer = viewerOf(await stillPermitted(call, eventOperations.follow.touches, input));
      while (position < head && !ended()) {
        // A stretch at a time: with a filter that lets little through, one statement could take all of history.
        const range = { after: position, until: Math.min(head, position + STRETCH) };
        const rows = await nextPackets(query, range, limit, filter, viewer);
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

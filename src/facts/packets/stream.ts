/** Follows packets as they are committed. */
import type { In, Out } from '../../engine/contract.js';
import {
  type Call,
  CHUNK,
  followStream,
  headOf,
  MAX_SCANNED_EVENTS,
  nextLimit,
  packetBytes,
} from '../../engine/index.js';
import { stillPermitted } from '../../identity/index.js';
import { CairnError } from '../../kernel/index.js';
import { events as eventOperations } from './events-contract.js';
import { nextPackets, type StreamFilter, toPacket } from './store.js';
import { viewerOf } from './viewer.js';

type FollowIn = In<'events.follow'>;

type Followed = Out<'events.follow'>;

/** The seq of a token. A token of another epoch, or beyond the head, is refused: it would silently skip events. */
function positionOf(call: Call, token: string, head: number): number {
  if (token === '0') return 0;
  const match = /^([0-9a-f]{16})\.(\d{1,15})$/.exec(token);
  if (!match) throw new CairnError('INVALID_CURSOR', `"${token}" is not a resume token: use one of the stream, or "0"`);
  const seq = Number(match[2]);
  if (match[1] !== call.meta.store_epoch || seq > head) {
    const message = 'this store was restored or replaced after the token was issued: read again from "0"';
    throw new CairnError('STREAM_RESET', message, { latest: tokenAt(call, head) });
  }
  return seq;
}

const tokenAt = (call: Call, seq: number): string => `${call.meta.store_epoch}.${seq}`;

const filterOf = ({ packet_type: type, thread_id }: FollowIn): StreamFilter =>
  type?.endsWith('*') ? { prefix: type.slice(0, -1), thread_id } : { type, thread_id };

/** Reads pages from the database: a slow reader holds only its position. The first item and heartbeats have no packet. */
function follow(call: Call, input: FollowIn): AsyncGenerator<Followed, void, undefined> {
  const { driver, tenant } = call;
  const query = driver.at(tenant);
  const filter = filterOf(input);
  let position = 0;
  let limit = CHUNK.first;
  const heartbeat = (): Followed => ({ token: tokenAt(call, position), packet: null });
  return followStream<Followed>(call, {
    open: async () => {
      const start = await headOf(query);
      position = input.after === undefined ? start : positionOf(call, input.after, start);
      return heartbeat();
    },
    upTo: async function* (head, ended) {
      const viewer = viewerOf(await stillPermitted(call, eventOperations.follow.touches, input));
      while (position < head && !ended()) {
        // Bounded ranges: with a selective filter one statement could scan all of history.
        const range = { after: position, until: Math.min(head, position + MAX_SCANNED_EVENTS) };
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

/** Handing out messages: leased to a reader, again until they are acknowledged, in order for each sender and priority. */
import type { Query } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { actsAs, type Call, change, inChunks, keptAnswer, type Work } from '../../engine/index.js';
import { actingFor, signOfLife, waitFor } from '../../identity/index.js';
import { CairnError, invalid, toIso } from '../../kernel/index.js';
import {
  type Delivery,
  holderOf,
  type Lane,
  lockMailboxes,
  type OnItsWay,
  openDeliveries,
  openLanes,
  takeDeliveries,
} from './deliveries.js';
import { mailboxKey } from './expiry.js';
import { DEFAULT_DELIVERY_LEASE_MS, type DeliveredMessage } from './model.js';
import { mailboxesOf } from './service.js';
import { findMessages, type MessageRow, messageBytes, toMessage, urgencyOf } from './store.js';

type Streamed = Out<'messages.stream'>;

const DEFAULT_LIMIT = 10;
/** How many lanes of a mailbox are looked at, and how many messages of a lane at a time. */
const LANES = 1000;
const PAGE = 500;
/** How much a stream has on its way at once, and how much of that it takes at a time. */
const IN_FLIGHT = 100;
const AT_A_TIME = 10;
const HEARTBEAT_MS = 15_000;

interface Reader {
  readonly agent_id: string;
  readonly reader_id: string;
  readonly holder: string;
  readonly lease_ms: number;
}

function readerOf(call: Call, input: Pick<In<'messages.receive'>, 'agent_id' | 'reader_id' | 'lease_ms'>): Reader {
  const agent_id = actsAs(call, input.agent_id, 'agent_id') ?? input.agent_id;
  if (agent_id === undefined) throw invalid('agent_id is missing: say whose messages, or use the key of an agent');
  const { reader_id = agent_id, lease_ms = DEFAULT_DELIVERY_LEASE_MS } = input;
  return { agent_id, reader_id, holder: holderOf(agent_id, reader_id), lease_ms };
}

interface Found {
  /** What may be handed to the reader now, the most urgent first, then in order. */
  readonly free: Delivery[];
  /** How much it has on its way already. */
  readonly in_flight: number;
  /** When the first of what is on its way may come again. */
  readonly next_end: number;
}

const isOnItsWay = ({ leased_until }: OnItsWay, now: number): boolean => leased_until !== null && leased_until > now;

/** By urgency, then in order. */
const byTurn = (a: Pick<Lane, 'lane' | 'seq'>, b: Pick<Lane, 'lane' | 'seq'>): number =>
  urgencyOf(a.lane) - urgencyOf(b.lane) || a.seq - b.seq;

/**
 * What a reader may have of a lane. While somebody else has a message, what the same sender sent behind it with the same
 * priority waits: it could be acknowledged first.
 */
async function freeIn(query: Query, lane: Lane, { holder }: Reader, limit: number, now: number): Promise<Found> {
  const free: Delivery[] = [];
  let in_flight = 0;
  let next_end = Number.POSITIVE_INFINITY;
  let after = lane.seq - 1;
  for (let page = limit; ; page = Math.min(page * 4, PAGE)) {
    const rows = await openDeliveries(query, lane, now, after, page);
    for (const row of rows) {
      if (isOnItsWay(row, now)) {
        next_end = Math.min(next_end, row.leased_until!);
        if (row.holder !== holder) return { free, in_flight, next_end };
        in_flight++;
      } else if (free.push(row) === limit) return { free, in_flight, next_end };
    }
    if (rows.length < page) return { free, in_flight, next_end };
    after = rows.at(-1)!.seq;
  }
}

/** What a reader may have of all that it reads from. */
async function freeFor(query: Query, call: Call, reader: Reader, limit: number): Promise<Found> {
  const now = call.driver.now();
  const lanes: Lane[] = [];
  for (const mailbox of await mailboxesOf(query, reader.agent_id))
    lanes.push(...(await openLanes(query, mailbox, now, LANES)));
  let free: Delivery[] = [];
  let in_flight = 0;
  let next_end = Number.POSITIVE_INFINITY;
  for (const lane of lanes.sort(byTurn)) {
    if (isOnItsWay(lane, now)) next_end = Math.min(next_end, lane.leased_until!);
    if (isOnItsWay(lane, now) && lane.holder !== reader.holder) continue;
    // All that is in this lane and those behind it comes later than what was found.
    if (free.length === limit && byTurn(lane, free.at(-1)!) > 0) break;
    const found = await freeIn(query, lane, reader, limit, now);
    free = [...free, ...found.free].sort(byTurn).slice(0, limit);
    in_flight += found.in_flight;
    next_end = Math.min(next_end, found.next_end);
  }
  return { free, in_flight, next_end };
}

/** Of messages, as many as fit into an answer. */
async function contentsOf(call: Call, query: Query, message_ids: readonly string[]): Promise<Map<string, MessageRow>> {
  const found = new Map<string, MessageRow>();
  let bytes = 0;
  const read = (ids: readonly string[]) => findMessages(query, ids, call.driver.now());
  for await (const rows of inChunks(message_ids, read, messageBytes)) {
    const byId = new Map(rows.map((row) => [row.message_id, row]));
    for (const id of message_ids) {
      const row = byId.get(id);
      if (!row) continue;
      bytes += messageBytes(row);
      if (bytes > call.limits.max_answer_bytes && found.size > 0) return found;
      found.set(id, row);
    }
  }
  return found;
}

/** Undoes a receiving that found nothing after all, so that nothing is remembered of it. */
class NothingFree extends Error {}

async function takeIn({ call, tx, now }: Work, reader: Reader, limit: number): Promise<DeliveredMessage[]> {
  await lockMailboxes(tx, await mailboxesOf(tx, reader.agent_id));
  const { free } = await freeFor(tx, call, reader, limit);
  const contents = await contentsOf(
    call,
    tx,
    free.map(({ message_id }) => message_id),
  );
  const chosen = free.filter(({ message_id }) => contents.has(message_id));
  if (chosen.length === 0) throw new NothingFree();
  const { agent_id, holder } = reader;
  const expires_at = now + reader.lease_ms;
  const taken = await takeDeliveries(tx, chosen, { agent_id, holder, expires_at });
  // All were acknowledged since the look: an empty answer must not be remembered under the key.
  if (taken.length === 0) throw new NothingFree();
  return taken.map((one) => handed(contents.get(one.message_id)!, one.mailbox, one.deliveries, reader, expires_at));
}

const handed = (
  row: MessageRow,
  mailbox: string,
  attempt: number,
  { reader_id }: Pick<Reader, 'reader_id'>,
  expires_at: number,
): DeliveredMessage => ({
  ...toMessage(row),
  delivery: { mailbox, attempt, reader_id, lease_expires_at: toIso(expires_at) },
});

/** Of what was handed out, what is kept to give it again. */
type Kept = readonly [message_id: string, delivery: DeliveredMessage['delivery']][];

async function handedAgain(call: Call, query: Query, kept: Kept): Promise<DeliveredMessage[]> {
  const contents = await contentsOf(
    call,
    query,
    kept.map(([message_id]) => message_id),
  );
  return kept.flatMap(([message_id, delivery]) => {
    const row = contents.get(message_id);
    return row ? [{ ...toMessage(row), delivery }] : [];
  });
}

/** Hands messages to a reader, if there are any; it looks without a transaction first, since mostly there are none. */
class Receiving {
  readonly #call: Call;
  readonly #input: unknown;
  readonly #reader: Reader;
  #next_end = Number.POSITIVE_INFINITY;

  constructor(call: Call, input: unknown, reader: Reader) {
    this.#call = call;
    this.#input = input;
    this.#reader = reader;
  }

  /** Takes so many, or fewer if the reader would have more than so many on their way. */
  async take(limit: number, in_flight = Number.POSITIVE_INFINITY): Promise<DeliveredMessage[] | undefined> {
    const call = this.#call;
    const found = await freeFor(call.driver.at(call.tenant), call, this.#reader, limit);
    this.#next_end = found.next_end;
    const wanted = Math.min(limit, in_flight - found.in_flight);
    if (found.free.length === 0 || wanted <= 0) return undefined;
    const work = (work: Work) => takeIn(work, this.#reader, wanted);
    const taken = await change<DeliveredMessage[]>(call, {
      input: this.#input,
      work,
      remember: (list) => list.map(({ message_id, delivery }) => [message_id, delivery]),
      again: (tx, kept) => handedAgain(call, tx, kept as unknown as Kept),
    }).catch((error) => {
      if (!(error instanceof NothingFree)) throw error;
      // Somebody else was first: by when it may come again, the next look says.
      this.#next_end = call.driver.now();
      return [];
    });
    return taken.length > 0 ? taken : undefined;
  }

  /** When to look again though nobody wakes: what is on its way may come again. A moment of performance.now(). */
  readonly again = (): number => performance.now() + this.#next_end - this.#call.driver.now();
}

export async function receive(made: Call, input: In<'messages.receive'>): Promise<Out<'messages.receive'>> {
  const reader = readerOf(made, input);
  const call = await actingFor(made, reader.agent_id);
  const { driver, tenant } = call;
  const { limit = DEFAULT_LIMIT, wait_ms = 0 } = input;
  const kept = await keptAnswer(call, input);
  if (kept !== undefined) return { messages: await handedAgain(call, driver.at(tenant), kept as unknown as Kept) };
  const receiving = new Receiving(call, input, reader);
  const look = () => receiving.take(limit);
  const messages =
    wait_ms === 0 ? await look() : await waitFor(call, await keysOf(call, reader), wait_ms, look, receiving.again);
  return { messages: messages ?? [] };
}

const keysOf = async (call: Call, { agent_id }: Reader): Promise<string[]> =>
  (await mailboxesOf(call.driver.at(call.tenant), agent_id)).map(mailboxKey);

export async function* stream(made: Call, input: In<'messages.stream'>): AsyncGenerator<Streamed, void, undefined> {
  const reader = readerOf(made, input);
  const call = await actingFor(made, reader.agent_id);
  const { driver, wakes } = call;
  const { signal } = call.options;
  let token = input.after === undefined ? tokenAt(call, 0) : checkedToken(input.after);
  // An Idempotency-Key is for one answer.
  const { idempotency_key: _, ...options } = call.options;
  const receiving = new Receiving({ ...call, options }, input, reader);
  const ended = () => wakes.closed || signal?.aborted === true;
  yield { token, message: null };
  let beat = performance.now();
  let alive = beat;
  while (!ended()) {
    // Where much comes, nobody waits, and it would seem silent.
    if (performance.now() - alive >= HEARTBEAT_MS) {
      alive = performance.now();
      await signOfLife(call);
    }
    const look = () => receiving.take(AT_A_TIME, IN_FLIGHT);
    const rest_ms = Math.max(0, HEARTBEAT_MS - (performance.now() - beat));
    const taken = await waitFor(call, await keysOf(call, reader), rest_ms, look, receiving.again).catch((error) => {
      if (ended()) return undefined;
      throw error;
    });
    for (const message of taken ?? []) {
      if (ended()) return;
      // Where the reader is slow, it may be for somebody else by now.
      if (Date.parse(message.delivery.lease_expires_at) <= driver.now()) continue;
      token = tokenAt(call, message.seq);
      yield { token, message };
      beat = performance.now();
    }
    if (!ended() && performance.now() - beat >= HEARTBEAT_MS) {
      beat = performance.now();
      yield { token, message: null };
    }
  }
}

const tokenAt = (call: Call, seq: number): string => `${call.meta.store_epoch}.${seq}`;

/** Only its form matters: what a reader has not acknowledged comes again, wherever it was. */
function checkedToken(token: string): string {
  if (/^[0-9a-f]{16}\.\d{1,15}$/.test(token)) return token;
  throw new CairnError('INVALID_CURSOR', `"${token}" is not a resume token: use one from this stream, or none`);
}

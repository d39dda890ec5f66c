/** Delivering messages: under a lease to a reader, repeated until acknowledged, in order per sender and priority. */
import type { Query } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { type Call, change, inChunks, storedReplay, type Work } from '../../engine/index.js';
import { actingFor, recordCallHeartbeat, stillPermitted, waitFor } from '../../identity/index.js';
import { CairnError, toIso } from '../../kernel/index.js';
import { requiredAgent } from '../acting-agent.js';
import {
  type Delivery,
  type DeliveryLease,
  holderOf,
  type Lane,
  lockMailboxes,
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
/** Lanes read per mailbox. */
const MAX_LANES = 1000;
/** Messages read per page of a lane. */
const MAX_PAGE = 500;
/** Unacknowledged messages of a stream, and messages that it takes at a time. */
const MAX_IN_FLIGHT = 100;
const STREAM_BATCH = 10;
const HEARTBEAT_MS = 15_000;

interface Reader {
  readonly agent_id: string;
  readonly reader_id: string;
  readonly holder: string;
  readonly lease_ms: number;
}

function readerOf(call: Call, input: Pick<In<'messages.receive'>, 'agent_id' | 'reader_id' | 'lease_ms'>): Reader {
  const agent_id = requiredAgent(call, input.agent_id, 'agent_id');
  const { reader_id = agent_id, lease_ms = DEFAULT_DELIVERY_LEASE_MS } = input;
  return { agent_id, reader_id, holder: holderOf(agent_id, reader_id), lease_ms };
}

interface Available {
  /** Deliveries that the reader may take now, most urgent first, then in order. */
  deliveries: Delivery[];
  /** Deliveries that the reader has already. */
  in_flight: number;
  /** When the first lease ends, after which its delivery is available again. */
  next_end: number;
}

const none = (): Available => ({ deliveries: [], in_flight: 0, next_end: Number.POSITIVE_INFINITY });

const isLeased = ({ leased_until }: DeliveryLease, now: number): boolean => leased_until !== null && leased_until > now;

/** By urgency, then in order. */
const byUrgency = (a: Pick<Lane, 'lane' | 'seq'>, b: Pick<Lane, 'lane' | 'seq'>): number =>
  urgencyOf(a.lane) - urgencyOf(b.lane) || a.seq - b.seq;

/**
 * The deliveries of a lane that a reader may take: those before the first that another reader has. A later one could
 * otherwise be acknowledged first.
 */
async function availableIn(query: Query, lane: Lane, { holder }: Reader, limit: number, now: number) {
  const found = none();
  let after = lane.seq - 1;
  for (let page = limit; ; page = Math.min(page * 4, MAX_PAGE)) {
    const rows = await openDeliveries(query, lane, now, after, page);
    for (const row of rows) {
      if (isLeased(row, now)) {
        found.next_end = Math.min(found.next_end, row.leased_until!);
        if (row.holder !== holder) return found;
        found.in_flight++;
      } else if (found.deliveries.push(row) === limit) return found;
    }
    if (rows.length < page) return found;
    after = rows.at(-1)!.seq;
  }
}

/** The deliveries in all mailboxes of a reader that it may take. */
async function availableFor(query: Query, call: Call, reader: Reader, limit: number): Promise<Available> {
  const now = call.driver.now();
  const lanes: Lane[] = [];
  for (const mailbox of await mailboxesOf(query, reader.agent_id)) {
    lanes.push(...(await openLanes(query, mailbox, now, MAX_LANES)));
  }
  const all = none();
  for (const lane of lanes.sort(byUrgency)) {
    if (isLeased(lane, now)) {
      all.next_end = Math.min(all.next_end, lane.leased_until!);
      if (lane.holder !== reader.holder) continue;
    }
    // This lane and those after it hold only later deliveries.
    if (all.deliveries.length === limit && byUrgency(lane, all.deliveries.at(-1)!) > 0) break;
    const found = await availableIn(query, lane, reader, limit, now);
    all.deliveries = [...all.deliveries, ...found.deliveries].sort(byUrgency).slice(0, limit);
    all.in_flight += found.in_flight;
    all.next_end = Math.min(all.next_end, found.next_end);
  }
  return all;
}

/** The messages, as many as fit into an answer. */
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

/** Rolls back an empty receive, so that it is not stored under the idempotency key. */
class NothingAvailable extends Error {}

async function takeIn({ call, tx, now }: Work, reader: Reader, limit: number): Promise<DeliveredMessage[]> {
  await lockMailboxes(tx, await mailboxesOf(tx, reader.agent_id));
  const { deliveries } = await availableFor(tx, call, reader, limit);
  const ids = deliveries.map(({ message_id }) => message_id);
  const contents = await contentsOf(call, tx, ids);
  const chosen = deliveries.filter(({ message_id }) => contents.has(message_id));
  const expires_at = now + reader.lease_ms;
  const taken = await takeDeliveries(tx, chosen, { agent_id: reader.agent_id, holder: reader.holder, expires_at });
  if (taken.length === 0) throw new NothingAvailable();
  return taken.map(({ message_id, mailbox, deliveries: attempt }) => ({
    ...toMessage(contents.get(message_id)!),
    delivery: { mailbox, attempt, reader_id: reader.reader_id, lease_expires_at: toIso(expires_at) },
  }));
}

/** What an idempotency key stores of an answer. */
type Kept = readonly [message_id: string, delivery: DeliveredMessage['delivery']][];

async function replayed(call: Call, query: Query, kept: Kept): Promise<DeliveredMessage[]> {
  const ids = kept.map(([message_id]) => message_id);
  const contents = await contentsOf(call, query, ids);
  return kept.flatMap(([message_id, delivery]) => {
    const row = contents.get(message_id);
    return row ? [{ ...toMessage(row), delivery }] : [];
  });
}

interface PollRequest {
  readonly input: object;
  readonly reader: Reader;
  /** Whether polls may come long after the call was permitted: its agent is checked again before it gets anything. */
  readonly waits: boolean;
}

/** Polls for a reader: first without a transaction, since most polls find nothing. */
class Poll {
  readonly #call: Call;
  readonly #input: object;
  readonly #reader: Reader;
  readonly #waits: boolean;
  #next_end = Number.POSITIVE_INFINITY;

  constructor(call: Call, { input, reader, waits }: PollRequest) {
    this.#call = call;
    this.#input = input;
    this.#reader = reader;
    this.#waits = waits;
  }

  /** Takes up to `limit` deliveries, such that the reader has at most `max_in_flight`. */
  async take(limit: number, max_in_flight = Number.POSITIVE_INFINITY): Promise<DeliveredMessage[] | undefined> {
    const call = this.#call;
    const found = await availableFor(call.driver.at(call.tenant), call, this.#reader, limit);
    this.#next_end = found.next_end;
    const wanted = Math.min(limit, max_in_flight - found.in_flight);
    if (found.deliveries.length === 0 || wanted <= 0) return undefined;
    if (this.#waits) await stillPermitted(call, 'parties', this.#input);
    const taken = await change<DeliveredMessage[]>(call, {
      input: this.#input,
      work: (work) => takeIn(work, this.#reader, wanted),
      remember: (list) => list.map(({ message_id, delivery }) => [message_id, delivery]),
      again: (tx, kept) => replayed(call, tx, kept as unknown as Kept),
    }).catch((error) => {
      if (!(error instanceof NothingAvailable)) throw error;
      // Another reader was first: poll again at once to learn when its lease ends.
      this.#next_end = call.driver.now();
      return [];
    });
    return taken.length > 0 ? taken : undefined;
  }

  /** When to poll again without a wake, in performance.now(): at the end of the first lease. */
  readonly again = (): number => performance.now() + this.#next_end - this.#call.driver.now();
}

export async function receive(made: Call, input: In<'messages.receive'>): Promise<Out<'messages.receive'>> {
  const reader = readerOf(made, input);
  const call = await actingFor(made, reader.agent_id);
  const { driver, tenant } = call;
  const { limit = DEFAULT_LIMIT, wait_ms = 0 } = input;
  const kept = await storedReplay(call, input);
  if (kept !== undefined) return { messages: await replayed(call, driver.at(tenant), kept as unknown as Kept) };
  const poll = new Poll(call, { input, reader, waits: wait_ms > 0 });
  const look = () => poll.take(limit);
  const messages =
    wait_ms === 0 ? await look() : await waitFor(call, await keysOf(call, reader), wait_ms, look, poll.again);
  return { messages: messages ?? [] };
}

const keysOf = async (call: Call, { agent_id }: Reader): Promise<string[]> =>
  (await mailboxesOf(call.driver.at(call.tenant), agent_id)).map(mailboxKey);

export async function* stream(made: Call, input: In<'messages.stream'>): AsyncGenerator<Streamed, void, undefined> {
  const reader = readerOf(made, input);
  const call = await actingFor(made, reader.agent_id);
  const { signal } = call.options;
  let token = input.after === undefined ? tokenAt(call, 0) : checkedToken(input.after);
  // An Idempotency-Key stores one answer; a stream takes many.
  const { idempotency_key: _, ...options } = call.options;
  const poll = new Poll({ ...call, options }, { input, reader, waits: true });
  const ended = () => call.wakes.closed || signal?.aborted === true;
  yield { token, message: null };
  let beat = performance.now();
  let alive = beat;
  while (!ended()) {
    // waitFor records heartbeats only while it waits, which a busy stream never does.
    if (performance.now() - alive >= HEARTBEAT_MS) {
      alive = performance.now();
      await recordCallHeartbeat(call);
    }
    const look = () => poll.take(STREAM_BATCH, MAX_IN_FLIGHT);
    const rest_ms = Math.max(0, HEARTBEAT_MS - (performance.now() - beat));
    const taken = await waitFor(call, await keysOf(call, reader), rest_ms, look, poll.again).catch((error) => {
      if (ended()) return undefined;
      throw error;
    });
    for (const message of taken ?? []) {
      if (ended()) return;
      // If the consumer is slow, the lease may be over and another reader may have the message.
      if (Date.parse(message.delivery.lease_expires_at) <= call.driver.now()) continue;
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

/** Only its form is checked: unacknowledged messages are delivered again, wherever the stream was. */
function checkedToken(token: string): string {
  if (/^[0-9a-f]{16}\.\d{1,15}$/.test(token)) return token;
  throw new CairnError('INVALID_CURSOR', `"${token}" is not a resume token: use one of this stream, or none`);
}

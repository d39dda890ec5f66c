/** Every change: idempotency record, rows and event in one transaction. */
import type { Joint, Query, Tx } from '../../driver/index.js';
import type { Json } from '../../kernel/contract.js';
import { CairnError, invalid } from '../../kernel/index.js';
import { canonical, keyedSha256 } from '../../kernel/node.js';
import type { Call, Work } from '../calls/call.js';
import { checkGuards, isGuarded } from './guards.js';
import { event } from './own-events.js';
import { addRequest, findRequest } from './requests.js';

export interface Change<O> {
  /** The parsed input, by which a repeated request is recognized. */
  readonly input: unknown;
  /** Reads, decides, writes rows and journals events. Awaits nothing but the transaction. */
  readonly work: (work: Work) => Promise<O>;
  /** The entity that it changes, if it changes no other and reads none that a concurrent change may create. */
  readonly entity?: string;
  /** How it runs together with concurrent changes of the same rows, if it is neither guarded nor keyed. */
  readonly joint?: Joint | undefined;
  /** Approximate memory while it waits for its commit: the size of the written content. */
  readonly bytes?: number;
  /** The part of the answer that is stored for a replay: ids and numbers, never content. */
  readonly remember: (answer: O) => Json;
  /** Renders the answer again from the stored part. */
  readonly again: (tx: Tx, kept: Json) => Promise<O>;
}

export function change<O>(call: Call, what: Change<O>): Promise<O> {
  const { driver, tenant } = call;
  const key = call.options.idempotency_key;
  const { bytes } = what;
  const guarded = isGuarded(call);
  const run = async (work: Work): Promise<O> => {
    if (guarded) await checkGuards(work, what.input);
    return what.work(work);
  };
  if (key === undefined) {
    const { entity, joint } = guarded ? {} : what;
    return driver.write(tenant, (tx) => run({ call, tx, now: driver.now() }), { entity, bytes, joint });
  }
  const request_hash = hashOf(call, key, what.input);
  const keyed = async (tx: Tx): Promise<O> => {
    const now = driver.now();
    const kept = await keptFor(tx, call, key, request_hash);
    if (kept !== undefined) return what.again(tx, kept);
    const before = tx.journalled.length;
    const answer = await run({ call, tx, now });
    // The record of a request that changed nothing needs a packet too.
    if (tx.journalled.length === before)
      tx.journal(event({ call, now }, 'cairn.request.noop', { type: 'request', id: call.operation }, {}));
    const { packet_id } = tx.journalled[before]!;
    await addRequest(tx, { key, request_hash, packet_id, replay: what.remember(answer), recorded_at: now });
    return answer;
  };
  return driver.write(tenant, keyed, { bytes });
}

/** One of several independent writes of a call: guarded, without an idempotency record. */
export function writeGuarded<O>(call: Call, work: (tx: Tx) => Promise<O>): Promise<O> {
  const { driver, tenant } = call;
  if (!isGuarded(call)) return driver.write(tenant, work);
  return driver.write(tenant, async (tx) => {
    await checkGuards({ call, tx, now: driver.now() }, {});
    return work(tx);
  });
}

/** The stored part of the answer, if this request was answered before. For checks before the transaction. */
export async function storedReplay(call: Call, input: unknown): Promise<Json | undefined> {
  const key = call.options.idempotency_key;
  if (key === undefined) return undefined;
  return keptFor(call.driver.at(call.tenant), call, key, hashOf(call, key, input));
}

/** Request hashes, since `storedReplay` and `change` both need them and a large input takes a while. */
const hashes = new WeakMap<object, { readonly call: Call; readonly hash: string }>();

/** Keyed: it outlives the content of the request. Includes the agent and the user: another must not get this one's answer. */
function hashOf(call: Call, key: string, input: unknown): string {
  if (!/^[\x21-\x7e]{1,200}$/.test(key)) throw invalid('Idempotency-Key must be 1 to 200 visible ASCII characters');
  const known = hashes.get(input as object);
  if (known?.call === call) return known.hash;
  const { agent_id, user_id } = call.caller;
  const who = user_id === undefined ? agent_id : [agent_id, user_id];
  const hash = keyedSha256(call.meta.erasure_key, canonical([call.operation, who, input as Json]));
  if (typeof input === 'object' && input !== null) hashes.set(input, { call, hash });
  return hash;
}

async function keptFor(query: Query, { driver }: Call, key: string, request_hash: string): Promise<Json | undefined> {
  const known = await findRequest(query, key, driver.now());
  if (!known) return undefined;
  if (known.request_hash === request_hash) return JSON.parse(known.replay) as Json;
  throw new CairnError(
    'IDEMPOTENCY_CONFLICT',
    'this Idempotency-Key was used for another request: use a new key for a new request',
  );
}

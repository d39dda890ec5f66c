/** How every change is made: idempotency record, rows and event in one transaction. */
import type { Query, Tx } from '../../driver/index.js';
import { type Json, type JsonObject, newId } from '../../kernel/contract.js';
import { CairnError, entityName, invalid, toIso } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import type { Call } from '../calls/call.js';
import type { Work } from '../calls/work.js';
import { checkGuards, isGuarded } from './guards.js';
import { type NewPacket, SCHEMA_VERSION } from './journal.js';
import { addRequest, findRequest } from './requests.js';

export interface Change<O> {
  /** The parsed input, by which a repeated request is recognised. */
  readonly input: unknown;
  /** Reads, decides, writes, and journals what changed. Awaits nothing but the transaction. */
  readonly work: (work: Work) => Promise<O>;
  /** The entity that it changes, if it changes no other and looks at none that a change beside it may make. */
  readonly entity?: string;
  /** What it holds while it waits for its commit, about: as the content that is written, where there is any. */
  readonly bytes?: number;
  /** From the answer, what is kept to give it again: ids and numbers, never content. */
  readonly remember: (answer: O) => Json;
  /** Gives the answer again from what was kept. */
  readonly again: (tx: Tx, kept: Json) => Promise<O>;
}

export function change<O>(call: Call, what: Change<O>): Promise<O> {
  const { driver, tenant } = call;
  const key = call.options.idempotency_key;
  const { bytes } = what;
  const guarded = isGuarded(call);
  const work: typeof what.work = guarded
    ? async (work) => {
        await checkGuards(work, what.input);
        return what.work(work);
      }
    : what.work;
  if (key === undefined) {
    const entity = guarded ? undefined : what.entity;
    return driver.write(tenant, (tx) => work({ call, tx, now: driver.now() }), { entity, bytes });
  }
  const request_hash = hashOf(call, key, what.input);
  const keyed = async (tx: Tx): Promise<O> => {
    const now = driver.now();
    const kept = await keptFor(tx, call, key, request_hash);
    if (kept !== undefined) return what.again(tx, kept);
    const before = tx.journalled.length;
    const answer = await work({ call, tx, now });
    // A request that changed nothing is still remembered, and its record needs a packet to stand on.
    if (tx.journalled.length === before)
      tx.journal(event({ call, now }, 'cairn.request.noop', { type: 'request', id: call.operation }, {}));
    const { packet_id } = tx.journalled[before]!;
    await addRequest(tx, { key, request_hash, packet_id, replay: what.remember(answer), recorded_at: now });
    return answer;
  };
  return driver.write(tenant, keyed, { bytes });
}

/** A write of a call that makes several, each of which stands alone: guarded, and without a key. */
export function writeGuarded<O>(call: Call, work: (tx: Tx) => Promise<O>): Promise<O> {
  const { driver, tenant } = call;
  if (!isGuarded(call)) return driver.write(tenant, work);
  return driver.write(tenant, async (tx) => {
    await checkGuards({ call, tx, now: driver.now() }, {});
    return work(tx);
  });
}

/**
 * What was kept of the answer, if this very request was answered before. For what has to be looked at before the
 * transaction, and may have changed since then; within it, `change` asks again.
 */
export async function keptAnswer(call: Call, input: unknown): Promise<Json | undefined> {
  const key = call.options.idempotency_key;
  if (key === undefined) return undefined;
  return keptFor(call.driver.at(call.tenant), call, key, hashOf(call, key, input));
}

/** Of requests under way: `keptAnswer` and `change` ask for the same, and of a large one it takes a while. */
const hashes = new WeakMap<object, { readonly call: Call; readonly hash: string }>();

/** The agent is part of the request: another one may not see what this one was answered. */
function hashOf(call: Call, key: string, input: unknown): string {
  checkKey(key);
  const known = hashes.get(input as object);
  if (known?.call === call) return known.hash;
  const hash = sha256(canonical([call.operation, call.caller.agent_id, input as Json]));
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

function checkKey(key: string): void {
  if (!/^[\x21-\x7e]{1,200}$/.test(key)) throw invalid('an Idempotency-Key is 1 to 200 visible ASCII characters');
}

/** The event of a change: ids and hashes, never a copy of content. */
export function event(
  { call, now }: Pick<Work, 'call' | 'now'>,
  packet_type: string,
  entity: { readonly type: string; readonly id: string },
  facts: JsonObject,
  /** The trajectory that it happened in. */
  thread_id: string | null = null,
): NewPacket {
  const packet_id = newId();
  const { agent_id, key_id } = call.caller;
  // Members in the order in which they are stored, and absent ones as undefined: sorted and spread, they cost twice.
  const envelope = canonical({
    lineage: { generation: 0, parent_ids: [], root_packet_id: packet_id },
    metadata: { agent: agent_id ?? undefined, schema_version: SCHEMA_VERSION },
    packet_id,
    packet_type,
    payload: { actor: { agent_id, key_id }, ...facts, entity: { id: entity.id, type: entityName(entity.type) } },
    provenance: { source: 'cairn' },
    thread_id: thread_id ?? undefined,
    timestamp: toIso(now),
  } as Json);
  return {
    packet_id,
    packet_type,
    timestamp: now,
    thread_id,
    agent: agent_id,
    source: 'cairn',
    entity_type: entity.type,
    entity_id: entity.id,
    envelope,
    original: null,
    content_hash: sha256(envelope),
    sent_hash: null,
    expires_at: null,
    generation: 0,
    root_packet_id: packet_id,
    parent_ids: [],
    subject_ids: [],
    index: [],
  };
}

/** Journals the event of a change, in its transaction. */
export function appendEvent(
  work: Work,
  packet_type: string,
  entity: { readonly type: string; readonly id: string },
  facts: JsonObject,
  thread_id: string | null = null,
): void {
  work.tx.journal(event(work, packet_type, entity, facts, thread_id));
}

/** Use cases of messages: send, get, list, acknowledge. `receive` and `stream` are in receiving.ts. */
import { listToText, longQuery, type Query, type Tx, textToList } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { appendEvent, type Call, change, event, listPage, type OwnEvent, type Work } from '../../engine/index.js';
import { PENDING } from '../../engine/sql.js';
import { effectiveType, findAgent } from '../../identity/index.js';
import { type Json, newId } from '../../kernel/contract.js';
import { CairnError, invalid, notFound, toMs } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { lockTrajectory, unknownEntity, unreadableAmong } from '../../memory/index.js';
import { existingMemories, findScope } from '../../memory/sql.js';
import { agentOf } from '../acting-agent.js';
import { acknowledgeDelivery, type Delivery, deliveriesOf } from './deliveries.js';
import { mailboxKey } from './expiry.js';
import { countMessages, isVisible, listMessages, type MessageFilter, type Viewer } from './lists.js';
import { type Message, priorities } from './model.js';
import {
  findMessage,
  insertMessage,
  isOver,
  lockMessage,
  type MessageRow,
  mailboxOfAgent,
  mailboxOfType,
  messageBytes,
  settleMessage,
  toMessage,
} from './store.js';

/** A message checked and hashed before the transaction. */
interface PreparedMessage {
  readonly input: In<'messages.send'>;
  readonly from_agent_id: string | null;
  readonly sent_hash: string | null;
}

function prepareSend(call: Call, input: In<'messages.send'>): PreparedMessage {
  const { to_agent_id, to_agent_type, fan_out, message_id } = input;
  if ((to_agent_id === undefined) === (to_agent_type === undefined)) {
    throw invalid('give either to_agent_id or to_agent_type');
  }
  if (fan_out !== undefined && to_agent_type === undefined) throw invalid('fan_out requires to_agent_type');
  const from_agent_id = agentOf(call, input.from_agent_id, 'from_agent_id') ?? null;
  // Only an id chosen by the client can be sent again.
  const sent_hash = message_id === undefined ? null : sha256(canonical(input as unknown as Json));
  return { input, from_agent_id, sent_hash };
}

/** The event of a message that is being sent. The commit assigns its seq, which answers get by `when_settled`. */
interface Sending extends OwnEvent {
  readonly when_settled: ((seq: number, recipients: number) => void)[];
}

const isSending = (entry: object, message_id: string): entry is Sending =>
  'when_settled' in entry && (entry as Sending).entity_id === message_id;

/** The answer within a transaction. If the message was sent in the same commit, its seq is filled in by the commit. */
function shown(tx: Tx, row: MessageRow): Message {
  const answer = toMessage(row);
  if (row.seq !== PENDING) return answer;
  const sending = tx.journalled.find((entry) => isSending(entry, row.message_id)) as Sending | undefined;
  sending?.when_settled.push((seq, recipients) => Object.assign(answer, { seq, recipients }));
  return answer;
}

/** Answers a repeated send: the existing message, if the same agent sent the same request. */
function sameMessage(tx: Tx, row: MessageRow, prepared: PreparedMessage, now: number): Message {
  if (isOver(row, now)) {
    throw new CairnError('ENTITY_GONE', `message ${row.message_id} expired or was erased; ids are never reused`);
  }
  if (row.sent_hash === prepared.sent_hash && row.from_agent_id === prepared.from_agent_id) return shown(tx, row);
  throw new CairnError(
    'ENTITY_ALREADY_EXISTS',
    `message ${row.message_id} already exists with different content: use a new message_id`,
  );
}

/** Refuses what the agent may not read: a message must neither reveal that it exists nor be attached to it. */
async function refuseUnreadable({ call, tx }: Work, input: In<'messages.send'>): Promise<void> {
  const { scope_id, trajectory_id, artifact_ids = [] } = input;
  const named = [
    ['Scope', 'scope_id', scope_id === undefined ? [] : [scope_id]],
    ['Trajectory', 'trajectory_id', trajectory_id === undefined ? [] : [trajectory_id]],
    ['Artifact', 'artifact_ids', artifact_ids],
  ] as const;
  for (const [type, field, ids] of named) {
    const beyond = await unreadableAmong(call, tx, type, ids);
    if (beyond.length > 0) throw unknownEntity(field, type.toLowerCase(), beyond);
  }
}

/** Checks the entities that a message names. Locks its trajectory against a concurrent deletion; returns its id. */
async function trajectoryOf(work: Work, input: In<'messages.send'>): Promise<string | null> {
  const { tx, now } = work;
  const { scope_id, artifact_ids = [] } = input;
  await refuseUnreadable(work, input);
  const scope = scope_id === undefined ? undefined : await findScope(tx, scope_id);
  if (scope_id !== undefined && scope?.deleted_at !== null) throw unknownEntity('scope_id', 'scope', [scope_id]);
  // A message about a scope is erased with its trajectory.
  const trajectory_id = input.trajectory_id ?? scope?.trajectory_id ?? null;
  if (trajectory_id !== null) {
    const trajectory = await lockTrajectory(tx, trajectory_id);
    if (trajectory?.deleted_at !== null) throw unknownEntity('trajectory_id', 'trajectory', [trajectory_id]);
    if (scope && scope.trajectory_id !== trajectory_id) {
      throw new CairnError(
        'UNKNOWN_ENTITY',
        `scope ${scope.scope_id} is not in trajectory ${trajectory_id}: give its own trajectory, or only the scope`,
      );
    }
  }
  const known = await existingMemories(tx, [...new Set(artifact_ids)], now, { kind: 'artifact' });
  const missing = artifact_ids.filter((id) => !known.has(id));
  if (missing.length > 0) throw unknownEntity('artifact_ids', 'artifact', missing);
  return trajectory_id;
}

async function sendIn(work: Work, prepared: PreparedMessage): Promise<Message> {
  const { tx, now } = work;
  const { input, from_agent_id, sent_hash } = prepared;
  if (input.message_id !== undefined) {
    const existing = await findMessage(tx, input.message_id);
    if (existing) return sameMessage(tx, existing, prepared, now);
  }
  const expires_at = input.expires_at === undefined ? null : toMs(input.expires_at);
  if (expires_at !== null && expires_at <= now) {
    throw invalid(`expires_at must be in the future, not ${input.expires_at}`);
  }
  const trajectory_id = await trajectoryOf(work, input);
  const row = await insertMessage(tx, {
    message_id: input.message_id ?? newId(),
    from_agent_id,
    to_agent_id: input.to_agent_id ?? null,
    to_agent_type: input.to_agent_type ?? null,
    fan_out: input.fan_out ?? 'one',
    message_type: input.message_type,
    payload: input.payload,
    trajectory_id,
    scope_id: input.scope_id ?? null,
    artifact_ids: listToText(input.artifact_ids ?? []),
    priority: priorities.indexOf(input.priority ?? 'normal'),
    sent_hash,
    expires_at,
    created_at: now,
    erased_at: null,
  });
  return journalSent(work, row);
}

/** Appends the event. The commit inserts the message into its mailboxes, so that they are in commit order. */
function journalSent(work: Work, row: MessageRow): Message {
  const { message_id, from_agent_id, to_agent_id, to_agent_type, fan_out, trajectory_id } = row;
  const facts = { from_agent_id, to_agent_id, to_agent_type, fan_out, priority: priorities[row.priority]! };
  const packet = event(work, 'cairn.message.sent', { type: 'message', id: message_id }, facts, trajectory_id);
  const sending: Sending = {
    ...packet,
    when_settled: [],
    settle: async (settling, _recorded_at, seq) => {
      const mailboxes = await settleMessage(settling, row, seq);
      for (const mailbox of mailboxes) settling.wake(mailboxKey(mailbox));
      for (const tell of sending.when_settled) tell(seq, mailboxes.length);
    },
  };
  work.tx.journal(sending);
  return shown(work.tx, row);
}

export async function send(call: Call, input: In<'messages.send'>): Promise<Message> {
  const prepared = prepareSend(call, input);
  return change<Message>(call, {
    input,
    bytes: Buffer.byteLength(input.payload),
    work: (work) => sendIn(work, prepared),
    remember: ({ message_id }) => message_id,
    again: async (tx, kept) => shown(tx, await readableRow(call, tx, kept as string)),
  });
}

type SystemMessage = Pick<In<'messages.send'>, 'message_type' | 'payload' | 'trajectory_id'> & {
  readonly from_agent_id: string | null;
  readonly to_agent_id: string;
};

/** Sends a message within another change, such as a delegation. The rights of the calling agent do not apply. */
export const sendFromSystem = (work: Work, { from_agent_id, ...input }: SystemMessage): Promise<Message> =>
  sendIn({ ...work, call: { ...work.call, acting: undefined } }, { input, from_agent_id, sent_hash: null });

const noMessage = (call: Call, message_id: string): CairnError =>
  notFound(call, 'message', message_id, ', or it has expired');

async function readableRow(call: Call, query: Query, message_id: string): Promise<MessageRow> {
  const row = await findMessage(query, message_id);
  if (!row || isOver(row, call.driver.now())) throw noMessage(call, message_id);
  return row;
}

/** The mailboxes of an agent: its own, and that of the type it was given. */
export async function mailboxesOf(query: Query, agent_id: string): Promise<string[]> {
  const agent = await findAgent(query, agent_id);
  const own = mailboxOfAgent(agent_id);
  const type = agent?.unregistered_at === null ? effectiveType(agent) : null;
  return type === null ? [own] : [own, mailboxOfType(type)];
}

/** The agent whose messages a key may read; null for all. */
async function viewerOf(call: Call, query: Query): Promise<Viewer | null> {
  const { agent_id } = call.caller;
  return agent_id === null ? null : { agent_id, mailboxes: await mailboxesOf(query, agent_id) };
}

export async function get(call: Call, input: In<'messages.get'>): Promise<Message> {
  const query = call.driver.at(call.tenant);
  const row = await readableRow(call, query, input.message_id);
  if (!(await isReadable(call, query, row))) throw noMessage(call, input.message_id);
  return toMessage(row);
}

async function isReadable(call: Call, query: Query, row: MessageRow): Promise<boolean> {
  const viewer = await viewerOf(call, query);
  return viewer === null || isVisible(query, row, viewer);
}

export async function list(call: Call, input: In<'messages.list'>): Promise<Out<'messages.list'>> {
  const { driver, tenant } = call;
  const { limit, cursor, offset, order, to_agent, ...asked } = input;
  const query = driver.at(tenant);
  const viewer = await viewerOf(call, query);
  const mailboxes = to_agent === undefined ? undefined : await mailboxesOf(query, to_agent);
  const filter: MessageFilter = { ...asked, mailboxes };
  const now = driver.now();
  const { rows, ...rest } = await listPage<MessageRow, number>(call, {
    input: { limit, cursor, offset, order },
    filters: { ...asked, to_agent } as Json,
    key: 'number',
    keyOf: (row) => row.seq,
    // Filters without an index scan the tenant.
    read: (page) => listMessages(longQuery(driver, tenant), filter, viewer, page, now),
    bytesOf: messageBytes,
    count: countMessages(filter, viewer, now),
  });
  return { messages: rows.map(toMessage), ...rest };
}

export async function acknowledge(call: Call, input: In<'messages.acknowledge'>): Promise<Message> {
  const agent_id = agentOf(call, input.agent_id, 'agent_id') ?? null;
  return change<Message>(call, {
    input,
    work: (work) => acknowledgeIn(work, input.message_id, agent_id),
    remember: () => null,
    again: async (tx) => shown(tx, await readableRow(call, tx, input.message_id)),
  });
}

async function acknowledgeIn(work: Work, message_id: string, agent_id: string | null): Promise<Message> {
  const { call, tx, now } = work;
  const row = await lockMessage(tx, message_id);
  // A message of the same commit is not in a mailbox yet.
  if (!row || isOver(row, now) || row.seq === PENDING) throw noMessage(call, message_id);
  const delivery =
    agent_id === null
      ? await onlyDelivery(tx, row)
      : ((await deliveryTo(tx, row, agent_id)) ?? (await refuseRecipient(work, row, agent_id)));
  if (delivery.acknowledged_at !== null) {
    throw new CairnError('STATE_CONFLICT', `message ${message_id} is already acknowledged`, { status: 'acknowledged' });
  }
  const by = agent_id ?? row.to_agent_id;
  await acknowledgeDelivery(tx, delivery, by, now);
  tx.wake(mailboxKey(delivery.mailbox));
  const entity = { type: 'message', id: message_id };
  appendEvent(work, 'cairn.message.acknowledged', entity, { agent_id: by }, row.trajectory_id);
  return toMessage({ ...row, acknowledged: row.acknowledged + 1, acknowledged_at: now });
}

/** The only delivery of a message, for a caller that names no agent. */
async function onlyDelivery(tx: Tx, { message_id, recipients }: MessageRow): Promise<Delivery> {
  const [delivery, ...others] = await deliveriesOf(tx, message_id, undefined, 2);
  if (!delivery) {
    const message = `message ${message_id} has no recipients: no agent of its type was registered`;
    throw new CairnError('STATE_CONFLICT', message, { status: 'undelivered' });
  }
  if (others.length === 0) return delivery;
  throw invalid(`message ${message_id} went to ${recipients} agents: agent_id must name the one that acknowledges it`);
}

/**
 * The delivery that an agent may acknowledge: in its own mailbox, or one to its type that it had, even if another has
 * it now. A delivery that nobody had yet may be acknowledged by any agent of the type.
 */
async function deliveryTo(tx: Tx, row: MessageRow, agent_id: string): Promise<Delivery | undefined> {
  const { message_id, to_agent_type } = row;
  const own = mailboxOfAgent(agent_id);
  const mailboxes = to_agent_type === null ? [own] : [own, mailboxOfType(to_agent_type)];
  const [delivery] = await deliveriesOf(tx, message_id, mailboxes, 1);
  if (!delivery || delivery.mailbox === own) return delivery;
  const may =
    delivery.delivered_to === null
      ? (await mailboxesOf(tx, agent_id)).includes(delivery.mailbox)
      : textToList(delivery.delivered_to).includes(agent_id);
  return may ? delivery : undefined;
}

/** To an agent that may not read it, a message does not exist. */
async function refuseRecipient({ call, tx }: Work, row: MessageRow, agent_id: string): Promise<never> {
  if (!(await isReadable(call, tx, row))) throw noMessage(call, row.message_id);
  throw new CairnError(
    'FORBIDDEN',
    `message ${row.message_id} was not delivered to agent ${agent_id}: only its receiver acknowledges it`,
    { rule: 'message_recipient' },
  );
}

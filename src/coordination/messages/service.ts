/** Use cases of messages: send, read, list, acknowledge. How they are handed out is in message-delivery.ts. */
import { atLength, listToText, type Query, type Tx, textToList } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import {
  actsAs,
  appendEvent,
  type Call,
  change,
  event,
  listPage,
  type NewPacket,
  type Work,
} from '../../engine/index.js';
import { PENDING } from '../../engine/sql.js';
import { findAgent, givenType } from '../../identity/index.js';
import { type Json, newId } from '../../kernel/contract.js';
import { CairnError, invalid, toMs } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import type { EntityType } from '../../memory/contract.js';
import { beyondAmong, lockTrajectory, unknownEntity } from '../../memory/index.js';
import { findScope, knownMemories } from '../../memory/sql.js';
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

/** A message checked and hashed, before any transaction. */
interface PreparedMessage {
  readonly input: In<'messages.send'>;
  readonly from_agent_id: string | null;
  readonly sent_hash: string | null;
}

function prepareSend(call: Call, input: In<'messages.send'>): PreparedMessage {
  const { to_agent_id, to_agent_type, fan_out } = input;
  if ((to_agent_id === undefined) === (to_agent_type === undefined)) {
    throw invalid('a message goes to either to_agent_id or to_agent_type: give one');
  }
  if (fan_out !== undefined && to_agent_type === undefined) {
    throw invalid('fan_out goes with to_agent_type: an agent is one');
  }
  return {
    input,
    from_agent_id: actsAs(call, input.from_agent_id, 'from_agent_id') ?? input.from_agent_id ?? null,
    // Only an id that the client chose can come again.
    sent_hash: input.message_id === undefined ? null : sha256(canonical(input as unknown as Json)),
  };
}

/** The event of a message that is being sent: whoever answers with it gets its number by the commit. */
interface Sending extends NewPacket {
  readonly when_settled: ((seq: number, recipients: number) => void)[];
}

const isSending = (entry: object, message_id: string): entry is Sending =>
  'when_settled' in entry && (entry as Sending).entity_id === message_id;

/** As it is answered within a transaction, in which the message may just have been sent. */
function shown(tx: Tx, row: MessageRow): Message {
  const answer = toMessage(row);
  if (row.seq !== PENDING) return answer;
  const sending = tx.journalled.find((entry) => isSending(entry, row.message_id)) as Sending | undefined;
  sending?.when_settled.push((seq, recipients) => Object.assign(answer, { seq, recipients }));
  return answer;
}

/** The message that has this id already, if it came of the same request by the same agent. */
function sameMessage(tx: Tx, row: MessageRow, prepared: PreparedMessage, now: number): Message {
  if (isOver(row, now)) {
    throw new CairnError('ENTITY_GONE', `message ${row.message_id} existed and is gone: an id is never used twice`);
  }
  if (row.sent_hash !== prepared.sent_hash || row.from_agent_id !== prepared.from_agent_id) {
    throw new CairnError(
      'ENTITY_ALREADY_EXISTS',
      `message ${row.message_id} exists and was sent otherwise: use a new message_id`,
    );
  }
  return shown(tx, row);
}

/** What an agent cannot read does not exist for it: a message neither tells whether it is there, nor is placed there. */
async function refuseUnreadable({ call, tx }: Work, input: In<'messages.send'>): Promise<void> {
  const { scope_id, trajectory_id, artifact_ids = [] } = input;
  const beyond = (type: EntityType, ids: readonly (string | undefined)[]) =>
    beyondAmong(
      call,
      tx,
      type,
      ids.filter((id) => id !== undefined),
    );
  const scopes = await beyond('Scope', [scope_id]);
  if (scopes.length > 0) throw unknownEntity('scope_id', 'scope', scopes);
  const trajectories = await beyond('Trajectory', [trajectory_id]);
  if (trajectories.length > 0) throw unknownEntity('trajectory_id', 'trajectory', trajectories);
  const artifacts = await beyond('Artifact', artifact_ids);
  if (artifacts.length > 0) throw unknownEntity('artifact_ids', 'artifact', artifacts);
}

/** Sees that what a message names is there; its trajectory is locked, so that it is not deleted beside it. */
async function placeOf(work: Work, input: In<'messages.send'>): Promise<string | null> {
  const { tx, now } = work;
  const { scope_id, artifact_ids = [] } = input;
  await refuseUnreadable(work, input);
  const scope = scope_id === undefined ? undefined : await findScope(tx, scope_id);
  if (scope_id !== undefined && (!scope || scope.deleted_at !== null))
    throw unknownEntity('scope_id', 'scope', [scope_id]);
  // What is said of a scope is said of its trajectory, and goes with it.
  const trajectory_id = input.trajectory_id ?? scope?.trajectory_id ?? null;
  if (trajectory_id !== null) {
    const trajectory = await lockTrajectory(tx, trajectory_id);
    if (!trajectory || trajectory.deleted_at !== null)
      throw unknownEntity('trajectory_id', 'trajectory', [trajectory_id]);
    if (scope && scope.trajectory_id !== trajectory_id) {
      throw new CairnError(
        'UNKNOWN_ENTITY',
        `scope ${scope.scope_id} is not in trajectory ${trajectory_id}: name the trajectory of the scope, or the scope alone`,
      );
    }
  }
  const known = await knownMemories(tx, [...new Set(artifact_ids)], now, { kind: 'artifact' });
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
    throw invalid(`expires_at must be in the future, ${input.expires_at} is over`);
  }
  const trajectory_id = await placeOf(work, input);
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

/** Tells of a message. It gets its place in its mailboxes by the commit, so that their order is that of commits. */
function journalSent(work: Work, row: MessageRow): Message {
  const { tx } = work;
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
  tx.journal(sending);
  return shown(tx, row);
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

export interface SystemMessage {
  readonly from_agent_id: string | null;
  readonly to_agent_id: string;
  readonly message_type: string;
  readonly payload: string;
  readonly trajectory_id?: string | undefined;
  readonly scope_id?: string | undefined;
  readonly expires_at?: string | undefined;
}

/** Sends a message within another change, such as of a delegation, for the agent that it is about: whatever that may read. */
export const sendFromSystem = (work: Work, message: SystemMessage): Promise<Message> => {
  const { call } = work;
  const { from_agent_id, ...input } = message;
  return sendIn({ ...work, call: { ...call, acting: undefined } }, { input, from_agent_id, sent_hash: null });
};

const noMessage = (call: Call, message_id: string): CairnError =>
  new CairnError('MESSAGE_NOT_FOUND', `there is no message ${message_id} in tenant ${call.tenant}, or it has expired`);

async function readableRow(call: Call, query: Query, message_id: string): Promise<MessageRow> {
  const row = await findMessage(query, message_id);
  if (!row || isOver(row, call.driver.now())) throw noMessage(call, message_id);
  return row;
}

/** Where an agent reads from: its own mailbox, and that of the type that it was given. */
export async function mailboxesOf(query: Query, agent_id: string): Promise<string[]> {
  const agent = await findAgent(query, agent_id);
  const own = mailboxOfAgent(agent_id);
  const type = agent && agent.unregistered_at === null ? givenType(agent) : null;
  return type === null ? [own] : [own, mailboxOfType(type)];
}

/** Whose messages a key may read: those of its agent, or all. */
async function viewerOf(call: Call, query: Query): Promise<Viewer | null> {
  const { agent_id } = call.caller;
  return agent_id === null ? null : { agent_id, mailboxes: await mailboxesOf(query, agent_id) };
}

export async function get(call: Call, input: In<'messages.get'>): Promise<Message> {
  const { driver, tenant } = call;
  const query = driver.at(tenant);
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
    // What no index finds is looked for among all, which may take a while.
    read: (page) => listMessages(atLength(driver, tenant), filter, viewer, page, now),
    bytesOf: messageBytes,
    count: countMessages(filter, viewer, now),
  });
  return { messages: rows.map(toMessage), ...rest };
}

export async function acknowledge(call: Call, input: In<'messages.acknowledge'>): Promise<Message> {
  const { message_id } = input;
  const agent_id = actsAs(call, input.agent_id, 'agent_id') ?? input.agent_id ?? null;
  return change<Message>(call, {
    input,
    work: (work) => acknowledgeIn(work, message_id, agent_id),
    remember: () => null,
    again: async (tx) => shown(tx, await readableRow(call, tx, message_id)),
  });
}

async function acknowledgeIn(work: Work, message_id: string, agent_id: string | null): Promise<Message> {
  const { call, tx, now } = work;
  const row = await lockMessage(tx, message_id);
  // One that is being sent in this very commit is not in any mailbox yet.
  if (!row || isOver(row, now) || row.seq === PENDING) throw noMessage(call, message_id);
  const delivery =
    agent_id === null
      ? await onlyDelivery(tx, row)
      : ((await deliveryTo(tx, row, agent_id)) ?? (await refuseRecipient(work, row, agent_id)));
  if (delivery.acknowledged_at !== null) {
    throw new CairnError('STATE_CONFLICT', `message ${message_id} was acknowledged before: nothing is left to do`, {
      status: 'acknowledged',
    });
  }
  const by = agent_id ?? row.to_agent_id;
  await acknowledgeDelivery(tx, delivery, by, now);
  tx.wake(mailboxKey(delivery.mailbox));
  const facts = { agent_id: by };
  appendEvent(work, 'cairn.message.acknowledged', { type: 'message', id: message_id }, facts, row.trajectory_id);
  return toMessage({ ...row, acknowledged: row.acknowledged + 1, acknowledged_at: now });
}

/** Without an agent's name: the delivery of a message that went to one mailbox. */
async function onlyDelivery(tx: Tx, row: MessageRow): Promise<Delivery> {
  const [delivery, ...others] = await deliveriesOf(tx, row.message_id, undefined, 2);
  if (!delivery) {
    throw new CairnError(
      'STATE_CONFLICT',
      `message ${row.message_id} went to nobody: no agent of the type was registered`,
      { status: 'undelivered' },
    );
  }
  if (others.length === 0) return delivery;
  throw invalid(
    `message ${row.message_id} went to ${row.recipients} agents: say by agent_id which of them acknowledges it`,
  );
}

/**
 * The delivery that an agent may acknowledge: that in its own mailbox, or one to its type that it had, also if it was
 * handed to another since. One that nobody had yet may be acknowledged by any agent of the type.
 */
async function deliveryTo(tx: Tx, row: MessageRow, agent_id: string): Promise<Delivery | undefined> {
  const { message_id, to_agent_type } = row;
  const own = mailboxOfAgent(agent_id);
  const mailboxes = to_agent_type === null ? [own] : [own, mailboxOfType(to_agent_type)];
  const [delivery] = await deliveriesOf(tx, message_id, mailboxes, 1);
  if (delivery) {
    const may =
      delivery.mailbox === own ||
      (delivery.delivered_to === null
        ? (await mailboxesOf(tx, agent_id)).includes(delivery.mailbox)
        : textToList(delivery.delivered_to).includes(agent_id));
    if (may) return delivery;
  }
  return undefined;
}

/** A message that a key's agent cannot read does not exist for it. */
async function refuseRecipient({ call, tx }: Work, row: MessageRow, agent_id: string): Promise<never> {
  const { message_id } = row;
  if (!(await isReadable(call, tx, row))) throw noMessage(call, message_id);
  throw new CairnError(
    'FORBIDDEN',
    `message ${message_id} was not delivered to agent ${agent_id}: who receives a message acknowledges it`,
    { rule: 'message_recipient' },
  );
}

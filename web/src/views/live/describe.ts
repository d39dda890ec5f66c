/** An event as words and links. */
import type { LiveEvent } from '../../data/events.js';
import { textOf, words } from '../../data/format.js';
import { sentences } from './sentences.js';

export interface Reference {
  readonly type: string;
  readonly id: string;
  /** Said in place of a name: the resource of a lock. */
  readonly label?: string;
  /** The card with its text. */
  readonly card_id?: string;
}

export type Bit = string | Reference;

type Payload = Readonly<Record<string, unknown>>;

/** Members of payloads that name entities. */
const references: Readonly<Record<string, string>> = {
  scope_id: 'Scope',
  restored_from: 'Scope',
  trajectory_id: 'Trajectory',
  execution_id: 'Execution',
  checkpoint_id: 'Checkpoint',
  forked_from: 'AgentTurn',
  agent_id: 'Agent',
  source_agent_id: 'Agent',
  from_agent_id: 'Agent',
  to_agent_id: 'Agent',
  holder_agent_id: 'Agent',
};

const textFrom = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Such as turn.added, of Cairn's own events. */
export const ownType = (packet_type: string): string | undefined =>
  packet_type.startsWith('cairn.') ? packet_type.slice('cairn.'.length) : undefined;

/** What an event is about; a packet of somebody else is about itself. */
export function entityOf({ packet_type, packet_id, payload }: LiveEvent): Reference {
  const { entity, card_id, resource_type, resource_id } = (payload ?? {}) as Payload;
  const { type, id } = (entity ?? {}) as { type?: unknown; id?: unknown };
  if (ownType(packet_type) === undefined || typeof type !== 'string' || typeof id !== 'string')
    return { type: 'Packet', id: packet_id };
  const resource = [textFrom(resource_type), textFrom(resource_id)].filter(Boolean).join(' ');
  return {
    type,
    id,
    ...(resource === '' ? {} : { label: resource }),
    ...(typeof card_id === 'string' ? { card_id } : type === 'Turn' || type === 'Card' ? { card_id: id } : {}),
  };
}

/** The agent that caused it. */
function actorOf({ payload, metadata }: LiveEvent): string | undefined {
  const { actor } = (payload ?? {}) as { actor?: { agent_id?: unknown } };
  return textFrom(actor?.agent_id) ?? textFrom(metadata?.agent);
}

/** Agents that it concerns in any way. */
export function agentsOf(event: LiveEvent): string[] {
  const payload = (event.payload ?? {}) as Payload;
  const named = Object.keys(references)
    .filter((member) => references[member] === 'Agent')
    .map((member) => textFrom(payload[member]));
  const { type, id } = entityOf(event);
  return [actorOf(event), ...named, type === 'Agent' ? id : undefined].filter((id) => id !== undefined);
}

/** One placeholder; undefined if the event does not have it. */
function bitFor(name: string, event: LiveEvent): Bit | undefined {
  const payload = (event.payload ?? {}) as Payload;
  if (name === 'entity') return entityOf(event);
  if (name === 'thread') return event.thread_id ? { type: 'Trajectory', id: event.thread_id } : undefined;
  const agent_id = name === 'who' ? actorOf(event) : undefined;
  if (name === 'who') return agent_id === undefined ? undefined : { type: 'Agent', id: agent_id };
  if (name.endsWith('#')) {
    const list = payload[name.slice(0, -1)];
    return Array.isArray(list) ? String(list.length) : undefined;
  }
  const value = payload[name];
  const type = references[name];
  if (type !== undefined) return textFrom(value) === undefined ? undefined : { type, id: value as string };
  if (Array.isArray(value)) return value.map((one) => words(String(one))).join(', ');
  return value === null || value === undefined
    ? undefined
    : typeof value === 'number'
      ? String(value)
      : words(textOf(value));
}

/** Undefined if a part is missing. */
function fill(template: string, event: LiveEvent): Bit[] | undefined {
  const bits: Bit[] = [];
  for (const [at, part] of template.split(/\{([\w#]+)\}/).entries()) {
    const bit = at % 2 === 0 ? part : bitFor(part, event);
    if (bit === undefined) return undefined;
    if (bit !== '') bits.push(bit);
  }
  return bits;
}

const verbs: Readonly<Record<string, string>> = {
  Supports: 'supports',
  Contradicts: 'contradicts',
  Supersedes: 'replaces',
  DerivedFrom: 'was learned from',
  SynthesizedFrom: 'summarises',
};

function describeEdge({ payload }: LiveEvent): Bit[] {
  const { edge_type, participants, edge_ids } = (payload ?? {}) as Payload;
  if (!Array.isArray(participants) || typeof edge_type !== 'string')
    return [Array.isArray(edge_ids) && edge_ids.length > 1 ? `${edge_ids.length} links added` : 'Link added'];
  const [first, second] = participants as { entity_type: string; entity_id: string }[];
  const bit = (one: typeof first): Bit => (one ? { type: one.entity_type, id: one.entity_id } : 'nothing');
  const more = participants.length > 2 ? ` and ${participants.length - 2} more` : '';
  return [bit(first), ` ${verbs[edge_type] ?? words(edge_type)} `, bit(second), more].filter((one) => one !== '');
}

/** The first text in what somebody else wrote. */
function gistOf(payload: Payload | undefined): string {
  const text = Object.values(payload ?? {}).find((value) => typeof value === 'string' && value !== '');
  return typeof text === 'string' ? text.slice(0, 200) : '';
}

/** Two types have another sentence for some of their events. */
function variantOf(own: string, event: LiveEvent): string {
  if (own === 'turn.added' && Array.isArray((event.payload as Payload | undefined)?.turn_ids)) return 'turns.added';
  return own === 'lifetime.erased' && entityOf(event).type === 'Erasure' ? 'erasure.done' : own;
}

export function describe(event: LiveEvent): Bit[] {
  const own = ownType(event.packet_type);
  if (own === undefined) {
    const gist = gistOf(event.payload);
    return [{ ...entityOf(event), label: event.packet_type }, ...(gist === '' ? [] : [`: ${gist}`])];
  }
  if (own === 'edge.created') return describeEdge(event);
  const templates = sentences[variantOf(own, event)]?.split(' | ') ?? [];
  for (const template of templates) {
    const bits = fill(template, event);
    if (bits) return bits;
  }
  return [entityOf(event), ` ${words(own.split('.').slice(1).join(' '))}`];
}

/** Small letters of all that somebody may look for; made once for each event that is searched. */
const texts = new WeakMap<LiveEvent, string>();

export function matches(event: LiveEvent, text: string): boolean {
  let all = texts.get(event);
  if (all === undefined) {
    const said = describe(event).map((bit) =>
      typeof bit === 'string' ? bit : `${words(bit.type)} ${bit.label ?? ''}`,
    );
    all = `${event.packet_type} ${said.join(' ')} ${JSON.stringify(event.payload ?? {})}`.toLowerCase();
    texts.set(event, all);
  }
  return all.includes(text.toLowerCase());
}

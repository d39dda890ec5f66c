/** The events that Cairn itself appends: one for each change, in its transaction. */
import { listToText } from '../../driver/index.js';
import { type JsonObject, newIdAt } from '../../kernel/contract.js';
import type { Work } from '../calls/call.js';
import { checksumOf, EVENT_FORMAT } from './event-format.js';
import type { OwnEvent } from './journal.js';

/** The event of a change: ids and hashes, never a copy of content. `thread_id` is its trajectory. */
export function event(
  { call, now }: Pick<Work, 'call' | 'now'>,
  packet_type: string,
  entity: { readonly type: string; readonly id: string },
  facts: JsonObject,
  thread_id: string | null = null,
): OwnEvent {
  const own = {
    // With its timestamp in it: lists by time find own events by their ids.
    packet_id: newIdAt(now),
    packet_type,
    timestamp: now,
    thread_id,
    agent: call.caller.agent_id,
    key_id: call.caller.key_id,
    entity_type: entity.type,
    entity_id: entity.id,
    facts: JSON.stringify(facts),
    format: EVENT_FORMAT,
    checksum: 0,
    subject_ids: call.caller.user_id === undefined ? null : listToText([call.caller.user_id]),
  };
  // Set afterwards: a spread would cost as much as the checksum.
  own.checksum = checksumOf(own);
  return own;
}

/** Journals the event of a change, in its transaction. */
export function appendEvent(work: Work, ...rest: EventParts): void {
  work.tx.journal(event(work, ...rest));
}

type EventParts = Parameters<typeof event> extends [unknown, ...infer R] ? R : never;

/** A conversation without tokens of chat templates: each message stands as it was said but for those. */
import type { Message, Transcript } from '../../facts/index.js';
import type { Json } from '../../kernel/contract.js';
import { isObject } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import { defused } from './contained.js';

/** Ids and names have a length and a charset to keep to: what would be a token loses its bracket. */
const defusedName = (name: string): string => (defused(name) === name ? name : name.replace(/[<[]/g, '_'));

function defusedJson(value: Json): Json {
  if (typeof value === 'string') return defused(value);
  if (Array.isArray(value)) return value.map(defusedJson);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [defused(name), defusedJson(one)]));
}

const defusedMessage = (message: Message): Message => ({
  ...message,
  text: defused(message.text),
  calls: message.calls.map((call) => {
    const input = canonical(call.input);
    return {
      ...call,
      id: defusedName(call.id),
      name: defusedName(call.name),
      input: defused(input) === input ? call.input : (defusedJson(call.input) as typeof call.input),
      result: call.result && { ...call.result, text: defused(call.result.text) },
    };
  }),
});

export const defusedTranscript = ({ system, messages }: Transcript): Transcript => ({
  system,
  messages: messages.map(defusedMessage),
});

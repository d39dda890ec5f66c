/** A context in any format as text, for a model that requested it with a tool. */
import type { JsonObject } from '../../kernel/contract.js';
import type { AssembledContext } from './model.js';

/** A line that could be read as the beginning of a message. */
const LABEL = /^([^\S\n\r]{0,3})(?=(?:system|user|assistant|tool): )/gim;

/** Such as `user: Why does the login fail?`, with other members of the message as JSON. */
function lineOf({ role, content, ...rest }: JsonObject): string {
  const text = typeof content === 'string' ? content : (content ?? null) === null ? '' : JSON.stringify(content);
  const more = Object.keys(rest).length > 0 ? JSON.stringify(rest) : '';
  return `${String(role)}: ${[text.replace(LABEL, '$1\\'), more].filter(Boolean).join(' ')}`;
}

export function contextAsText(context: AssembledContext): string {
  const { text, messages, token_count, token_budget, truncated, manifest_id } = context;
  const shown = text ?? (messages ?? []).map(lineOf).join('\n\n');
  const rest = truncated ? '; more did not fit' : '';
  return `${shown}\n\n(manifest ${manifest_id}: ${token_count} of ${token_budget} tokens${rest})`;
}

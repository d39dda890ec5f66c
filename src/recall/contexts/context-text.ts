/** A context as text for a model that asked for it by a tool, whatever its format. */
import type { JsonObject } from '../../kernel/contract.js';
import type { AssembledContext } from './model.js';

/** A line that would be taken for the beginning of a message. */
const LABEL = /^([^\S\n\r]{0,3})(?=(?:system|user|assistant|tool): )/gim;

/** Such as `user: Why does the login fail?`; what is not said in words stands as JSON. */
function lineOf({ role, content, ...rest }: JsonObject): string {
  const said = typeof content === 'string' ? content : (content ?? null) === null ? '' : JSON.stringify(content);
  const contained = said.replace(LABEL, '$1\\');
  const more = Object.keys(rest).length > 0 ? JSON.stringify(rest) : '';
  return `${String(role)}: ${[contained, more].filter(Boolean).join(' ')}`;
}

export function contextAsText(context: AssembledContext): string {
  const { text, messages, token_count, token_budget, truncated, manifest_id } = context;
  const shown = text ?? (messages ?? []).map(lineOf).join('\n\n');
  const rest = truncated ? '; more did not fit' : '';
  return `${shown}\n\n(manifest ${manifest_id}: ${token_count} of ${token_budget} tokens${rest})`;
}

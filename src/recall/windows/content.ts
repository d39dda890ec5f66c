/** Content as the text that a window shows: of a list of parts the texts, and of other parts what they are. */
import { textOf } from '../../facts/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { isBlank, isObject } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import { cutAt, shortened } from './cut.js';

const TEXTS: readonly Json[] = ['text', 'input_text', 'output_text'];
const MEDIA = /^(?:input_)?(?:image|audio|video|file|document)(?:_url)?$/;

const isTyped = (part: Json): part is JsonObject & { readonly type: string } =>
  isObject(part) && typeof part.type === 'string';

const textIn = ({ type, text }: JsonObject): string | undefined =>
  TEXTS.includes(type!) && typeof text === 'string' ? text : undefined;

/** Whether a list is what model APIs call content parts, and not data of which each item happens to have a type. */
function partsIn(content: Json): readonly (JsonObject & { readonly type: string })[] | undefined {
  if (!Array.isArray(content) || !content.every(isTyped)) return undefined;
  const isContent = content.some((part) => textIn(part) !== undefined || MEDIA.test(part.type));
  return isContent ? content : undefined;
}

/** A string without any space that is longer than this is data: an image in base64, which says nothing as text. */
const LONGEST_NAME = 200;
const SHOWN_OF_DATA = 40;

function withoutData(value: Json): Json {
  if (typeof value === 'string') {
    const isData = value.length > LONGEST_NAME && !/\s/.test(value);
    return isData ? shortened(value, cutAt(value, SHOWN_OF_DATA)) : value;
  }
  if (Array.isArray(value)) return value.map(withoutData);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutData(one)]));
}

export function saidText(content: Json): string {
  const parts = partsIn(content);
  if (!parts) return textOf(content);
  const texts = parts.map((part) => textIn(part) ?? canonical(withoutData(part)));
  return texts.filter((text) => !isBlank(text)).join('\n\n');
}

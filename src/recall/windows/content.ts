/** Content as the text that a window shows: content parts by their texts, other parts as JSON without binary data. */
import { textOf } from '../../facts/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { isBlank, isObject } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import { cutAt, shortened } from './cut.js';

type TypedPart = JsonObject & { readonly type: string };

const TEXTS: readonly Json[] = ['text', 'input_text', 'output_text'];
const MEDIA = /^(?:input_)?(?:image|audio|video|file|document)(?:_url)?$/;

const isTyped = (part: Json): part is TypedPart => isObject(part) && typeof part.type === 'string';

const textIn = ({ type, text }: JsonObject): string | undefined =>
  TEXTS.includes(type!) && typeof text === 'string' ? text : undefined;

/** Distinguishes the content parts of model APIs from data whose items happen to have a type. */
const isContentParts = (content: Json): content is TypedPart[] =>
  Array.isArray(content) &&
  content.every(isTyped) &&
  content.some((part) => textIn(part) !== undefined || MEDIA.test(part.type));

/** A longer string without white space is data, such as an image in base64. */
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

export function contentText(content: Json): string {
  if (!isContentParts(content)) return textOf(content);
  const texts = content.map((part) => textIn(part) ?? canonical(withoutData(part)));
  return texts.filter((text) => !isBlank(text)).join('\n\n');
}

/** Extracts the searchable text of content, and its terms and ranking features. */
import type { Json, JsonObject } from '../kernel/contract.js';
import { parseDate, searchTextOf } from '../text/index.js';
import { codedTerms, type Terms } from './term-codes.js';

/** What the metadata of a content says of its document. */
export interface Described {
  readonly speaker: string | null;
  readonly tags: readonly string[];
  /** Null means the time of creation. */
  readonly occurred_at: number | null;
}

/** The terms of a text and what else it is ranked by: measured when its document is folded or searched, not by the write. */
export interface Measured {
  readonly terms: Terms;
  /** Number of terms, with repetitions. */
  readonly length: number;
  readonly flags: number;
}

/** Raise it when the same text would get other terms, length or flags: all content is then reindexed. */
export const ANALYSIS_VERSION = 5;

/** Only the first characters of a longer text are indexed. */
const MAX_CHARACTERS = 50_000;
const MAX_TAGS = 32;

/** All text in a value, member names included, in stored order. */
export function textOf(value: Json): string {
  if (typeof value === 'string') return value;
  const texts: string[] = [];
  let room = MAX_CHARACTERS;
  const walk = (part: Json): void => {
    if (room <= 0 || part === null) return;
    if (typeof part === 'object') {
      if (Array.isArray(part)) {
        for (const one of part) if (room > 0) walk(one);
      } else
        for (const name of Object.keys(part).sort()) {
          walk(name);
          walk(part[name]!);
        }
      return;
    }
    const text = String(part);
    room -= text.length;
    texts.push(text);
  };
  walk(value);
  return texts.join('\n');
}

/** The text of a message, without the member names of its parts. */
export function messageText(value: Json): string {
  if (!Array.isArray(value)) return textOf(value);
  const texts: string[] = [];
  let room = MAX_CHARACTERS;
  for (const part of value) {
    if (room <= 0) break;
    const said = part !== null && typeof part === 'object' && 'text' in part ? part.text! : part;
    room -= texts[texts.push(textOf(said)) - 1]!.length;
  }
  return texts.join('\n');
}

const asText = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** The first of these members that an object has and that is not null. */
function memberOf(value: Json, names: readonly string[]): Json | undefined {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined;
  return names.map((name) => value[name]).find((member) => member !== undefined && member !== null);
}

/** One line per call: tool and arguments. */
export const callsAsText = (calls: readonly Json[]): string =>
  calls
    .map((given) => {
      const call = memberOf(given, ['function', 'tool_call']) ?? given;
      const name = memberOf(call, ['name']);
      if (typeof name !== 'string') return asText(call);
      const input = memberOf(call, ['arguments', 'input', 'args']);
      return input === undefined ? name : `${name} ${asText(input)}`;
    })
    .join('\n');

/** The results of tools, without their envelopes. */
export const resultsAsText = (results: readonly Json[]): string =>
  results
    .map((given) => asText(memberOf(given, ['result', 'content', 'output', 'text']) ?? onlyTextOf(given) ?? given))
    .join('\n');

/** The text of an object whose only member is a text. */
function onlyTextOf(value: Json): string | undefined {
  if (value === null || typeof value !== 'object') return undefined;
  const [one, ...others] = Object.values(value);
  return typeof one === 'string' && others.length === 0 ? one : undefined;
}

export const trimmedLine = (value: Json | undefined, limit: number): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, limit) : null;

const tagsOf = ({ tags }: JsonObject): string[] =>
  Array.isArray(tags)
    ? tags.filter((tag): tag is string => typeof tag === 'string' && tag.length <= 200).slice(0, MAX_TAGS)
    : [];

interface Said {
  readonly content: Json;
  readonly name?: string | null;
  readonly more?: readonly (Json | undefined)[];
  readonly metadata?: JsonObject | undefined;
}

const NOTHING: Described = { speaker: null, tags: [], occurred_at: null };

export const describe = (metadata: JsonObject | undefined): Described =>
  metadata === undefined
    ? NOTHING
    : {
        speaker: trimmedLine(metadata.speaker, 200),
        tags: tagsOf(metadata),
        occurred_at: parseDate(metadata.occurred_at) ?? null,
      };

export function measure(index_key: string, { content, name, more = [], metadata = {} }: Said): Measured {
  const { speaker, tags, occurred_at } = describe(metadata);
  const texts = [name ?? '', messageText(content), ...more.map((one) => textOf(one ?? null)), tags.join(' ')];
  const text = texts
    .filter((one) => one !== '')
    .join('\n')
    .slice(0, MAX_CHARACTERS);
  const { frequencies, length, flags } = searchTextOf({
    content: text,
    title: name ?? null,
    speaker,
    caption: trimmedLine(metadata.caption, 2000),
    occurred_at,
  });
  return { terms: codedTerms(index_key, frequencies), length, flags };
}

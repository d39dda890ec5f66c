/** Items of LangGraph's store as notes: their names, filters and namespaces. */
import { InvalidNamespaceError, type Item, type MatchCondition } from '@langchain/langgraph-checkpoint';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { isObject } from '../../kernel/index.js';
import type { Note } from '../../memory/contract.js';
import { derivedId } from './ids.js';

export const ITEM_TYPE = 'langgraph.item';
const MAX_TITLE = 500;

export interface ItemName {
  readonly namespace: readonly string[];
  readonly key: string;
}

/** Ids are never reused: an item that is created again after its deletion has a later generation. */
export const noteIdOf = ({ namespace, key }: ItemName, generation: number): string =>
  derivedId(ITEM_TYPE, namespace, key, generation);

/** Notes can be listed by a prefix of their title, and so by namespace. */
export const titleOf = ({ namespace, key }: ItemName): string => cut(`${prefixOf(namespace)}"${key}"`);

export const titlePrefixOf = (namespace: readonly string[]): string => cut(prefixOf(namespace));

const prefixOf = (namespace: readonly string[]): string => namespace.map((label) => `${label}.`).join('');

function cut(title: string): string {
  const start = title.slice(0, MAX_TITLE);
  return start.isWellFormed() ? start : start.slice(0, -1);
}

/** The rules of LangGraph for the namespace of a put. */
export function checkNamespace(namespace: readonly string[]): void {
  const refuse = (why: string) => {
    throw new InvalidNamespaceError(`namespace ${JSON.stringify(namespace)}: ${why}`);
  };
  if (namespace.length === 0) refuse('needs at least one label');
  for (const label of namespace) {
    if (typeof label !== 'string' || label === '') refuse('labels must be non-empty strings');
    if (label.includes('.')) refuse(`the label "${label}" must not contain a period, which separates labels`);
  }
  if (namespace[0] === 'langgraph') refuse('the first label "langgraph" is reserved');
}

/** The name of the item that a note holds; undefined if it holds none. */
export function nameIn({ metadata: { namespace, key } }: Note): ItemName | undefined {
  if (!Array.isArray(namespace) || typeof key !== 'string') return undefined;
  return { namespace: namespace as string[], key };
}

export function itemOf({ content, created_at, updated_at }: Note, { namespace, key }: ItemName): Item {
  return {
    value: content as JsonObject,
    key,
    namespace: [...namespace],
    createdAt: new Date(created_at),
    updatedAt: new Date(updated_at),
  };
}

export const isUnder = (namespace: readonly string[], prefix: readonly string[]): boolean =>
  prefix.every((label, i) => namespace[i] === label);

export const passes = (value: JsonObject, filter: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(filter).every(([key, wanted]) => holds(value[key], wanted));

const isOperator = (name: string): boolean => name.startsWith('$');

function holds(value: Json | undefined, wanted: unknown): boolean {
  if (!isObject(wanted) || !Object.keys(wanted).some(isOperator)) return value === wanted;
  return Object.entries(wanted)
    .filter(([name]) => isOperator(name))
    .every(([name, operand]) => operators[name]?.(value, operand) ?? false);
}

const operators: Readonly<Record<string, (value: Json | undefined, operand: unknown) => boolean>> = {
  $eq: (value, operand) => value === operand,
  $ne: (value, operand) => value !== operand,
  $gt: (value, operand) => Number(value) > Number(operand),
  $gte: (value, operand) => Number(value) >= Number(operand),
  $lt: (value, operand) => Number(value) < Number(operand),
  $lte: (value, operand) => Number(value) <= Number(operand),
  $in: (value, operand) => Array.isArray(operand) && operand.includes(value),
  $nin: (value, operand) => !Array.isArray(operand) || !operand.includes(value),
};

/** `*` matches any one label. */
export function matches(namespace: readonly string[], { matchType, path }: MatchCondition): boolean {
  if (path.length > namespace.length) return false;
  const start = matchType === 'prefix' ? 0 : namespace.length - path.length;
  return path.every((label, i) => label === '*' || namespace[start + i] === label);
}

/** The prefix that all matching namespaces have, up to the first wildcard. */
export function commonStart(conditions: readonly MatchCondition[]): readonly string[] {
  const path = conditions.find(({ matchType }) => matchType === 'prefix')?.path ?? [];
  const any = path.indexOf('*');
  return any < 0 ? path : path.slice(0, any);
}

/** Items of LangGraph's store as notes: their names, and what a search or a list of namespaces matches. */
import { InvalidNamespaceError, type Item, type MatchCondition } from '@langchain/langgraph-checkpoint';
import type { Json, JsonObject } from '../../kernel/contract.js';
import type { Note } from '../../memory/contract.js';
import { isRecord } from './codec.js';
import { derivedId } from './ids.js';

export const ITEM_TYPE = 'langgraph.item';
const MAX_TITLE = 500;

export interface ItemName {
  readonly namespace: readonly string[];
  readonly key: string;
}

/** An id is never used twice: an item that comes back after it was deleted is of a later generation. */
export const noteIdOf = ({ namespace, key }: ItemName, generation: number): string =>
  derivedId(ITEM_TYPE, namespace, key, generation);

/** Titles can be found by how they begin, so all items under a namespace can. */
export const titleOf = ({ namespace, key }: ItemName): string => cut(`${prefixOf(namespace)}"${key}"`);

export const titlePrefixOf = (namespace: readonly string[]): string => cut(prefixOf(namespace));

const prefixOf = (namespace: readonly string[]): string => namespace.map((label) => `${label}.`).join('');

function cut(title: string): string {
  const start = title.slice(0, MAX_TITLE);
  return start.isWellFormed() ? start : start.slice(0, -1);
}

/** What the store of LangGraph asks of a namespace that something is put into. */
export function checkNamespace(namespace: readonly string[]): void {
  const refuse = (why: string) => {
    throw new InvalidNamespaceError(`namespace ${JSON.stringify(namespace)}: ${why}`);
  };
  if (namespace.length === 0) refuse('needs at least one label');
  for (const label of namespace) {
    if (typeof label !== 'string' || label === '') refuse('labels must be strings that are not empty');
    if (label.includes('.')) refuse(`the label "${label}" has a period, which separates labels`);
  }
  if (namespace[0] === 'langgraph') refuse('the first label "langgraph" is reserved');
}

/** The name that a note was given; undefined if it is not an item. */
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

/** Whether the members of a value are what a filter asks for: equal, or as its operators say. */
export function passes(value: JsonObject, filter: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(filter).every(([key, wanted]) => holds(value[key], wanted));
}

const isOperator = (name: string): boolean => name.startsWith('$');

function holds(value: Json | undefined, wanted: unknown): boolean {
  if (!isRecord(wanted) || !Object.keys(wanted).some(isOperator)) return value === wanted;
  return Object.entries(wanted)
    .filter(([name]) => isOperator(name))
    .every(([name, operand]) => compare(name, value, operand));
}

function compare(operator: string, value: Json | undefined, operand: unknown): boolean {
  switch (operator) {
    case '$eq':
      return value === operand;
    case '$ne':
      return value !== operand;
    case '$gt':
      return Number(value) > Number(operand);
    case '$gte':
      return Number(value) >= Number(operand);
    case '$lt':
      return Number(value) < Number(operand);
    case '$lte':
      return Number(value) <= Number(operand);
    case '$in':
      return Array.isArray(operand) && operand.includes(value);
    case '$nin':
      return !Array.isArray(operand) || !operand.includes(value);
    default:
      return false;
  }
}

/** `*` stands for any one label. */
export function matches(namespace: readonly string[], { matchType, path }: MatchCondition): boolean {
  if (path.length > namespace.length) return false;
  const start = matchType === 'prefix' ? 0 : namespace.length - path.length;
  return path.every((label, i) => label === '*' || namespace[start + i] === label);
}

/** The labels that a namespace must begin with for all of these conditions, up to the first that may be any. */
export function commonStart(conditions: readonly MatchCondition[]): readonly string[] {
  const path = conditions.find(({ matchType }) => matchType === 'prefix')?.path ?? [];
  const any = path.indexOf('*');
  return any < 0 ? path : path.slice(0, any);
}

/** What an operation is: one entry of the table from which routes, OpenAPI, client, CLI and the Api type are made. */
import type { z } from 'zod';
import { parseAs } from '../../kernel/index.js';
import { readLeniently } from './lenient-input.js';
import type { Touches } from './touches.js';

export type Access = 'read' | 'write' | 'admin';
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Operation<I extends z.ZodObject = z.ZodObject, O extends z.ZodType = z.ZodType> {
  readonly method: Method;
  /** With `{placeholders}`, which are members of the input; `{project_id}` is the caller's tenant. */
  readonly path: string;
  /** Further paths that lead to it, with the same placeholders; one with another method has that before it. Clients use `path`. */
  readonly also?: readonly string[];
  /** A strict object. Placeholders go into the path, the rest into the query (GET, DELETE) or the body. */
  readonly input: I;
  readonly output: O;
  readonly access: Access;
  /** What it reads and writes, by which an agent's rights are checked. Mandatory: an operation without it does not compile. */
  readonly touches: Touches;
  /** The packet_type of the event that a change appends; null for what changes nothing. */
  readonly event: string | null;
  readonly summary: string;
  /** Of the answer; 200 unless given. 204 answers have no body. */
  readonly status?: number;
  /** Its body carries a whole state, and may be larger than others. */
  readonly large?: true;
  /** May take as long as its input says, and ends early when the caller has gone. */
  readonly waits?: true;
  /** A stream answers with one output after another, over server-sent events; `frames` says how they look there. */
  readonly stream?: true;
  readonly frames?: Frames;
  /** The tool that it is to a model, over MCP; absent for what models are not offered. */
  readonly mcp?: Tool<O>;
  /** An input that works, for the reference page and the generated tests. Ids in it need not exist. */
  readonly example: Readonly<Record<string, unknown>>;
}

/** An operation as a tool: all else that is told of it (description, schemas, hints) follows from its entry. */
export interface Tool<O extends z.ZodType = z.ZodType> {
  /** What models call it: unique among tools. */
  readonly tool: string;
  /** When to use it, in a sentence or two. Stands behind the summary. */
  readonly use: string;
  /** Members of the input that say where the caller works: the server's settings fill in those that a model leaves out. */
  readonly place?: readonly string[];
  /** Members of the input that a model need not think of, and what they are then. */
  readonly unless_given?: Readonly<Record<string, unknown>>;
  /** The answer as a model reads it best; an outline of all its members unless given. */
  text?(answer: z.output<O>): string;
}

/** An item of a stream: what it is called on the wire, and what it carries besides its token. */
export interface Frame {
  readonly event: string;
  readonly data: unknown;
}

/** How the items of a stream travel, both ways. A heartbeat carries nothing but its token. */
export interface Frames {
  /** Null for a heartbeat. Every item has a token, by which the stream is resumed. */
  readonly toFrame: (item: unknown) => Frame | null;
  readonly toItem: (token: string, frame: Frame | null) => unknown;
}

/** What else of an entry has a type of its own: whether it streams, and its example, which tests build on. */
interface Exact {
  readonly stream?: true;
  readonly example: Readonly<Record<string, unknown>>;
}

/** Keeps the exact types of an entry, each schema once: declarations repeat what is inferred twice. */
export const operation = <I extends z.ZodObject, O extends z.ZodType, const X extends Exact>(
  entry: Operation<I, O> & X,
): Operation<I, O> & { [K in keyof X & keyof Exact]: X[K] } => entry;

/** Every way that leads to an operation, the one that clients use first. */
export const waysTo = ({
  method,
  path,
  also = [],
}: Pick<Operation, 'method' | 'path' | 'also'>): readonly { method: Method; path: string }[] => [
  { method, path },
  ...also.map((way) => {
    const [first, second] = way.split(' ');
    return second === undefined ? { method, path: way } : { method: first as Method, path: second };
  }),
];

/** The names between braces in a path, but for project_id. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!).filter((name) => name !== 'project_id');
}

/** Where the members of an input that are not in the path travel. */
export function restGoesTo(method: Method): 'query' | 'body' {
  return method === 'GET' || method === 'DELETE' ? 'query' : 'body';
}

/** Whether the path names the tenant as its project. */
export const namesProject = (path: string): boolean => path.includes('{project_id}');

/** Whether null in the input clears a member, rather than leaving it out. */
export const clearsByNull = ({ method }: Pick<Operation, 'method'>): boolean => method === 'PATCH';

/** The input of a call, read and checked by its entry: the one edge that every way to Cairn goes through. */
export const readInput = (operation: Operation & { readonly name: string }, input: unknown) =>
  parseAs(operation.input, readLeniently(operation.input, input, clearsByNull(operation)), operation.name) as Record<
    string,
    unknown
  >;

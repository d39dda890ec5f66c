/** An operation: one entry of the table from which routes, OpenAPI, client, CLI and the Api type are made. */
import type { z } from 'zod';
import { parseAs } from '../../kernel/index.js';
import { readLeniently } from './lenient-input.js';
import type { Touches } from './touches.js';

export type Access = 'read' | 'write' | 'admin';
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Operation<I extends z.ZodObject = z.ZodObject, O extends z.ZodType = z.ZodType> {
  readonly method: Method;
  /** With `{placeholders}` for members of the input; `{project_id}` is the caller's tenant. */
  readonly path: string;
  /** Further paths with the same placeholders, such as `/a/{id}` or `PUT /a/{id}`. Clients use `path`. */
  readonly also?: readonly string[];
  /** A strict object. Placeholders go into the path, the rest into the query (GET, DELETE) or the body. */
  readonly input: I;
  readonly output: O;
  readonly access: Access;
  /** What it reads and writes, for the check of an agent's rights. Mandatory by type. */
  readonly touches: Touches;
  /** The packet_type of its event; null for a read. */
  readonly event: string | null;
  readonly summary: string;
  /** HTTP status (default: 200). 204 has no body. */
  readonly status?: number;
  /** Leaves a tombstone: the content remains in the history until it is forgotten. */
  readonly keeps_history?: true;
  /** The body carries a whole state and has a higher limit. */
  readonly large?: true;
  /** Waits as long as its input says; ends early if the caller disconnects. */
  readonly waits?: true;
  /** Returns many outputs, over server-sent events in the form of `frames`. */
  readonly stream?: true;
  readonly frames?: Frames;
  /** The MCP tool for models; absent if models are not offered the operation. */
  readonly mcp?: Tool<O>;
  /** A valid input, for the reference page and generated tests. Its ids need not exist. */
  readonly example: Readonly<Record<string, unknown>>;
}

/** An operation as a tool; description, schemas and hints follow from its entry. */
export interface Tool<O extends z.ZodType = z.ZodType> {
  /** The unique name of the tool. */
  readonly tool: string;
  /** When to use it, in a sentence or two after the summary. */
  readonly use: string;
  /** It destroys what it is given, although it is no DELETE. */
  readonly destroys?: true;
  /** Members of the input that locate the caller's work: settings of the server are their defaults. */
  readonly place?: readonly string[];
  /** Defaults of members of the input for models. */
  readonly unless_given?: Readonly<Record<string, unknown>>;
  /** The answer as text for a model (default: an outline of all members). */
  text?(answer: z.output<O>): string;
}

/** An item of a stream on the wire, besides its token. */
interface Frame {
  readonly event: string;
  readonly data: unknown;
}

/** Converts items of a stream to frames and back. A heartbeat carries only its token. */
export interface Frames {
  /** Null for a heartbeat. */
  readonly toFrame: (item: unknown) => Frame | null;
  readonly toItem: (token: string, frame: Frame | null) => unknown;
}

/** Members that keep their exact types, besides the schemas: tests build on the example. */
interface Exact {
  readonly stream?: true;
  readonly example: Readonly<Record<string, unknown>>;
}

/** Keeps the exact types of an entry, each schema once, since declarations repeat an inferred type. */
export const operation = <I extends z.ZodObject, O extends z.ZodType, const X extends Exact>(
  entry: Operation<I, O> & X,
): Operation<I, O> & { [K in keyof X & keyof Exact]: X[K] } => entry;

/** What the answer to a deletion that keeps the history says in its header X-History. */
export const KEPT_HISTORY = 'kept; erase it with POST /api/v1/forget';

type Route = Pick<Operation, 'method' | 'path'>;

/** All routes of an operation; clients use the first. */
export const operationRoutes = ({ method, path, also = [] }: Route & Pick<Operation, 'also'>): readonly Route[] => [
  { method, path },
  ...also.map((way) => {
    const [first, second] = way.split(' ');
    return second === undefined ? { method, path: way } : { method: first as Method, path: second };
  }),
];

/** The placeholders of a path, except project_id. */
export const pathParameters = (path: string): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!).filter((name) => name !== 'project_id');

/** Where the members of an input travel that are not in the path. */
export const inputLocation = (method: Method): 'query' | 'body' =>
  method === 'GET' || method === 'DELETE' ? 'query' : 'body';

export const namesProject = (path: string): boolean => path.includes('{project_id}');

/** Whether null in the input clears a member instead of meaning absence. */
export const clearsByNull = ({ method }: Pick<Operation, 'method'>): boolean => method === 'PATCH';

/** Reads and checks the input of a call. Every call passes here, by whatever transport. */
export const readInput = (operation: Operation & { readonly name: string }, input: unknown) =>
  parseAs(operation.input, readLeniently(operation.input, input, clearsByNull(operation)), operation.name) as Record<
    string,
    unknown
  >;

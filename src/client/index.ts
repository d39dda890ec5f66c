/** cairndb/client: the Api over HTTP, derived from the table. */
import { z } from 'zod';
import { allOperations, CALL_HEADERS, type CairnView, type NamedOperation, viewsOn } from '../api/contract.js';
import type { Api, CallOptions } from '../api/index.js';
import { inputLocation, namesProject, pathParameters } from '../engine/contract.js';
import { jsonFault } from '../kernel/contract.js';
import { CairnError, invalid } from '../kernel/index.js';
import { refusal } from './refusal.js';
import { sendingChanges } from './sent-states.js';
import { Streams, type Transport } from './streams.js';
import type { StreamSocketConstructor } from './websocket.js';

export type { CairnView } from '../api/contract.js';
export { CairnError, type ErrorCode } from '../kernel/index.js';
export type * from '../types.js';
export type { StreamSocket, StreamSocketConstructor } from './websocket.js';

export interface ConnectOptions {
  /** Address of the server, such as http://127.0.0.1:8080. */
  readonly url: string;
  /** API key; default: none. */
  readonly key?: string | undefined;
  /** Tenant of the key; default: the client asks the server once. */
  readonly tenant?: string | undefined;
  /** Replacement for the global fetch; streams then use it too, unless `WebSocket` is given. */
  readonly fetch?: typeof globalThis.fetch;
  /** How streams travel. Default: "auto", WebSocket where there is one that works, else server-sent events. */
  readonly transport?: Transport | undefined;
  /** Replacement for the global WebSocket, such as that of the package ws on Node 20, which has none. */
  readonly WebSocket?: StreamSocketConstructor | undefined;
}

export interface CairnClient extends CairnView {
  /** Ends open streams and waits for running calls. */
  close(): Promise<void>;
}

export function connectCairn(options: ConnectOptions): CairnClient {
  const connection = new Connection(options);
  const api: Record<string, Record<string, unknown>> = {};
  for (const operation of allOperations) {
    (api[operation.group] ??= {})[operation.verb] = operation.stream
      ? (input?: object, call?: CallOptions) => connection.follow(operation, input ?? {}, call ?? {})
      : (input?: object, call?: CallOptions) => connection.call(operation, input ?? {}, call ?? {});
  }
  const named = api as unknown as Api;
  Object.assign(named.checkpoints, { create: sendingChanges(named.checkpoints.create) });
  return { ...viewsOn(named), close: () => connection.close() };
}

/** Levels that a body may have above a value in it. */
const ENVELOPE_DEPTH = 8;

class Connection {
  readonly #options: ConnectOptions;
  readonly #base: string;
  readonly #fetch: typeof globalThis.fetch;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  readonly #streams: Streams;
  #tenant: Promise<string> | undefined;

  constructor(options: ConnectOptions) {
    if (!/^https?:\/\//.test(options.url))
      throw invalid(`\`url\` must begin with http:// or https://, not "${options.url}"`);
    this.#options = options;
    this.#base = options.url.replace(/\/+$/, '');
    // Browsers refuse to call fetch as a method of another object.
    this.#fetch = options.fetch ?? ((...request) => globalThis.fetch(...request));
    if (options.tenant !== undefined) this.#tenant = Promise.resolve(options.tenant);
    const wire = {
      base: this.#base,
      closing: this.#closing.signal,
      path: async (operation: NamedOperation, input: object) => (await this.#target(operation, input)).path,
      open: (operation: NamedOperation, input: object, call: CallOptions) =>
        this.#send(operation, input, call, { accept: 'text/event-stream' }),
    };
    this.#streams = new Streams(wire, options);
  }

  async call(operation: NamedOperation, input: object, options: CallOptions): Promise<unknown> {
    if (this.#closing.signal.aborted) throw new CairnError('SHUTTING_DOWN', 'this client is closed', { closed: true });
    const work = this.#call(operation, input, options);
    const quiet = work.catch(() => undefined).finally(() => this.#running.delete(quiet));
    this.#running.add(quiet);
    return work;
  }

  async #call(operation: NamedOperation, input: object, options: CallOptions): Promise<unknown> {
    const response = await this.#send(operation, input, options);
    const text = await response.text().catch((error) => {
      throw options.signal?.aborted ? error : this.#unreachable(error);
    });
    if (!response.ok) throw refusal(response.status, text);
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  }

  async #send(
    operation: NamedOperation,
    input: object,
    options: CallOptions,
    more: Record<string, string> = {},
  ): Promise<Response> {
    const { path, body } = await this.#target(operation, input);
    const headers: Record<string, string> = { ...more };
    if (this.#options.key !== undefined) headers.authorization = `Bearer ${this.#options.key}`;
    for (const [member, name] of CALL_HEADERS) {
      const given = options[member];
      if (given === undefined) continue;
      const value = member === 'user' ? encodeURIComponent(given.toWellFormed()) : given;
      if (!/^[\x21-\x7e]+$/.test(value))
        throw invalid(`${operation.name}: ${member} must consist of visible ASCII characters`);
      headers[name] = value;
    }
    if (body !== undefined) headers['content-type'] = 'application/json';
    try {
      return await this.#fetch(`${this.#base}${path}`, {
        method: operation.method,
        headers,
        ...(body === undefined ? {} : { body }),
        ...(options.signal ? { signal: options.signal } : {}),
      });
    } catch (error) {
      throw options.signal?.aborted ? error : this.#unreachable(error);
    }
  }

  #unreachable(error: unknown): CairnError {
    const cause = (error as { cause?: Error }).cause;
    return new CairnError(
      'SERVER_UNREACHABLE',
      `${this.#base} cannot be reached: ${cause?.message || (error as Error).message}; start a server with \`cairn serve\``,
      undefined,
      error,
    );
  }

  /** Splits an input into path, query and body, as the table says. */
  async #target(operation: NamedOperation, input: object): Promise<{ path: string; body: string | undefined }> {
    const members = { ...(input as Record<string, unknown>) };
    let path = operation.path;
    if (namesProject(path)) path = path.replace('{project_id}', encodeURIComponent(await this.#tenantName()));
    for (const name of pathParameters(path)) {
      const value = members[name];
      if (typeof value !== 'string' || value === '' || value === '.' || value === '..')
        throw invalid(`${operation.name}: ${name}: must be a non-empty string other than "." and ".."`);
      path = path.replace(`{${name}}`, encodeURIComponent(value.toWellFormed()));
      delete members[name];
    }
    if (inputLocation(operation.method) === 'body') return { path, body: toBody(operation, members) };
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(members))
      if (value !== undefined && value !== null)
        query.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
    return { path: query.size > 0 ? `${path}?${query}` : path, body: undefined };
  }

  #tenantName(): Promise<string> {
    this.#tenant ??= (async () => {
      const whoami = allOperations.find(({ name }) => name === 'auth.whoami')!;
      return ((await this.#call(whoami, {}, {})) as { tenant_id: string }).tenant_id;
    })();
    // An error is not cached: the next call asks again.
    this.#tenant.catch(() => (this.#tenant = undefined));
    return this.#tenant;
  }

  follow(operation: NamedOperation, input: object, options: CallOptions): AsyncGenerator<unknown, void> {
    return this.#streams.follow(operation, input, options);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#running);
  }
}

/** Refuses values that JSON.stringify would change silently, such as NaN or a Map, as a local store does. */
function toBody(operation: NamedOperation, members: Record<string, unknown>): string {
  for (const [name, value] of Object.entries(members))
    if (value instanceof Uint8Array) members[name] = asText(operation, name, value);
  // Allows for the levels around a value; the server checks the exact depth.
  const fault = jsonFault(members, -ENVELOPE_DEPTH);
  if (fault) throw invalid(`${operation.name}: ${fault}`);
  return JSON.stringify(members);
}

/** Bytes in the JSON form of the operation's schema; unchanged if it takes no bytes. */
function asText({ input }: NamedOperation, name: string, value: Uint8Array): unknown {
  const read = input.shape[name] === undefined ? undefined : z.safeParse(input.shape[name], value);
  return typeof read?.data === 'string' ? read.data : value;
}

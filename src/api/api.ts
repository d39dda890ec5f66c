/** The Api: a mapped type over the table. Store, library and HTTP client all implement it. */
import type { z } from 'zod';
import type { Caller, Operation } from '../engine/contract.js';
import type { CallOptions } from '../engine/index.js';
import type { Operations } from './operations.js';

export type { CallOptions };

export type Input<O extends Operation> = z.input<O['input']>;
export type Output<O extends Operation> = z.output<O['output']>;

type Answer<O extends Operation> = O extends { stream: true } ? AsyncIterable<Output<O>> : Promise<Output<O>>;

type Method<O extends Operation> =
  Record<string, never> extends Input<O>
    ? (input?: Input<O>, options?: CallOptions) => Answer<O>
    : object extends Input<O>
      ? (input?: Input<O>, options?: CallOptions) => Answer<O>
      : (input: Input<O>, options?: CallOptions) => Answer<O>;

export type Api = {
  readonly [G in keyof Operations]: {
    readonly [V in keyof Operations[G]]: Operations[G][V] extends Operation ? Method<Operations[G][V]> : never;
  };
};

/** An Api by name, for loops over the table. */
export type AnyMethod = (input?: unknown, options?: CallOptions) => Promise<unknown> | AsyncIterable<unknown>;
export type ApiByName = Readonly<Record<string, Readonly<Record<string, AnyMethod>>>>;

/** The part of a store that a server needs. */
export interface Host {
  /** The caller of a key; undefined if the key is unknown or revoked. */
  authenticate(key: string): Promise<Caller | undefined>;
  /** Whether any key exists. Without one, local clients need none. */
  hasKeys(): Promise<boolean>;
  api(caller: Caller): Api;
  /** Rejects if the database does not answer. `clock_ahead_ms` is 0 within the normal clock skew. */
  ready(): Promise<{ readonly clock_ahead_ms: number }>;
  figures(): Readonly<Record<string, number>>;
}

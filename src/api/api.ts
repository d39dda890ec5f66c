/** The Api: a mapped type over the table. The service, the HTTP client and the library all hand out this. */
import type { z } from 'zod';
import type { Caller, Operation } from '../engine/contract.js';
import type { CallOptions } from '../engine/index.js';
import type { Operations } from './operations.js';

export type { CallOptions };

export type Input<O extends Operation> = z.input<O['input']>;
export type Output<O extends Operation> = z.output<O['output']>;

type Answer<O extends Operation> = O extends { stream: true } ? AsyncIterable<Output<O>> : Promise<Output<O>>;

export type Method<O extends Operation> =
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

/** What a server needs of the store: whom a key belongs to, an Api for a caller, and how it is doing. */
export interface Host {
  /** The caller that a key stands for; undefined when it is unknown or revoked. */
  authenticate(key: string): Promise<Caller | undefined>;
  /** Whether any key exists. Without one, loopback is served openly. */
  hasKeys(): Promise<boolean>;
  api(caller: Caller): Api;
  /**
   * Resolves when the database answers, rejects with the reason otherwise. Says how far the newest record is ahead of the
   * clock, where that is more than clocks differ by; else 0.
   */
  ready(): Promise<{ readonly clock_ahead_ms: number }>;
  /** Figures for /metrics: name to value. */
  figures(): Readonly<Record<string, number>>;
}

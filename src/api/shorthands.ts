/** Shorthands for the most used operations: `cairn.remember(text)` and `cairn remember <text>`. */
import type { Operation } from '../engine/contract.js';
import type { Api, ApiByName, CallOptions, Input, Output } from './api.js';
import type { Operations } from './operations.js';

export const shorthands = {
  remember: { group: 'memory', verb: 'remember', first: 'text' },
  recall: { group: 'memory', verb: 'recall', first: 'query' },
} as const satisfies Record<string, { group: keyof Operations; verb: string; first: string }>;

type Table = typeof shorthands;

type Shorthand<O, F extends string> = O extends Operation
  ? (first: Input<O>[F & keyof Input<O>], rest?: Omit<Input<O>, F>, options?: CallOptions) => Promise<Output<O>>
  : never;

export type Shorthands = {
  readonly [N in keyof Table]: Shorthand<
    Operations[Table[N]['group']][Table[N]['verb'] & keyof Operations[Table[N]['group']]],
    Table[N]['first']
  >;
};

export const shorthandsOn = (api: Api): Shorthands =>
  Object.fromEntries(
    Object.entries(shorthands).map(([name, { group, verb, first }]) => [
      name,
      (value: unknown, rest?: object, options?: CallOptions) =>
        (api as unknown as ApiByName)[group]![verb]!({ ...rest, [first]: value }, options),
    ]),
  ) as Shorthands;

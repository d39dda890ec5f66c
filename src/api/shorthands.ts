/** What is used most, as methods of a Cairn itself and as commands of their own: the member that matters comes first. */
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

/** The shorthands on an Api, whatever stands behind it. */
export function shorthandsOn(api: Api): Shorthands {
  const made = Object.entries(shorthands).map(([name, { group, verb, first }]) => [
    name,
    (value: unknown, rest?: object, options?: CallOptions) =>
      (api as unknown as ApiByName)[group]![verb]!({ ...rest, [first]: value }, options),
  ]);
  return Object.fromEntries(made) as Shorthands;
}

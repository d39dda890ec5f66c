/** Shorthands for the most used operations: `cairn.remember(text)`, `cairn remember <text>`, `cairn.forget({ ids })`. */
import type { Operation } from '../engine/contract.js';
import type { Api, ApiByName, CallOptions, Input, Output } from './api.js';
import type { Operations } from './operations.js';

export const shorthands = {
  remember: { group: 'memory', verb: 'remember', first: 'text' },
  recall: { group: 'memory', verb: 'recall', first: 'query' },
} as const satisfies Record<string, { group: keyof Operations; verb: string; first: string }>;

/** Operations with a shorthand that takes their whole input. */
export const wholeShorthands = { forget: { group: 'memory', verb: 'forget' } } as const satisfies Record<
  string,
  { group: keyof Operations; verb: string }
>;

type Table = typeof shorthands;
type Whole = typeof wholeShorthands;

type Shorthand<O, F extends string> = O extends Operation
  ? (first: Input<O>[F & keyof Input<O>], rest?: Omit<Input<O>, F>, options?: CallOptions) => Promise<Output<O>>
  : never;

export type Shorthands = {
  readonly [N in keyof Table]: Shorthand<
    Operations[Table[N]['group']][Table[N]['verb'] & keyof Operations[Table[N]['group']]],
    Table[N]['first']
  >;
} & {
  readonly [N in keyof Whole]: Api[Whole[N]['group']][Whole[N]['verb']];
};

export function shorthandsOn(api: Api): Shorthands {
  const operations = api as unknown as ApiByName;
  const short = Object.entries(shorthands).map(([name, { group, verb, first }]) => [
    name,
    (value: unknown, rest?: object, options?: CallOptions) =>
      operations[group]![verb]!({ ...rest, [first]: value }, options),
  ]);
  const same = Object.entries(wholeShorthands).map(([name, { group, verb }]) => [name, operations[group]![verb]!]);
  return Object.fromEntries([...short, ...same]) as Shorthands;
}

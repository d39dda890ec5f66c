/** Shapes that the stores share: row types derived from answers, times as text, conditions of lists. */
import { type Sql, sql, verbatim } from '../driver/index.js';
import type { In, OperationsByName } from '../engine/contract.js';
import type { PageInput } from '../engine/index.js';
import { toIso } from '../kernel/index.js';

type Mapped<T, From, To> = { readonly [K in keyof T]: K extends `${string}_at` ? Swap<T[K], From, To> : T[K] };
type Swap<T, From, To> = T extends From ? To : T;

/** An answer as its table holds it: times are epoch milliseconds. */
export type Stored<T> = Mapped<T, string, number>;

/** A row with its times (`*_at`) as ISO text. */
export function withIsoTimes<R extends object>(row: R): Mapped<R, number, string> {
  // A loop over a copy: Object.fromEntries takes three times as long, for each row of a list.
  const shown = { ...row } as Record<string, unknown>;
  for (const name in shown) {
    const value = shown[name];
    if (typeof value === 'number' && name.endsWith('_at')) shown[name] = toIso(value);
  }
  return shown as Mapped<R, number, string>;
}

/** The filters of a list operation. `party` restricts it to rows of which this agent is a party. */
export type ListFilter<N extends keyof OperationsByName> = Omit<In<N>, keyof PageInput> & {
  readonly party?: string | undefined;
};

/** `column = value` for each column that has a value. The names are written in the code, never a caller's. */
export const equalTo = (columns: Readonly<Record<string, string | undefined>>): Sql[] =>
  Object.entries(columns)
    .filter(([, value]) => value !== undefined)
    .map(([column, value]) => sql`${verbatim(column)} = ${value!}`);

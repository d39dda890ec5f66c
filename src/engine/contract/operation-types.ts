/** Types of inputs and answers by the name of the operation: `In<'turns.add'>`, `Out<'turns.add'>`. */
import type { z } from 'zod';

/** Operations by name. Each module merges its groups in, in its contract.ts. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging
export interface OperationsByName {}

/** The operations of one group, by name. */
export type Group<G extends string, O> = { [V in keyof O & string as `${G}.${V}`]: O[V] };

export type In<N extends keyof OperationsByName> = z.output<OperationsByName[N]['input']>;
export type Out<N extends keyof OperationsByName> = z.output<OperationsByName[N]['output']>;

/** The memory_access of agents: types of memory and scopes of rules. */
import { z } from 'zod';
import { refusesNull } from '../contract/lenient-input.js';

export const memoryType = z.enum(['Turn', 'Artifact', 'Note', 'Card', 'Packet', 'Checkpoint', '*']);

export type MemoryType = z.output<typeof memoryType>;

export const memoryScope = z.enum(['own', 'own_trajectory', 'all']);

export type MemoryScope = z.output<typeof memoryScope>;

/** Null never means "unrestricted": a slip would grant everything. */
export const refuseNullError = (unrestricted: string) => ({
  error: ({ input }: { readonly input?: unknown }): string | undefined =>
    input === null ? `must not be null: to restrict nothing, write ${unrestricted}` : undefined,
});

const EVERYTHING = '[{"memory_type": "*", "scope": "all"}]';

const rules = refusesNull(
  z
    .array(z.strictObject({ memory_type: memoryType, scope: memoryScope }), refuseNullError(EVERYTHING))
    .max(100)
    .describe('An empty list allows nothing'),
);

export const memoryAccess = refusesNull(
  z
    .strictObject(
      { read: rules.optional(), write: rules.optional() },
      refuseNullError(`{"read": ${EVERYTHING}, "write": ${EVERYTHING}}`),
    )
    .describe('What the agent may read and write; an absent member is unrestricted')
    .meta({ id: 'MemoryAccess' }),
);

export type MemoryAccess = z.output<typeof memoryAccess>;

/** One scope for every type, for reading and writing. */
export const accessTo = (scope: MemoryScope): MemoryAccess => ({
  read: [{ memory_type: '*', scope }],
  write: [{ memory_type: '*', scope }],
});

/** Rights given with a key: one scope for everything, none, or rules. */
export const grantedAccess = refusesNull(
  z
    .union([z.enum(['none', ...memoryScope.options]), memoryAccess], {
      error: 'must be none, own, own_trajectory, all, or a memory_access with read and write',
    })
    .describe('none, own, own_trajectory, all, or a memory_access; default: own'),
);

export type GrantedAccess = z.output<typeof grantedAccess>;

/** The names of the kinds of definitions, for contracts as well. The order is the one in which they are applied. */
export const KIND_NAMES = ['settings', 'profile', 'agent', 'handover', 'policy'] as const;
export type KindName = (typeof KIND_NAMES)[number];

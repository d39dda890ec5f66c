/** The categories of memory that search knows. */

/** Seed 004's categories, by what a thing is and how long it lives. */
export const MEMORY_CATEGORIES = ['ephemeral', 'working', 'episodic', 'semantic', 'procedural'] as const;

export type MemoryCategory = (typeof MEMORY_CATEGORIES)[number];

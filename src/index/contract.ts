/** The categories of memory, for clients as well. */

/** By kind and lifetime (seed 004). */
export const MEMORY_CATEGORIES = ['ephemeral', 'working', 'episodic', 'semantic', 'procedural'] as const;

export type MemoryCategory = (typeof MEMORY_CATEGORIES)[number];

/** How LangGraph's names become Cairn's ids, and back. */
import { createHash } from 'node:crypto';

/** An id that follows from what it stands for: the same in every process. Shaped as a UUID of version 8. */
export function derivedId(...parts: readonly unknown[]): string {
  const hex = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** A part of a conversation: LangGraph's thread_id and checkpoint_ns. */
export interface Place {
  readonly thread_id: string;
  readonly namespace: string;
}

/** What LangGraph names a checkpoint by. */
export const configOf = ({ thread_id, namespace }: Place, checkpoint_id: string) => ({
  configurable: { thread_id, checkpoint_ns: namespace, checkpoint_id },
});

export const placeKey = ({ thread_id, namespace }: Place): string => JSON.stringify([thread_id, namespace]);

/** An id is never used twice, so a thread that comes back after it was deleted is of a later generation. */
export function executionIdOf({ thread_id, namespace }: Place, generation: number): string {
  const name = ['langgraph', thread_id, namespace];
  return generation === 0 ? derivedId(...name) : derivedId(...name, generation);
}

/** LangGraph's ids are unique in a thread only; what is added makes them unique and keeps their order. */
const suffixOf = (execution_id: string): string => `.${execution_id.replaceAll('-', '').slice(0, 12)}`;

export const toCheckpointId = (id: string, execution_id: string): string => id + suffixOf(execution_id);

/** The id that LangGraph knows it by. One that Cairn made (a branch) is known by its own. */
export function fromCheckpointId(checkpoint_id: string, execution_id: string): string {
  const suffix = suffixOf(execution_id);
  return checkpoint_id.endsWith(suffix) ? checkpoint_id.slice(0, -suffix.length) : checkpoint_id;
}

/** Whether LangGraph knows a checkpoint by this name, in the execution that it is looked for in. */
export const isNamed = (checkpoint_id: string, name: string | undefined): boolean =>
  name !== undefined && (checkpoint_id === name || checkpoint_id.startsWith(`${name}.`));

export const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null)?.code;

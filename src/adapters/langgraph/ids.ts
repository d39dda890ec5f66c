/** Ids of Cairn from the names of LangGraph, and back. */
import { createHash } from 'node:crypto';
import type { ErrorCode } from '../../kernel/index.js';

/** An id derived from its parts, the same in every process. Shaped as a UUID of version 8. */
export function derivedId(...parts: readonly unknown[]): string {
  const hex = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** LangGraph's thread_id and checkpoint_ns. */
export interface Thread {
  readonly thread_id: string;
  readonly namespace: string;
}

export const configOf = ({ thread_id, namespace }: Thread, checkpoint_id: string) => ({
  configurable: { thread_id, checkpoint_ns: namespace, checkpoint_id },
});

export const threadKey = ({ thread_id, namespace }: Thread): string => JSON.stringify([thread_id, namespace]);

/** Ids are never reused, so a thread that is created again after its deletion has a later generation. */
export const executionIdOf = ({ thread_id, namespace }: Thread, generation: number): string =>
  derivedId('langgraph', thread_id, namespace, ...(generation === 0 ? [] : [generation]));

/** LangGraph's ids are unique within a thread; the suffix makes them unique in a tenant and keeps their order. */
const suffixOf = (execution_id: string): string => `.${execution_id.replaceAll('-', '').slice(0, 12)}`;

export const toCheckpointId = (id: string, execution_id: string): string => id + suffixOf(execution_id);

/** The id in LangGraph. A checkpoint that Cairn created (a branch) keeps its own id. */
export function fromCheckpointId(checkpoint_id: string, execution_id: string): string {
  const suffix = suffixOf(execution_id);
  return checkpoint_id.endsWith(suffix) ? checkpoint_id.slice(0, -suffix.length) : checkpoint_id;
}

/** Whether a checkpoint has this id in LangGraph, within its execution. */
export const isNamed = (checkpoint_id: string, name: string | undefined): boolean =>
  name !== undefined && (checkpoint_id === name || checkpoint_id.startsWith(`${name}.`));

export const codeOf = (error: unknown): unknown => (error as { code?: unknown } | null)?.code;

/** The answer of a call; undefined if it fails with one of the codes. */
export const unless = <T>(codes: readonly ErrorCode[], call: Promise<T>): Promise<T | undefined> =>
  call.catch((error: unknown) => {
    if (!(codes as readonly unknown[]).includes(codeOf(error))) throw error;
    return undefined;
  });

/** In which order checkpoints are taken in: parents before their children. */
import { invalid } from '../../kernel/index.js';

export interface Descendant {
  readonly id: string;
  readonly timestamp: number;
  readonly parent_id: string | undefined;
}

/** Otherwise by time, then by id, so that the same files always give the same order. */
export function parentsFirst<T extends Descendant>(all: readonly T[]): T[] {
  const byId = new Map(all.map((one) => [one.id, one]));
  const ordered: T[] = [];
  const placed = new Set<string>();
  const sorted = all.toSorted((a, b) => a.timestamp - b.timestamp || (a.id < b.id ? -1 : 1));
  for (const start of sorted) {
    const line: T[] = [];
    const onLine = new Set<string>();
    for (let one: T | undefined = start; one && !placed.has(one.id); one = byId.get(one.parent_id ?? '')) {
      if (onLine.has(one.id)) throw invalid(`checkpoint ${one.id} descends from itself`);
      onLine.add(one.id);
      line.push(one);
    }
    for (const one of line.reverse()) {
      placed.add(one.id);
      ordered.push(one);
    }
  }
  return ordered;
}

/** The states of all checkpoints of an execution, put together from parts that were read once. */
import type { Json } from '../../kernel/contract.js';
import { freeze, type Steps } from '../../kernel/index.js';
import type { StoredPart } from '../states/assembly.js';
import { type Rest, type State, stateOf } from '../states/snapshot-state.js';

interface PartOnLine extends Omit<StoredPart, 'depth'> {
  readonly removed: number;
}

interface Line {
  readonly line: number;
  readonly base_line: number | null;
  readonly base_revision: number | null;
}

/** Gives the state at a revision of a line. Values are shared between the states, and frozen. */
export function* statesFrom(
  parts: readonly PartOnLine[],
  lines: readonly Line[],
): Steps<(at: { readonly line: number; readonly revision: number }, rest: Rest) => State> {
  const bases = new Map(lines.map((line) => [line.line, line]));
  const onLine = new Map<number, PartOnLine[]>();
  for (const part of parts) {
    yield;
    const group = onLine.get(part.line);
    if (group) group.push(read(part));
    else onLine.set(part.line, [read(part)]);
  }
  return (at, rest) => {
    const shown: StoredPart[] = [];
    let segment: { line: number; revision: number } | undefined = at;
    for (let depth = 0; segment; depth++) {
      const { line, revision }: { line: number; revision: number } = segment;
      for (const part of onLine.get(line) ?? [])
        if (part.added <= revision && part.removed > revision) shown.push({ ...part, depth });
      const base = bases.get(line);
      segment = base && base.base_line !== null ? { line: base.base_line, revision: base.base_revision! } : undefined;
    }
    return stateOf(shown, rest, false);
  };
}

const read = (part: PartOnLine): PartOnLine =>
  part.value === null ? part : { ...part, parsed: freeze(JSON.parse(part.value) as Json) };

/** Finds the turn behind each message of a conversation: by role and text, else by its place between those found. */

export interface ShownMessage {
  readonly role: string;
  readonly text: string;
}

/** A turn of the manifest. Without its card only its place is known. */
export interface ShownTurn {
  readonly role?: string;
  readonly texts?: readonly string[];
  /** Characters shown, if it was shortened. */
  readonly kept?: number | null;
}

const keyOf = (role: string, text: string): string => `${role} ${text.trim()}`;

/** Shorter prefixes would match by chance. */
const MIN_PREFIX = 12;

/** For each message the index of its turn, or undefined. */
export function matchTurns(messages: readonly ShownMessage[], turns: readonly ShownTurn[]): (number | undefined)[] {
  const waiting = new Map<string, number[]>();
  for (const [index, { role, texts = [] }] of turns.entries()) {
    for (const text of texts) {
      const key = keyOf(role!, text);
      const list = waiting.get(key);
      if (list) list.push(index);
      else waiting.set(key, [index]);
    }
  }
  const shortened = turns.flatMap(({ texts = [], kept }, index) =>
    kept === null || kept === undefined ? [] : texts.map((text) => ({ index, start: text.slice(0, kept).trim() })),
  );
  const found = messages.map(({ role, text }) => {
    const list = waiting.get(keyOf(role, text));
    if (list && list.length > 0) return list.shift();
    return shortened.find(({ start }) => start.length >= MIN_PREFIX && text.trim().startsWith(start))?.index;
  });
  return fillGaps(found, turns.length);
}

/** Messages between two that are known, if as many turns are between their turns. */
function fillGaps(found: readonly (number | undefined)[], turns: number): (number | undefined)[] {
  const filled = [...found];
  const used = new Set(found);
  for (let from = 0; from < filled.length; from++) {
    if (filled[from] !== undefined) continue;
    let until = from;
    while (until < filled.length && filled[until] === undefined) until++;
    const low = from === 0 ? -1 : filled[from - 1]!;
    const high = until === filled.length ? turns : filled[until]!;
    const free: number[] = [];
    for (let turn = low + 1; turn < high; turn++) if (!used.has(turn)) free.push(turn);
    const count = until - from;
    if (free.length === count) for (let i = 0; i < count; i++) filled[from + i] = free[i]!;
    else if (free.length === 1) filled.fill(free[0]!, from, until);
    from = until;
  }
  return filled;
}

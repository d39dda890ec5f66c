/** What differs between two contexts, by their records: what came in, what went out, what stands otherwise. */
import type { ContextEntry } from '../contexts/model.js';
import type { ManifestDiff } from '../manifests/model.js';

/** Lists are shown so far. */
const SHOWN = 1000;

type Changes = Pick<ManifestDiff, 'came_in' | 'went_out' | 'changed'>;

/** A card may be in a context once as a turn and once elsewhere; the first counts. */
function shownIn(entries: readonly ContextEntry[]): Map<string, ContextEntry> {
  const shown = new Map<string, ContextEntry>();
  for (const entry of [...entries].sort((a, b) => (a.place ?? 0) - (b.place ?? 0))) {
    if (entry.place !== null && !shown.has(entry.card_id)) shown.set(entry.card_id, entry);
  }
  return shown;
}

export function diffContexts(before: readonly ContextEntry[], after: readonly ContextEntry[]): Changes {
  const then = shownIn(before);
  const now = shownIn(after);
  const came_in = [...now.values()].filter(({ card_id }) => !then.has(card_id));
  const went_out = [...then.values()].filter(({ card_id }) => !now.has(card_id));
  const rank = ranksAmong(then, now);
  const changed = [...now.values()].flatMap((entry) => {
    const was = then.get(entry.card_id);
    if (!was || isAlike(was, entry, rank)) return [];
    return [{ id: entry.id, card_id: entry.card_id, before: was, after: entry }];
  });
  return { came_in: came_in.slice(0, SHOWN), went_out: went_out.slice(0, SHOWN), changed: changed.slice(0, SHOWN) };
}

type Ranks = { readonly before: ReadonlyMap<string, number>; readonly after: ReadonlyMap<string, number> };

/** Places among what is in both: what only made room for others has not changed its place. */
function ranksAmong(then: ReadonlyMap<string, ContextEntry>, now: ReadonlyMap<string, ContextEntry>): Ranks {
  const common = (one: ReadonlyMap<string, ContextEntry>, other: ReadonlyMap<string, ContextEntry>) =>
    new Map([...one.keys()].filter((id) => other.has(id)).map((id, i) => [id, i]));
  return { before: common(then, now), after: common(now, then) };
}

const isAlike = (was: ContextEntry, is: ContextEntry, { before, after }: Ranks): boolean =>
  was.section === is.section &&
  was.reason === is.reason &&
  was.kept_characters === is.kept_characters &&
  String(was.contradicts) === String(is.contradicts) &&
  before.get(was.card_id) === after.get(is.card_id);

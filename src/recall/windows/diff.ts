/** Compares two contexts by their entries: which came in, went out, or changed. */
import type { ContextEntry } from '../contexts/model.js';
import type { ManifestDiff } from '../manifests/model.js';

/** Maximum length of each list of a diff. */
const MAX_LISTED = 1000;

type Entries = ReadonlyMap<string, ContextEntry>;

/** Entries by card, in order of place. A card may be shown as a turn and again elsewhere; the first counts. */
function shownIn(entries: readonly ContextEntry[]): Entries {
  const shown = new Map<string, ContextEntry>();
  for (const entry of [...entries].sort((a, b) => (a.place ?? 0) - (b.place ?? 0))) {
    if (entry.place !== null && !shown.has(entry.card_id)) shown.set(entry.card_id, entry);
  }
  return shown;
}

const missingFrom = (entries: Entries, others: Entries): ContextEntry[] =>
  [...entries.values()].filter(({ card_id }) => !others.has(card_id)).slice(0, MAX_LISTED);

/** Ranks among the cards of both contexts: an entry that only moved because others came or went keeps its rank. */
const ranksAmong = (entries: Entries, others: Entries): Map<string, number> =>
  new Map([...entries.keys()].filter((id) => others.has(id)).map((id, rank) => [id, rank]));

export function diffContexts(
  entriesBefore: readonly ContextEntry[],
  entriesAfter: readonly ContextEntry[],
): Pick<ManifestDiff, 'came_in' | 'went_out' | 'changed'> {
  const then = shownIn(entriesBefore);
  const now = shownIn(entriesAfter);
  const [rankThen, rankNow] = [ranksAmong(then, now), ranksAmong(now, then)];
  const changed = [...now.values()].flatMap((after) => {
    const { id, card_id } = after;
    const before = then.get(card_id);
    const isSameRank = rankThen.get(card_id) === rankNow.get(card_id);
    return !before || (isSameRank && isAlike(before, after)) ? [] : [{ id, card_id, before, after }];
  });
  return { came_in: missingFrom(now, then), went_out: missingFrom(then, now), changed: changed.slice(0, MAX_LISTED) };
}

const isAlike = (before: ContextEntry, after: ContextEntry): boolean =>
  before.section === after.section &&
  before.reason === after.reason &&
  before.kept_characters === after.kept_characters &&
  before.kept_from === after.kept_from &&
  String(before.contradicts) === String(after.contradicts) &&
  before.replaces?.card_id === after.replaces?.card_id;

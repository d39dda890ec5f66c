// What sets of conversations and memories have to reach: for the bench, and for the pages with its figures.
/** By set and measure. */
const WANTED = {
  locomo: { 'R@10': { at_least: 82 } },
  realtalk: { 'R@10': { at_least: 67 } },
  beam100k: { 'R@10': { at_least: 69 } },
  everyday: { 'hits@1': { at_least: 58 }, 'hits@3': { at_least: 78 }, empty: { at_most: 0 }, AUROC: { at_least: 0.7 } },
  survival: {
    survive: { at_least: 78 },
    'answered@5': { at_least: 68 },
    words: { at_most: 40 },
    junk: { at_most: 20 },
    'stale unmarked': { at_most: 0 },
  },
};

/** The target of a figure that is named `<set>: <measure>`; undefined if it has none. */
export function wantedOf(what) {
  const [set, measure] = what.split(': ');
  return WANTED[set]?.[measure];
}

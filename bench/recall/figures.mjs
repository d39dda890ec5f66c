// Measures of rankings, in percent with two decimals.

export const round = (value) => Math.round(value * 100) / 100;
export const percent = (part, whole) => (whole === 0 ? 0 : round((100 * part) / whole));

const EMBEDDED_MS = 1_800_000;

/** Waits for the vectors of an embedder, if there is one: measured without some, a figure would be that of a mixture. */
export async function settled(cairn) {
  const left = await cairn.embedded(EMBEDDED_MS);
  if (left > 0) throw new Error(`${left} documents have no vector`);
}

/** The mean of each measure, in percent, and the number of questions. */
export function means(measures, names) {
  const of = (name) => measures.reduce((sum, one) => sum + one[name], 0) / Math.max(1, measures.length);
  return { ...Object.fromEntries(names.map((name) => [name, round(100 * of(name))])), questions: measures.length };
}

/** `overall` covers all categories but those that stand apart. */
export function byCategory(measured, names, apart = []) {
  const categories = [...new Set(measured.map(({ category }) => category))].sort();
  const figuresOf = (some) =>
    means(
      some.map(({ figures }) => figures),
      names,
    );
  return {
    overall: figuresOf(measured.filter(({ category }) => !apart.includes(category))),
    categories: Object.fromEntries(
      categories.map((name) => [name, figuresOf(measured.filter(({ category }) => category === name))]),
    ),
  };
}

/** The probability that a positive has a higher value than a negative; equals count half. Null without either. */
export function auroc(positives, negatives) {
  if (positives.length === 0 || negatives.length === 0) return null;
  let wins = 0;
  for (const positive of positives)
    for (const negative of negatives) wins += positive > negative ? 1 : positive === negative ? 0.5 : 0;
  return round(wins / (positives.length * negatives.length));
}

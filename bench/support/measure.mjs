// Interleaved rounds: every round runs each side once, so that whatever else the machine does hits all sides alike.

/** However steady a run was, the next one differs by this. */
const LEAST_NOISE = 0.05;

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * Runs the sides in turn, the order reversed in every other round; the first round only warms up.
 * A side is a function that does a round's work and gives the rate it reached (per second).
 */
export async function interleave(sides, rounds) {
  const names = Object.keys(sides);
  const rates = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const name of round % 2 === 0 ? names : [...names].reverse()) {
      const rate = await sides[name](round);
      if (round > 0) rates[name].push(rate);
    }
  }
  const ratios = (name, other) => rates[name].map((rate, i) => rate / rates[other][i]);
  return {
    /** How much the ratio of two sides varies: half of what its middle half spans, of its median. */
    noise: (name, other) => {
      const sorted = ratios(name, other).sort((a, b) => a - b);
      const quarter = (share) => sorted[Math.round(share * (sorted.length - 1))];
      const half = (quarter(0.75) - quarter(0.25)) / 2 / median(sorted);
      return Math.max(LEAST_NOISE, Math.round(100 * half) / 100);
    },
    /** The median rate of a side. */
    rate: (name) => median(rates[name]),
    /** The median over the rounds of one side's rate against another's. */
    ratio: (name, other) => median(ratios(name, other)),
  };
}

/** Runs `work` for every item by so many concurrent callers; gives items per second. */
export async function byCallers(callers, items, work) {
  let next = 0;
  const caller = async () => {
    while (next < items.length) await work(items[next++]);
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: callers }, caller));
  return (items.length / (performance.now() - start)) * 1000;
}

/** Runs `work` for groups of items, one after another; gives items per second. */
export async function byGroups(size, items, work) {
  const start = performance.now();
  for (let i = 0; i < items.length; i += size) await work(items.slice(i, i + size));
  return (items.length / (performance.now() - start)) * 1000;
}

/** Passages in words: what was found, where it comes from, and why. For people in a terminal and for models alike. */

/** What is told of one. */
export interface Passage {
  readonly text: string;
  readonly entity_type: string;
  readonly id: string;
  readonly name: string | null;
  readonly speaker: string | null;
  readonly occurred_at: string;
  readonly score: number;
  readonly matched: readonly string[];
  readonly nearby: readonly string[];
  readonly boosts: readonly { readonly name: string; readonly factor: number }[];
}

const figure = (value: number): string => String(Number(value.toPrecision(3)));

/** Such as `note "Tea", by Anna, 2026-01-31`. */
export function sourceOf({ entity_type, name, speaker, occurred_at }: Passage): string {
  const named = name === null ? entity_type : `${entity_type} "${name}"`;
  return [named, ...(speaker === null ? [] : [`by ${speaker}`]), occurred_at.slice(0, 10)].join(', ');
}

/** Such as `score 4.21: has anna; beside drink; speaker ×1.5`. */
export function reasonOf({ score, matched, nearby, boosts }: Passage): string {
  const reasons = [
    ...(matched.length > 0 ? [`has ${matched.join(', ')}`] : []),
    ...(nearby.length > 0 ? [`beside ${nearby.join(', ')}`] : []),
    ...boosts.map(({ name, factor }) => `${name.replaceAll('_', ' ')} ×${figure(factor)}`),
  ];
  return `score ${figure(score)}: ${reasons.join('; ')}`;
}

export const NOTHING_FOUND = 'Nothing was found.';

export function passagesAsText({ passages }: { readonly passages: readonly Passage[] }): string {
  if (passages.length === 0) return NOTHING_FOUND;
  return passages
    .map((one, i) => `${i + 1}. ${one.text}\n   (${sourceOf(one)}, id ${one.id}; ${reasonOf(one)})`)
    .join('\n');
}

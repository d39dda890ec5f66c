/** What `remember` did, in plain words, for terminals and models. */

interface Linked {
  readonly id: string;
  readonly text: string;
  readonly value: string;
  readonly occurred_at: string;
}

interface RememberedNote {
  readonly entity_type: string;
  readonly id: string;
  readonly outcome: 'added' | 'strengthened' | 'superseded' | 'contradictory';
  readonly superseded?: readonly Linked[] | undefined;
  readonly contradicts?: readonly Linked[] | undefined;
  readonly strengthens?: readonly Linked[] | undefined;
  readonly superseded_by?: readonly Linked[] | undefined;
}

const inOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
const day = ({ occurred_at }: Linked): string => occurred_at.slice(0, 10);

/** Such as `It replaces "Hamburg" (2026-01-31, note 0198…).`, one line per known note. */
export function changesTold(remembered: RememberedNote): string[] {
  const { superseded = [], contradicts = [], strengthens = [], superseded_by = [] } = remembered;
  const where = (one: Linked): string => `(${day(one)}, note ${one.id})`;
  return [
    ...superseded.map((one) => `It replaces "${inOneLine(one.value)}" ${where(one)}.`),
    ...contradicts.map((one) => `It contradicts "${inOneLine(one.text)}" ${where(one)}; both are shown with marks.`),
    ...strengthens.map((one) => `It was known already: "${inOneLine(one.text)}" ${where(one)}.`),
    ...superseded_by.map((one) => `A newer value is known: "${inOneLine(one.text)}" ${where(one)}.`),
  ];
}

export const rememberedAsText = (remembered: RememberedNote): string =>
  [
    `Remembered as ${remembered.entity_type.toLowerCase()} ${remembered.id}: ${remembered.outcome}.`,
    ...changesTold(remembered),
  ].join('\n');

/** Passages as text, for terminals and models: content, source and reasons. */
import { titleBeside } from '../windows/window.js';

interface Passage {
  readonly text: string;
  readonly entity_type: string;
  readonly id: string;
  readonly name: string | null;
  readonly speaker: string | null;
  readonly occurred_at: string;
  readonly score: number;
  readonly confidence: number;
  readonly matched: readonly string[];
  readonly nearby: readonly string[];
  readonly boosts: readonly { readonly name: string; readonly factor: number }[];
  readonly related: readonly {
    readonly edge_type: string;
    readonly direction: 'to' | 'from';
    readonly entity_type: string;
    readonly id: string;
    readonly snippet: string;
  }[];
}

interface Recalled {
  readonly passages: readonly Passage[];
  readonly left_out: number;
}

const figure = (value: number): string => String(Number(value.toPrecision(3)));

/** Such as `note "Tea", by Anna, 2026-01-31`; a name that the text begins with is left out. */
export function sourceOf({ entity_type, name, speaker, occurred_at, text }: Passage): string {
  const type = entity_type.toLowerCase();
  const title = titleBeside(name ?? '', text);
  const named = title === '' ? type : `${type} "${title}"`;
  return [named, ...(speaker === null ? [] : [`by ${speaker}`]), occurred_at.slice(0, 10)].join(', ');
}

/** Such as `confidence 0.82, score 4.21: has anna; related to drink; speaker ×1.5`. */
export function reasonOf({ confidence, score, matched, nearby, boosts }: Passage): string {
  const reasons = [
    ...(matched.length > 0 ? [`has ${matched.join(', ')}`] : []),
    ...(nearby.length > 0 ? [`related to ${nearby.join(', ')}`] : []),
    ...boosts.map(({ name, factor }) => `${name.replaceAll('_', ' ')} ×${figure(factor)}`),
  ];
  const because = reasons.length > 0 ? `: ${reasons.join('; ')}` : ': near in meaning';
  return `confidence ${confidence.toFixed(2)}, score ${figure(score)}${because}`;
}

const VERBS: Readonly<Record<string, { readonly to: string; readonly from: string }>> = {
  Supports: { to: 'supports', from: 'is supported by' },
  Contradicts: { to: 'contradicts', from: 'is contradicted by' },
};

/** Such as `is contradicted by note "Anna drinks coffee."`: the passage alone could mislead. */
export const relationsOf = ({ related }: Passage): string[] =>
  related.map(({ edge_type, direction, entity_type, id, snippet }) => {
    const verb = VERBS[edge_type]?.[direction] ?? `${edge_type} ${direction}`;
    return `${verb} ${entity_type.toLowerCase()} "${snippet.replace(/\s+/g, ' ')}", id ${id}`;
  });

/** A remark if passages were left out, or none was found: one that was too long is not one that was not found. */
export function remarkOn({ passages, left_out }: Recalled): string | undefined {
  const isNone = passages.length === 0;
  if (left_out === 0) return isNone ? 'Nothing was found.' : undefined;
  return `${left_out} ${isNone ? '' : 'more '}passage${left_out === 1 ? '' : 's'} did not fit into max_tokens.`;
}

export function passagesAsText(recalled: Recalled): string {
  const texts = recalled.passages.map((one, i) =>
    [
      `${i + 1}. ${one.text}`,
      `(${sourceOf(one)}, id ${one.id}; ${reasonOf(one)})`,
      ...relationsOf(one).map((relation) => `It ${relation}.`),
    ].join('\n   '),
  );
  const remark = remarkOn(recalled);
  return [...texts, ...(remark === undefined ? [] : [remark])].join('\n');
}

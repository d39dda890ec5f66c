/** What `forget` found, would erase or erased, in plain words, for terminals and models. */
import { type Erasure, type ErasureItem, type Forgotten, MAX_SHOWN } from './model.js';

const kindOf = (entity_type: string, count: number): string => {
  const kind = entity_type.toLowerCase();
  return count === 1 ? kind : `${kind.replace(/y$/, 'ie')}s`;
};

/** Such as `2 notes, 1 trajectory`. */
export const forgottenCounts = (counts: Erasure['erased']): string =>
  counts.map(({ entity_type, entities }) => `${entities} ${kindOf(entity_type, entities)}`).join(', ');

/** What goes with it, and what stays. */
export function forgottenAccount({ erased, derived, kept_shared, copies }: Erasure): string[] {
  return [
    ...(derived.length > 0 ? [`derived from it: ${forgottenCounts(derived)}`] : []),
    ...(kept_shared > 0 ? [`${kept_shared} about others as well, which stay unless \`shared\` is set`] : []),
    ...(copies > 0 ? [`${copies} independent copies of the same text, which stay unless \`copies\` is set`] : []),
    ...(erased.length === 0 ? ['nothing to forget'] : []),
  ];
}

interface PlannedLine {
  /** Such as `note 0198…`. */
  readonly what: string;
  readonly id: string;
  readonly origin: ErasureItem['origin'];
  /** YYYY-MM-DD; null like the snippet if the caller may not read it. */
  readonly day: string | null;
  /** In one line. */
  readonly snippet: string | null;
}

/** The first items that would be erased. */
export function plannedItems({ items, shown = [] }: Forgotten): PlannedLine[] {
  const erased = items.filter(({ outcome }) => outcome === 'to_be_erased').slice(0, MAX_SHOWN);
  return erased.map(({ entity_type, entity_id: id, origin }) => {
    const found = shown.find((one) => one.entity_id === id && one.entity_type === entity_type);
    const snippet = found?.snippet?.replace(/\s+/g, ' ') ?? null;
    return {
      what: `${entity_type.toLowerCase()} ${id}`,
      id,
      origin,
      day: found?.occurred_at?.slice(0, 10) ?? null,
      snippet,
    };
  });
}

function planned(plan: Forgotten): string[] {
  const { candidates } = plan;
  if (candidates)
    return [
      candidates.length === 0
        ? 'Nothing was found.'
        : 'Nothing is erased yet. Forget these by their ids, and only those that are meant:',
      ...candidates.map(
        ({ entity_type, id, snippet, confidence }) =>
          `${entity_type.toLowerCase()} ${id}, confidence ${confidence.toFixed(2)}: ${snippet.replace(/\s+/g, ' ')}`,
      ),
    ];
  return [
    `Nothing is erased yet. Would erase: ${forgottenCounts(plan.erased) || 'nothing'}.`,
    ...forgottenAccount(plan).filter((line) => line !== 'nothing to forget'),
    ...plannedItems(plan).map(({ what, origin, day, snippet }) =>
      [`${what} (${origin})`, ...(day === null ? [] : [day]), ...(snippet === null ? [] : [snippet])].join(', '),
    ),
  ];
}

export const forgottenAsText = (answer: Forgotten): string =>
  (answer.status === 'planned'
    ? planned(answer)
    : [
        `Forgot ${forgottenCounts(answer.erased) || 'nothing'} (${answer.status}).`,
        ...forgottenAccount(answer).filter((line) => line !== 'nothing to forget'),
        `not covered: ${answer.not_covered.join(', ')}`,
        `receipt ${answer.erasure_id}`,
      ]
  ).join('\n');

/** What `forget` found, would erase or erased, in plain words, for terminals and models. */
import type { Erasure, Forgotten } from './model.js';

/** Items in one text. */
const MAX_LISTED = 20;

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

function planned(plan: Forgotten): string[] {
  const { candidates, items } = plan;
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
  const listed = items.filter(({ outcome }) => outcome === 'to_be_erased').slice(0, MAX_LISTED);
  return [
    `Nothing is erased yet. Would erase: ${forgottenCounts(plan.erased) || 'nothing'}.`,
    ...forgottenAccount(plan).filter((line) => line !== 'nothing to forget'),
    ...listed.map(({ entity_type, entity_id, origin }) => `${entity_type.toLowerCase()} ${entity_id} (${origin})`),
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

/** Why an entry is in a context or not, in words, with the limits of that context. */
import type { ContextEntry, Manifest } from 'cairndb/client';
import { integer } from '../../data/format.js';
import { type SectionName, sectionLabel } from './sections.js';

export type Reason = ContextEntry['reason'];

const short: Readonly<Record<Reason, string>> = {
  given: 'given',
  relevant: 'relevant',
  newest: 'newest',
  recent: 'recent',
  stands_for_turns: 'stands for turns',
  no_room: 'no room',
  share_used_up: 'share used up',
  over_the_limit: 'over the limit',
  below_min_relevance: 'not relevant enough',
  shown_already: 'shown already',
  behind_a_gap: 'behind a gap',
  in_a_summary: 'in a summary',
};

export const shortReason = (reason: Reason): string => short[reason];

/** Reasons for which something is left out, the limits first. */
export const LEFT_OUT_ORDER: readonly Reason[] = [
  'no_room',
  'share_used_up',
  'over_the_limit',
  'below_min_relevance',
  'behind_a_gap',
  'in_a_summary',
  'shown_already',
];

interface SectionParameter {
  readonly name: string;
  readonly share: number;
  readonly min_tokens: number;
}

/** The parameters that views read. */
export interface Parameters {
  readonly query_card_id?: string;
  readonly query_from?: string;
  readonly user_input_card_id?: string;
  readonly min_relevance?: number;
  readonly turns_total?: number;
  readonly sections?: readonly SectionParameter[];
  readonly max_turns?: number;
  readonly max_notes?: number;
  readonly max_artifacts?: number;
  readonly max_summaries?: number;
  readonly max_passages?: number;
}

export const parametersOf = ({ parameters }: Manifest): Parameters => parameters as Parameters;

/** Without a limit in the request, one per 100 tokens of the budget, from 10 to 40; of some sections always 5. */
function limitOf(parameters: Parameters, section: SectionName, budget: number): number | undefined {
  const name = section === 'principles' ? 'notes' : section;
  const asked = parameters[`max_${name}` as keyof Parameters] as number | undefined;
  if (asked !== undefined || name === 'turns') return asked;
  return name === 'artifacts' || name === 'summaries' ? 5 : Math.min(40, Math.max(10, Math.floor(budget / 100)));
}

const ordinal = (place: number): string => {
  const ends = { one: 'st', two: 'nd', few: 'rd' } as const;
  const rule = new Intl.PluralRules('en', { type: 'ordinal' }).select(place);
  return `${integer(place)}${ends[rule as keyof typeof ends] ?? 'th'}`;
};

/** Where its score stands among those of its section, left out or not. */
export function rankOf({ section, score }: ContextEntry, { entries }: Manifest): string {
  const scores = entries.flatMap((entry) => (entry.section === section && entry.score !== null ? [entry.score] : []));
  const place = scores.filter((other) => other > score!).length + 1;
  const name = sectionLabel(section).toLowerCase();
  return scores.length < 2 ? '' : `By score the ${ordinal(place)} of ${integer(scores.length)} ${name} that it found.`;
}

/** One sentence, as precise as the manifest allows. */
export function whyOf(reason: Reason, section: SectionName, manifest: Manifest): string {
  const parameters = parametersOf(manifest);
  const budget = manifest.token_budget ?? 0;
  const share = parameters.sections?.find(({ name }) => name === section)?.share;
  switch (reason) {
    case 'given':
      return manifest.kind === 'packing' ? 'Packed for the agent.' : 'Given by the request, so always included.';
    case 'relevant':
      return 'The query found it.';
    case 'newest':
      return 'The query did not find it, but it is among the newest of its kind, and there was room.';
    case 'recent':
      return 'One of the latest turns.';
    case 'stands_for_turns':
      return 'A summary of turns that are not shown.';
    case 'no_room':
      return `The budget of ${integer(budget)} tokens was used up.`;
    case 'share_used_up':
      return share === undefined || share === 1
        ? `The room of ${sectionLabel(section).toLowerCase()} was used up.`
        : `${sectionLabel(section)} may take ${Math.round(share * 100)} % of the budget, ${integer(Math.floor(share * budget))} tokens, and no other room was left.`;
    case 'over_the_limit': {
      const limit = limitOf(parameters, section, budget);
      return limit === undefined ? 'More were found than the limit allows.' : `At most ${integer(limit)} were allowed.`;
    }
    case 'below_min_relevance':
      return parameters.min_relevance === undefined
        ? 'Its score was below the minimum.'
        : `Its score was below the minimum of ${parameters.min_relevance}, or the query did not find it.`;
    case 'shown_already':
      return 'The context shows it in another form, or another memory with the same text.';
    case 'behind_a_gap':
      return 'A later turn did not fit, and turns are shown without gaps.';
    case 'in_a_summary':
      return 'A summary in the context covers it.';
  }
}

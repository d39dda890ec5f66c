/** The sections of a context: their order, their priority when room is short, and the tokens that each may take. */
import { repeatedSection } from '../../identity/contract.js';
import { invalid } from '../../kernel/index.js';
import { type ContextReason, SECTIONS, type SectionName, type SectionSetting } from '../contexts/model.js';

export interface Section {
  readonly name: SectionName;
  readonly priority: number;
  /** Fraction of the budget that it may take while other sections want the rest. */
  readonly share: number;
  /** Whether the share was requested: then it is a limit even if no other section wants the rest. */
  readonly firm: boolean;
  /** Guaranteed tokens, if its content needs as many. */
  readonly min_tokens: number;
}

/** The shares of retrieved content leave at least a fifth to the turns. */
const DEFAULTS: Readonly<Record<SectionName, { readonly priority: number; readonly share: number }>> = {
  user_input: { priority: 100, share: 1 },
  instructions: { priority: 90, share: 1 },
  profile: { priority: 85, share: 1 },
  artifacts: { priority: 80, share: 0.25 },
  principles: { priority: 75, share: 0.1 },
  notes: { priority: 70, share: 0.15 },
  summaries: { priority: 65, share: 0.15 },
  passages: { priority: 62, share: 0.15 },
  turns: { priority: 60, share: 1 },
};

/** What other retrieved sections leave of their shares goes to passages, up to this share of the budget. */
const MOST_FOR_PASSAGES = 0.4;

/** Mandatory: a context that lacks the room for them is refused. */
export const GIVEN: readonly SectionName[] = ['profile', 'instructions', 'user_input'];
/** A conversation ends with its last message. */
const LAST: readonly SectionName[] = ['turns', 'user_input'];

/** All sections in display order: those with settings in the order given, then the others. */
export function sectionsFor(settings: readonly SectionSetting[] = []): Section[] {
  const named = settings.map(({ name }) => name);
  const twice = repeatedSection(settings);
  if (twice !== undefined) throw invalid(`\`sections\` must name each section once: "${twice}" is repeated`);
  const order = [...new Set<SectionName>([...named, ...SECTIONS])].filter((name) => !LAST.includes(name));
  return [...order, ...LAST].map((name) => {
    const given = settings.find((one) => one.name === name);
    return {
      name,
      priority: given?.priority ?? DEFAULTS[name].priority,
      share: given?.share ?? DEFAULTS[name].share,
      firm: given?.share !== undefined,
      min_tokens: given?.min_tokens ?? 0,
    };
  });
}

/** In the order in which sections get room; equal priorities in display order. */
export const byPriority = (sections: readonly Section[]): Section[] =>
  [...sections].sort((a, b) => b.priority - a.priority);

/** The sections, with the share that passages have if the others want only so much. */
export function withPassagesShare(
  sections: readonly Section[],
  wanted: ReadonlyMap<SectionName, number>,
  budget: number,
): Section[] {
  const isRetrieved = ({ name }: Section) => !GIVEN.includes(name) && !LAST.includes(name) && name !== 'passages';
  const spare = sections
    .filter(isRetrieved)
    .reduce((sum, { name, share }) => sum + Math.max(0, share - (wanted.get(name) ?? 0) / budget), 0);
  const most = (share: number) => Math.max(share, Math.min(MOST_FOR_PASSAGES, share + spare));
  return sections.map((one) => (one.name === 'passages' && !one.firm ? { ...one, share: most(one.share) } : one));
}

const shareOf = ({ share }: Section, budget: number): number => Math.floor(share * budget);

/** The limit that holds even where room is left. */
export const maxTokens = (section: Section, budget: number): number =>
  section.firm ? Math.max(shareOf(section, budget), section.min_tokens) : Infinity;

const LIMITS: readonly ((section: Section, budget: number) => number)[] = [
  ({ min_tokens }) => min_tokens,
  shareOf,
  maxTokens,
];

/** Allots `room` in three rounds (guaranteed, share, rest); a section never gets more than it wants. */
export function allotTokens(
  sections: readonly Section[],
  wanted: ReadonlyMap<SectionName, number>,
  budget: number,
  room: number,
): Map<SectionName, number> {
  const allotted = new Map<SectionName, number>();
  let left = Math.max(0, room);
  for (const limit of LIMITS) {
    for (const section of sections) {
      const has = allotted.get(section.name) ?? 0;
      const upTo = Math.min(wanted.get(section.name) ?? 0, limit(section, budget));
      const more = Math.min(left, Math.max(0, upTo - has));
      allotted.set(section.name, has + more);
      left -= more;
    }
  }
  return allotted;
}

/** Why a candidate is out of a section that had so much room. Beyond its share a section had all that was left. */
export const reasonAt = (section: Section, budget: number, room: number): ContextReason => {
  const limit = section.firm ? maxTokens(section, budget) : shareOf(section, budget);
  return room === limit ? 'share_used_up' : 'no_room';
};

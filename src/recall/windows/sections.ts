/** The sections of a context: in which order they stand, which goes first when room is short, and how much each may take. */
import { invalid } from '../../kernel/index.js';
import { SECTIONS, type SectionName, type SectionSetting } from '../contexts/model.js';

export interface Section {
  readonly name: SectionName;
  readonly priority: number;
  /** Of the budget: while others want the rest, it gets no more. */
  readonly share: number;
  /** Whether that holds also where nobody else wants the rest: whoever gives a share wants it kept. */
  readonly firm: boolean;
  /** What it gets at least, if it has as much. */
  readonly min_tokens: number;
}

type Usual = Readonly<Record<SectionName, Omit<Section, 'name' | 'firm'>>>;

/** The shares of what is looked up leave a fifth to the turns, whatever else there is. */
const usual: Usual = {
  user_input: { priority: 100, share: 1, min_tokens: 0 },
  instructions: { priority: 90, share: 1, min_tokens: 0 },
  profile: { priority: 85, share: 1, min_tokens: 0 },
  artifacts: { priority: 80, share: 0.25, min_tokens: 0 },
  principles: { priority: 75, share: 0.1, min_tokens: 0 },
  notes: { priority: 70, share: 0.15, min_tokens: 0 },
  summaries: { priority: 65, share: 0.15, min_tokens: 0 },
  passages: { priority: 62, share: 0.15, min_tokens: 0 },
  turns: { priority: 60, share: 1, min_tokens: 0 },
};

/** These are in the context or there is none. */
export const GIVEN: readonly SectionName[] = ['profile', 'instructions', 'user_input'];
/** A conversation ends with what was said last. */
const LAST: readonly SectionName[] = ['turns', 'user_input'];

/** All sections in the order in which they stand: those that are named in the order given, the others as usual. */
export function sectionsFor(settings: readonly SectionSetting[] = []): Section[] {
  const named = settings.map(({ name }) => name);
  const twice = named.find((name, i) => named.indexOf(name) < i);
  if (twice !== undefined) throw invalid(`sections: "${twice}" is there twice`);
  const order = [...new Set<SectionName>([...named, ...SECTIONS])].filter((name) => !LAST.includes(name));
  return [...order, ...LAST].map((name) => {
    const given = settings.find((one) => one.name === name);
    return {
      name,
      priority: given?.priority ?? usual[name].priority,
      share: given?.share ?? usual[name].share,
      firm: given?.share !== undefined,
      min_tokens: given?.min_tokens ?? usual[name].min_tokens,
    };
  });
}

/** In the order in which they get their room; of the same priority the one that stands first. */
export const byPriority = (sections: readonly Section[]): Section[] =>
  [...sections].sort((a, b) => b.priority - a.priority);

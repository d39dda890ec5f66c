/** The sections of a context: their names, and a colour each. Kinds of memory keep the colour of their kind. */
import type { ContextEntry } from 'cairndb/client';

export type SectionName = ContextEntry['section'];

interface Look {
  readonly label: string;
  readonly color: string;
}

const mixed = (color: string): string => `color-mix(in oklab, var(${color}) 62%, var(--panel))`;

const looks: Readonly<Record<SectionName, Look>> = {
  profile: { label: 'Profile', color: 'var(--kind-agent)' },
  instructions: { label: 'Instructions', color: 'var(--kind-delegation)' },
  principles: { label: 'Principles', color: 'var(--kind-note)' },
  notes: { label: 'Notes', color: mixed('--kind-note') },
  artifacts: { label: 'Artifacts', color: 'var(--kind-artifact)' },
  summaries: { label: 'Summaries', color: 'var(--kind-summary)' },
  passages: { label: 'Passages', color: mixed('--kind-turn') },
  turns: { label: 'Turns', color: 'var(--kind-turn)' },
  user_input: { label: 'User input', color: 'var(--kind-message)' },
  box: { label: 'Cards', color: 'var(--kind-card)' },
};

export const sectionLabel = (name: SectionName): string => looks[name].label;
export const sectionColor = (name: SectionName): string => looks[name].color;

/** As a context shows them when the request orders nothing else. */
export const SECTION_ORDER: readonly SectionName[] = [
  'profile',
  'instructions',
  'principles',
  'notes',
  'artifacts',
  'summaries',
  'passages',
  'turns',
  'user_input',
  'box',
];

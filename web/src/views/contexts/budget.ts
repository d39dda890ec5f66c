/** What fills the budget of a context, part by part. */
import type { Manifest, ReplayedContext } from 'cairndb/client';
import { words } from '../../data/format.js';
import { SECTION_ORDER, type SectionName, sectionColor, sectionLabel } from './sections.js';

export interface BudgetPart {
  readonly id: string;
  readonly label: string;
  readonly tokens: number;
  readonly color: string;
  /** A remark for hovering. */
  readonly about?: string;
}

export interface Budget {
  readonly parts: readonly BudgetPart[];
  /** Of the whole context; null for a packing that is too large to count. */
  readonly used: number | null;
  /** Null where there is no limit, as in a packing. */
  readonly limit: number | null;
}

function sectionParts({ sections }: Manifest): BudgetPart[] {
  const counts = new Map<SectionName, number>(sections.map(({ name, tokens }) => [name, tokens]));
  return SECTION_ORDER.flatMap((name) => {
    const tokens = counts.get(name);
    return tokens === undefined ? [] : [{ id: name, label: sectionLabel(name), tokens, color: sectionColor(name) }];
  });
}

/** Types of packed cards by the part before the dot: a colour each. */
const typeColors: Readonly<Record<string, string>> = {
  task: 'var(--kind-delegation)',
  agent: 'var(--kind-agent)',
  tool: 'var(--kind-execution)',
  sys: 'var(--kind-scope)',
  meta: 'var(--kind-lock)',
  turn: 'var(--kind-turn)',
};

/** A packing has no sections: its cards by type, the largest first. */
function cardParts({ entries }: Manifest, cards: ReplayedContext['cards']): BudgetPart[] {
  const counts = new Map<string, number>();
  for (const [index, { tokens }] of entries.entries()) {
    const type = (cards?.[index] as { metadata?: { type?: unknown } } | undefined)?.metadata?.type;
    const name = typeof type === 'string' ? type : 'card';
    counts.set(name, (counts.get(name) ?? 0) + (tokens ?? 0));
  }
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([name, tokens]) => ({
      id: name,
      label: name === 'card' ? sectionLabel('box') : words(name.replaceAll('.', ' ')),
      tokens,
      color: typeColors[name.split('.')[0]!] ?? sectionColor('box'),
    }));
}

/** Sections are counted alone; what the whole has beyond their sum are headings and the frames of messages. */
export function budgetOf(manifest: Manifest, cards: ReplayedContext['cards'] = null): Budget {
  const { token_count: used, token_budget: limit, kind } = manifest;
  const parts = kind === 'packing' ? cardParts(manifest, cards) : sectionParts(manifest);
  const sum = parts.reduce((total, { tokens }) => total + tokens, 0);
  const structure: BudgetPart = {
    id: 'structure',
    label: 'Structure',
    tokens: Math.max(0, (used ?? sum) - sum),
    color: 'var(--line-strong)',
    about: 'Headings, and the frames of messages',
  };
  const unused: BudgetPart = {
    id: 'unused',
    label: 'Unused',
    tokens: Math.max(0, (limit ?? 0) - (used ?? sum)),
    color: 'var(--sunken)',
  };
  const hasStructure = kind === 'assembly' || structure.tokens > 0;
  return { parts: [...parts, ...(hasStructure ? [structure] : []), ...(limit === null ? [] : [unused])], used, limit };
}

/** Two contexts side by side: which entries came, went, changed or stayed, in the order of the sections. */
import type { ContextEntry, Manifest, ManifestDiff } from 'cairndb/client';
import { SECTION_ORDER, type SectionName } from './sections.js';

export type Change = 'added' | 'removed' | 'changed' | 'replaced' | 'same';

export interface ComparedEntry {
  readonly type: 'entry';
  readonly key: string;
  readonly change: Change;
  readonly section: SectionName;
  readonly before: ContextEntry | undefined;
  readonly after: ContextEntry | undefined;
  /** What changed, in words. */
  readonly what: readonly string[];
}

export interface ComparedSection {
  readonly type: 'section';
  readonly key: string;
  readonly section: SectionName;
  readonly before: number;
  readonly after: number;
}

export type ComparedRow = ComparedEntry | ComparedSection;

export interface Comparison {
  readonly rows: readonly ComparedRow[];
  readonly counts: Readonly<Record<Change, number>>;
  readonly tokens: Readonly<Record<'added' | 'removed', number>>;
}

function whatChanged(before: ContextEntry, after: ContextEntry): string[] {
  const what: string[] = [];
  if (before.card_id !== after.card_id) what.push('another version');
  if (before.section !== after.section) what.push(`moved from ${before.section} to ${after.section}`);
  if (before.reason !== after.reason) what.push(`${before.reason} before, ${after.reason} now`.replaceAll('_', ' '));
  if (before.kept_characters !== after.kept_characters || before.kept_from !== after.kept_from)
    what.push(after.kept_characters === null ? 'shown whole now' : 'cut differently');
  if (String(before.contradicts) !== String(after.contradicts)) what.push('other contradictions');
  if (before.replaces?.card_id !== after.replaces?.card_id) what.push('another value replaced');
  return what.length === 0 ? ['another rank'] : what;
}

/** Another version of a memory has another card: shown as one line, not as one that came and one that went. */
function replacedBy(diff: ManifestDiff): Map<ContextEntry, ContextEntry> {
  const isVersioned = ({ entity_type }: ContextEntry) => entity_type === 'Note' || entity_type === 'Artifact';
  const went = new Map(diff.went_out.filter(isVersioned).map((entry) => [entry.id, entry]));
  const pairs = new Map<ContextEntry, ContextEntry>();
  for (const after of diff.came_in.filter(isVersioned)) {
    const before = went.get(after.id);
    if (before) pairs.set(after, before);
  }
  return pairs;
}

const placeOf = ({ before, after }: ComparedEntry): number => after?.place ?? before?.place ?? 0;

const sum = (entries: readonly ContextEntry[]): number =>
  entries.reduce((total, { tokens }) => total + (tokens ?? 0), 0);

export function compare(after: Manifest, before: Manifest, diff: ManifestDiff): Comparison {
  const replaced = replacedBy(diff);
  const gone = new Set(replaced.values());
  const entries: ComparedEntry[] = [];
  const add = (change: Change, old: ContextEntry | undefined, now: ContextEntry | undefined) => {
    const { section, card_id } = (now ?? old)!;
    const what = change === 'changed' || change === 'replaced' ? whatChanged(old!, now!) : [];
    entries.push({
      type: 'entry',
      key: `${change}.${section}.${card_id}`,
      change,
      section,
      before: old,
      after: now,
      what,
    });
  };
  for (const now of diff.came_in) {
    const old = replaced.get(now);
    add(old ? 'replaced' : 'added', old, now);
  }
  for (const old of diff.went_out) if (!gone.has(old)) add('removed', old, undefined);
  for (const one of diff.changed) add('changed', one.before, one.after);
  const known = new Set(entries.flatMap(({ before: old, after: now }) => [old?.card_id, now?.card_id]));
  const earlier = new Map(before.entries.filter(({ place }) => place !== null).map((entry) => [entry.card_id, entry]));
  for (const now of after.entries) {
    const old = earlier.get(now.card_id);
    if (now.place === null || known.has(now.card_id) || !old) continue;
    known.add(now.card_id);
    add('same', old, now);
  }
  const counts = { added: 0, removed: 0, changed: 0, replaced: 0, same: 0 };
  for (const { change } of entries) counts[change] += 1;
  const rows = SECTION_ORDER.flatMap((section): ComparedRow[] => {
    const own = entries.filter((entry) => entry.section === section).sort((a, b) => placeOf(a) - placeOf(b));
    if (own.length === 0) return [];
    const head: ComparedSection = {
      type: 'section',
      key: section,
      section,
      before: sum(own.flatMap((entry) => entry.before ?? [])),
      after: sum(own.flatMap((entry) => entry.after ?? [])),
    };
    return [head, ...own];
  });
  return {
    rows,
    counts,
    tokens: {
      added: sum(diff.came_in.filter((entry) => !replaced.has(entry))),
      removed: sum(diff.went_out.filter((entry) => !gone.has(entry))),
    },
  };
}

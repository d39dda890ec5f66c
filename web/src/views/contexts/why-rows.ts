/** The list of reasons as rows: what is shown by section, then what was left out by its reason. */
import type { ContextEntry, Manifest } from 'cairndb/client';
import { LEFT_OUT_ORDER, type Reason } from './reasons.js';
import { SECTION_ORDER, type SectionName } from './sections.js';

export interface SectionRow {
  readonly type: 'section';
  readonly key: string;
  readonly section: SectionName;
  readonly count: number;
  readonly tokens: number;
}

export interface EntryRow {
  readonly type: 'entry';
  readonly key: string;
  readonly index: number;
  readonly entry: ContextEntry;
  /** The cards of its neighbours are read with its own. */
  readonly chunk: readonly string[];
}

export interface GroupRow {
  readonly type: 'group';
  readonly key: string;
  readonly section: SectionName;
  readonly reason: Reason;
  readonly count: number;
  readonly tokens: number;
  readonly isOpen: boolean;
}

export interface TitleRow {
  readonly type: 'title';
  readonly key: string;
  readonly text: string;
}

export interface NoteRow {
  readonly type: 'note';
  readonly key: string;
  readonly text: string;
}

export type WhyRow = SectionRow | EntryRow | GroupRow | TitleRow | NoteRow;

/** `cards.get_batch` reads so many. */
const CHUNK = 100;

interface Listed {
  readonly entry: ContextEntry;
  readonly index: number;
}

const tokensOf = (list: readonly Listed[]): number => list.reduce((sum, { entry }) => sum + (entry.tokens ?? 0), 0);

function entryRows(list: readonly Listed[]): EntryRow[] {
  return list.map(({ entry, index }, at) => {
    const from = at - (at % CHUNK);
    const chunk = list.slice(from, from + CHUNK).map((one) => one.entry.card_id);
    return { type: 'entry', key: `e${index}`, index, entry, chunk };
  });
}

function groupBy<K>(list: readonly Listed[], keyOf: (entry: ContextEntry) => K): Map<K, Listed[]> {
  const groups = new Map<K, Listed[]>();
  for (const one of list) {
    const key = keyOf(one.entry);
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return groups;
}

/** Turns that were never read are no entries: only their number is known. */
export const unreadTurns = ({ sections, entries }: Manifest): number => {
  const left_out = sections.find(({ name }) => name === 'turns')?.left_out ?? 0;
  return left_out - entries.filter(({ section, place }) => section === 'turns' && place === null).length;
};

export const groupKey = (section: SectionName, reason: Reason): string => `${section}.${reason}`;

export function whyRows(manifest: Manifest, open: ReadonlySet<string>): WhyRow[] {
  const listed = manifest.entries.map((entry, index) => ({ entry, index }));
  const shown = listed.filter(({ entry }) => entry.place !== null).sort((a, b) => a.entry.place! - b.entry.place!);
  const rows: WhyRow[] = [];
  for (const [section, list] of groupBy(shown, (entry) => entry.section)) {
    rows.push({ type: 'section', key: `s${section}`, section, count: list.length, tokens: tokensOf(list) });
    rows.push(...entryRows(list));
  }
  if (manifest.entries_total > listed.length)
    rows.push({ type: 'note', key: 'more', text: `The box has ${manifest.entries_total - listed.length} more cards.` });
  const out = groupBy(
    listed.filter(({ entry }) => entry.place === null),
    ({ section, reason }) => groupKey(section, reason),
  );
  const unread = unreadTurns(manifest);
  if (out.size > 0 || unread > 0) rows.push({ type: 'title', key: 'out', text: 'Left out' });
  const rank = ([{ entry }]: readonly [Listed, ...Listed[]] | readonly Listed[]): number =>
    LEFT_OUT_ORDER.indexOf(entry!.reason) * 100 + SECTION_ORDER.indexOf(entry!.section);
  for (const [key, list] of [...out].sort(([, a], [, b]) => rank(a) - rank(b))) {
    const { section, reason } = list[0]!.entry;
    const isOpen = open.has(key);
    rows.push({ type: 'group', key, section, reason, count: list.length, tokens: tokensOf(list), isOpen });
    if (isOpen) rows.push(...entryRows(list));
  }
  if (unread > 0)
    rows.push({ type: 'note', key: 'unread', text: `${unread} earlier turns were not even read: no room was left.` });
  return rows;
}

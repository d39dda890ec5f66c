/** The stored form of a context's entries: arrays, with consecutive turns as runs of box positions. */
import { type Query, sql, TENANT } from '../../driver/index.js';
import type { BoxRow } from '../../facts/sql.js';
import type { ContextEntry } from '../contexts/model.js';

/** A box never reuses a position, so it identifies the card. */
export interface TurnPosition {
  readonly box_id: string;
  readonly position: number;
}

/** One entry without member names, which would take most of the space. */
type Single = [
  ContextEntry['action'],
  ContextEntry['section'],
  ContextEntry['reason'],
  ContextEntry['entity_type'],
  string,
  string | null,
  number | null,
  number | null,
  number | null,
  number | null,
  string | null,
  (string[] | null)?,
  (Replaced | null)?,
  number?,
];

/** entity_type, id, card_id, start and end. */
type Replaced = ['Artifact' | 'Note', string, string, number, number];

/**
 * Consecutive turns with the same fate. A context has hundreds, mostly the same as the one before, and their ids would
 * soon take more space than the conversation. After the mark: action, reason, by, the first place in the context, the
 * box, the first position in it, and the tokens of each.
 */
type Run = [
  typeof RUN,
  ContextEntry['action'],
  ContextEntry['reason'],
  string | null,
  number | null,
  string,
  number,
  (number | null)[],
];
const RUN = 'run';

const isRun = (one: Single | Run): one is Run => one[0] === RUN;

const mayRun = (entry: ContextEntry): boolean =>
  entry.section === 'turns' &&
  entry.entity_type === 'Turn' &&
  entry.id === entry.card_id &&
  entry.score === null &&
  entry.kept_characters === null;

function continues(run: Run, { action, reason, by, place }: ContextEntry, at: TurnPosition): boolean {
  const [, its_action, its_reason, its_by, its_place, box_id, first, tokens] = run;
  return (
    action === its_action &&
    reason === its_reason &&
    by === its_by &&
    place === (its_place === null ? null : its_place + tokens.length) &&
    at.box_id === box_id &&
    at.position === first + tokens.length
  );
}

/** What few entries have, without trailing nulls. */
const endOf = ({
  contradicts,
  replaces: r,
  kept_from,
}: ContextEntry): [(string[] | null)?, (Replaced | null)?, number?] => {
  const replaced: Replaced | null = r ? [r.entity_type, r.id, r.card_id, r.start, r.end] : null;
  if (kept_from !== undefined) return [contradicts ?? null, replaced, kept_from];
  if (replaced) return [contradicts ?? null, replaced];
  return contradicts ? [contradicts] : [];
};

const singleOf = (e: ContextEntry): Single => [
  e.action,
  e.section,
  e.reason,
  e.entity_type,
  e.id,
  e.card_id === e.id ? null : e.card_id,
  e.tokens,
  e.score,
  e.place,
  e.kept_characters,
  e.by,
  ...endOf(e),
];

export function entriesToText(entries: readonly ContextEntry[], positions: ReadonlyMap<string, TurnPosition>): string {
  const list: (Single | Run)[] = [];
  for (const entry of entries) {
    const at = mayRun(entry) ? positions.get(entry.card_id) : undefined;
    if (!at) {
      list.push(singleOf(entry));
      continue;
    }
    const last = list.at(-1);
    if (last && isRun(last) && continues(last, entry, at)) {
      last[7].push(entry.tokens);
      continue;
    }
    const { action, reason, by, place, tokens } = entry;
    list.push([RUN, action, reason, by, place, at.box_id, at.position, [tokens]]);
  }
  return JSON.stringify(list);
}

const replacedBy = ([entity_type, id, card_id, start, end]: Replaced): NonNullable<ContextEntry['replaces']> => ({
  entity_type,
  id,
  card_id,
  start,
  end,
});

const toEntry = ([action, section, reason, entity_type, id, card_id, ...rest]: Single): ContextEntry => {
  const [tokens, score, place, kept_characters, by, contradicts, replaced, kept_from] = rest;
  const facts = { action, section, reason, entity_type, id, card_id: card_id ?? id };
  const marks = {
    ...(contradicts ? { contradicts } : {}),
    ...(replaced ? { replaces: replacedBy(replaced) } : {}),
    ...(kept_from === undefined ? {} : { kept_from }),
  };
  return { ...facts, tokens, score, place, kept_characters, by, ...marks };
};

export async function readEntries(query: Query, text: string): Promise<ContextEntry[]> {
  const entries: ContextEntry[] = [];
  for (const one of JSON.parse(text) as (Single | Run)[]) {
    if (isRun(one)) for (const entry of await entriesOfRun(query, one)) entries.push(entry);
    else entries.push(toEntry(one));
  }
  return entries;
}

async function entriesOfRun(query: Query, run: Run): Promise<ContextEntry[]> {
  const [, action, reason, by, place, box_id, first, tokens] = run;
  const card_ids = await cardsAt(query, box_id, first, first + tokens.length - 1);
  return card_ids.map((card_id, i) => {
    const at = place === null ? null : place + i;
    return toEntry([action, 'turns', reason, 'Turn', card_id, null, tokens[i]!, null, at, null, by]);
  });
}

/** The cards between two positions of a box, including those of its base boxes and those removed since. */
async function cardsAt(query: Query, box_id: string, first: number, last: number): Promise<string[]> {
  const found: string[] = [];
  let until = last;
  for (let at: string | null = box_id; at !== null && until >= first; ) {
    const box: Pick<BoxRow, 'base_box_id' | 'base_position'> | undefined = await query.get(
      sql`SELECT base_box_id, base_position FROM boxes WHERE tenant_id = ${TENANT} AND box_id = ${at}`,
    );
    const from = Math.max(first, box?.base_position ?? first);
    const rows = await query.all<{ card_id: string }>(
      sql`SELECT card_id FROM box_entries
          WHERE tenant_id = ${TENANT} AND box_id = ${at} AND position >= ${from} AND position <= ${until}
          ORDER BY position`,
    );
    found.unshift(...rows.map(({ card_id }) => card_id));
    until = from - 1;
    at = box?.base_box_id ?? null;
  }
  if (found.length === last - first + 1) return found;
  throw new Error(`box ${box_id} lacks entries between ${first} and ${last} that a manifest refers to`);
}

/** The cards shown outside the section `turns`, ordered by id. */
export const cardsShownBy = (
  entries: readonly Pick<ContextEntry, 'place' | 'section' | 'card_id' | 'replaces'>[],
): string[] => {
  const shown = entries.filter(({ place, section }) => place !== null && section !== 'turns');
  // A mark shows a part of another card.
  const card_ids = shown.flatMap(({ card_id, replaces }) => [card_id, ...(replaces ? [replaces.card_id] : [])]);
  return [...new Set(card_ids)].sort();
};

/** The same for stored entries. */
export const cardsShownIn = (text: string): string[] =>
  cardsShownBy((JSON.parse(text) as (Single | Run)[]).flatMap((one) => (isRun(one) ? [] : toEntry(one))));

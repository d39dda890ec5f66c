/** The words that bare numbers belong to: "Postgres" of "Postgres 16", "room" of "room 12". */
import type { ContentWord } from './content-words.js';
import type { Measure } from './measures.js';
import type { Reading } from './reading.js';

/** "Room 12" and "order 17" are called so. */
const NUMBERED =
  /^(?:rooms?|gallery|bay|line|number|platform|gate|orders?|chapter|section|step|page|level|channel|track|bus|route|lane|unit|house|flat|apartment|box|table|row|slide|floor|zimmer|raum|linie|gleis|nummer|salle|sala|chambre|étage|planta|habitación|stanza)$/i;

export const isNumbered = (one: ContentWord | undefined): boolean => one !== undefined && NUMBERED.test(one.folded);

/** The word that a bare number follows. */
export function labelOf({ text, words }: Reading, { start, kind, unit }: Measure): ContentWord | undefined {
  if (kind !== 'amount' || unit !== '') return undefined;
  return words.find((one) => one.end < start && /^\s$/.test(text.slice(one.end, start)));
}

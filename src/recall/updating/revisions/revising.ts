/** Which known notes a new statement revises, and which give the same thing another value. */
import type { Judgement } from '../judgement.js';
import type { KnownNote } from '../known-notes.js';
import { orderOf, type Related, relate, relationByOrder, type Statement } from '../relations.js';
import { valuesDiffer } from './frame.js';
import type { Reading } from './reading.js';
import { type Revision, revisionOf, strongest } from './revision.js';

const OF_ONESELF = /\b(?:I|my|me|mine|we|our|us)\b/i;

/** "I" of two people is not the same person. */
export const mayRelate = (own: Pick<Statement, 'text' | 'speaker'>, known: Statement): boolean =>
  (own.speaker ?? '').toLowerCase() === (known.speaker ?? '').toLowerCase() ||
  !(OF_ONESELF.test(own.text) || OF_ONESELF.test(known.text));

/** Another value in the same frame. */
function otherValue(own: Statement, known: Statement): Related | undefined {
  const values = own.frame && known.frame && mayRelate(own, known) ? valuesDiffer(own.frame, known.frame) : undefined;
  return values && { relation: relationByOrder(own, known), own: values[0], part: values[1], whole: true };
}

interface Found {
  readonly memory_id: string;
  readonly revision: Revision;
  readonly related: Related;
}

function revised(own: Statement, reading: Reading, { row, statement }: KnownNote): Found | undefined {
  const known = statement.reading;
  if (!known || !mayRelate(own, statement)) return undefined;
  const isNewer = orderOf(own.at, statement.at) >= 0;
  const revision = isNewer ? revisionOf(reading, known) : revisionOf(known, reading);
  if (!revision) return undefined;
  const { own: newer, part: older, whole } = revision;
  const related: Related = isNewer
    ? { relation: 'replaces', own: newer, part: older, whole }
    : { relation: 'replaced', own: older, part: newer, own_whole: whole };
  return { memory_id: row.memory_id, revision, related };
}

/** By the id of the note. */
function revisionsAmong(own: Statement, known: readonly KnownNote[]): Map<string, Related> {
  const { reading } = own;
  const found = reading ? known.flatMap((one) => revised(own, reading, one) ?? []) : [];
  return new Map(strongest(found).map(({ memory_id, related }) => [memory_id, related]));
}

/** Without a model, by rules: claims of one slot, values in one frame, else what the statement revises. */
export function relationsTo(
  own: Statement,
  known: readonly KnownNote[],
  judgement?: Judgement,
): (Related | undefined)[] {
  const byRules = known.map((one) => {
    const related = judgement?.relationTo(own, one) ?? relate(own, one.statement);
    return related.relation === 'different' && !judgement ? (otherValue(own, one.statement) ?? related) : related;
  });
  const isKnown = byRules.some(({ relation }) => relation === 'replaces' || relation === 'replaced');
  if (judgement || isKnown) return byRules;
  const revised = revisionsAmong(own, known);
  return byRules.map((one, at) => (one.relation === 'different' ? revised.get(known[at]!.row.memory_id) : one));
}

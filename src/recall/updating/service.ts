/** Compares a new note with known ones and links it: what it repeats, replaces and contradicts. */
import { listToText } from '../../driver/index.js';
import { type Call, type Subjects, subjectsOf, type Work } from '../../engine/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { canonical } from '../../kernel/node.js';
import { edgeBetween, type NewEdge } from '../../memory/index.js';
import type { EntityRef } from '../../memory/sql.js';
import { insertFactKey, lockFactKeys } from '../extraction/fact-keys.js';
import { isReached } from '../extraction/known-facts.js';
import { type Judgement, KnownChanged } from './judgement.js';
import { type KnownNote, keysOf, memoryKey, momentOf, notesById, notesUnder } from './known-notes.js';
import { type Related, type Statement, statementFrom, type TextPart } from './relations.js';
import { relationsTo } from './revisions/revising.js';

/** What became of a known note, and the part of its text that is concerned. */
export interface LinkedNote {
  readonly link: 'superseded' | 'contradicts' | 'strengthens' | 'superseded_by';
  readonly id: string;
  readonly card_id: string;
  /** Position of the value in the text of the card. */
  readonly start: number;
  readonly end: number;
  /** When it happened, in ms. */
  readonly at: number;
}

export interface Told {
  readonly text: string;
  readonly speaker: string | null;
  readonly occurred_at: string | undefined;
}

const refOf = (kind: 'note' | 'artifact', entity_id: string): EntityRef => ({
  entity_type: kind === 'note' ? 'Note' : 'Artifact',
  entity_id,
});

/** A linked value is stored as its position in a card, so that it is erased with the card. */
const bodyOf = (replaced: JsonObject): string => canonical({ metadata: { replaced }, provenance: null, weight: null });

/** Whose `replaced` value the edge is about: for `superseded_by` that of the new note. */
function edgeTo(linked: Linked, note_id: string, agent_id: string | null): NewEdge {
  const { whole, own: ownPart, card_id, start, end } = linked;
  const [own, known] = [refOf('note', note_id), refOf(linked.kind, linked.id)];
  switch (linked.link) {
    case 'superseded':
      return {
        ...edgeBetween(whole ? 'Supersedes' : 'Contradicts', own, known, agent_id),
        body: bodyOf({ card_id, start, end }),
      };
    case 'superseded_by':
      // The card of the new note has no id yet: it is that of the first version.
      return {
        ...edgeBetween(whole ? 'Supersedes' : 'Contradicts', known, own, agent_id),
        body: bodyOf({ ...ownPart }),
      };
    case 'contradicts':
      return edgeBetween('Contradicts', own, known, agent_id);
    default:
      return edgeBetween('Supports', own, known, agent_id);
  }
}

const LINKS = {
  same: 'strengthens',
  replaces: 'superseded',
  replaced: 'superseded_by',
  contradicts: 'contradicts',
} as const;

interface Linked extends LinkedNote {
  /** Whether the superseded note states nothing else, so that it can be hidden. */
  readonly whole: boolean;
  readonly kind: 'note' | 'artifact';
  /** The concerned value in the new note. */
  readonly own: TextPart;
}

async function linkTo(
  call: Call,
  work: Work,
  own: Statement,
  { row, statement }: KnownNote,
  related: Related,
): Promise<Linked | undefined> {
  const { relation, part } = related;
  if (relation === 'different') return undefined;
  const isOwn = call.acting !== undefined && row.agent_id === call.acting.agent_id;
  if (!isOwn && !(await isReached(call, work.tx, row, 'read'))) return undefined;
  const mayHide = isOwn || (await isReached(call, work.tx, row, 'write'));
  const { start, end } = part ?? { start: 0, end: statement.text.length };
  const isWhole = related.whole ?? statement.whole;
  const ownWhole = related.own_whole ?? own.whole;
  const whole = mayHide && (relation === 'replaces' ? isWhole : relation !== 'replaced' || ownWhole);
  return {
    link: LINKS[relation],
    id: row.memory_id,
    card_id: row.card_id,
    start,
    end,
    at: statement.at.ms,
    whole,
    kind: row.kind,
    own: related.own ?? { start: 0, end: own.text.length },
  };
}

/** One linked note strengthens enough: the others repeat it. */
function withoutRepeats(linked: readonly Linked[]): Linked[] {
  let strengthened = false;
  return linked.filter(({ link }) => link !== 'strengthens' || (!strengthened && (strengthened = true)));
}

interface Comparison {
  /** Locks what it is about, reads the known notes and returns the edges of the new one. */
  readonly edges: (work: Work, note_id: string, inherited: readonly Subjects[]) => Promise<NewEdge[]>;
  /** Makes the new note known to later ones. */
  readonly store: (work: Work, note_id: string) => Promise<void>;
  readonly linked: () => readonly LinkedNote[];
}

/** What was found before the transaction. */
interface Similar {
  /** Relations that a model found. */
  readonly judgement?: Judgement | undefined;
  /** Notes that the statement may revise. */
  readonly to_revise?: readonly string[];
}

export function comparisonFor(call: Call, told: Told, similar: Similar = {}): Comparison {
  let linked: readonly Linked[] = [];
  let keys: ReturnType<typeof keysOf> = { slots: [], all: [] };
  return {
    async edges(work, note_id, inherited) {
      const { tx, now } = work;
      const own = statementFrom(told.text, told.speaker, momentOf(told.occurred_at, now));
      const subjects = listToText(subjectsOf(call, undefined, ...inherited));
      keys = keysOf(call, own, subjects);
      const judged = similar.judgement?.memory_ids ?? [];
      const sought = [...judged, ...(similar.to_revise ?? [])];
      await lockFactKeys(tx, [...keys.slots, ...sought.map((id) => memoryKey(call, id))]);
      const known = await notesUnder(tx, keys.all, now);
      const others = await notesById(
        tx,
        sought.filter((id) => !known.some(({ row }) => row.memory_id === id)),
        now,
      );
      const present = new Set([...known, ...others].map(({ row }) => row.memory_id));
      if (judged.some((id) => !present.has(id))) throw new KnownChanged();
      const found: Linked[] = [];
      const all = [...known, ...others].filter(({ row }) => row.subject_ids === subjects);
      for (const [at, related] of relationsTo(own, all, similar.judgement).entries()) {
        const link = related && (await linkTo(call, work, own, all[at]!, related));
        if (link) found.push(link);
      }
      linked = withoutRepeats(found);
      return linked.map((one) => edgeTo(one, note_id, call.caller.agent_id));
    },
    async store({ tx }, note_id) {
      for (const key of keys.all) await insertFactKey(tx, key, note_id);
    },
    linked: () =>
      linked.map(({ whole, own: _, kind: __, ...one }) =>
        one.link === 'superseded' && !whole ? { ...one, link: 'contradicts' } : one,
      ),
  };
}

/** The part of the outcome that an idempotency record keeps: ids and positions. */
export const keptLinks = (linked: readonly LinkedNote[]): Json =>
  linked.map(({ link, id, card_id, start, end, at }) => [link, id, card_id, start, end, at]);

export const linksFrom = (kept: Json): LinkedNote[] =>
  (kept as [LinkedNote['link'], string, string, number, number, number][]).map(
    ([link, id, card_id, start, end, at]) => ({ link, id, card_id, start, end, at }),
  );

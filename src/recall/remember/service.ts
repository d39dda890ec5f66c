/** Use cases of remember and recall: a note or turn, by default in the default place, and a search for whole texts. */
import type { In, Out } from '../../engine/contract.js';
import { type Call, change } from '../../engine/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { invalid, toIso } from '../../kernel/index.js';
import type { Note } from '../../memory/contract.js';
import {
  accessCounts,
  add as addTurn,
  noteNoun,
  notesService as notes,
  prepareNote,
  readVersion,
} from '../../memory/index.js';
import { findScope } from '../../memory/sql.js';
import { countTokens, parseDate, sentencesOf } from '../../text/index.js';
import { describeHit, searchHits } from '../search/service.js';
import { KnownChanged } from '../updating/judgement.js';
import { judge, notesToRevise } from '../updating/judging.js';
import { type Mark, marksOf, markText } from '../updating/marks.js';
import { comparisonFor, keptLinks, type LinkedNote, linksFrom, type Told } from '../updating/service.js';
import { defaultScope, defaultTrajectory, refuseDefaultPlace } from './default-place.js';
import { outcomeOf } from './outcome-answer.js';
import { passageExcerpt } from './passage-excerpt.js';

const FACT = 'Fact';
const TITLE_LENGTH = 80;
/** Characters in which the first sentence is looked for: some are two units long. */
const TITLE_REACH = 4 * TITLE_LENGTH;

/** The first sentence, cut to the length of a title. */
function titleOf(text: string): string {
  const line = text.trim().split('\n', 1)[0]!.slice(0, TITLE_REACH);
  const letters = [...(sentencesOf(line).next().value ?? text.trim())];
  return letters.length <= TITLE_LENGTH ? letters.join('') : `${letters.slice(0, TITLE_LENGTH - 1).join('')}…`;
}

export async function remember(call: Call, input: In<'memory.remember'>): Promise<Out<'memory.remember'>> {
  checkInput(input);
  const { tags, speaker, occurred_at } = input;
  const metadata: JsonObject = {
    ...input.metadata,
    ...(tags === undefined ? {} : { tags }),
    ...(speaker === undefined ? {} : { speaker }),
    ...(occurred_at === undefined ? {} : { occurred_at }),
  };
  return input.as === 'turn' ? rememberTurn(call, input, metadata) : rememberNote(call, input, metadata);
}

/** Runs before the default place is created. */
function checkInput(input: In<'memory.remember'>): void {
  refuseMixed(input);
  const { text, type = FACT, ttl, occurred_at } = input;
  // Spaces, control and format characters are blank.
  if (!/[^\s\p{C}\p{Z}]/u.test(text)) throw invalid('`text` must not be blank');
  if (occurred_at !== undefined && parseDate(occurred_at) === undefined)
    throw invalid(`\`occurred_at\` must be a date such as 2026-01-31 or 2026-01-31T12:00:00Z, not "${occurred_at}"`);
  if (ttl !== undefined) notes.checkNote({ type, ttl });
}

/** Refuses fields of the other kind: they would be lost silently. */
function refuseMixed(input: In<'memory.remember'>): void {
  const foreign: readonly (keyof typeof input)[] =
    input.as === 'turn' ? ['type', 'title', 'ttl'] : ['role', 'scope_id'];
  const field = foreign.find((name) => input[name] !== undefined);
  const other = input.as === 'turn' ? 'note' : 'turn';
  if (field !== undefined) throw invalid(`\`${field}\` is for a ${other}: leave it out, or set \`as\` to ${other}`);
}

async function rememberNote(
  call: Call,
  input: In<'memory.remember'>,
  metadata: JsonObject,
): Promise<Out<'memory.remember'>> {
  const trajectory_id = input.trajectory_id ?? (await defaultTrajectory(call));
  // The caller did not choose the default place, so it need not be able to read it.
  const { acting: _, ...placed } = call;
  const noteInput = {
    note_type: input.type ?? FACT,
    title: input.title ?? titleOf(input.text),
    content: input.text,
    source_trajectory_ids: [trajectory_id],
    metadata,
    ...(input.ttl === undefined ? {} : { ttl: input.ttl }),
  };
  const told = { text: input.text, speaker: input.speaker ?? null, occurred_at: input.occurred_at };
  const creator = input.trajectory_id === undefined ? placed : call;
  const { note, linked } = await storeNote(call, creator, noteInput, told);
  const { note_id: id, title: name, token_count, created_at } = note;
  const place = { trajectory_id, scope_id: null };
  const outcome = await outcomeOf(call, linked);
  return { entity_type: 'Note', id, name, ...place, token_count, created_at, ...outcome };
}

interface StoredNote {
  readonly note: Note;
  readonly linked: readonly LinkedNote[];
}

/** How often a comparison starts again because a known note was changed meanwhile; then the rules alone compare. */
const MAX_JUDGEMENTS = 3;

/** Creates the note and its links in one transaction. */
async function storeNote(call: Call, creator: Call, input: In<'notes.create'>, told: Told): Promise<StoredNote> {
  for (let judgements = 0; ; judgements++) {
    const judgement = judgements < MAX_JUDGEMENTS ? await judge(call, input, told) : undefined;
    const to_revise = judgement ? [] : await notesToRevise(call, input, told);
    const comparison = comparisonFor(call, told, { judgement, to_revise });
    const { bytes, work } = await prepareNote(creator, input, comparison.edges);
    try {
      return await change<StoredNote>(creator, {
        input,
        bytes,
        work: async (within) => {
          const note = await work(within);
          await comparison.store(within, note.note_id);
          return { note, linked: comparison.linked() };
        },
        remember: ({ note, linked }) => [note.note_id, keptLinks(linked)],
        again: async (tx, kept) => {
          const [note_id, links] = kept as [string, Json];
          const within = { call: creator, tx, now: creator.driver.now() };
          return { note: await readVersion(within, noteNoun, note_id, 1), linked: linksFrom(links) };
        },
      });
    } catch (error) {
      if (!(error instanceof KnownChanged)) throw error;
    }
  }
}

async function rememberTurn(
  call: Call,
  input: In<'memory.remember'>,
  metadata: JsonObject,
): Promise<Out<'memory.remember'>> {
  if (input.scope_id === undefined && input.trajectory_id === undefined) refuseDefaultPlace(call, 'Turn');
  const scope_id = input.scope_id ?? (await defaultScope(call, input.trajectory_id ?? (await defaultTrajectory(call))));
  const scope = await findScope(call.driver.at(call.tenant), scope_id);
  if (scope && input.trajectory_id !== undefined && scope.trajectory_id !== input.trajectory_id)
    throw invalid(`scope ${scope_id} is not in trajectory ${input.trajectory_id}`);
  const turn = await addTurn(call, { scope_id, role: input.role ?? 'User', content: input.text, metadata });
  const { turn_id: id, token_count, created_at } = turn;
  const { trajectory_id } = scope!;
  const outcome = 'added' as const;
  return { entity_type: 'Turn', id, name: null, trajectory_id, scope_id, token_count, created_at, outcome };
}

/** Repetitions of a passage whose marks count for it. */
const MAX_REPEATS = 10;

/** Since when a passage holds, and what it replaced. */
function changesOf(
  mark: Mark | undefined,
  since: string,
): Pick<Out<'memory.recall'>['passages'][number], 'since' | 'before'> {
  if (!mark || mark.before.length === 0) return {};
  const before = mark.before.map(({ id, value, at }) => ({ id, value, occurred_at: toIso(at) }));
  return { since, before };
}

export async function recall(call: Call, input: In<'memory.recall'>): Promise<Out<'memory.recall'>> {
  const {
    max_tokens = Number.POSITIVE_INFINITY,
    entity_types = ['Turn', 'Artifact', 'Note', 'Card'],
    count_access = true,
    ...rest
  } = input;
  const found = await searchHits(call, { ...rest, entity_types }, 'text', true);
  const marks = await marksOf(
    call,
    found.hits.map(({ doc, same_as }) => [doc.entity_id, ...same_as.slice(0, MAX_REPEATS)]),
  );
  const passages: Out<'memory.recall'>['passages'] = [];
  let total = 0;
  for (const hit of found.hits) {
    const described = describeHit(hit);
    const mark = marks.get(hit.doc.entity_id);
    const remark = mark && markText(hit.doc.occurred_at, mark);
    const end = remark === undefined ? '' : ` (${remark})`;
    const text = end === '' ? hit.text! : `${hit.text!.trimEnd()}${end}`;
    const token_count = await countTokens(text);
    const room = max_tokens - total;
    // Only the first is cut: a later passage may be short enough.
    const mayCut = token_count > room && !passages.some(({ is_excerpt }) => is_excerpt);
    const cut = mayCut ? await passageExcerpt(hit.text!.trimEnd(), input.query, room, end) : undefined;
    if (token_count > room && !cut) continue;
    const shown = cut ? { ...cut, is_excerpt: true as const } : { text, token_count };
    total += shown.token_count;
    const { snippet, highlights, same_as } = hit;
    const confidence = Math.round(hit.why.confidence * 1000) / 1000;
    const excerpt = { snippet, highlights, confidence, ...shown, same_as: [...same_as] };
    passages.push({
      ...described,
      ...excerpt,
      ...(remark === undefined ? {} : { mark: remark }),
      ...changesOf(mark, described.occurred_at),
    });
  }
  const memories = passages.filter(({ entity_type }) => entity_type === 'Note' || entity_type === 'Artifact');
  const ids = memories.map(({ id }) => id);
  if (count_access) accessCounts.of(call).touch(call.tenant, ids);
  const left_out = found.hits.length - passages.length;
  return { passages, token_count: total, left_out, next_cursor: found.next_cursor };
}

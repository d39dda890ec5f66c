/** Use cases of remember and recall: a note or turn, by default in the default place, and a search for whole texts. */
import type { In, Out } from '../../engine/contract.js';
import type { Call } from '../../engine/index.js';
import type { JsonObject } from '../../kernel/contract.js';
import { invalid } from '../../kernel/index.js';
import { accessCounts, add as addTurn, notesService as notes } from '../../memory/index.js';
import { findScope } from '../../memory/sql.js';
import { countTokens, parseDate } from '../../text/index.js';
import { describeHit, searchHits } from '../search/service.js';
import { defaultScope, defaultTrajectory, refuseDefaultPlace } from './default-place.js';

const FACT = 'Fact';
const TITLE_LENGTH = 80;

/** The first sentence, cut to the length of a title. */
function titleOf(text: string): string {
  const line = text
    .trim()
    .split(/\n|(?<=[.!?。！？])\s/, 1)[0]!
    .trim();
  const letters = [...(line === '' ? text.trim() : line)];
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
  const note = await notes.create(input.trajectory_id === undefined ? placed : call, {
    note_type: input.type ?? FACT,
    title: input.title ?? titleOf(input.text),
    content: input.text,
    source_trajectory_ids: [trajectory_id],
    metadata,
    ...(input.ttl === undefined ? {} : { ttl: input.ttl }),
  });
  const { note_id: id, title: name, token_count, created_at } = note;
  return { entity_type: 'Note', id, name, trajectory_id, scope_id: null, token_count, created_at };
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
  return { entity_type: 'Turn', id, name: null, trajectory_id, scope_id, token_count, created_at };
}

export async function recall(call: Call, input: In<'memory.recall'>): Promise<Out<'memory.recall'>> {
  const { max_tokens = Number.POSITIVE_INFINITY, entity_types = ['Turn', 'Artifact', 'Note', 'Card'], ...rest } = input;
  const found = await searchHits(call, { ...rest, entity_types }, 'text', true);
  const passages: Out<'memory.recall'>['passages'] = [];
  let total = 0;
  for (const hit of found.hits) {
    const token_count = await countTokens(hit.text!);
    // A later passage may be short enough.
    if (total + token_count > max_tokens) continue;
    total += token_count;
    const { snippet, highlights, same_as } = hit;
    const excerpt = { snippet, highlights, text: hit.text!, token_count, same_as: [...same_as] };
    passages.push({ ...describeHit(hit), ...excerpt });
  }
  const memories = passages.filter(({ entity_type }) => entity_type === 'Note' || entity_type === 'Artifact');
  const ids = memories.map(({ id }) => id);
  accessCounts.of(call).touch(call.tenant, ids);
  const left_out = found.hits.length - passages.length;
  return { passages, token_count: total, left_out, next_cursor: found.next_cursor };
}

/** Gathers what may go into a context: texts of the request, what a search finds, what is newest, and the latest turns. */
import type { Query } from '../../driver/index.js';
import type { Call } from '../../engine/index.js';
import { readableProfile } from '../../facts/index.js';
import { reachOf } from '../../identity/index.js';
import { isBlank } from '../../kernel/index.js';
import type { TurnPlace } from '../manifests/entries.js';
import { findEntities, type SoughtEntities } from '../search/service.js';
import type { Material, Meter, Uncounted } from '../windows/assembly.js';
import { saidText } from '../windows/content.js';
import { sectionsFor } from '../windows/sections.js';
import type { TurnCard } from '../windows/turns.js';
import type { WindowPart } from '../windows/window.js';
import { type Found, withCards } from './candidates.js';
import { type ContextInput, DEFAULT_CONTEXT_TOKENS, MAX_CONTEXT_TURNS, type SectionName } from './model.js';
import { givenPart } from './parts.js';
import {
  type FoundMemory,
  type MemoryLook,
  newestArtifacts,
  newestPrinciples,
  newestSummaries,
  notesLearnedIn,
} from './sources.js';
import { readTurns } from './turns.js';

/** What a request comes to, with what it leaves open. */
export interface Wanted extends ContextInput {
  readonly trajectory_id: string;
  readonly query: string | undefined;
}

export type QueryFrom = 'query' | 'user_input' | 'turn' | null;

export interface Gathered {
  readonly material: Material;
  readonly query_from: QueryFrom;
  readonly places: ReadonlyMap<string, TurnPlace>;
}

const MAX_NOTES = 10;

/** How many hits are looked at beyond those that are asked for: they are recorded as left out. */
const MORE = 10;

/** Where none are shown, what the user said last is looked for in so many. */
const TURNS_FOR_QUERY = 20;

/** A query is a few words: what a long input is about shows in its beginning. */
const QUERY_CHARACTERS = 4000;

export async function gather(call: Call, input: Wanted, meter: Meter): Promise<Gathered> {
  const query = call.driver.at(call.tenant);
  const given = await givenTexts(call, query, input);
  const budget = input.token_budget ?? DEFAULT_CONTEXT_TOKENS;
  const { include_turns = true } = input;
  const max_turns = include_turns ? (input.max_turns ?? MAX_CONTEXT_TURNS) : 0;
  const asked = input.query ?? input.user_input;
  const needsTurns = max_turns > 0 || asked === undefined;
  // What is asked for is searched beside the reading of turns; else the turns say what to ask for.
  const begun = asked === undefined ? undefined : searchesFor(call, input, asked);
  const read = needsTurns
    ? await readTurns(
        call,
        {
          trajectory_id: input.trajectory_id,
          scope_id: input.scope_id ?? null,
          hierarchy: input.include_hierarchy ?? false,
          tokens: budget,
          max_turns: max_turns > 0 ? max_turns : TURNS_FOR_QUERY,
        },
        meter,
      )
    : { turns: [], total: 0, places: new Map<string, TurnPlace>() };
  const said = asked === undefined ? lastSaid(read.turns) : undefined;
  const turns = max_turns > 0 ? read.turns : [];
  const found = await findAll(call, query, input, begun ?? searchesFor(call, input, said), turns);
  return {
    places: read.places,
    query_from:
      input.query !== undefined ? 'query' : asked !== undefined ? 'user_input' : said === undefined ? null : 'turn',
    material: {
      format: input.format ?? 'messages',
      budget,
      sections: sectionsFor(input.sections),
      given,
      ...(await withCards(call, query, found, turns)),
      turns,
      turns_total: max_turns > 0 ? read.total : 0,
      max_turns,
    },
  };
}

async function givenTexts(call: Call, query: Query, input: Wanted): Promise<Uncounted[]> {
  const texts: Uncounted[] = [];
  const add = (part: WindowPart, card_id: string) => {
    if (isBlank(part.text)) return;
    texts.push({ entity_type: 'Card', id: card_id, card_id, score: null, reason: 'given', part, moment: 0 });
  };
  if (input.profile !== undefined) {
    const { card_id, content } = await readableProfile(call, query, input.profile);
    add(givenPart('profile', { content }), card_id);
  }
  // Their cards are made with the manifest; until then the section stands for the id.
  for (const section of ['instructions', 'user_input'] as const) {
    const text = input[section];
    if (text !== undefined) add({ section, title: '', type: '', text }, section);
  }
  return texts;
}

/** What the user said last, of these turns. */
const lastSaid = (turns: readonly TurnCard[]): string | undefined => {
  const last = turns.findLast(({ role, content }) => role === 'user' && !isBlank(saidText(content)));
  return last && saidText(last.content);
};

async function findAll(
  call: Call,
  query: Query,
  input: Wanted,
  { inTrajectory, notes }: Searches,
  turns: readonly TurnCard[],
): Promise<Found[]> {
  const { include_notes = true, include_artifacts = true, include_history = true } = input;
  const looks: (Promise<Found[]> | false)[] = [
    include_notes && findNotes(call, query, input, notes),
    include_artifacts && findArtifacts(call, query, input, inTrajectory),
    include_history && findSummaries(call, query, input),
    include_history && findTurns(input, inTrajectory, turns),
  ];
  const found = (await Promise.all(looks.filter((look) => look !== false))).flat();
  const seen = new Set<string>();
  return found.filter(({ card_id }) => !seen.has(card_id) && seen.add(card_id));
}

type Hits = Awaited<ReturnType<typeof findEntities>>;

interface Searches {
  readonly inTrajectory: Promise<Hits>;
  readonly notes: Promise<Hits>;
}

/** All that is searched for; whoever needs the hits waits for them. */
function searchesFor(call: Call, input: Wanted, said: string | undefined): Searches {
  const text = said?.slice(0, QUERY_CHARACTERS);
  const sought = (wanted: Omit<SoughtEntities, 'query'>): Promise<Hits> =>
    text === undefined || isBlank(text) || wanted.limit <= 0
      ? Promise.resolve([])
      : findEntities(call, { ...wanted, query: text });
  const { include_notes = true, max_notes = MAX_NOTES } = input;
  const notes = include_notes && max_notes > 0 ? max_notes + MORE : 0;
  const searches = {
    inTrajectory: sought(soughtInTrajectory(input)),
    notes: sought({ entity_types: ['Note'], limit: notes }),
  };
  // What fails before anyone waits for it is told to whoever does.
  for (const one of Object.values(searches)) one.catch(() => undefined);
  return searches;
}

/** Artifacts and turns by one search, which costs as much as one for either. */
function soughtInTrajectory(input: Wanted): Omit<SoughtEntities, 'query'> {
  const { trajectory_id, include_artifacts = true, include_history = true } = input;
  const artifacts = include_artifacts ? (input.max_artifacts ?? 5) : 0;
  const passages = include_history ? (input.max_passages ?? 10) : 0;
  const entity_types: ('Artifact' | 'Turn')[] = [];
  if (artifacts > 0) entity_types.push('Artifact');
  if (passages > 0) entity_types.push('Turn');
  const limit = entity_types.length === 0 ? 0 : Math.min(100, artifacts + passages + 4 * MORE);
  return { entity_types, trajectory_id, limit };
}

/** Hits first, then what is newest. */
function ranked(
  section: SectionName,
  entity_type: Found['entity_type'],
  hits: Hits,
  newest: readonly FoundMemory[],
  limit: number,
  min_relevance: number | undefined,
): Found[] {
  const list: Found[] = hits.map(({ doc, why }) => ({
    section,
    entity_type,
    id: doc.entity_id,
    card_id: doc.content_id,
    score: why.score,
    reason: 'relevant',
    limit,
  }));
  const hit = new Set(hits.map(({ doc }) => doc.content_id));
  for (const { memory_id, card_id } of min_relevance === undefined ? newest : []) {
    if (hit.has(card_id)) continue;
    list.push({ section, entity_type, id: memory_id, card_id, score: null, reason: 'newest', limit });
  }
  const isBelow = ({ score }: Found) => score !== null && score < (min_relevance ?? 0);
  return list.map((one): Found => (isBelow(one) ? { ...one, refused: 'below_min_relevance' } : one));
}

const lookOf = (call: Call, type: 'Artifact' | 'Note', limit: number): MemoryLook => ({
  reach: reachOf(call, type),
  limit,
  now: call.driver.now(),
});

/** Principles are told whether or not they are about the query: they are few, and hold always. */
async function findNotes(call: Call, query: Query, input: Wanted, found: Promise<Hits>): Promise<Found[]> {
  const { max_notes: limit = MAX_NOTES, min_relevance } = input;
  if (limit === 0) return [];
  const look = lookOf(call, 'Note', limit);
  const [hits, principles, learned] = await Promise.all([
    found,
    newestPrinciples(query, look),
    notesLearnedIn(query, input.trajectory_id, look),
  ]);
  const isPrinciple = ({ doc }: Hits[number]) => doc.abstraction_level === 'L2';
  return [
    ...ranked('principles', 'Note', hits.filter(isPrinciple), principles, limit, min_relevance),
    ...ranked(
      'notes',
      'Note',
      hits.filter((hit) => !isPrinciple(hit)),
      learned,
      limit,
      min_relevance,
    ),
  ];
}

async function findArtifacts(call: Call, query: Query, input: Wanted, found: Promise<Hits>): Promise<Found[]> {
  const { max_artifacts: limit = 5, min_relevance, trajectory_id } = input;
  if (limit === 0) return [];
  const [hits, newest] = await Promise.all([
    found,
    newestArtifacts(query, trajectory_id, lookOf(call, 'Artifact', limit)),
  ]);
  const own = hits
    .filter(({ doc }) => doc.entity_type === 'artifact')
    .filter(({ doc }) => doc.type !== 'Summary' || doc.abstraction_level !== 'L1')
    .slice(0, limit + MORE);
  return ranked('artifacts', 'Artifact', own, newest, limit, min_relevance);
}

async function findSummaries(call: Call, query: Query, input: Wanted): Promise<Found[]> {
  const { max_summaries: limit = 5, trajectory_id } = input;
  if (limit === 0) return [];
  const newest = await newestSummaries(query, trajectory_id, lookOf(call, 'Artifact', limit));
  return newest.map(({ memory_id, card_id }) => ({
    section: 'summaries',
    entity_type: 'Artifact',
    id: memory_id,
    card_id,
    score: null,
    reason: 'stands_for_turns',
    limit,
  }));
}

/** Earlier turns that the query is about. What the user says now was maybe said before: that tells nothing. */
async function findTurns(input: Wanted, found: Promise<Hits>, turns: readonly TurnCard[]): Promise<Found[]> {
  const { max_passages: limit = 10, min_relevance } = input;
  if (limit === 0) return [];
  const latest = turns.at(-1)?.card_id;
  const hits = (await found)
    .filter(({ doc }) => doc.entity_type === 'turn' && doc.content_id !== latest)
    .slice(0, limit + MORE);
  return ranked('passages', 'Turn', hits, [], limit, min_relevance);
}

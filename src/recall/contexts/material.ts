/** Gathers the material of a context: texts of the request, search hits, the newest memories, the latest turns. */

import type { Query } from '../../driver/index.js';
import type { Call } from '../../engine/index.js';
import { readableProfile } from '../../facts/index.js';
import type { SectionSetting } from '../../identity/contract.js';
import { reachOf } from '../../identity/index.js';
import { isBlank } from '../../kernel/index.js';
import type { TurnPosition } from '../manifests/entries.js';
import { type EntitySearch, findEntities } from '../search/service.js';
import type { Material, Meter, Uncounted } from '../windows/assembly.js';
import { contentText } from '../windows/content.js';
import { sectionsFor } from '../windows/sections.js';
import type { TurnCard } from '../windows/turns.js';
import type { WindowPart } from '../windows/window.js';
import { type CandidateRef, readCandidates } from './candidates.js';
import { type ContextInput, MAX_CONTEXT_TURNS } from './model.js';
import { givenPart } from './parts.js';
import {
  type MemoryFilter,
  type MemoryRef,
  newestArtifacts,
  newestPrinciples,
  newestSummaries,
  notesLearnedIn,
} from './sources.js';
import { readTurns } from './turns.js';

/** A request with its trajectory and query resolved, and the settings of the tenant where it gives none. */
export interface ContextRequest extends ContextInput {
  readonly trajectory_id: string;
  readonly query: string | undefined;
  readonly token_budget: number;
  readonly sections: SectionSetting[];
}

export interface Gathered {
  readonly material: Material;
  readonly query_from: 'query' | 'user_input' | 'turn' | null;
  readonly positions: ReadonlyMap<string, TurnPosition>;
}

/** Hits read beyond the limit: they are recorded as left out. */
const HITS_BEYOND_LIMIT = 10;

/** If no turns are shown, the last user message is looked for in so many. */
const TURNS_FOR_QUERY = 20;

/** A longer text is cut: its beginning shows what it is about. */
const QUERY_CHARACTERS = 4000;

/** By default one more candidate per so many tokens of the budget, so that a large one is used… */
const TOKENS_PER_CANDIDATE = 100;
/** …up to this. */
const MOST_BY_DEFAULT = 40;

const byBudget = (least: number, budget: number): number =>
  Math.max(least, Math.min(MOST_BY_DEFAULT, Math.floor(budget / TOKENS_PER_CANDIDATE)));

/** How many of each kind are shown; 0 for kinds that the request leaves out. */
const limitsOf = (input: ContextRequest) => {
  const { include_notes = true, include_artifacts = true, include_history = true, token_budget } = input;
  return {
    notes: include_notes ? (input.max_notes ?? byBudget(10, token_budget)) : 0,
    artifacts: include_artifacts ? (input.max_artifacts ?? 5) : 0,
    summaries: include_history ? (input.max_summaries ?? 5) : 0,
    passages: include_history ? (input.max_passages ?? byBudget(10, token_budget)) : 0,
  };
};

export async function gather(call: Call, input: ContextRequest, meter: Meter): Promise<Gathered> {
  const query = call.driver.at(call.tenant);
  const given = await givenTexts(call, query, input);
  const budget = input.token_budget;
  const { include_turns = true } = input;
  const max_turns = include_turns ? (input.max_turns ?? MAX_CONTEXT_TURNS) : 0;
  const asked = input.query ?? input.user_input;
  // With a query the search runs while turns are read; without one the turns supply it.
  const begun = asked === undefined ? undefined : startSearches(call, input, asked);
  const wanted = {
    trajectory_id: input.trajectory_id,
    scope_id: input.scope_id ?? null,
    hierarchy: input.include_hierarchy ?? false,
    tokens: budget,
    max_turns: max_turns > 0 ? max_turns : TURNS_FOR_QUERY,
  };
  const read = max_turns > 0 || asked === undefined ? await readTurns(call, wanted, meter) : undefined;
  const last = asked === undefined ? lastUserText(read?.turns ?? []) : undefined;
  const turns = max_turns > 0 ? (read?.turns ?? []) : [];
  const searches = begun ?? startSearches(call, input, last);
  const refs = await findAll({ call, query, input, searches, turns });
  return {
    positions: read?.positions ?? new Map(),
    query_from:
      input.query !== undefined ? 'query' : asked !== undefined ? 'user_input' : last === undefined ? null : 'turn',
    material: {
      format: input.format ?? 'messages',
      budget,
      sections: sectionsFor(input.sections),
      given,
      ...(await readCandidates(call, query, refs, turns)),
      turns,
      turns_total: max_turns > 0 ? (read?.total ?? 0) : 0,
      max_turns,
      query: (asked ?? last)?.slice(0, QUERY_CHARACTERS),
    },
  };
}

async function givenTexts(call: Call, query: Query, input: ContextRequest): Promise<Uncounted[]> {
  const texts: Uncounted[] = [];
  const add = (part: WindowPart, card_id: string) => {
    if (isBlank(part.text)) return;
    texts.push({ entity_type: 'Card', id: card_id, card_id, score: null, reason: 'given', part, moment: 0 });
  };
  if (input.profile !== undefined) {
    const { card_id, content } = await readableProfile(call, query, input.profile);
    add(givenPart('profile', { content }), card_id);
  }
  // Their cards are inserted with the manifest; until then the name of the section is the id.
  for (const section of ['instructions', 'user_input'] as const) {
    const text = input[section];
    if (text !== undefined) add({ section, title: '', type: '', text }, section);
  }
  return texts;
}

const lastUserText = (turns: readonly TurnCard[]): string | undefined => {
  const last = turns.findLast(({ role, content }) => role === 'user' && !isBlank(contentText(content)));
  return last && contentText(last.content);
};

/** The inputs of all four lookups. */
interface Lookup {
  readonly call: Call;
  readonly query: Query;
  readonly input: ContextRequest;
  readonly searches: Searches;
  readonly turns: readonly TurnCard[];
}

async function findAll(lookup: Lookup): Promise<CandidateRef[]> {
  const lookups = [findNotes(lookup), findArtifacts(lookup), findSummaries(lookup), findPassages(lookup)];
  const refs = (await Promise.all(lookups)).flat();
  const seen = new Set<string>();
  return refs.filter(({ card_id }) => !seen.has(card_id) && seen.add(card_id));
}

type Hits = Awaited<ReturnType<typeof findEntities>>;

interface Searches {
  readonly inTrajectory: Promise<Hits>;
  readonly notes: Promise<Hits>;
}

function startSearches(call: Call, input: ContextRequest, about: string | undefined): Searches {
  const text = about?.slice(0, QUERY_CHARACTERS);
  const search = (wanted: Omit<EntitySearch, 'query'>): Promise<Hits> =>
    text === undefined || isBlank(text) || wanted.limit <= 0
      ? Promise.resolve([])
      : findEntities(call, { ...wanted, query: text });
  const { notes, artifacts, passages } = limitsOf(input);
  // One search for artifacts and turns costs as much as a search for either.
  const entity_types = [...(artifacts > 0 ? ['Artifact' as const] : []), ...(passages > 0 ? ['Turn' as const] : [])];
  const limit = entity_types.length === 0 ? 0 : Math.min(100, artifacts + passages + 4 * HITS_BEYOND_LIMIT);
  const searches = {
    inTrajectory: search({ entity_types, trajectory_id: input.trajectory_id, limit }),
    notes: search({ entity_types: ['Note'], limit: notes > 0 ? notes + HITS_BEYOND_LIMIT : 0 }),
  };
  // A rejection before the first await would count as unhandled; the code that awaits still gets it.
  for (const one of Object.values(searches)) one.catch(() => undefined);
  return searches;
}

type Target = Pick<CandidateRef, 'section' | 'entity_type' | 'limit'>;

const memoryRefs = (target: Target, reason: CandidateRef['reason'], memories: readonly MemoryRef[]): CandidateRef[] =>
  memories.map(({ memory_id, card_id }) => ({ ...target, id: memory_id, card_id, score: null, reason }));

/** Hits first, then the newest, which a minimum relevance leaves out. */
function ranked(
  target: Target,
  { min_relevance }: ContextRequest,
  hits: Hits,
  newest: readonly MemoryRef[] = [],
): CandidateRef[] {
  const list = hits.map(({ doc, why }): CandidateRef => {
    const ref = { ...target, id: doc.entity_id, card_id: doc.content_id, score: why.score };
    const isBelow = why.score < (min_relevance ?? 0);
    return { ...ref, reason: 'relevant', ...(isBelow ? { refused: 'below_min_relevance' } : {}) };
  });
  if (min_relevance !== undefined) return list;
  const hit = new Set(list.map(({ card_id }) => card_id));
  const others = newest.filter(({ card_id }) => !hit.has(card_id));
  return [...list, ...memoryRefs(target, 'newest', others)];
}

const filterOf = (call: Call, type: 'Artifact' | 'Note', limit: number): MemoryFilter => ({
  reach: reachOf(call, type),
  limit,
  now: call.driver.now(),
});

/** Principles are few and always hold, so they are shown whether or not the query finds them. */
async function findNotes({ call, query, input, searches }: Lookup): Promise<CandidateRef[]> {
  const { notes: limit } = limitsOf(input);
  if (limit === 0) return [];
  const filter = filterOf(call, 'Note', limit);
  const [hits, principles, learned] = await Promise.all([
    searches.notes,
    newestPrinciples(query, filter),
    notesLearnedIn(query, input.trajectory_id, filter),
  ]);
  const l2 = hits.filter(({ doc }) => doc.abstraction_level === 'L2');
  const others = hits.filter(({ doc }) => doc.abstraction_level !== 'L2');
  return [
    ...ranked({ section: 'principles', entity_type: 'Note', limit }, input, l2, principles),
    ...ranked({ section: 'notes', entity_type: 'Note', limit }, input, others, learned),
  ];
}

async function findArtifacts({ call, query, input, searches }: Lookup): Promise<CandidateRef[]> {
  const { artifacts: limit } = limitsOf(input);
  if (limit === 0) return [];
  const [hits, newest] = await Promise.all([
    searches.inTrajectory,
    newestArtifacts(query, input.trajectory_id, filterOf(call, 'Artifact', limit)),
  ]);
  const own = hits
    .filter(({ doc }) => doc.entity_type === 'artifact')
    .filter(({ doc }) => doc.type !== 'Summary' || doc.abstraction_level !== 'L1')
    .slice(0, limit + HITS_BEYOND_LIMIT);
  return ranked({ section: 'artifacts', entity_type: 'Artifact', limit }, input, own, newest);
}

async function findSummaries({ call, query, input }: Lookup): Promise<CandidateRef[]> {
  const { summaries: limit } = limitsOf(input);
  if (limit === 0) return [];
  const newest = await newestSummaries(query, input.trajectory_id, filterOf(call, 'Artifact', limit));
  return memoryRefs({ section: 'summaries', entity_type: 'Artifact', limit }, 'stands_for_turns', newest);
}

/** Earlier turns about the query. The latest is left out: it is often the user input itself. */
async function findPassages({ input, searches, turns }: Lookup): Promise<CandidateRef[]> {
  const { passages: limit } = limitsOf(input);
  if (limit === 0) return [];
  const latest = turns.at(-1)?.card_id;
  const hits = (await searches.inTrajectory)
    .filter(({ doc }) => doc.entity_type === 'turn' && doc.content_id !== latest)
    .slice(0, limit + HITS_BEYOND_LIMIT);
  return ranked({ section: 'passages', entity_type: 'Turn', limit }, input, hits);
}

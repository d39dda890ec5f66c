/** Use cases of turns: a card at the next position of the scope's box, and the budget that moves with it. */
import type { Query } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import {
  actsAs,
  answerOf,
  bytesOf,
  type Call,
  change,
  event,
  type ItemResult,
  indexKey,
  isAnswerOf,
  itemAgain,
  resultsOf,
  type Work,
} from '../../engine/index.js';
import { scopeHolder } from '../../engine/sql.js';
import {
  type CardRow,
  findCard,
  findCards,
  growBox,
  insertCards,
  insertEntries,
  keyedHash,
  type NewCard,
} from '../../facts/sql.js';
import { checkUses } from '../../identity/index.js';
import type { Measured } from '../../index/sql.js';
import { type Json, type JsonObject, newId } from '../../kernel/contract.js';
import { CairnError, eachInTurn, inTurn } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { countTokens } from '../../text/index.js';
import { fits, reachesThreshold, thresholdAt } from '../scopes/rules.js';
import { noScope, readScope, refuseClosed, thresholdEvent } from '../scopes/service.js';
import { triggers } from '../scopes/triggers.js';
import { formerOwnerRefusal } from '../trajectories/former-owners.js';
import { linkAwaited } from './awaited-turns.js';
import { turns as operations } from './contract.js';
import { type AddedTurn, type Turn, type TurnInput, turnInput } from './model.js';
import { measureTurn, turnDoc } from './search-doc.js';
import {
  describeTurn,
  lockForTurn,
  noteUse,
  type OpenScope,
  placesOfTurn,
  type SaidTurn,
  type TurnMetadata,
  toTurn,
} from './store.js';

/** A turn checked, counted and hashed, before any transaction. */
interface PreparedTurn {
  readonly input: TurnInput;
  readonly card: Omit<NewCard, 'card_id' | 'created_at' | 'doc'>;
  readonly measured: Measured;
  /** As it is shown: what was sent, with the members in the order in which they are stored. */
  readonly said: SaidTurn;
  readonly token_count: number;
  readonly bytes: number;
}

/** One of many lets others have their turn; a turn alone is not passed by one that comes later. */
async function prepare(call: Call, input: TurnInput, isOneOfMany = false): Promise<PreparedTurn> {
  const content = input.content === undefined ? '' : input.content;
  const text = canonical(content);
  const tool_calls = input.tool_calls == null ? null : canonical(input.tool_calls);
  const results = input.tool_results == null ? '' : canonical(input.tool_results);
  const said = typeof content === 'string' ? content : content === null ? '' : text;
  // What is too large is refused before its tokens are counted, which takes longer.
  checkSize(call, [text, tool_calls ?? '', results]);
  const token_count = input.token_count ?? (await countAll([said, tool_calls ?? '', results]));
  // Members in the order in which they are stored, which is the quickest to make canonical; undefined ones are left out.
  const kept: TurnMetadata = {
    metadata: input.metadata,
    model_id: input.model_id ?? undefined,
    role: input.role.toLowerCase(),
    token_count,
    tool_results: input.tool_results ?? undefined,
    type: 'turn',
  };
  const metadata = canonical(kept as unknown as Json);
  const measure = () => measureTurn(indexKey(call.meta, call.tenant), input);
  const isPlain = input.tool_results == null && input.metadata === undefined;
  return {
    input,
    said: {
      kept: isPlain ? kept : (JSON.parse(metadata) as TurnMetadata),
      content: typeof content === 'string' ? content : (JSON.parse(text) as typeof content),
      tool_calls: tool_calls === null ? null : (JSON.parse(tool_calls) as SaidTurn['tool_calls']),
    },
    token_count,
    bytes: checkSize(call, [text, tool_calls ?? '', metadata]),
    measured: isOneOfMany ? await inTurn(measure) : measure(),
    card: {
      content: text,
      tool_calls,
      tool_call_id: null,
      metadata,
      author_id: actsAs(call, input.agent_id, 'agent_id') ?? input.agent_id ?? null,
      subject_ids: [],
      derived_from: [],
      content_hash: sha256(text),
      sent_hash: input.turn_id === undefined ? null : sha256(canonical(input as unknown as Json)),
      ttl_seconds: null,
      expires_at: null,
      held_by: scopeHolder(input.scope_id),
    },
  };
}

async function countAll(texts: readonly string[]): Promise<number> {
  let total = 0;
  for (const text of texts) if (text !== '') total += await countTokens(text);
  return total;
}

function checkSize(call: Call, parts: readonly string[]): number {
  const bytes = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  const limit = call.limits.max_card_bytes;
  if (bytes <= limit) return bytes;
  throw new CairnError('TOO_LARGE', `a turn is ${bytes} bytes, the limit is ${limit}`, { bytes, limit });
}

/** A scope as it is after the turns that were taken so far. */
interface Filling {
  readonly scope: OpenScope;
  /** Why these agents, or the caller itself (null), add no turn to it. */
  readonly refusals: ReadonlyMap<string | null, CairnError | undefined>;
  tokens_used: number;
  readonly taken: { readonly card: NewCard; readonly sequence: number; readonly token_count: number }[];
}

async function fillingOf(
  { call, tx }: Work,
  scope_id: string,
  agents: Iterable<string | null>,
): Promise<Filling | undefined> {
  const scope = await lockForTurn(tx, scope_id);
  if (!scope) return undefined;
  const refusals = new Map<string | null, CairnError | undefined>();
  for (const agent of agents) refusals.set(agent, await formerOwnerRefusal(call, tx, [scope.trajectory_id], agent));
  return { scope, refusals, tokens_used: scope.tokens_used, taken: [] };
}

/** Takes a turn into a scope, or refuses it; nothing is written yet. */
function take(filling: Filling | undefined, turn: PreparedTurn, now: number): AddedTurn {
  const { input, token_count } = turn;
  if (!filling || filling.scope.deleted_at !== null) throw noScope(input.scope_id);
  const { scope, taken } = filling;
  const refusal = filling.refusals.get(turn.card.author_id);
  if (refusal) throw refusal;
  refuseClosed(scope);
  const sequence = scope.length + taken.length + 1;
  if (input.sequence !== undefined && input.sequence !== sequence) {
    throw new CairnError(
      'SEQUENCE_CONFLICT',
      `the next sequence of scope ${scope.scope_id} is ${sequence}, not ${input.sequence}: leave it out to have it assigned`,
      { next_sequence: sequence },
    );
  }
  const tokens_used = filling.tokens_used + token_count;
  const over_budget = !fits(scope, tokens_used);
  if (over_budget && scope.enforce === 1) {
    throw new CairnError(
      'BUDGET_EXCEEDED',
      `a turn of ${token_count} tokens does not fit: scope ${scope.scope_id} has used ${filling.tokens_used} of ${scope.token_budget}`,
      { tokens_used: filling.tokens_used, token_budget: scope.token_budget, token_count },
    );
  }
  const card_id = input.turn_id ?? newId();
  const doc = turnDoc({ turn_id: card_id, sequence, role: turn.said.kept.role, scope }, turn.measured);
  const card: NewCard = { ...turn.card, card_id, created_at: now, doc };
  taken.push({ card, sequence, token_count });
  filling.tokens_used = tokens_used;
  const { token_budget } = scope;
  const threshold_reached = reachesThreshold(scope, tokens_used);
  return {
    ...describeTurn(scope.scope_id, sequence, card, turn.said),
    budget: { token_budget, tokens_used, threshold_reached, over_budget },
  };
}

/** Writes the turns that a scope has taken: cards, entries, counters, events. */
async function write(work: Work, filling: Filling): Promise<void> {
  const { call, tx, now } = work;
  const { scope, taken, tokens_used } = filling;
  const first = taken[0];
  if (!first) return;
  const { scope_id, box_id, trajectory_id } = scope;
  const cards = taken.map(({ card }) => card);
  const revision = scope.revision + 1;
  const place = { position: scope.next_position, behind: scope.length, revision };
  await insertCards(tx, cards);
  await insertEntries(
    tx,
    box_id,
    place,
    cards.map(({ card_id }) => card_id),
  );
  await growBox(tx, box_id, {
    revision,
    length: scope.length + taken.length,
    next_position: scope.next_position + taken.length,
    updated_at: now,
  });
  const threshold_at = thresholdAt(scope, tokens_used, scope.threshold_at, now);
  await noteUse(tx, scope_id, { tokens_used, threshold_at, updated_at: now });
  const { erasure_key } = call.meta;
  const facts: JsonObject =
    taken.length === 1
      ? {
          scope_id,
          sequence: first.sequence,
          token_count: first.token_count,
          content_hash: keyedHash(erasure_key, first.card.content_hash),
        }
      : { scope_id, sequence: first.sequence, turn_ids: cards.map(({ card_id }) => card_id) };
  const told = event(work, 'cairn.turn.added', { type: 'turn', id: first.card.card_id }, facts, trajectory_id);
  const placed = taken.map(({ card, sequence }) => ({ turn_id: card.card_id, sequence }));
  tx.journal(await linkAwaited(work, scope, placed, told));
  if (scope.threshold_at === null && threshold_at !== null) tx.journal(thresholdEvent(call, scope, tokens_used, now));
  if (scope.watched === 0) return;
  const before = { ...scope, turns: scope.length, looked_at: scope.last_turn_at };
  const after = { ...before, turns: scope.length + taken.length, tokens_used };
  await triggers.get('policies').onUse(work, scope, before, after);
}

/** The turn that has this id already, if it came of the same request by the same agent; refuses if the id is taken or was used. */
async function sameTurn(call: Call, query: Query, row: CardRow, turn: PreparedTurn): Promise<AddedTurn> {
  if (row.erased_at !== null || row.ended_at !== null || row.deleted_at !== null) {
    throw new CairnError('ENTITY_GONE', `turn ${row.card_id} existed and is gone: an id is never used twice`);
  }
  const { sent_hash, held_by, author_id } = turn.card;
  const isOwn = row.held_by === held_by && row.author_id === author_id;
  const shown = isOwn ? await readTurn(query, row.card_id) : undefined;
  if (!shown || (row.sent_hash !== sent_hash && !isAnswerOf(turnInput, shown, turn.input))) {
    throw new CairnError(
      'ENTITY_ALREADY_EXISTS',
      `turn ${row.card_id} exists and was made otherwise: use a new turn_id`,
    );
  }
  return withBudget(call, query, shown);
}

async function withBudget(call: Call, query: Query, turn: Turn): Promise<AddedTurn> {
  const { token_budget, tokens_used, threshold_reached_at } = await readScope(call, query, turn.scope_id);
  return {
    ...turn,
    budget: {
      token_budget,
      tokens_used,
      threshold_reached: threshold_reached_at !== null,
      over_budget: tokens_used > token_budget,
    },
  };
}

export async function add(call: Call, input: In<'turns.add'>): Promise<AddedTurn> {
  const turn = await prepare(call, input);
  return change(call, {
    input,
    bytes: turn.bytes,
    // An id that the client chose may be that of another scope's turn.
    ...(input.turn_id === undefined ? { entity: input.scope_id } : {}),
    work: async (work) => {
      const { tx, now } = work;
      const known = input.turn_id === undefined ? undefined : await findCard(tx, input.turn_id);
      if (known) return sameTurn(call, tx, known, turn);
      const filling = await fillingOf(work, input.scope_id, [turn.card.author_id]);
      const answer = take(filling, turn, now);
      await write(work, filling!);
      return answer;
    },
    remember: ({ turn_id, budget }) => ({ turn_id, budget }),
    again: (query, kept) => addedAgain(query, kept as unknown as Pick<AddedTurn, 'turn_id' | 'budget'>),
  });
}

const addedAgain = async (
  query: Query,
  { turn_id, budget }: Pick<AddedTurn, 'turn_id' | 'budget'>,
): Promise<AddedTurn> => ({ ...(await readTurn(query, turn_id)), budget });

/** What is kept of a batch to answer it again. */
type Kept = { turn_id: string; budget: AddedTurn['budget'] } | { code: string; message: string };

/**
 * In one transaction, so that the turns stand in the order of the items: what refuses an item is looked at before
 * anything of it is written, so that the others need not be undone.
 */
export async function batch(call: Call, input: In<'turns.batch'>): Promise<Out<'turns.batch'>> {
  const prepareItem = async ({ create }: In<'turns.batch'>['items'][number]) => {
    await checkUses(call, operations.add.touches, create);
    return prepare(call, create, true);
  };
  const turns = await eachInTurn(input.items, prepareItem);
  const prepared = turns.filter((one) => one.status === 'fulfilled').map(({ value }) => value);
  const results = await change<ItemResult<AddedTurn>[]>(call, {
    input,
    bytes: bytesOf(prepared),
    work: (work) => addAll(work, input, turns),
    remember: (answers) =>
      answers.map((one): Kept => {
        if (one.status === 'error') return { code: one.code, message: one.message };
        return { turn_id: one.data.turn_id, budget: one.data.budget };
      }),
    again: (query, kept) =>
      Promise.all(
        (kept as unknown as Kept[]).map(async (one): Promise<ItemResult<AddedTurn>> => {
          if ('code' in one) return { status: 'error', ...one };
          return itemAgain(() => addedAgain(query, one));
        }),
      ),
  });
  return answerOf(results);
}

async function addAll(
  work: Work,
  input: In<'turns.batch'>,
  turns: readonly PromiseSettledResult<PreparedTurn>[],
): Promise<ItemResult<AddedTurn>[]> {
  const { tx } = work;
  const scope_ids = [...new Set(input.items.map(({ create }) => create.scope_id))].sort();
  const fillings = new Map<string, Filling | undefined>();
  const prepared = turns.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  for (const scope_id of scope_ids) {
    const own = prepared.filter(({ input }) => input.scope_id === scope_id);
    const authors = new Set(own.map(({ card }) => card.author_id));
    fillings.set(scope_id, await fillingOf(work, scope_id, authors));
  }
  const chosen = input.items.map(({ create }) => create.turn_id).filter((id) => id !== undefined);
  const known = chosen.length === 0 ? new Map<string, CardRow>() : await findCards(tx, chosen);
  const settled: PromiseSettledResult<AddedTurn>[] = [];
  for (const one of turns) {
    const failed = settled.some(({ status }) => status === 'rejected');
    if (failed && input.stop_on_error) break;
    settled.push(
      ...(await Promise.allSettled([
        (async () => {
          if (one.status === 'rejected') throw one.reason;
          return takeOnce(work, one.value, known, fillings);
        })(),
      ])),
    );
  }
  const answers = resultsOf(settled, turns.length, { noun: 'turn', atomic: input.atomic, list: 'items' });
  for (const filling of fillings.values()) if (filling) await write(work, filling);
  return answers;
}

/** Takes a turn of a batch, whose id may be in the store or earlier in the batch. */
async function takeOnce(
  { call, tx, now }: Work,
  turn: PreparedTurn,
  known: ReadonlyMap<string, CardRow>,
  fillings: ReadonlyMap<string, Filling | undefined>,
): Promise<AddedTurn> {
  const { turn_id, scope_id } = turn.input;
  const filling = fillings.get(scope_id);
  if (turn_id !== undefined) {
    const stored = known.get(turn_id);
    if (stored) return sameTurn(call, tx, stored, turn);
    for (const other of fillings.values()) {
      if (!other?.taken.some(({ card }) => card.card_id === turn_id)) continue;
      throw new CairnError('ENTITY_ALREADY_EXISTS', `turn ${turn_id} is in this batch already`);
    }
  }
  return take(filling, turn, now);
}

/** A turn that can be read: one of an open scope, its own or one restored from it. */
async function readTurn(query: Query, turn_id: string): Promise<Turn> {
  const row = await findCard(query, turn_id);
  const isTurn = row?.held_by?.startsWith('scope:') && row.erased_at === null;
  const [place] = isTurn ? await placesOfTurn(query, turn_id) : [];
  if (!row || !place) throw new CairnError('TURN_NOT_FOUND', `there is no turn ${turn_id}, or its scope was closed`);
  return toTurn(place.scope_id, place.position, row);
}

export const get = (call: Call, input: In<'turns.get'>): Promise<Turn> =>
  call.driver.snapshot(call.tenant, (query) => readTurn(query, input.turn_id));

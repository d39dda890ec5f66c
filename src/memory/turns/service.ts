/** Use cases of turns: each adds a card to the scope's box and its tokens to the scope's budget. */
import type { Query } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import {
  answerOf,
  type Call,
  change,
  checkNamedAgent,
  equalsAnswer,
  type ItemResult,
  replayItem,
  resultsOf,
  totalBytes,
  type Work,
} from '../../engine/index.js';
import { scopeHolder } from '../../engine/sql.js';
import { type CardRow, findCard, findCards } from '../../facts/sql.js';
import { checkUses, isForeign } from '../../identity/index.js';
import { describe } from '../../index/sql.js';
import type { Json } from '../../kernel/contract.js';
import { CairnError, notFound, settleInChunks } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { countTokens } from '../../text/index.js';
import { idReused, idTaken } from '../entities/errors.js';
import { readScope } from '../scopes/service.js';
import { turns as operations } from './contract.js';
import { type AddedTurn, type Turn, type TurnInput, turnInput } from './model.js';
import { scopesOfTurn, type TurnMetadata, toTurn } from './store.js';
import { accept, jointTurn, type LockedScope, lockWithRefusals, type PreparedTurn, writeTurns } from './writing.js';

async function prepare(call: Call, input: TurnInput): Promise<PreparedTurn> {
  const { content = '' } = input;
  const text = canonical(content);
  const tool_calls = input.tool_calls == null ? null : canonical(input.tool_calls);
  const results = input.tool_results == null ? '' : canonical(input.tool_results);
  const counted = typeof content === 'string' ? content : content === null ? '' : text;
  // The size is checked first: counting tokens takes longer.
  checkSize(call, [text, tool_calls ?? '', results]);
  const token_count = input.token_count ?? (await countAll([counted, tool_calls ?? '', results]));
  // Sorted members are the fastest to make canonical; undefined ones are left out.
  const stored: TurnMetadata = {
    metadata: input.metadata,
    model_id: input.model_id ?? undefined,
    role: input.role.toLowerCase(),
    token_count,
    tool_results: input.tool_results ?? undefined,
    type: 'turn',
  };
  const metadata = canonical(stored as unknown as Json);
  const isPlain = input.tool_results == null && input.metadata === undefined;
  return {
    input,
    content: {
      stored: isPlain ? stored : (JSON.parse(metadata) as TurnMetadata),
      content: typeof content === 'string' ? content : (JSON.parse(text) as typeof content),
      tool_calls: tool_calls === null ? null : (JSON.parse(tool_calls) as Turn['tool_calls']),
    },
    token_count,
    bytes: checkSize(call, [text, tool_calls ?? '', metadata]),
    described: describe(input.metadata),
    card: {
      content: text,
      tool_calls,
      tool_call_id: null,
      metadata,
      author_id: checkNamedAgent(call, input.agent_id, 'agent_id') ?? input.agent_id ?? null,
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

/** The existing turn of an id, if it came from the same request by the same agent. */
async function sameTurn(call: Call, query: Query, row: CardRow, turn: PreparedTurn): Promise<AddedTurn> {
  if (row.erased_at !== null || row.ended_at !== null || row.deleted_at !== null) {
    throw idReused(`turn ${row.card_id}`);
  }
  const { sent_hash, held_by, author_id } = turn.card;
  const isOwn = row.held_by === held_by && row.author_id === author_id && !isForeign(call, row);
  const shown = isOwn ? await readTurn(call, query, row.card_id) : undefined;
  if (!shown || (row.sent_hash !== sent_hash && !equalsAnswer(turnInput, shown, turn.input))) {
    throw idTaken(`turn ${row.card_id}`, 'use a new turn_id');
  }
  const { token_budget, tokens_used, threshold_reached_at } = await readScope(call, query, shown.scope_id);
  return {
    ...shown,
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
    // An id chosen by the client can belong to a turn of another scope.
    ...(input.turn_id === undefined ? { entity: input.scope_id, joint: jointTurn(call, turn) } : {}),
    work: async (work) => {
      const { tx } = work;
      const known = input.turn_id === undefined ? undefined : await findCard(tx, input.turn_id);
      if (known) return sameTurn(call, tx, known, turn);
      const locked = await lockWithRefusals(tx, input.scope_id, [{ call, turn }]);
      const answer = accept(work, locked, turn);
      await writeTurns(work, locked!, [locked!.accepted]);
      return answer;
    },
    remember: ({ turn_id, budget }) => ({ turn_id, budget }),
    again: (query, kept) => addedAgain(call, query, kept as unknown as KeptTurn),
  });
}

/** Stored to replay the answer. */
type KeptTurn = Pick<AddedTurn, 'turn_id' | 'budget'>;
type KeptItem = KeptTurn | { code: string; message: string };

const addedAgain = async (call: Call, query: Query, { turn_id, budget }: KeptTurn): Promise<AddedTurn> => ({
  ...(await readTurn(call, query, turn_id)),
  budget,
});

/** One transaction keeps the turns in the order of the items. All checks precede the writes: a refusal undoes nothing. */
export async function batch(call: Call, input: In<'turns.batch'>): Promise<Out<'turns.batch'>> {
  const prepareItem = async ({ create }: In<'turns.batch'>['items'][number]) => {
    await checkUses(call, operations.add.touches, create);
    return prepare(call, create);
  };
  const turns = await settleInChunks(input.items, prepareItem);
  const prepared = turns.filter((one) => one.status === 'fulfilled').map(({ value }) => value);
  const results = await change<ItemResult<AddedTurn>[]>(call, {
    input,
    bytes: totalBytes(prepared),
    work: (work) => addAll(work, input, turns),
    remember: (answers) =>
      answers.map((one): KeptItem => {
        if (one.status === 'error') return { code: one.code, message: one.message };
        return { turn_id: one.data.turn_id, budget: one.data.budget };
      }),
    again: (query, kept) =>
      Promise.all(
        (kept as unknown as KeptItem[]).map(async (one): Promise<ItemResult<AddedTurn>> => {
          if ('code' in one) return { status: 'error', ...one };
          return replayItem(() => addedAgain(call, query, one));
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
  const { call, tx } = work;
  const scope_ids = [...new Set(input.items.map(({ create }) => create.scope_id))].sort();
  const scopes = new Map<string, LockedScope | undefined>();
  const prepared = turns.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  for (const scope_id of scope_ids) {
    const sent = prepared.filter(({ input }) => input.scope_id === scope_id).map((turn) => ({ call, turn }));
    scopes.set(scope_id, await lockWithRefusals(tx, scope_id, sent));
  }
  const chosen = input.items.map(({ create }) => create.turn_id).filter((id) => id !== undefined);
  const known = chosen.length === 0 ? new Map<string, CardRow>() : await findCards(tx, chosen);
  const settled: PromiseSettledResult<AddedTurn>[] = [];
  for (const one of turns) {
    if (input.stop_on_error && settled.at(-1)?.status === 'rejected') break;
    const run = async () => {
      if (one.status === 'rejected') throw one.reason;
      return acceptItem(work, one.value, known, scopes);
    };
    settled.push(...(await Promise.allSettled([run()])));
  }
  const answers = resultsOf(settled, turns.length, { noun: 'turn', atomic: input.atomic, list: 'items' });
  for (const locked of scopes.values()) if (locked) await writeTurns(work, locked, [locked.accepted]);
  return answers;
}

/** Accepts a turn of a batch; its id can exist in the store or earlier in the batch. */
async function acceptItem(
  work: Work,
  turn: PreparedTurn,
  known: ReadonlyMap<string, CardRow>,
  scopes: ReadonlyMap<string, LockedScope | undefined>,
): Promise<AddedTurn> {
  const { turn_id, scope_id } = turn.input;
  if (turn_id !== undefined) {
    const stored = known.get(turn_id);
    if (stored) return sameTurn(work.call, work.tx, stored, turn);
    for (const locked of scopes.values()) {
      if (!locked?.accepted.some(({ card }) => card.card_id === turn_id)) continue;
      throw new CairnError('ENTITY_ALREADY_EXISTS', `turn ${turn_id} is in this batch already`);
    }
  }
  return accept(work, scopes.get(scope_id), turn);
}

/** Reads a turn of an open scope, or of one restored from its scope. */
async function readTurn(call: Call, query: Query, turn_id: string): Promise<Turn> {
  const row = await findCard(query, turn_id);
  const isTurn = row?.held_by?.startsWith('scope:') && row.erased_at === null;
  const [place] = isTurn ? await scopesOfTurn(query, turn_id) : [];
  if (!row || !place) throw notFound(call, 'turn', turn_id, ', or its scope was closed');
  return toTurn(place.scope_id, place.position, row);
}

export const get = (call: Call, input: In<'turns.get'>): Promise<Turn> =>
  call.driver.snapshot(call.tenant, (query) => readTurn(call, query, input.turn_id));

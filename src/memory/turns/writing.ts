/** Writes turns to a locked scope: accepts or refuses each, then stores those accepted. */
import type { Joint, Tx } from '../../driver/index.js';
import { type Call, event, subjectsOf, type Work } from '../../engine/index.js';
import { growBox, insertAppends, insertCards, keyedHash, type NewCard } from '../../facts/sql.js';
import type { Described } from '../../index/sql.js';
import { type JsonObject, newId } from '../../kernel/contract.js';
import { CairnError, present } from '../../kernel/index.js';
import { fits, reachesThreshold, thresholdAt } from '../scopes/rules.js';
import { refuseClosed, thresholdEvent } from '../scopes/service.js';
import { triggers } from '../scopes/triggers.js';
import { formerOwnerRefusal } from '../trajectories/former-owners.js';
import { linkAwaited } from './awaited-turns.js';
import type { AddedTurn, TurnInput } from './model.js';
import { turnDoc } from './search-doc.js';
import { describeTurn, lockForTurn, type OpenScope, type TurnContent, updateUsage } from './store.js';

/** A turn, validated, counted and hashed before the transaction. */
export interface PreparedTurn {
  readonly input: TurnInput;
  readonly card: Omit<NewCard, 'card_id' | 'created_at' | 'doc' | 'subject_ids'>;
  readonly described: Described;
  /** As stored, for the answer. */
  readonly content: TurnContent;
  readonly token_count: number;
  readonly bytes: number;
}

/** A turn and the call that adds it. */
interface SentTurn {
  readonly call: Call;
  readonly turn: PreparedTurn;
}

interface AcceptedTurn {
  readonly call: Call;
  readonly card: NewCard;
  readonly sequence: number;
  readonly token_count: number;
}

/** A locked scope with the turns that it has accepted so far. */
export interface LockedScope {
  readonly scope: OpenScope;
  /** Why these agents may not add turns; null for a call without an agent. */
  readonly refusals: ReadonlyMap<string | null, CairnError | undefined>;
  tokens_used: number;
  readonly accepted: AcceptedTurn[];
}

const agentOf = (call: Call, turn: PreparedTurn): string | null => call.caller.agent_id ?? turn.card.author_id;

export async function lockWithRefusals(
  tx: Tx,
  scope_id: string,
  sent: Iterable<SentTurn>,
): Promise<LockedScope | undefined> {
  const scope = await lockForTurn(tx, scope_id);
  if (!scope) return undefined;
  const refusals = new Map<string | null, CairnError | undefined>();
  for (const { call, turn } of sent) {
    const agent_id = agentOf(call, turn);
    if (refusals.has(agent_id)) continue;
    refusals.set(agent_id, await formerOwnerRefusal(call, tx, [scope.trajectory_id], turn.card.author_id));
  }
  return { scope, refusals, tokens_used: scope.tokens_used, accepted: [] };
}

/** Accepts a turn, or refuses it; nothing is written yet. */
export function accept(
  { call, now }: Pick<Work, 'call' | 'now'>,
  locked: LockedScope | undefined,
  turn: PreparedTurn,
): AddedTurn {
  const { input, token_count } = turn;
  const scope = present(call, 'scope', input.scope_id, locked?.scope);
  const { accepted, refusals, tokens_used: used } = locked!;
  const refusal = refusals.get(agentOf(call, turn));
  if (refusal) throw refusal;
  refuseClosed(scope);
  const sequence = scope.length + accepted.length + 1;
  if (input.sequence !== undefined && input.sequence !== sequence) {
    throw new CairnError(
      'SEQUENCE_CONFLICT',
      `the next sequence of scope ${scope.scope_id} is ${sequence}, not ${input.sequence}: omit it to have it assigned`,
      { next_sequence: sequence },
    );
  }
  const tokens_used = used + token_count;
  const over_budget = !fits(scope, tokens_used);
  if (over_budget && scope.enforce === 1) {
    throw new CairnError(
      'BUDGET_EXCEEDED',
      `a turn of ${token_count} tokens does not fit: scope ${scope.scope_id} has used ${used} of ${scope.token_budget}`,
      { tokens_used: used, token_budget: scope.token_budget, token_count },
    );
  }
  const card_id = input.turn_id ?? newId();
  const doc = turnDoc({ turn_id: card_id, sequence, role: turn.content.stored.role, scope }, turn.described);
  const subject_ids = subjectsOf(call, input.subject_ids, scope.subject_ids);
  // The spread comes last: members that are added behind one are slow to define.
  const card: NewCard = { card_id, created_at: now, doc, subject_ids, ...turn.card };
  accepted.push({ call, card, sequence, token_count });
  locked!.tokens_used = tokens_used;
  const { token_budget } = scope;
  const threshold_reached = reachesThreshold(scope, tokens_used);
  const budget = { token_budget, tokens_used, threshold_reached, over_budget };
  // Not a spread: a member that is added behind one is slow to define.
  return Object.assign(describeTurn(scope.scope_id, sequence, card, subject_ids, turn.content), { budget });
}

/** Writes accepted turns: cards, entries, counters. Each list is one change of the scope, with an event. */
export async function writeTurns(
  work: Work,
  { scope, accepted, tokens_used }: LockedScope,
  changes: readonly (readonly AcceptedTurn[])[],
): Promise<void> {
  const { tx, now } = work;
  if (accepted.length === 0) return;
  const { scope_id, box_id } = scope;
  const place = { position: scope.next_position, behind: scope.length, revision: scope.revision + 1 };
  const cards = accepted.map(({ card }) => card);
  await insertCards(tx, cards);
  await insertAppends(
    tx,
    box_id,
    place,
    changes.map((turns) => turns.map(({ card }) => card.card_id)),
  );
  await growBox(tx, box_id, {
    revision: scope.revision + changes.length,
    length: scope.length + accepted.length,
    next_position: scope.next_position + accepted.length,
    updated_at: now,
  });
  const after = { scope, tokens_used: scope.tokens_used, threshold_at: scope.threshold_at };
  for (const turns of changes) await journalTurns(tx, now, after, turns);
  await updateUsage(tx, { scope_id, tokens_used, threshold_at: after.threshold_at, updated_at: now });
  if (scope.watched === 0) return;
  const before = { ...scope, turns: scope.length, looked_at: scope.last_turn_at };
  const usage = { ...before, turns: scope.length + accepted.length, tokens_used };
  await triggers.get('policies').onUse(work, scope, before, usage);
}

/** Journals a change, and what follows from the tokens of its turns. `after` is the scope after the earlier changes. */
async function journalTurns(
  tx: Tx,
  now: number,
  after: { readonly scope: OpenScope; tokens_used: number; threshold_at: number | null },
  turns: readonly AcceptedTurn[],
): Promise<void> {
  const { scope } = after;
  const { scope_id, trajectory_id } = scope;
  const [{ call, card, sequence, token_count }] = turns as readonly [AcceptedTurn];
  const facts: JsonObject =
    turns.length === 1
      ? { scope_id, sequence, token_count, content_hash: keyedHash(call.meta.erasure_key, card.content_hash) }
      : { scope_id, sequence, turn_ids: turns.map((each) => each.card.card_id) };
  const work: Work = { call, tx, now };
  const packet = event(work, 'cairn.turn.added', { type: 'turn', id: card.card_id }, facts, trajectory_id);
  const added = turns.map((each) => ({ turn_id: each.card.card_id, sequence: each.sequence }));
  tx.journal(await linkAwaited(work, scope, added, packet));
  for (const each of turns) after.tokens_used += each.token_count;
  const reached = after.threshold_at;
  after.threshold_at = thresholdAt(scope, after.tokens_used, reached, now);
  if (reached === null && after.threshold_at !== null) tx.journal(thresholdEvent(call, scope, after.tokens_used, now));
}

/** Lets turns that are added to a scope at the same time share its rows. */
export const jointTurn = (call: Call, turn: PreparedTurn): Joint => ({
  key: `turns ${turn.input.scope_id}`,
  item: { call, turn } satisfies SentTurn,
  work: (tx, items) => addJointly(tx, items as readonly [SentTurn, ...SentTurn[]]),
});

/** Undefined if what follows from a turn may depend on the turns before it. */
async function addJointly(
  tx: Tx,
  sent: readonly [SentTurn, ...SentTurn[]],
): Promise<PromiseSettledResult<AddedTurn>[] | undefined> {
  const { call, turn } = sent[0];
  const locked = await lockWithRefusals(tx, turn.input.scope_id, sent);
  if (locked?.scope.watched !== 0 || locked.scope.awaited_turn !== null) return undefined;
  const now = call.driver.now();
  const settled = sent.map(({ call, turn }): PromiseSettledResult<AddedTurn> => {
    try {
      return { status: 'fulfilled', value: accept({ call, now }, locked, turn) };
    } catch (reason) {
      if (reason instanceof CairnError) return { status: 'rejected', reason };
      throw reason;
    }
  });
  await writeTurns(
    { call, tx, now },
    locked,
    locked.accepted.map((turn) => [turn]),
  );
  return settled;
}

/** Use cases of the holder of an agent_turn: append, replace_box. The use cases that end it are in ends.ts. */
import { listToText, type Tx, textToList } from '../../driver/index.js';
import type { In, MemoryAccess, Out } from '../../engine/contract.js';
import {
  appendEvent,
  type Call,
  cardExtents,
  change,
  event,
  type NewPacket,
  reachesCard,
  totalBytes,
  type Work,
  withItemIndex,
} from '../../engine/index.js';
import { turnBoxHolder } from '../../engine/sql.js';
import type { Card } from '../../facts/contract.js';
import {
  addCard,
  cardsBeyondReach,
  makeBox,
  type PreparedCard,
  prepareCard,
  refuseHidden,
  unknownCards,
} from '../../facts/index.js';
import {
  addReader,
  type BoxRow,
  findCards,
  growBox,
  insertEntries,
  knownCards,
  lockBox,
  readAppendState,
  takeSealTime,
} from '../../facts/sql.js';
import { findAgent } from '../../identity/index.js';
import { newId } from '../../kernel/contract.js';
import { CairnError, notFound } from '../../kernel/index.js';
import { derivedEdges, insertEdges, settleEdges } from '../../memory/index.js';
import { fillBox } from '../packing/store.js';
import { cardsSeen, resultsIn } from './cards.js';
import type { AgentTurn } from './model.js';
import { heldTurn, openTurn, readTurn } from './service.js';
import { type AgentTurnView, changeAgentTurn, toAgentTurn } from './store.js';

/** Appends cards to the output box of a held agent_turn. */
export async function appendCards(
  work: Work,
  turn: AgentTurnView,
  prepared: readonly PreparedCard[],
): Promise<Omit<Out<'agent_turns.append'>, 'output_box_id'> & { readonly appended: boolean }> {
  const { call, tx, now } = work;
  const box = await lockBox(tx, turn.output_box_id);
  if (!box || box.ended_at !== null) throw notFound(call, 'agent_turn', turn.agent_turn_id);
  await refuseSecondResults(tx, box.box_id, prepared);
  const cards: Card[] = [];
  for (const one of prepared) cards.push((await addCard(work, one, turnBoxHolder(box.box_id))).card);
  const ids = cards.map(({ card_id }) => card_id);
  const { entered } = await readAppendState(tx, box.box_id, ids, now);
  const fresh = ids.filter((id, i) => !entered.has(id) && ids.indexOf(id) === i);
  if (fresh.length === 0) return { revision: box.revision, length: box.length, cards, appended: false };
  return { ...(await appendToBox(tx, box, fresh, now)), cards, appended: true };
}

/** Adds cards at the end of a locked box. */
export async function appendToBox(tx: Tx, box: BoxRow, card_ids: readonly string[], now: number) {
  const revision = box.revision + 1;
  const length = box.length + card_ids.length;
  await insertEntries(tx, box.box_id, { position: box.next_position, behind: box.length, revision }, card_ids);
  const grown = { revision, length, next_position: box.next_position + card_ids.length, updated_at: now };
  await growBox(tx, box.box_id, grown);
  return { revision, length };
}

/** A tool call has one result in an output box. Appending the same card again is no second result. */
async function refuseSecondResults(tx: Tx, box_id: string, prepared: readonly PreparedCard[]): Promise<void> {
  const results = prepared.filter(({ input }) => input.metadata?.type === 'tool.result' && input.tool_call_id != null);
  if (results.length === 0) return;
  const ids = results.map(({ input }) => input.tool_call_id!);
  const own = new Set(results.map(({ input }) => input.card_id));
  const known = await resultsIn(tx, box_id, ids);
  const tool_call_id =
    ids.find((id, i) => ids.indexOf(id) !== i) ?? known.find(({ card_id }) => !own.has(card_id))?.tool_call_id;
  if (tool_call_id === undefined) return;
  throw new CairnError(
    'TOOL_RESULT_EXISTS',
    `output box ${box_id} already has a tool.result for tool_call_id "${tool_call_id}": a call has one result`,
    { tool_call_id },
  );
}

export async function append(call: Call, input: In<'agent_turns.append'>): Promise<Out<'agent_turns.append'>> {
  const prepared = input.cards.map((one, i) => withItemIndex('cards', i, () => prepareCard(call, one)));
  return change(call, {
    input,
    bytes: totalBytes(prepared),
    work: async (work) => {
      const turn = await heldTurn(work, input);
      const { output_box_id, agent_turn_id, trajectory_id } = turn;
      const { revision, length, cards, appended } = await appendCards(work, turn, prepared);
      const facts = { output_box_id, revision, length, card_ids: cards.map(({ card_id }) => card_id) };
      const entity = { type: 'agent_turn', id: agent_turn_id };
      if (appended) appendEvent(work, 'cairn.agent_turn.appended', entity, facts, trajectory_id);
      return { output_box_id, revision, length, cards };
    },
    remember: ({ revision, length, cards }) => [revision, length, cards.map(({ card_id }) => card_id)],
    again: async (query, kept) => {
      const [revision, length, ids] = kept as [number, number, string[]];
      const turn = await openTurn(call, query, input.agent_turn_id);
      return { output_box_id: turn.output_box_id, revision, length, cards: await cardsSeen(call, query, ids) };
    },
  });
}

export async function replace_box(call: Call, input: In<'agent_turns.replace_box'>): Promise<AgentTurn> {
  const card_ids = [...new Set(input.card_ids)];
  return change(call, {
    input,
    work: async (work) => {
      const { tx, now } = work;
      const turn = await heldTurn(work, input);
      const column = `${input.box}_box_id` as const;
      const old_box_id = turn[column];
      const known = await knownCards(tx, card_ids, now);
      const missing = card_ids.filter((id) => !known.has(id));
      if (missing.length > 0) throw unknownCards('card_ids', missing);
      await refuseHidden(call, tx, card_ids);
      await refuseBeyondReach(work, turn, card_ids);
      const box_id = await createBox(work, turn, card_ids, input.box === 'context');
      const replaced_box_ids = listToText([...textToList(turn.replaced_box_ids), old_box_id]);
      const changed = await changeAgentTurn(tx, turn, { [column]: box_id, replaced_box_ids }, now);
      const box = (entity_id: string) => ({ entity_type: 'Box' as const, entity_id });
      const edges = derivedEdges(box(box_id), [box(old_box_id)], turn.agent_id);
      const edge_ids = edges.map(({ edge_id }) => edge_id);
      await insertEdges(tx, edges);
      const facts = { box: input.box, box_id, old_box_id, length: card_ids.length, turn_epoch: turn.turn_epoch };
      const entity = { type: 'agent_turn', id: turn.agent_turn_id };
      const packet: NewPacket = {
        ...event(work, 'cairn.agent_turn.box_replaced', entity, facts, turn.trajectory_id),
        settle: (last, recorded_at) => settleEdges(last, edge_ids, recorded_at),
      };
      tx.journal(packet);
      return toAgentTurn(call.tenant, changed);
    },
    remember: () => input.agent_turn_id,
    again: (query, kept) => readTurn(call, query, kept as string),
  });
}

/** An agent shows its model only cards that it may read, or that its boxes already have. */
async function refuseBeyondReach(
  { call, tx, now }: Work,
  { agent_id, context_box_id, output_box_id }: AgentTurnView,
  card_ids: readonly string[],
): Promise<void> {
  const access = call.caller.agent_id === null ? null : (await findAgent(tx, agent_id))?.memory_access;
  if (access == null || card_ids.length === 0) return;
  const extents = cardExtents(JSON.parse(access) as MemoryAccess, 'read');
  const rows = await findCards(tx, card_ids);
  const given = await Promise.all(
    [context_box_id, output_box_id].map((box_id) => readAppendState(tx, box_id, card_ids, now)),
  );
  const beyond = card_ids.filter(
    (id) => !reachesCard(extents, agent_id, rows.get(id)!) && !given.some(({ entered }) => entered.has(id)),
  );
  if (beyond.length > 0) throw cardsBeyondReach(call, beyond);
}

/** Creates a box of an agent_turn, readable by its delegator; a context is sealed. */
async function createBox(
  { tx, now }: Work,
  { agent_id, source_agent_id }: AgentTurnView,
  card_ids: readonly string[],
  seal: boolean,
): Promise<string> {
  const box_id = newId();
  const sealed_at = seal ? await takeSealTime(tx, now) : undefined;
  const length = await fillBox(tx, box_id, [{ card_ids }], sealed_at ?? now);
  const box = { box_id, agent_id, metadata: '{}', sent_hash: null, length, held_by: turnBoxHolder(box_id) };
  await makeBox(tx, sealed_at === undefined ? box : { ...box, sealed_at }, now);
  if (source_agent_id !== null && source_agent_id !== agent_id) await addReader(tx, box_id, source_agent_id, now);
  return box_id;
}

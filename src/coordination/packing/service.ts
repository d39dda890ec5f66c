/** Packing: creates the sealed context of an agent, by a recipe, from arguments, boxes and a parent pointer. */
import type { Tx } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import { type Call, change, event, totalBytes, type Work } from '../../engine/index.js';
import {
  addCard,
  cardsBeyondReach,
  makeBox,
  openBoxes,
  openProfile,
  type PreparedCard,
  prepareCard,
} from '../../facts/index.js';
import { type BoxRow, isOfTurn, segmentsOf, takeSealTime } from '../../facts/sql.js';
import { cardReachOf } from '../../identity/index.js';
import { newId } from '../../kernel/contract.js';
import { CairnError, invalid } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import { MAX_CONTEXT_CARDS } from '../../recall/contract.js';
import { insertManifest } from '../../recall/index.js';
import { requiredAgent } from '../acting-agent.js';
import { recipeOf } from '../handovers/service.js';
import type { Packed } from './model.js';
import { type PackingPlan, planPacking } from './rules.js';
import { fillBox, inheritedBeyond, type Part, packedCards } from './store.js';

/** A plan whose cards are checked and hashed before the transaction. */
export interface PreparedPacking {
  readonly plan: PackingPlan;
  readonly cards: readonly PreparedCard[];
  readonly parent: PreparedCard | undefined;
  /** Cards behind all others but the parent pointer. */
  readonly after?: readonly PreparedCard[];
  readonly bytes: number;
}

/** The call acting as this agent; null acts as the tenant. */
export const asAgent = (call: Call, agent_id: string | null): Call =>
  call.caller.agent_id === agent_id ? call : { ...call, caller: { ...call.caller, agent_id } };

const PARENT_POINTER = { type: 'meta.parent_pointer', role: 'system' } as const;

export function preparePacking(
  call: Call,
  plan: PackingPlan,
  { author, source_agent_id }: { readonly author: string; readonly source_agent_id: string | null },
): PreparedPacking {
  const cards = plan.cards.map(({ arg_key, content, metadata }) => {
    try {
      return prepareCard(call, { content, metadata }, author);
    } catch (error) {
      if (!(error instanceof CairnError)) throw error;
      throw new CairnError(error.code, `arguments.${arg_key}: ${error.message}`, error.details);
    }
  });
  const pointer = { content: { parent_agent_id: source_agent_id }, metadata: PARENT_POINTER };
  const parent = plan.include_parent && source_agent_id !== null ? prepareCard(call, pointer, author) : undefined;
  return { plan, cards, parent, bytes: totalBytes(cards) + (parent?.bytes ?? 0) };
}

/** Opens the boxes, in this order; refuses boxes and cards that the agent may not read. */
export async function visibleBoxes(work: Work, box_ids: readonly string[]): Promise<BoxRow[]> {
  if (box_ids.length === 0) return [];
  const boxes = await openBoxes(work.call, work.tx, box_ids);
  const total = boxes.reduce((sum, { length }) => sum + length, 0);
  if (total > MAX_CONTEXT_CARDS) {
    const message = `the inherited boxes have ${total} cards, the limit of a context is ${MAX_CONTEXT_CARDS}`;
    throw new CairnError('TOO_LARGE', message, { cards: total, limit: MAX_CONTEXT_CARDS });
  }
  await refuseBeyond(work, boxes);
  return boxes;
}

/** An agent passes on only cards that it may read. Boxes of agent_turns are exempt: it was given them as a whole. */
async function refuseBeyond({ call, tx }: Work, boxes: readonly BoxRow[]): Promise<void> {
  const reach = cardReachOf(call);
  if (!reach || reach.agent_id !== call.caller.agent_id) return;
  const segments = [];
  for (const box of boxes) if (!isOfTurn(box)) segments.push(...(await segmentsOf(tx, box)));
  const beyond = segments.length === 0 ? [] : await inheritedBeyond(tx, segments, reach);
  if (beyond.length > 0) throw cardsBeyondReach(call, beyond);
}

interface Packing {
  readonly prepared: PreparedPacking;
  readonly boxes: readonly BoxRow[];
  readonly box_id: string;
  readonly owner: string | null;
  readonly held_by: string | null;
  /** Cards of the boxes that are left out. */
  readonly without?: readonly string[];
  readonly task?: { readonly agent_turn_id: string; readonly trajectory_id: string; readonly scope_id: string | null };
}

/** Creates the cards and the sealed box from checked boxes. The statements do not grow with the inherited cards. */
export async function packBox(work: Work, what: Packing) {
  const { tx, now } = work;
  const { prepared, boxes, box_id, owner, held_by } = what;
  const addAll = async (cards: readonly PreparedCard[]): Promise<string[]> => {
    const ids = [];
    for (const one of cards) ids.push((await addCard(work, one, held_by)).card.card_id);
    return ids;
  };
  const argument_card_ids = await addAll(prepared.cards);
  const after = await addAll(prepared.after ?? []);
  const parent = await addAll(prepared.parent ? [prepared.parent] : []);
  const inherited: Part[] = [];
  for (const box of boxes) inherited.push({ segments: await segmentsOf(tx, box), without: what.without ?? [] });
  const own: Part = { card_ids: argument_card_ids };
  const parts = prepared.plan.instruction_last ? [...inherited, own] : [own, ...inherited];
  parts.push({ card_ids: [...after, ...parent] });
  // Taken before the cards are read: no sweep erases a card that exists at the time of the seal.
  const sealed_at = await takeSealTime(tx, now);
  const length = await fillBox(tx, box_id, parts, sealed_at);
  const box = { box_id, agent_id: owner, metadata: '{}', sent_hash: null, length, sealed_at };
  await makeBox(tx, held_by === null ? box : { ...box, held_by }, now);
  const manifest_id = await recordPacking(tx, what, now);
  return { manifest_id, length, argument_card_ids };
}

/** One row without candidates: the sealed box itself lists the cards. */
async function recordPacking(tx: Tx, { prepared, box_id, owner, task }: Packing, now: number) {
  const manifest_id = newId();
  const { profile_name = null, box_ids, include_parent, instruction_last } = prepared.plan;
  const row = {
    manifest_id,
    kind: 'packing',
    trajectory_id: task?.trajectory_id ?? null,
    scope_id: task?.scope_id ?? null,
    agent_turn_id: task?.agent_turn_id ?? null,
    subject_ids: null,
    agent_id: owner,
    box_id,
    format: null,
    token_budget: null,
    token_count: null,
    truncated: null,
    parameters: canonical({ profile_name, box_ids: [...box_ids], include_parent, instruction_last }),
    request_card_ids: null,
    content_hash: null,
    held_by: null,
    created_at: now,
  } as const;
  await insertManifest(tx, row, null);
  return manifest_id;
}

export async function pack_context(call: Call, input: In<'pmo.pack_context'>): Promise<Packed> {
  const source = requiredAgent(call, input.source_agent_id, 'source_agent_id');
  const agent = asAgent(call, source);
  const recipe = await recipeOf(call.driver.at(call.tenant), input.handover);
  const plan = planPacking(recipe, input.arguments);
  const { profile_name } = plan;
  if (profile_name === undefined) {
    throw invalid('a profile is required: give arguments.profile_name, or profile_name in target_profile_config');
  }
  const prepared = preparePacking(call, plan, { author: input.tool_suffix, source_agent_id: source });
  return change(call, {
    input,
    bytes: prepared.bytes,
    work: async (work) => {
      const { tx, now } = work;
      const profile = await openProfile(tx, profile_name);
      const boxes = await visibleBoxes({ ...work, call: agent }, plan.box_ids);
      const box_id = newId();
      const packing = { prepared, boxes, box_id, owner: source, held_by: null };
      const { manifest_id, length } = await packBox({ ...work, call: agent }, packing);
      const facts = { profile_name, source_agent_id: source, length, box_ids: [...plan.box_ids], manifest_id };
      tx.journal(event({ call: agent, now }, 'cairn.context.packed', { type: 'box', id: box_id }, facts));
      return {
        context_box_id: box_id,
        target_profile_box_id: profile.box_id,
        attached_card_ids: await packedCards(tx, box_id),
      };
    },
    remember: ({ context_box_id, target_profile_box_id }) => [context_box_id, target_profile_box_id],
    again: async (query, kept) => {
      const [context_box_id, target_profile_box_id] = kept as [string, string];
      const attached_card_ids = await packedCards(query, context_box_id);
      return { context_box_id, target_profile_box_id, attached_card_ids };
    },
  });
}

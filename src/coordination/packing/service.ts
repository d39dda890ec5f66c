/**
 * Packing: makes the sealed box that an agent is to see, from arguments, from boxes that the packing agent may see, and
 * a pointer to who packed it. What it makes is decided by a recipe (domain/packing.ts).
 */
import type { Tx } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import { actsAs, type Call, change, event, type Work } from '../../engine/index.js';
import {
  addCard,
  cardsBeyond,
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
import { recipeOf } from '../handovers/service.js';
import type { Packed } from './model.js';
import { type PackingPlan, planPacking } from './rules.js';
import { fillBox, inheritedBeyond, type Part, packedCards } from './store.js';

/** A plan whose cards are checked and hashed, before any transaction. */
export interface PreparedPacking {
  readonly plan: PackingPlan;
  readonly cards: readonly PreparedCard[];
  readonly parent: PreparedCard | undefined;
  /** Further cards, behind all others. */
  readonly after?: readonly PreparedCard[];
  readonly bytes: number;
}

/** The same caller, acting as this agent; null for the tenant itself. */
export const asAgent = (call: Call, agent_id: string | null): Call =>
  call.caller.agent_id === agent_id ? call : { ...call, caller: { ...call.caller, agent_id } };

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
  const parent =
    plan.include_parent && source_agent_id !== null
      ? prepareCard(
          call,
          { content: { parent_agent_id: source_agent_id }, metadata: { type: 'meta.parent_pointer', role: 'system' } },
          author,
        )
      : undefined;
  const bytes = [...cards, ...(parent ? [parent] : [])].reduce((sum, card) => sum + card.bytes, 0);
  return { plan, cards, parent, bytes };
}

/** The boxes in this order, if all are there and this agent may see each. */
export async function visibleBoxes(work: Work, box_ids: readonly string[]): Promise<BoxRow[]> {
  const { call, tx } = work;
  if (box_ids.length === 0) return [];
  const boxes = await openBoxes(call, tx, box_ids);
  const total = boxes.reduce((sum, { length }) => sum + length, 0);
  if (total <= MAX_CONTEXT_CARDS) {
    await refuseBeyond(work, boxes);
    return boxes;
  }
  throw new CairnError(
    'TOO_LARGE',
    `the inherited boxes have ${total} cards, the limit of a context is ${MAX_CONTEXT_CARDS}`,
    { cards: total, limit: MAX_CONTEXT_CARDS },
  );
}

/** What an agent may not read it does not give to others; but the boxes of agent_turns were given to it as they are. */
async function refuseBeyond({ call, tx }: Work, boxes: readonly BoxRow[]): Promise<void> {
  const reach = cardReachOf(call);
  if (!reach || reach.agent_id !== call.caller.agent_id) return;
  const segments = [];
  for (const box of boxes) if (!isOfTurn(box)) segments.push(...(await segmentsOf(tx, box)));
  const beyond = segments.length === 0 ? [] : await inheritedBeyond(tx, segments, reach);
  if (beyond.length > 0) throw cardsBeyond(call, beyond);
}

export interface PackedBox {
  readonly box_id: string;
  readonly manifest_id: string;
  readonly length: number;
  /** Of the cards that arguments became, in their order. */
  readonly argument_card_ids: readonly string[];
}

interface Packing {
  readonly prepared: PreparedPacking;
  readonly boxes: readonly BoxRow[];
  readonly box_id: string;
  readonly owner: string | null;
  readonly held_by: string | null;
  /** Cards that are passed over in the boxes. */
  readonly without?: readonly string[];
  /** What it is packed for, where that is known. */
  readonly task?: { readonly agent_turn_id: string; readonly trajectory_id: string; readonly scope_id: string | null };
}

/** Makes the cards and the box, sealed. The boxes have been looked at; a few statements, however many cards. */
export async function packBox(work: Work, what: Packing): Promise<PackedBox> {
  const { tx, now } = work;
  const { prepared, boxes, box_id, owner, held_by } = what;
  const made: string[] = [];
  for (const one of prepared.cards) made.push((await addCard(work, one, held_by)).card.card_id);
  const after: string[] = [];
  for (const one of prepared.after ?? []) after.push((await addCard(work, one, held_by)).card.card_id);
  const parent = prepared.parent && (await addCard(work, prepared.parent, held_by)).card.card_id;
  const inherited: Part[] = [];
  for (const box of boxes) inherited.push({ segments: await segmentsOf(tx, box), without: what.without ?? [] });
  const own: Part = { card_ids: made };
  const parts = prepared.plan.instruction_last ? [...inherited, own] : [own, ...inherited];
  parts.push({ card_ids: after });
  if (parent !== undefined) parts.push({ card_ids: [parent] });
  // Before the cards are looked at: what is there at the moment of the seal, no sweep takes away.
  const sealed_at = await takeSealTime(tx, now);
  const length = await fillBox(tx, box_id, parts, sealed_at);
  const box = { box_id, agent_id: owner, metadata: '{}', sent_hash: null, length, sealed_at };
  await makeBox(tx, held_by === null ? box : { ...box, held_by }, now);
  const manifest_id = await recordPacking(tx, what, now);
  return { box_id, manifest_id, length, argument_card_ids: made };
}

/** One row, however many cards: the sealed box is the list of what went in. */
async function recordPacking(tx: Tx, { prepared, box_id, owner, task }: Packing, now: number) {
  const manifest_id = newId();
  const { profile_name = null, box_ids, include_parent, instruction_last } = prepared.plan;
  const parameters = { profile_name, box_ids: [...box_ids], include_parent, instruction_last };
  const row = {
    manifest_id,
    kind: 'packing',
    trajectory_id: task?.trajectory_id ?? null,
    scope_id: task?.scope_id ?? null,
    agent_turn_id: task?.agent_turn_id ?? null,
    agent_id: owner,
    box_id,
    format: null,
    token_budget: null,
    token_count: null,
    truncated: null,
    parameters: canonical(parameters),
    request_card_ids: null,
    content_hash: null,
    held_by: null,
    created_at: now,
  } as const;
  await insertManifest(tx, row, null);
  return manifest_id;
}

export async function pack_context(call: Call, input: In<'pmo.pack_context'>): Promise<Packed> {
  const { tenant, driver } = call;
  const source = actsAs(call, input.source_agent_id, 'source_agent_id') ?? input.source_agent_id;
  const agent = asAgent(call, source);
  const recipe = await recipeOf(driver.at(tenant), input.handover);
  const plan = planPacking(recipe, input.arguments);
  if (plan.profile_name === undefined) {
    throw invalid(
      'no profile is named: give arguments.profile_name, or target_profile_config.profile_name in the handover',
    );
  }
  const { profile_name } = plan;
  const prepared = preparePacking(call, plan, { author: input.tool_suffix, source_agent_id: source });
  return change(call, {
    input,
    bytes: prepared.bytes,
    work: async (work) => {
      const { tx, now } = work;
      const profile = await openProfile(tx, profile_name);
      const boxes = await visibleBoxes({ ...work, call: agent }, plan.box_ids);
      const made = { prepared, boxes, box_id: newId(), owner: source, held_by: null };
      const { box_id, manifest_id, length } = await packBox({ ...work, call: agent }, made);
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

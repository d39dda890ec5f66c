/** Who may do what with a box: it belongs to its creator, and may be granted. */
import type { Query } from '../../driver/index.js';
import { actsAs, type Call, type Work } from '../../engine/index.js';
import { CairnError } from '../../kernel/index.js';
import { type BoxRow, type BoxState, findBox, findBoxes, findGrant, grantedBoxes, lockBox } from './store.js';

export type Need = 'read' | 'write' | 'own';

/** The box, if it is there and the caller may do this; a key without an agent acts for the whole tenant. */
export async function openBox(call: Call, query: Query, box_id: string, need: Need): Promise<BoxRow> {
  return permitted(call, query, box_id, await findBox(query, box_id), need);
}

/** The same, and nobody else changes the box until the commit. */
export async function openBoxLocked({ call, tx }: Work, box_id: string, need: Need): Promise<BoxRow> {
  return permitted(call, tx, box_id, await lockBox(tx, box_id), need);
}

/** A box that was looked for, if it was there and the caller may do this. */
export async function permitted<B extends BoxState>(
  call: Call,
  query: Query,
  box_id: string,
  box: B | undefined,
  need: Need,
): Promise<B> {
  const there = present(call, box_id, box);
  if (!(await mayUse(call, query, there, need))) throw notPermitted(call, box_id, need);
  return there;
}

/** Boxes in this order, if all are there and the caller may read each: what was granted is asked once for all. */
export async function openBoxes(call: Call, query: Query, box_ids: readonly string[]): Promise<BoxRow[]> {
  const { caller } = call;
  const found = await findBoxes(query, box_ids);
  const boxes = box_ids.map((id) => present(call, id, found.get(id)));
  const { agent_id } = caller;
  if (agent_id === null) return boxes;
  const foreign = boxes.filter((box) => box.agent_id !== agent_id).map(({ box_id }) => box_id);
  const granted = foreign.length === 0 ? undefined : await grantedBoxes(query, foreign, agent_id);
  const refused = foreign.find((id) => !granted!.has(id));
  if (refused !== undefined) throw notPermitted(call, refused, 'read');
  return boxes;
}

function present<B extends BoxState>(call: Call, box_id: string, box: B | undefined): B {
  // What a scope held is gone with it, its box included.
  const ended = box !== undefined && 'ended_at' in box && box.ended_at !== null;
  if (box && !ended) return box;
  throw new CairnError('BOX_NOT_FOUND', `there is no box ${box_id} in tenant ${call.tenant}`);
}

const notPermitted = (call: Call, box_id: string, need: Need): CairnError =>
  new CairnError(
    'FORBIDDEN',
    `agent ${call.caller.agent_id} may not ${need === 'own' ? 'change the grants of' : need} box ${box_id}: ask its owner for a grant`,
    { rule: 'box_owner_or_grant', box_id },
  );

export async function mayUse(call: Call, query: Query, box: BoxState, need: Need): Promise<boolean> {
  const agent = call.caller.agent_id;
  if (agent === null || box.agent_id === agent) return true;
  if (need === 'own') return false;
  const grant = await findGrant(query, box.box_id, agent);
  return grant !== undefined && (need === 'read' || grant.access === 'write');
}

/** Whose a new box is: the key's agent, or the one that the body names. */
export const ownerOf = (call: Call, named: string | undefined): string | null =>
  actsAs(call, named, 'agent_id') ?? named ?? null;

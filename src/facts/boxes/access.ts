/** Access to boxes: a box belongs to its creator, who may grant it to others. */
import type { Query } from '../../driver/index.js';
import { type Call, checkNamedAgent, reachesSubjects, type Work } from '../../engine/index.js';
import { userReachOf } from '../../identity/index.js';
import { CairnError, notFound } from '../../kernel/index.js';
import { type BoxRow, type BoxState, findBox, findBoxes, findGrant, grantedBoxes, lockBox } from './store.js';

type Need = 'read' | 'write' | 'own';

/** The box, if it exists and the caller has this access. A key without an agent has access to all boxes of the tenant. */
export async function openBox(call: Call, query: Query, box_id: string, need: Need): Promise<BoxRow> {
  return permitted(call, query, box_id, await findBox(query, box_id), need);
}

/** openBox that locks the box until the commit. */
export async function openBoxLocked({ call, tx }: Work, box_id: string, need: Need): Promise<BoxRow> {
  return permitted(call, tx, box_id, await lockBox(tx, box_id), need);
}

/** Refuses a box that was not found, or to which the caller lacks this access. */
export async function permitted<B extends BoxState>(
  call: Call,
  query: Query,
  box_id: string,
  box: B | undefined,
  need: Need,
): Promise<B> {
  const found = existing(call, box_id, box);
  if (!(await mayUse(call, query, found, need))) throw notPermitted(call, box_id, need);
  return found;
}

/** openBox for reading several boxes, in this order; reads all grants at once. */
export async function openBoxes(call: Call, query: Query, box_ids: readonly string[]): Promise<BoxRow[]> {
  const { agent_id } = call.caller;
  const found = await findBoxes(query, box_ids);
  const boxes = box_ids.map((id) => existing(call, id, found.get(id)));
  const foreignBox = boxes.find((box) => !reachesSubjects(userReachOf(call), box.subject_ids));
  if (foreignBox) throw notPermitted(call, foreignBox.box_id, 'read');
  if (agent_id === null) return boxes;
  const foreign = boxes.filter((box) => box.agent_id !== agent_id).map(({ box_id }) => box_id);
  const granted = foreign.length === 0 ? undefined : await grantedBoxes(query, foreign, agent_id);
  const refused = foreign.find((id) => !granted!.has(id));
  if (refused !== undefined) throw notPermitted(call, refused, 'read');
  return boxes;
}

type FoundBox = BoxState & { readonly ended_at?: number | null };

/** A box that was found and whose holder has not ended. */
function existing<B extends FoundBox>(call: Call, box_id: string, box: B | undefined): B {
  if (!box || (box.ended_at ?? null) !== null) throw notFound(call, 'box', box_id);
  return box;
}

const nameOf = ({ caller: { agent_id, user_id } }: Call): string =>
  user_id === undefined ? `agent ${agent_id}` : `user ${user_id}`;

const notPermitted = (call: Call, box_id: string, need: Need): CairnError =>
  new CairnError(
    'FORBIDDEN',
    `${nameOf(call)} may not ${need === 'own' ? 'change the grants of' : need} box ${box_id}: ask its owner for a grant`,
    { rule: 'box_owner_or_grant', box_id },
  );

export async function mayUse(call: Call, query: Query, box: BoxState, need: Need): Promise<boolean> {
  const agent = call.caller.agent_id;
  if (!reachesSubjects(userReachOf(call, need === 'read' ? 'read' : 'write'), box.subject_ids)) return false;
  if (agent === null || box.agent_id === agent) return true;
  if (need === 'own') return false;
  const grant = await findGrant(query, box.box_id, agent);
  return grant !== undefined && (need === 'read' || grant.access === 'write');
}

/** The owner of a new box: the agent of the key, or the agent that the body names. */
export const ownerOf = (call: Call, named: string | undefined): string | null =>
  checkNamedAgent(call, named, 'agent_id') ?? named ?? null;

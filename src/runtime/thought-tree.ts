/** Whether steps that come from outside are a tree: parents and children agree, no id twice, no cycle. */
import type { Snapshot, Thought } from '../checkpoints/contract.js';
import { type Frozen, refusal } from './frozen.js';

type Steps = ReadonlyMap<string, Frozen<Thought>>;

export function checkTree({ steps, current_step_id }: Frozen<Snapshot['thought_chain']>): void {
  const byId = new Map<string, Frozen<Thought>>();
  for (const step of steps) {
    if (byId.has(step.id)) throw wrong(`the id "${step.id}" is there twice`, step.id);
    byId.set(step.id, step);
  }
  const listed = new Set<string>();
  for (const step of steps) checkChildren(step, byId, listed);
  for (const step of steps) checkParent(step, byId, listed);
  const lost = firstUnreached(steps, byId);
  if (lost) throw wrong(`step "${lost.id}" stands below itself: its parents form a cycle`, lost.id);
  if (current_step_id !== undefined && !byId.has(current_step_id))
    throw wrong(`current_step_id is "${current_step_id}", and there is no such step`, current_step_id);
}

function checkChildren({ id, children }: Frozen<Thought>, byId: Steps, listed: Set<string>): void {
  for (const child of children) {
    const step = byId.get(child);
    if (!step) throw wrong(`step "${id}" has the child "${child}", and there is no such step`, id);
    if (step.parent_id !== id) {
      const parent = step.parent_id === undefined ? 'absent' : `"${step.parent_id}"`;
      throw wrong(`step "${id}" has the child "${child}", whose parent_id is ${parent}`, child);
    }
    // Its parent is this step, so it was this step that had it before.
    if (listed.has(child)) throw wrong(`step "${id}" has the child "${child}" twice`, id);
    listed.add(child);
  }
}

function checkParent({ id, parent_id }: Frozen<Thought>, byId: Steps, listed: ReadonlySet<string>): void {
  if (parent_id === undefined) return;
  if (!byId.has(parent_id)) throw wrong(`step "${id}" has the parent "${parent_id}", and there is no such step`, id);
  if (!listed.has(id)) throw wrong(`step "${id}" has the parent "${parent_id}", which does not have it as a child`, id);
}

/** Where parents and children agree, what no root leads to is in a cycle, or below one. */
function firstUnreached(steps: readonly Frozen<Thought>[], byId: Steps): Frozen<Thought> | undefined {
  const reached = new Set<string>();
  const open = steps.filter(({ parent_id }) => parent_id === undefined).map(({ id }) => id);
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    reached.add(id);
    for (const child of byId.get(id)!.children) open.push(child);
  }
  return steps.find(({ id }) => !reached.has(id));
}

const wrong = (message: string, step_id: string) => refusal(`thought_chain: ${message}`, { step_id });

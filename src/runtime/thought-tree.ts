/** Checks that the steps of a snapshot are a tree: parents and children agree, ids are unique, there is no cycle. */
import type { Snapshot, Thought } from '../checkpoints/contract.js';
import { invalid } from '../kernel/index.js';
import type { Frozen } from './frozen.js';

type Steps = ReadonlyMap<string, Frozen<Thought>>;

export function checkTree({ steps, current_step_id }: Frozen<Snapshot['thought_chain']>): void {
  const byId = new Map<string, Frozen<Thought>>();
  for (const step of steps) {
    if (byId.has(step.id)) throw wrong(`the id "${step.id}" is not unique`, step.id);
    byId.set(step.id, step);
  }
  const listed = new Set<string>();
  for (const step of steps) checkChildren(step, byId, listed);
  for (const step of steps) checkParent(step, byId, listed);
  const lost = firstUnreached(steps, byId);
  if (lost) throw wrong(`step "${lost.id}" is its own ancestor: its parents form a cycle`, lost.id);
  if (current_step_id !== undefined && !byId.has(current_step_id))
    throw wrong(`current_step_id names the step "${current_step_id}", which does not exist`, current_step_id);
}

function checkChildren({ id, children }: Frozen<Thought>, byId: Steps, listed: Set<string>): void {
  for (const child of children) {
    const step = byId.get(child);
    if (!step) throw wrong(`step "${id}" has the child "${child}", which does not exist`, id);
    if (step.parent_id !== id) {
      const parent = step.parent_id === undefined ? 'absent' : `"${step.parent_id}"`;
      throw wrong(`step "${id}" has the child "${child}", whose parent_id is ${parent}`, child);
    }
    if (listed.has(child)) throw wrong(`step "${id}" has the child "${child}" twice`, id);
    listed.add(child);
  }
}

function checkParent({ id, parent_id }: Frozen<Thought>, byId: Steps, listed: ReadonlySet<string>): void {
  if (parent_id === undefined) return;
  if (!byId.has(parent_id)) throw wrong(`step "${id}" has the parent "${parent_id}", which does not exist`, id);
  if (!listed.has(id)) throw wrong(`step "${id}" has the parent "${parent_id}", which does not list it as a child`, id);
}

/** If parents and children agree, a step that no root reaches is in a cycle or below one. */
function firstUnreached(steps: readonly Frozen<Thought>[], byId: Steps): Frozen<Thought> | undefined {
  const reached = new Set<string>();
  const open = steps.filter(({ parent_id }) => parent_id === undefined).map(({ id }) => id);
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    reached.add(id);
    for (const child of byId.get(id)!.children) open.push(child);
  }
  return steps.find(({ id }) => !reached.has(id));
}

const wrong = (message: string, step_id: string) => invalid(`thought_chain: ${message}`, { step_id });

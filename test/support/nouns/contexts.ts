/** Tasks to assemble contexts for. */
import type { Api } from '#cairn/client/index.js';
import type { AssembledContext, ContextEntry } from '#cairn/recall/contract.js';

export interface Task {
  readonly trajectory_id: string;
  readonly scope_id: string;
}

export async function someTask(cairn: Api): Promise<Task> {
  const { trajectory_id } = await cairn.trajectories.create({ name: 'task' });
  const { scope_id } = await cairn.scopes.create({ trajectory_id, name: 'window', retain: 'nothing' });
  return { trajectory_id, scope_id };
}

/** Adds turns of users, and gives their ids. */
export async function sayAll(cairn: Api, scope_id: string, contents: readonly string[]): Promise<string[]> {
  const items = contents.map((content) => ({ create: { scope_id, role: 'User', content } }));
  const { results } = await cairn.turns.batch({ items });
  return results.map((one) => (one as { data: { turn_id: string } }).data.turn_id);
}

export const note = (cairn: Api, title: string, content: string, more: object = {}) =>
  cairn.notes.create({ note_type: 'Fact', title, content, ...more });

export const artifact = (cairn: Api, trajectory_id: string, content: string, more: object = {}) =>
  cairn.artifacts.create({ trajectory_id, artifact_type: 'Fact', name: 'fact', content, ...more });

/** What messages say, one after another. */
export const saidIn = ({ messages }: Pick<AssembledContext, 'messages'>): unknown[] =>
  messages!.map(({ role, content }) => `${role}: ${content}`);

/** Of a trace, what became of an entity. */
export const fateOf = (trace: readonly ContextEntry[], id: string): string[] =>
  trace.filter((entry) => entry.id === id).map(({ action, section, reason }) => `${action} ${section} ${reason}`);

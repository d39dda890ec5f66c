/** The trajectory that a delegated task gets: a part of the delegator's, and the delegatee's own. */
import type { Work } from '../../engine/index.js';
import { createIn } from '../../memory/index.js';

const NAME_LENGTH = 120;

interface Child {
  readonly parent: string | null;
  readonly agent_id: string;
  /** What the task is, however long. */
  readonly label: string;
}

/** Its id. The parent must not have finished. */
export async function makeChildTrajectory(work: Work, child: Child): Promise<string> {
  const [line] = child.label.trim().split('\n');
  const name = [...line!].slice(0, NAME_LENGTH).join('') || 'task';
  const input = { name, parent_trajectory_id: child.parent };
  const prepared = { input, agent_id: child.agent_id, metadata: '{}', sent_hash: null, bytes: 0 };
  return (await createIn(work, prepared)).trajectory_id;
}

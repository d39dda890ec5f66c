/** Coordination in `cairn tree`: who works on a trajectory, what was offered to others, to whom it was handed. */
import type { Api } from '../api/index.js';
import { CairnError } from '../kernel/index.js';
import type { Line } from './drawing.js';
import { color, grey, plain, shorten } from './terminal.js';

type AgentTurn = Awaited<ReturnType<Api['agent_turns']['get']>>;
type Delegation = Awaited<ReturnType<Api['delegations']['get']>>;
type Handoff = Awaited<ReturnType<Api['handoffs']['get']>>;

interface Shown {
  readonly ids: boolean;
  readonly limit: number;
}

const TEXT = 60;
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-/;
const COLORS: Readonly<Record<string, number>> = {
  completed: 32,
  running: 33,
  suspended: 33,
  failed: 31,
  timed_out: 31,
};

/** Agents that were made for a task have ids that say nothing: their profile does. */
const nameOf = (agent_id: string, profile_name: string | null): string =>
  profile_name !== null && ID.test(agent_id) ? `a ${profile_name}` : agent_id;

function turnLine(turn: AgentTurn, depth: number, ids: boolean): Line {
  const { status, attempts, summary, error, agent_turn_id } = turn;
  const who = shorten(plain(nameOf(turn.agent_id, turn.profile_name)), TEXT);
  const again = attempts > 1 ? `, ${attempts} attempts` : '';
  const said = summary ?? error?.message;
  const what = said === undefined || said === null ? '' : `: ${shorten(plain(said), TEXT)}`;
  const label = `${color(34, '⚙')} ${who}  ${color(COLORS[status] ?? 90, status)}${grey(again)}`;
  return { depth, text: `${label}${grey(what)}${ids ? grey(`  ${agent_turn_id}`) : ''}` };
}

/** Those that became a task of their own are drawn as that; what waits or was refused has nothing else to be seen by. */
function delegationLine(one: Delegation, depth: number, ids: boolean): Line {
  const from = one.from_agent_id === null ? '' : `${plain(one.from_agent_id)} → `;
  const what = shorten(plain(one.task_description ?? ''), TEXT);
  const why = one.reason === null ? '' : `: ${shorten(plain(one.reason), TEXT)}`;
  const label = `${color(35, '⇢')} ${from}${plain(one.to_agent_id)}  ${what}`;
  return { depth, text: `${label}  ${grey(`${one.status}${why}`)}${ids ? grey(`  ${one.delegation_id}`) : ''}` };
}

function handoffLine(one: Handoff, depth: number, ids: boolean): Line {
  const why = one.reason === null ? '' : `: ${shorten(plain(one.reason), TEXT)}`;
  const label = `${color(36, '⇄')} ${plain(one.from_agent_id)} hands over to ${plain(one.to_agent_id)}`;
  return { depth, text: `${label}  ${grey(`${one.status}${why}`)}${ids ? grey(`  ${one.handoff_id}`) : ''}` };
}

/** The lines of a trajectory's coordination; none when there is none, or the server is older than it. */
export async function coordinationOf(
  cairn: Api,
  trajectory_id: string,
  depth: number,
  { ids, limit }: Shown,
): Promise<Line[]> {
  const asked = { trajectory_id, limit: Math.min(limit, 100) };
  try {
    const [{ agent_turns }, { delegations }, { handoffs }] = await Promise.all([
      cairn.agent_turns.list(asked),
      cairn.delegations.list(asked),
      cairn.handoffs.list(asked),
    ]);
    return [
      ...handoffs.map((one) => handoffLine(one, depth, ids)),
      ...delegations.filter((one) => one.child_trajectory_id === null).map((one) => delegationLine(one, depth, ids)),
      ...agent_turns.map((one) => turnLine(one, depth, ids)),
    ];
  } catch (error) {
    if (error instanceof CairnError && error.code === 'ROUTE_NOT_FOUND') return [];
    throw error;
  }
}

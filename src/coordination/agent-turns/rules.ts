/** The states of an agent_turn, and which moves there are between them. */
import { CairnError } from '../../kernel/index.js';
import type { AgentTurnStatus, BatchStatus } from './model.js';

/** What waits for a worker fails when its agent, which has not begun, says so of the delegation. */
const moves: Readonly<Record<AgentTurnStatus, readonly AgentTurnStatus[]>> = {
  dispatched: ['running', 'failed', 'stopped', 'timed_out'],
  running: ['suspended', 'dispatched', 'completed', 'failed', 'stopped', 'timed_out'],
  suspended: ['running', 'dispatched', 'failed', 'stopped', 'timed_out'],
  completed: [],
  failed: [],
  stopped: [],
  timed_out: [],
};

export const hasEnded = (status: AgentTurnStatus): boolean => moves[status].length === 0;

export const mayMove = (from: AgentTurnStatus, to: AgentTurnStatus): boolean => moves[from].includes(to);

export function checkTurnMove(agent_turn_id: string, from: AgentTurnStatus, to: AgentTurnStatus): void {
  if (mayMove(from, to)) return;
  throw new CairnError('STATE_CONFLICT', `agent_turn ${agent_turn_id} is ${from}: it cannot become ${to}`, {
    status: from,
  });
}

interface Ended {
  readonly status: AgentTurnStatus;
  readonly result_status: 'success' | 'partial' | null;
}

/** How the task of a batch stands, by its agent_turn. */
export function taskStatus({ status, result_status }: Ended): BatchStatus {
  if (!hasEnded(status)) return 'running';
  if (status === 'completed') return result_status ?? 'success';
  return status === 'timed_out' ? 'timeout' : 'failed';
}

/** How a batch stands: it ends when all its tasks have, or as soon as one failed and the others are not waited for. */
export function batchStatus(tasks: readonly Ended[], fail_fast: boolean, overdue: boolean): BatchStatus {
  const all = tasks.map(taskStatus);
  if (overdue && all.some((one) => one === 'running' || one === 'timeout')) return 'timeout';
  if (fail_fast && all.some((one) => one === 'failed' || one === 'timeout')) return 'failed';
  if (all.includes('running')) return 'running';
  if (all.every((one) => one === 'success')) return 'success';
  return all.every((one) => one === 'failed' || one === 'timeout') ? 'failed' : 'partial';
}

/** Whether an agent does an agent_turn or has delegated it; null is a key without an agent. */
export const isPartyTo = (
  turn: { readonly agent_id: string; readonly source_agent_id: string | null },
  agent_id: string | null,
): boolean => agent_id === null || agent_id === turn.agent_id || agent_id === turn.source_agent_id;

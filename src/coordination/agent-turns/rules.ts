/** The states of an agent_turn and its transitions; the status of a batch. */
import { CairnError } from '../../kernel/index.js';
import type { AgentTurn, AgentTurnStatus, BatchStatus } from './model.js';

/** A dispatched one fails when its agent fails the delegation before any worker claims it. */
const TRANSITIONS: Readonly<Record<AgentTurnStatus, readonly AgentTurnStatus[]>> = {
  dispatched: ['running', 'failed', 'stopped', 'timed_out'],
  running: ['suspended', 'dispatched', 'completed', 'failed', 'stopped', 'timed_out'],
  suspended: ['running', 'dispatched', 'failed', 'stopped', 'timed_out'],
  completed: [],
  failed: [],
  stopped: [],
  timed_out: [],
};

export const hasEnded = (status: AgentTurnStatus): boolean => TRANSITIONS[status].length === 0;

export function checkTurnMove(agent_turn_id: string, from: AgentTurnStatus, to: AgentTurnStatus): void {
  if (TRANSITIONS[from].includes(to)) return;
  const message = `agent_turn ${agent_turn_id} is ${from} and cannot become ${to}`;
  throw new CairnError('STATE_CONFLICT', message, { status: from });
}

/**
 * Whether it waits for the answer to a pause: suspended, and held by nobody. Told from its own row, since a locking read on
 * PostgreSQL may return the lease as it was before the lock.
 */
export const waitsForAnswer = ({ status, worker_id }: Pick<AgentTurn, 'status' | 'worker_id'>): boolean =>
  status === 'suspended' && worker_id === null;

type Task = Pick<AgentTurn, 'status' | 'result_status'>;

export function taskStatus({ status, result_status }: Task): BatchStatus {
  if (!hasEnded(status)) return 'running';
  if (status === 'completed') return result_status ?? 'success';
  return status === 'timed_out' ? 'timeout' : 'failed';
}

/** A batch ends when all its tasks have; a fail-fast batch as soon as one failed. */
export function batchStatus(tasks: readonly Task[], fail_fast: boolean, overdue: boolean): BatchStatus {
  const all = tasks.map(taskStatus);
  if (overdue && all.some((one) => one === 'running' || one === 'timeout')) return 'timeout';
  if (fail_fast && all.some((one) => one === 'failed' || one === 'timeout')) return 'failed';
  if (all.includes('running')) return 'running';
  if (all.every((one) => one === 'success')) return 'success';
  return all.every((one) => one === 'failed' || one === 'timeout') ? 'failed' : 'partial';
}

/** Whether an agent does an agent_turn or delegated it. A key without an agent (null) is a party to all. */
export const isPartyTo = (turn: Pick<AgentTurn, 'agent_id' | 'source_agent_id'>, agent_id: string | null): boolean =>
  agent_id === null || agent_id === turn.agent_id || agent_id === turn.source_agent_id;

/** The run of a pause, an agent_turn or an execution: it is locked with the pause, waits with it and goes on after it. */
import { type ExecutionRow, lockExecution, setExecutionStatus } from '../../checkpoints/index.js';
import type { Tx } from '../../driver/index.js';
import { endLease, type Work } from '../../engine/index.js';
import { waitsForAnswer } from '../agent-turns/rules.js';
import { journalTurn } from '../agent-turns/service.js';
import { type AgentTurnView, changeAgentTurn, lockAgentTurn } from '../agent-turns/store.js';
import { announce } from '../packing/dispatch.js';
import { hasOpenPause, type PauseRow, type Run } from './store.js';

interface LockedRun {
  readonly turn?: AgentTurnView | undefined;
  readonly execution?: ExecutionRow | undefined;
}

/** Locks the run; the pause is read after this. */
export async function lockRun(tx: Tx, { agent_turn_id, execution_id }: Run): Promise<LockedRun> {
  if (agent_turn_id !== null) return { turn: await lockAgentTurn(tx, agent_turn_id) };
  return { execution: await lockExecution(tx, execution_id!) };
}

/** Suspends a held agent_turn without a lease. Its claim does not count as an attempt: it was not lost. */
export async function suspendTurn(work: Work, turn: AgentTurnView, pause_id: string): Promise<void> {
  const { tx, now } = work;
  const waits = { status: 'suspended', attempts: turn.attempts - 1, worker_id: null } as const;
  const suspended = await changeAgentTurn(tx, turn, waits, now);
  await endLease(tx, 'agent_turn', turn.agent_turn_id);
  journalTurn(work, suspended, 'suspended', { pause_id });
}

export async function pauseExecution(work: Work, execution: ExecutionRow, pause_id: string): Promise<void> {
  if (execution.status !== 'paused') await setExecutionStatus(work, execution, 'paused', { pause_id });
}

/** Lets the run go on: any worker may claim the agent_turn; an execution runs once its last pause has ended. */
export async function continueRun(work: Work, { turn, execution }: LockedRun, pause: PauseRow): Promise<void> {
  const { pause_id } = pause;
  if (turn && waitsForAnswer(turn)) {
    const { tx, now } = work;
    // A new epoch: the worker that asked stays fenced off.
    const waiting = { status: 'dispatched', turn_epoch: turn.turn_epoch + 1, dispatched_at: now } as const;
    const again = await changeAgentTurn(tx, turn, waiting, now);
    journalTurn(work, again, 'requeued', { pause_id });
    announce(tx, again);
  }
  if (execution?.status === 'paused' && !(await hasOpenPause(work.tx, pause)))
    await setExecutionStatus(work, execution, 'running', { pause_id });
}

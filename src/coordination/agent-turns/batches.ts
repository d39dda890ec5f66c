/** Batches of agent_turns that were forked together: how they stand, and what they gave. */
import type { Query } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import { type Call, noticeDue } from '../../engine/index.js';
import { findCards } from '../../facts/sql.js';
import { waitForEnd } from '../../identity/index.js';
import type { Json } from '../../kernel/contract.js';
import { CairnError, toIso } from '../../kernel/index.js';
import { findBatch } from './batches-store.js';
import type { Batch, TurnError } from './model.js';
import { taskStatus } from './rules.js';
import { type AgentTurnView, turnsOfBatch } from './store.js';

async function readBatch(call: Call, query: Query, batch_id: string): Promise<Batch> {
  const { tenant, caller } = call;
  const row = await findBatch(query, batch_id);
  if (!row || (caller.agent_id !== null && caller.agent_id !== row.source_agent_id)) {
    throw new CairnError('BATCH_NOT_FOUND', `there is no batch ${batch_id} in tenant ${tenant}`);
  }
  const turns = await turnsOfBatch(query, batch_id);
  const ids = turns.map(({ deliverable_card_id }) => deliverable_card_id).filter((id) => id !== null);
  const deliverables = await findCards(query, ids);
  const { deadline_at, created_at, ended_at, fail_fast, channel_id, task_count, status } = row;
  return {
    batch_id,
    status,
    task_count,
    fail_fast: fail_fast === 1,
    deadline_at: toIso(deadline_at),
    channel_id,
    created_at: toIso(created_at),
    ended_at: ended_at === null ? null : toIso(ended_at),
    results: turns.map((turn) => {
      const content = deliverables.get(turn.deliverable_card_id ?? '')?.content ?? null;
      return showTask(turn, content === null ? undefined : (JSON.parse(content) as Json));
    }),
  };
}

const showTask = (turn: AgentTurnView, deliverable: Json | undefined): Batch['results'][number] => ({
  task_index: turn.task_index!,
  agent_id: turn.agent_id,
  agent_turn_id: turn.agent_turn_id,
  status: taskStatus(turn),
  output_box_id: turn.output_box_id,
  ...(turn.summary === null ? {} : { summary: turn.summary }),
  ...(deliverable === undefined ? {} : { deliverable }),
  ...(turn.error === null ? {} : { error: JSON.parse(turn.error) as TurnError }),
});

export async function batch(call: Call, input: In<'pmo.batch'>): Promise<Batch> {
  const { batch_id, wait_ms = 0 } = input;
  const look = () => call.driver.snapshot(call.tenant, (query) => readBatch(call, query, batch_id));
  // Its deadline may be over, or that of what it waits for.
  await noticeDue(call);
  const first = await look();
  if (wait_ms === 0 || first.status !== 'running') return first;
  const ended = await waitForEnd(call, [`batch:${batch_id}`], wait_ms, async () => {
    const now = await look();
    return now.status === 'running' ? undefined : now;
  });
  return ended ?? look();
}

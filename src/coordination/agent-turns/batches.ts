/** Reading a fork_join batch with the results of its tasks. */
import type { Query } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import type { Call } from '../../engine/index.js';
import { findCards } from '../../facts/sql.js';
import { notFound } from '../../kernel/index.js';
import { withIsoTimes } from '../rows.js';
import { readAfterEnd } from '../waiting-reads.js';
import type { Batch } from './model.js';
import { taskStatus } from './rules.js';
import { findBatch, turnsOfBatch } from './store.js';

async function readBatch(call: Call, query: Query, batch_id: string): Promise<Batch> {
  const row = await findBatch(query, batch_id);
  const { agent_id } = call.caller;
  if (!row || (agent_id !== null && agent_id !== row.source_agent_id)) throw notFound(call, 'batch', batch_id);
  const turns = await turnsOfBatch(query, batch_id);
  const deliverables = await findCards(
    query,
    turns.flatMap(({ deliverable_card_id }) => deliverable_card_id ?? []),
  );
  const { source_agent_id: _, parent_agent_turn_id: __, fail_fast, ...shown } = row;
  return {
    ...withIsoTimes(shown),
    fail_fast: fail_fast === 1,
    results: turns.map((turn) => {
      const content = deliverables.get(turn.deliverable_card_id ?? '')?.content ?? null;
      return {
        task_index: turn.task_index!,
        agent_id: turn.agent_id,
        agent_turn_id: turn.agent_turn_id,
        status: taskStatus(turn),
        output_box_id: turn.output_box_id,
        ...(turn.summary === null ? {} : { summary: turn.summary }),
        ...(content === null ? {} : { deliverable: JSON.parse(content) }),
        ...(turn.error === null ? {} : { error: JSON.parse(turn.error) }),
      };
    }),
  };
}

export const batch = (call: Call, { batch_id, wait_ms }: In<'pmo.batch'>): Promise<Batch> =>
  readAfterEnd(
    call,
    `batch:${batch_id}`,
    wait_ms,
    () => call.driver.snapshot(call.tenant, (query) => readBatch(call, query, batch_id)),
    ({ status }) => status !== 'running',
  );

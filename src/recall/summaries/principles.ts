/** Principles: what summaries of the level L1 say across their trajectories, as a note of the level L2. */
import type { Call } from '../../engine/index.js';
import { noteHolder } from '../../engine/sql.js';
import type { Json } from '../../kernel/contract.js';
import { createMemory, lockTrajectories, noteNoun, prepareContent, synthesizedEdges } from '../../memory/index.js';
import type { EntityRef } from '../../memory/sql.js';
import { blocksOf } from '../../text/index.js';
import { howMade, inferred, nothingMade, persistent, type Ready, ready, startOf, type Task } from '../jobs/job-task.js';
import { type Attempt, summaryOf } from '../jobs/provider-calls.js';
import { Changed, NOTHING_NEW } from './service.js';
import { looseSummaries, noteSummarized } from './sources-store.js';
import { textOf } from './turn-sources.js';

const NOTHING_COMMON = 'the summaries say nothing that holds across trajectories';

const MAX_TITLE = 120;

/** The first line, without the mark of a list or of a heading. */
function titleOf(text: string): string {
  const [first] = blocksOf(text);
  const line = (first?.text || text).trim().split('\n')[0]!.trim();
  return line.length <= MAX_TITLE ? line : `${startOf(line, MAX_TITLE - 1)}…`;
}

export async function findPrinciple(call: Call, task: Task, attempt: Attempt): Promise<Ready> {
  const { tenant, driver } = call;
  const { settings } = task;
  const rows = await looseSummaries(driver.at(tenant), settings.within, driver.now(), settings.max_sources);
  if (rows.length === 0) return ready(nothingMade(NOTHING_NEW));
  const sources = rows.map((row) => ({
    id: row.memory_id,
    text: textOf(JSON.parse(row.content!) as Json),
    trajectory_id: row.trajectory_id,
  }));
  const request = { sources, max_tokens: settings.max_tokens, level: 'L2' as const };
  const summary = await summaryOf(call, request, attempt);
  if (summary.text === '' || summary.source_ids.length === 0)
    return ready(nothingMade(summary.fallback_reason ?? NOTHING_COMMON, summary.cost));
  // Those that it rests on; the others may still say something together with what comes.
  const cited = rows.filter(({ memory_id }) => summary.source_ids.includes(memory_id));
  const refs = cited.map(({ memory_id }): EntityRef => ({ entity_type: 'Artifact', entity_id: memory_id }));
  const trajectory_ids = [...new Set(cited.map(({ trajectory_id }) => trajectory_id!))].sort();
  const { bytes, ...prepared } = await prepareContent(call, summary.text, titleOf(summary.text));
  // Made for nobody in particular, it is that agent's whose summaries it rests on alone.
  const owners = new Set(cited.map((row) => row.agent_id));
  const common = owners.size === 1 ? cited[0]!.agent_id : null;
  const agent_id = call.caller.agent_id === null ? common : (task.agent_id ?? null);
  let there: readonly string[] = [];
  return {
    bytes,
    cost: summary.cost,
    lock: async (tx) => {
      const locked = await lockTrajectories(tx, trajectory_ids);
      there = trajectory_ids.filter((id) => locked.has(id));
    },
    write: async (work) => {
      const { tx } = work;
      const ids = cited.map(({ memory_id }) => memory_id);
      if (there.length < trajectory_ids.length || !(await noteSummarized(tx, ids, task.job_id)))
        throw new Changed('the summaries have changed meanwhile');
      const note = await createMemory({ ...work, call }, noteNoun, {
        memory_id: undefined,
        sent_hash: null,
        agent_id,
        fields: persistent({
          type: 'Insight',
          name: titleOf(summary.text),
          abstraction_level: 'L2',
          provenance: inferred(null, null),
          metadata: {
            summary_of: { summaries: refs.length, trajectories: trajectory_ids.length },
            ...howMade(task, summary.cost, summary.fallback_reason),
          },
        }),
        prepared,
        place: async (_work, entity_id) => ({
          trajectory_id: null,
          scope_id: null,
          thread_id: trajectory_ids[0] ?? null,
          held_by: noteHolder(entity_id),
          sources: trajectory_ids.map((id): EntityRef => ({ entity_type: 'Trajectory', entity_id: id })),
          edges: settings.create_edges ? synthesizedEdges({ entity_type: 'Note', entity_id }, refs, agent_id) : [],
        }),
      });
      return {
        ...nothingMade('', summary.cost),
        sources: refs,
        made: [{ kind: 'note', id: note.note_id }],
        notes: [note],
        reason: summary.fallback_reason ?? null,
      };
    },
  };
}

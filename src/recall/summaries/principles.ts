/** Principles: statements that L1 summaries of several trajectories share, as an L2 note. */
import type { Call } from '../../engine/index.js';
import type { Json } from '../../kernel/contract.js';
import {
  lockTrajectories,
  noteBounds,
  noteNoun,
  prepareContent,
  synthesizedEdges,
  type TrajectoryRow,
} from '../../memory/index.js';
import type { EntityRef } from '../../memory/sql.js';
import { blocksOf } from '../../text/index.js';
import {
  createByDefault,
  howMade,
  inferred,
  nothingMade,
  nothingToWrite,
  type PreparedTask,
  SourcesChanged,
  startOf,
  type Task,
} from '../jobs/job-task.js';
import { type Attempt, summaryOf } from '../jobs/provider-calls.js';
import { NOTHING_NEW } from './service.js';
import { markSummarized, unusedSummaries } from './sources-store.js';
import { textOf } from './turn-sources.js';

const NOTHING_COMMON = 'no statement recurs across trajectories';
const MAX_TITLE = 120;

/** The first line without its list or heading marker. */
function titleOf(text: string): string {
  const [first] = blocksOf(text);
  const line = (first?.text || text).trim().split('\n')[0]!.trim();
  return line.length <= MAX_TITLE ? line : `${startOf(line, MAX_TITLE - 1)}…`;
}

export async function findPrinciple(call: Call, task: Task, attempt: Attempt): Promise<PreparedTask> {
  const { tenant, driver } = call;
  const { settings } = task;
  const unused = await unusedSummaries(driver.at(tenant), settings.within, driver.now(), settings.max_sources);
  // A principle from the summaries of several users could be shown to none of them.
  const rows = unused.filter((row) => row.subject_ids === unused.at(-1)!.subject_ids);
  if (rows.length === 0) return nothingToWrite(NOTHING_NEW);
  const sources = rows.map((row) => ({
    id: row.memory_id,
    text: textOf(JSON.parse(row.content!) as Json),
    trajectory_id: row.trajectory_id,
  }));
  const summary = await summaryOf(call, { sources, max_tokens: settings.max_tokens, level: 'L2' }, attempt);
  if (summary.text === '' || summary.source_ids.length === 0)
    return nothingToWrite(summary.fallback_reason ?? NOTHING_COMMON, summary.cost);
  // The other summaries may still share a statement with later ones.
  const cited = rows.filter(({ memory_id }) => summary.source_ids.includes(memory_id));
  const ids = cited.map(({ memory_id }) => memory_id);
  const refs = ids.map((entity_id): EntityRef => ({ entity_type: 'Artifact', entity_id }));
  const trajectory_ids = [...new Set(cited.map(({ trajectory_id }) => trajectory_id!))].sort();
  const name = titleOf(summary.text);
  const { bytes, ...prepared } = await prepareContent(call, summary.text);
  // Without a calling agent, the principle belongs to the agent that owns all cited summaries.
  const owners = new Set(cited.map((row) => row.agent_id));
  const common = owners.size === 1 ? cited[0]!.agent_id : null;
  const agent_id = call.caller.agent_id === null ? common : (task.agent_id ?? null);
  const summary_of = { summaries: refs.length, trajectories: trajectory_ids.length };
  const metadata = { summary_of, ...howMade(task, summary) };
  let locked: ReadonlyMap<string, TrajectoryRow> = new Map();
  return {
    bytes,
    cost: summary.cost,
    lock: async (tx) => {
      locked = await lockTrajectories(tx, trajectory_ids);
    },
    write: async (work) => {
      if (!trajectory_ids.every((id) => locked.has(id)) || !(await markSummarized(work.tx, ids, task.job_id)))
        throw new SourcesChanged('the summaries have changed meanwhile');
      const note = await createByDefault({ ...work, call }, noteNoun, {
        agent_id,
        fields: { type: 'Insight', name, abstraction_level: 'L2', provenance: inferred(null, null), metadata },
        prepared,
        place: async (_work, entity_id) => ({
          trajectory_id: null,
          scope_id: null,
          thread_id: trajectory_ids[0] ?? null,
          bounds: noteBounds(entity_id, locked.get(trajectory_ids[0] ?? '')),
          subjects: rows.map((row) => row.subject_ids),
          sources: trajectory_ids.map((id): EntityRef => ({ entity_type: 'Trajectory', entity_id: id })),
          edges: settings.create_edges ? synthesizedEdges({ entity_type: 'Note', entity_id }, refs, agent_id) : [],
        }),
      });
      return {
        ...nothingMade(summary.fallback_reason ?? null, summary.cost),
        sources: refs,
        made: [{ kind: 'note', id: note.note_id }],
        notes: [note],
      };
    },
  };
}

/** Tables of executions, checkpoints, and the parts of their states. */
import type { SchemaPart } from '../driver/index.js';

const entryColumns = (id: string, int: string) => `tenant_id ${id} NOT NULL,
      checkpoint_id ${id} NOT NULL,
      id ${id} NOT NULL,
      execution_id ${id} NOT NULL,
      line ${int} NOT NULL,
      added ${int} NOT NULL,
      ordinal ${int} NOT NULL,
      removed ${int} NOT NULL,
      position ${int} NOT NULL`;

export const checkpointsSchema: SchemaPart = {
  tables: [
    'executions',
    'execution_lines',
    'checkpoints',
    'checkpoints_gone',
    'checkpoint_items',
    'checkpoint_writes',
    'thoughts',
    'tool_calls',
  ],
  statements: ({ id, origin, int, real, json, table, compact }) => [
    // revision and line: those of the newest checkpoint. head_id: the current checkpoint. carried: unknown members of a
    // bundle. subject_ids: those of the whole execution; checkpoints and their parts have none of their own.
    `CREATE TABLE executions (
      tenant_id ${id} NOT NULL,
      execution_id ${id} NOT NULL,
      agent_id ${id} NOT NULL,
      name ${id},
      status TEXT NOT NULL,
      trajectory_id ${id},
      thread_id ${id},
      namespace ${id} NOT NULL,
      ${origin},
      metadata ${json},
      carried ${json},
      revision ${int} NOT NULL,
      line ${int} NOT NULL,
      checkpoints ${int} NOT NULL,
      head_id ${id},
      sent_hash TEXT,
      created_at ${int} NOT NULL,
      updated_at ${int} NOT NULL,
      finished_at ${int},
      deleted_at ${int},
      PRIMARY KEY (tenant_id, execution_id)
    ) ${table}`,
    'CREATE INDEX executions_by_thread ON executions (tenant_id, thread_id, execution_id) WHERE thread_id IS NOT NULL',
    'CREATE INDEX executions_by_trajectory ON executions (tenant_id, trajectory_id, execution_id) WHERE trajectory_id IS NOT NULL',
    'CREATE INDEX executions_by_agent ON executions (tenant_id, agent_id, execution_id)',
    'CREATE INDEX executions_by_status ON executions (tenant_id, status, execution_id)',

    // Consecutive checkpoints form a line. A branch shows the parts of its base at base_revision, except in slots that
    // it overrides. last: the revision of its last checkpoint, unless the newest of the execution is on it.
    `CREATE TABLE execution_lines (
      tenant_id ${id} NOT NULL,
      execution_id ${id} NOT NULL,
      line ${int} NOT NULL,
      base_line ${int},
      base_revision ${int},
      last ${int},
      PRIMARY KEY (tenant_id, execution_id, line)
    ) ${compact}`,

    // Revisions rise within an execution. rest: members of the snapshot outside of the lists. carried: members of an
    // imported document without a column.
    `CREATE TABLE checkpoints (
      tenant_id ${id} NOT NULL,
      checkpoint_id ${id} NOT NULL,
      execution_id ${id} NOT NULL,
      agent_id ${id} NOT NULL,
      line ${int} NOT NULL,
      revision ${int} NOT NULL,
      parent_id ${id},
      is_branch ${int} NOT NULL,
      branch_reason TEXT,
      name ${id},
      description TEXT,
      labels ${json},
      step_number ${int} NOT NULL,
      total_steps_estimate ${real},
      tokens_used ${int} NOT NULL,
      duration_ms ${real} NOT NULL,
      checkpoint_reason TEXT NOT NULL,
      timestamp ${real} NOT NULL,
      rest ${json} NOT NULL,
      carried ${json},
      ${origin},
      PRIMARY KEY (tenant_id, execution_id, checkpoint_id)
    ) ${compact}`,
    'CREATE UNIQUE INDEX checkpoints_by_id ON checkpoints (tenant_id, checkpoint_id)',
    'CREATE INDEX checkpoints_by_time ON checkpoints (tenant_id, timestamp, checkpoint_id)',
    // Nearly all checkpoints have one of the two other reasons, for which an index would not help.
    `CREATE INDEX checkpoints_by_reason ON checkpoints (tenant_id, checkpoint_reason, checkpoint_id)
      WHERE checkpoint_reason IN ('manual', 'low_confidence', 'tool_error')`,

    // Ids of removed checkpoints: ids are never reused.
    `CREATE TABLE checkpoints_gone (
      tenant_id ${id} NOT NULL,
      checkpoint_id ${id} NOT NULL,
      PRIMARY KEY (tenant_id, checkpoint_id)
    ) ${compact}`,

    // Parts of states, except thoughts and tool calls: members of objects by key, runs of list elements by position, in
    // the container `parent`. kind is gone where a branch removes a part of its base. A part is visible on its line
    // from revision `added` to before `removed`, which is in the key so that those visible at a late revision are found
    // however many ended before.
    `CREATE TABLE checkpoint_items (
      tenant_id ${id} NOT NULL,
      execution_id ${id} NOT NULL,
      line ${int} NOT NULL,
      added ${int} NOT NULL,
      ordinal ${int} NOT NULL,
      removed ${int} NOT NULL,
      parent ${int} NOT NULL,
      key TEXT,
      position ${int} NOT NULL,
      kind TEXT NOT NULL,
      child ${int},
      value ${json},
      ${origin},
      PRIMARY KEY (tenant_id, execution_id, line, removed, added, ordinal)
    ) ${table}`,

    // Results of tasks finished since a checkpoint, which may not exist yet.
    `CREATE TABLE checkpoint_writes (
      tenant_id ${id} NOT NULL,
      checkpoint_id ${id} NOT NULL,
      execution_id ${id} NOT NULL,
      task_id ${id} NOT NULL,
      place ${int} NOT NULL,
      ordinal ${int} NOT NULL,
      channel TEXT NOT NULL,
      value ${json} NOT NULL,
      ${origin},
      PRIMARY KEY (tenant_id, checkpoint_id, execution_id, task_id, place)
    ) ${table}`,
    'CREATE INDEX checkpoint_writes_by_execution ON checkpoint_writes (tenant_id, execution_id)',

    // Thoughts and tool calls are parts too, each an element of its list, with columns to filter by.
    `CREATE TABLE thoughts (
      ${entryColumns(id, int)},
      type TEXT NOT NULL,
      confidence ${real} NOT NULL,
      body ${json} NOT NULL,
      ${origin},
      PRIMARY KEY (tenant_id, checkpoint_id, id)
    ) ${table}`,
    'CREATE INDEX thoughts_by_line ON thoughts (tenant_id, execution_id, line, removed, added, ordinal)',
    `CREATE INDEX thoughts_by_confidence ON thoughts (tenant_id, confidence)`,
    `CREATE INDEX thoughts_by_type ON thoughts (tenant_id, type, checkpoint_id, id)`,

    `CREATE TABLE tool_calls (
      ${entryColumns(id, int)},
      tool_id ${id} NOT NULL,
      success ${int} NOT NULL,
      duration_ms ${real} NOT NULL,
      body ${json} NOT NULL,
      ${origin},
      PRIMARY KEY (tenant_id, checkpoint_id, id)
    ) ${table}`,
    'CREATE INDEX tool_calls_by_line ON tool_calls (tenant_id, execution_id, line, removed, added, ordinal)',
    `CREATE INDEX tool_calls_by_tool ON tool_calls (tenant_id, tool_id, checkpoint_id, id)`,
    `CREATE INDEX tool_calls_failed ON tool_calls (tenant_id, checkpoint_id, id) WHERE success = 0`,
    `CREATE INDEX tool_calls_by_duration ON tool_calls (tenant_id, duration_ms)`,
  ],
};

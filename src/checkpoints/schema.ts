/** Executions, checkpoints, and what their states are made of. */
import { type SchemaPart, triggerFunction } from '../driver/index.js';
import { blankDocs } from '../index/index.js';

const DOCS_OF_THOUGHT = "entity_type = 'thought'";

/** How the content_id of a thought is made: with a character between that no id has. */
const contentOf = (row: string, mark: 'char' | 'chr') => `${row}.checkpoint_id || ${mark}(31) || ${row}.id`;

const blankThought = blankDocs('old', contentOf('old', 'char'), DOCS_OF_THOUGHT);

/** Whatever takes the content of a thought away takes it out of the search as well: no code can forget to. */
const SQLITE = [
  `CREATE TRIGGER search_thought_emptied AFTER UPDATE OF body ON thoughts BEGIN
    ${blankThought};
  END`,
  // By a prune it comes to count as brought by another checkpoint.
  `CREATE TRIGGER search_thought_moved AFTER UPDATE OF checkpoint_id ON thoughts BEGIN
    UPDATE search_docs SET content_id = ${contentOf('new', 'char')}
      WHERE tenant_id = old.tenant_id AND content_id = ${contentOf('old', 'char')} AND ${DOCS_OF_THOUGHT};
  END`,
  `CREATE TRIGGER search_thought_deleted AFTER DELETE ON thoughts BEGIN
    ${blankThought};
  END`,
];

const POSTGRES = [
  triggerFunction('search_thought_gone', blankDocs('OLD', contentOf('OLD', 'chr'), DOCS_OF_THOUGHT)),
  'CREATE TRIGGER search_thought_emptied AFTER UPDATE OF body ON thoughts FOR EACH ROW EXECUTE FUNCTION search_thought_gone()',
  triggerFunction(
    'search_thought_moved',
    `UPDATE search_docs SET content_id = ${contentOf('NEW', 'chr')}
      WHERE tenant_id = OLD.tenant_id AND content_id = ${contentOf('OLD', 'chr')} AND ${DOCS_OF_THOUGHT}`,
  ),
  'CREATE TRIGGER search_thought_moved AFTER UPDATE OF checkpoint_id ON thoughts FOR EACH ROW EXECUTE FUNCTION search_thought_moved()',
  'CREATE TRIGGER search_thought_deleted AFTER DELETE ON thoughts FOR EACH ROW EXECUTE FUNCTION search_thought_gone()',
];

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
  statements: ({ dialect, id, int, real, json, table, compact }) => [
    // revision is the last that a checkpoint of it was given; head_id the checkpoint that it stands at; carried: members of
    // an imported bundle that Cairn does not know.
    `CREATE TABLE executions (
      tenant_id ${id} NOT NULL,
      execution_id ${id} NOT NULL,
      agent_id ${id} NOT NULL,
      name ${id},
      status TEXT NOT NULL,
      trajectory_id ${id},
      thread_id ${id},
      namespace ${id} NOT NULL,
      metadata ${json},
      carried ${json},
      revision ${int} NOT NULL,
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

    // Checkpoints that follow each other are one line. A line that branched off shows what its base showed at
    // base_revision, but for what the line itself has put in its place.
    `CREATE TABLE execution_lines (
      tenant_id ${id} NOT NULL,
      execution_id ${id} NOT NULL,
      line ${int} NOT NULL,
      base_line ${int},
      base_revision ${int},
      PRIMARY KEY (tenant_id, execution_id, line)
    ) ${compact}`,

    // Revisions rise within an execution. followed: whether another came behind it on its line. rest: what of the
    // snapshot is in no list (current step, last tool call). carried: what an imported document brought besides.
    `CREATE TABLE checkpoints (
      tenant_id ${id} NOT NULL,
      checkpoint_id ${id} NOT NULL,
      execution_id ${id} NOT NULL,
      agent_id ${id} NOT NULL,
      line ${int} NOT NULL,
      revision ${int} NOT NULL,
      followed ${int} NOT NULL,
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
      PRIMARY KEY (tenant_id, execution_id, checkpoint_id)
    ) ${compact}`,
    'CREATE UNIQUE INDEX checkpoints_by_id ON checkpoints (tenant_id, checkpoint_id)',
    'CREATE INDEX checkpoints_by_time ON checkpoints (tenant_id, timestamp, checkpoint_id)',
    // Nearly all checkpoints are of the two other reasons: for those an index would find nothing faster.
    `CREATE INDEX checkpoints_by_reason ON checkpoints (tenant_id, checkpoint_reason, checkpoint_id)
      WHERE checkpoint_reason IN ('manual', 'low_confidence', 'tool_error')`,

    // Ids of checkpoints that were removed: an id is never used twice.
    `CREATE TABLE checkpoints_gone (
      tenant_id ${id} NOT NULL,
      checkpoint_id ${id} NOT NULL,
      PRIMARY KEY (tenant_id, checkpoint_id)
    ) ${compact}`,

    // The parts of states but for thoughts and tool calls: members of objects by key, stretches of lists by position,
    // in the container \`parent\`. kind is gone where a branch took out what its base has. A part shows
    // from revision \`added\` on its line until before \`removed\`.
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
      PRIMARY KEY (tenant_id, execution_id, line, added, ordinal)
    ) ${table}`,
    // What shows at the end of a line, however much has ended before.
    `CREATE INDEX checkpoint_items_showing ON checkpoint_items (tenant_id, execution_id, line)
      WHERE removed = 9007199254740991`,

    // What steps under way had done since a checkpoint, which may be still to come.
    `CREATE TABLE checkpoint_writes (
      tenant_id ${id} NOT NULL,
      checkpoint_id ${id} NOT NULL,
      execution_id ${id} NOT NULL,
      task_id ${id} NOT NULL,
      place ${int} NOT NULL,
      ordinal ${int} NOT NULL,
      channel TEXT NOT NULL,
      value ${json} NOT NULL,
      PRIMARY KEY (tenant_id, checkpoint_id, execution_id, task_id, place)
    ) ${table}`,
    'CREATE INDEX checkpoint_writes_by_execution ON checkpoint_writes (tenant_id, execution_id)',

    // The same with what is asked for: each is an element of its list, at a position.
    `CREATE TABLE thoughts (
      tenant_id ${id} NOT NULL,
      checkpoint_id ${id} NOT NULL,
      id ${id} NOT NULL,
      execution_id ${id} NOT NULL,
      line ${int} NOT NULL,
      added ${int} NOT NULL,
      ordinal ${int} NOT NULL,
      removed ${int} NOT NULL,
      position ${int} NOT NULL,
      type TEXT NOT NULL,
      confidence ${real} NOT NULL,
      body ${json} NOT NULL,
      PRIMARY KEY (tenant_id, checkpoint_id, id)
    ) ${table}`,
    'CREATE INDEX thoughts_by_line ON thoughts (tenant_id, execution_id, line, added, ordinal)',
    `CREATE INDEX thoughts_by_confidence ON thoughts (tenant_id, confidence)`,
    `CREATE INDEX thoughts_by_type ON thoughts (tenant_id, type, checkpoint_id, id)`,

    `CREATE TABLE tool_calls (
      tenant_id ${id} NOT NULL,
      checkpoint_id ${id} NOT NULL,
      id ${id} NOT NULL,
      execution_id ${id} NOT NULL,
      line ${int} NOT NULL,
      added ${int} NOT NULL,
      ordinal ${int} NOT NULL,
      removed ${int} NOT NULL,
      position ${int} NOT NULL,
      tool_id ${id} NOT NULL,
      success ${int} NOT NULL,
      duration_ms ${real} NOT NULL,
      body ${json} NOT NULL,
      PRIMARY KEY (tenant_id, checkpoint_id, id)
    ) ${table}`,
    'CREATE INDEX tool_calls_by_line ON tool_calls (tenant_id, execution_id, line, added, ordinal)',
    `CREATE INDEX tool_calls_by_tool ON tool_calls (tenant_id, tool_id, checkpoint_id, id)`,
    `CREATE INDEX tool_calls_failed ON tool_calls (tenant_id, checkpoint_id, id) WHERE success = 0`,
    `CREATE INDEX tool_calls_by_duration ON tool_calls (tenant_id, duration_ms)`,
    ...(dialect === 'sqlite' ? SQLITE : POSTGRES),
  ],
};

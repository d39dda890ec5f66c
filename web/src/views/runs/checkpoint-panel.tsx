/** What the chosen checkpoint holds: what changed, its thoughts, its tools, the whole state. */
import type { Checkpoint, ExecutionTree } from 'cairndb/client';
import type { ReactNode } from 'react';
import { useSearch } from '../../app/search.js';
import { useCall } from '../../data/api.js';
import { duration, percent, textOf, words } from '../../data/format.js';
import { CopyMenu } from '../../ui/copy-menu.js';
import { JsonTree } from '../../ui/json-tree.js';
import { Status } from '../../ui/kinds.js';
import { Panel, Tabs } from '../../ui/layout.js';
import { Answer, Empty } from '../../ui/states.js';
import { type Column, Table } from '../../ui/table.js';
import { Time } from '../../ui/text.js';
import { Changes } from './changes.js';

type Tool = Checkpoint['snapshot']['tool_state']['completed'][number];

function Thoughts({ checkpoint }: { checkpoint: Checkpoint }): ReactNode {
  const { steps } = checkpoint.snapshot.thought_chain;
  if (steps.length === 0) return <Empty title="No thought was recorded" />;
  return (
    <ol className="thoughts">
      {steps.map(({ id, type, content, confidence, timestamp }) => (
        <li key={id}>
          <div className="row small">
            <span className="chip plain">{words(type)}</span>
            {confidence !== undefined && (
              <span className="row" title="Confidence">
                <span className="confidence">
                  <i style={{ width: `${confidence * 100}%` }} className={confidence < 0.6 ? 'low' : ''} />
                </span>
                <span className="muted tiny">{percent(confidence, 1)}</span>
              </span>
            )}
            <span className="grow" />
            <span className="muted tiny">
              <Time at={timestamp} />
            </span>
          </div>
          <p className="prose">{textOf(content)}</p>
        </li>
      ))}
    </ol>
  );
}

const toolColumns: readonly Column<Tool>[] = [
  { id: 'tool', label: 'Tool', cell: ({ tool_id }) => <span className="mono">{tool_id}</span> },
  { id: 'result', label: 'Result', cell: ({ success }) => <Status status={success ? 'ok' : 'failed'} /> },
  { id: 'took', label: 'Took', number: true, cell: ({ duration_ms }) => duration(duration_ms) },
  { id: 'answer', label: 'Answer', cell: ({ result }) => <span className="lines-2">{textOf(result)}</span> },
];

const Tools = ({ checkpoint }: { checkpoint: Checkpoint }): ReactNode => {
  const { completed, pending } = checkpoint.snapshot.tool_state;
  if (completed.length + pending.length === 0) return <Empty title="No tool was called" />;
  return (
    <>
      {pending.length > 0 && <p className="muted small">{pending.length} calls are pending.</p>}
      <Table
        label="Tool calls"
        columns={toolColumns}
        rows={completed}
        keyOf={({ id, tool_id, timestamp }) => id ?? `${tool_id}:${timestamp}`}
      />
    </>
  );
};

interface Props {
  readonly tree: ExecutionTree;
  readonly checkpoint_id: string;
  /** Compared with this one instead of the parent. */
  readonly against: string | undefined;
  readonly actions: ReactNode;
}

export function CheckpointPanel({ tree, checkpoint_id, against, actions }: Props): ReactNode {
  const [search, change] = useSearch();
  const checkpoint = useCall('checkpoints.get', { checkpoint_id }, { keep: true });
  return (
    <Panel
      title="State"
      actions={
        <>
          {actions}
          <CopyMenu call="checkpoints.get" input={{ checkpoint_id }} value={checkpoint.data} />
        </>
      }
    >
      <Answer query={checkpoint} lines={12}>
        {(data) => (
          <Tabs
            value={search.tab ?? 'changes'}
            onChange={(tab) => change({ tab: tab === 'changes' ? undefined : tab })}
            tabs={[
              {
                id: 'changes',
                label: 'Changes',
                content: <Changes tree={tree} checkpoint_id={checkpoint_id} against={against} />,
              },
              {
                id: 'thoughts',
                label: `Thoughts (${data.snapshot.thought_chain.steps.length})`,
                content: <Thoughts checkpoint={data} />,
              },
              {
                id: 'tools',
                label: `Tools (${data.snapshot.tool_state.completed.length})`,
                content: <Tools checkpoint={data} />,
              },
              { id: 'state', label: 'Whole state', content: <JsonTree value={data.snapshot} /> },
            ]}
          />
        )}
      </Answer>
    </Panel>
  );
}

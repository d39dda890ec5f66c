/** A run: its branches, a slider over its steps, and the state at the chosen one. */
import './runs.css';
import { useParams } from '@tanstack/react-router';
import type { ExecutionRecord, ExecutionTree } from 'cairndb/client';
import type { ReactNode } from 'react';
import { useSearch } from '../../app/search.js';
import { useCall } from '../../data/api.js';
import { bytes, duration, integer } from '../../data/format.js';
import { CopyMenu } from '../../ui/copy-menu.js';
import { Kind, Status } from '../../ui/kinds.js';
import { Page, Panel, Stat } from '../../ui/layout.js';
import { Answer, Empty } from '../../ui/states.js';
import { Entity } from '../../ui/text.js';
import { BranchTree } from './branch-tree.js';
import { CheckpointPanel } from './checkpoint-panel.js';
import { pathTo } from './lanes.js';
import { RunActions } from './run-actions.js';

function Scrubber({
  tree,
  chosen,
  onChoose,
}: {
  tree: ExecutionTree;
  chosen: string;
  onChoose: (id: string) => void;
}): ReactNode {
  // Along the branch that the chosen one is on, as far as it goes.
  const line = pathTo(tree.nodes, tree.latest_checkpoint_id);
  const path = line.some(({ checkpoint_id }) => checkpoint_id === chosen) ? line : pathTo(tree.nodes, chosen);
  const index = path.findIndex(({ checkpoint_id }) => checkpoint_id === chosen);
  return (
    <label className="scrubber">
      <span className="muted small">
        Step {path[index]?.step_number ?? '–'} of {path.at(-1)?.step_number ?? '–'}
      </span>
      <input
        type="range"
        min={0}
        max={Math.max(0, path.length - 1)}
        value={Math.max(0, index)}
        onChange={(event) => onChoose(path[Number(event.target.value)]!.checkpoint_id)}
      />
    </label>
  );
}

function Figures({ execution_id }: { execution_id: string }): ReactNode {
  const stats = useCall('executions.stats', { execution_id });
  const data = stats.data;
  const calls = data?.tools.reduce((sum, tool) => sum + tool.calls, 0);
  const failures = data?.tools.reduce((sum, tool) => sum + tool.failures, 0);
  return (
    <div className="stats">
      <Stat label="checkpoints">{integer(data?.checkpoints)}</Stat>
      <Stat label="branches">{integer(data?.branches)}</Stat>
      <Stat label="tokens">{integer(data?.tokens_used)}</Stat>
      <Stat label="of work">{duration(data?.duration_ms)}</Stat>
      <Stat label={failures ? `tool calls, ${failures} failed` : 'tool calls'}>{integer(calls)}</Stat>
      <Stat label="stored">{bytes(data?.stored_bytes)}</Stat>
    </div>
  );
}

function Steps({ run, tree }: { run: ExecutionRecord; tree: ExecutionTree }): ReactNode {
  const [search, change] = useSearch();
  const known = (id: string | undefined) => tree.nodes.some(({ checkpoint_id }) => checkpoint_id === id);
  const chosen = known(search.step) ? search.step! : (tree.latest_checkpoint_id ?? tree.nodes.at(-1)!.checkpoint_id);
  const choose = (step: string) => change({ step });
  return (
    <>
      <Scrubber tree={tree} chosen={chosen} onChoose={choose} />
      <div className="run-columns">
        <Panel title="Steps" flush>
          <BranchTree nodes={tree.nodes} chosen={chosen} current={tree.latest_checkpoint_id} onChoose={choose} />
        </Panel>
        <CheckpointPanel
          key={chosen}
          tree={tree}
          checkpoint_id={chosen}
          against={known(search.against) ? search.against : undefined}
          actions={<RunActions run={run} checkpoint_id={chosen} />}
        />
      </div>
    </>
  );
}

export function View(): ReactNode {
  const { executionId: execution_id } = useParams({ strict: false }) as { executionId: string };
  const run = useCall('executions.get', { execution_id });
  const tree = useCall('executions.tree', { execution_id });
  return (
    <Answer query={run}>
      {(data) => (
        <Page
          title={data.name ?? data.thread_id ?? 'Run'}
          about={
            <>
              <Kind kind="execution">run</Kind>
              <Status status={data.status} />
              <Entity type="Agent" id={data.agent_id} />
              {data.trajectory_id && (
                <Entity type="Trajectory" id={data.trajectory_id}>
                  Task
                </Entity>
              )}
            </>
          }
          actions={<CopyMenu call="executions.get" input={{ execution_id }} value={data} />}
        >
          <Figures execution_id={execution_id} />
          <Answer query={tree} lines={12}>
            {(loaded) =>
              loaded.nodes.length === 0 ? (
                <Panel>
                  <Empty title="This run has no checkpoint yet" />
                </Panel>
              ) : (
                <Steps run={data} tree={loaded} />
              )
            }
          </Answer>
        </Page>
      )}
    </Answer>
  );
}

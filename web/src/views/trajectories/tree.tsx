/** The tree of a task: subtasks, scopes, artifacts and notes, as deep as they lie. */
import type { TrajectoryTreeNode } from 'cairndb/client';
import type { ReactNode } from 'react';
import { useCall } from '../../data/api.js';
import { integer } from '../../data/format.js';
import { Gauge } from '../../ui/gauges.js';
import { Status } from '../../ui/kinds.js';
import { Answer, Empty } from '../../ui/states.js';
import { VirtualList } from '../../ui/table.js';
import { Entity } from '../../ui/text.js';

const MOST = 2000;
const ROW = 36;

const types = { trajectory: 'Trajectory', scope: 'Scope', artifact: 'Artifact', note: 'Note' } as const;

const TreeRow = ({ node }: { node: TrajectoryTreeNode }): ReactNode => (
  <div className="tree-row" style={{ paddingLeft: `calc(var(--s4) + ${node.depth} * var(--s5))` }}>
    <span className="grow clip">
      <Entity type={types[node.kind]} id={node.id}>
        {node.name}
      </Entity>
    </span>
    {node.token_budget !== null && (
      <>
        <span className="muted tiny tree-turns">{integer(node.turns)} turns</span>
        <span className="tree-gauge">
          <Gauge label={`Budget of ${node.name}`} value={node.tokens_used ?? 0} max={node.token_budget} />
        </span>
      </>
    )}
    <Status status={node.status} />
  </div>
);

export function TrajectoryTree({ trajectory_id }: { trajectory_id: string }): ReactNode {
  const tree = useCall('trajectories.tree', { trajectory_id, limit: MOST });
  return (
    <Answer query={tree}>
      {({ nodes, truncated }) =>
        nodes.length <= 1 ? (
          <Empty title="Nothing is in this task yet" />
        ) : (
          <>
            <VirtualList
              label="Tree of the task"
              items={nodes}
              keyOf={({ kind, id, depth }) => `${kind}:${id}:${depth}`}
              estimate={ROW}
              height={`min(${nodes.length * ROW + 2}px, 70dvh)`}
              render={(node) => <TreeRow node={node} />}
            />
            {truncated && <p className="muted small tree-more">Cut after {integer(nodes.length)} entries.</p>}
          </>
        )
      }
    </Answer>
  );
}

/** The checkpoints of a run with their branches; one is chosen. */
import type { CheckpointNode } from 'cairndb/client';
import { type ReactNode, useMemo } from 'react';
import { integer, words } from '../../data/format.js';
import { VirtualList } from '../../ui/table.js';
import { Time } from '../../ui/text.js';
import { type LaneRow, lanesOf } from './lanes.js';

const ROW = 40;
const LANE = 14;
const MOST_LANES = 10;

const x = (lane: number): number => 10 + Math.min(lane, MOST_LANES) * LANE;

function Lines({ row, isChosen, isCurrent }: { row: LaneRow; isChosen: boolean; isCurrent: boolean }): ReactNode {
  const { lane, passing, forks, hasParent, continues } = row;
  const width = x(Math.max(lane, ...passing, ...forks)) + 10;
  const middle = ROW / 2;
  return (
    <svg width={width} height={ROW} aria-hidden="true" className="lanes">
      {passing.map((one) => (
        <path key={`p${one}`} d={`M${x(one)} 0V${ROW}`} />
      ))}
      {hasParent && <path d={`M${x(lane)} 0V${middle}`} />}
      {continues && <path d={`M${x(lane)} ${middle}V${ROW}`} />}
      {forks.map((one) => (
        <path key={`f${one}`} d={`M${x(lane)} ${middle}C${x(lane)} ${ROW} ${x(one)} ${middle} ${x(one)} ${ROW}`} />
      ))}
      <circle cx={x(lane)} cy={middle} r={isChosen ? 6 : 4.5} className={isCurrent ? 'current' : ''} />
    </svg>
  );
}

interface Props {
  readonly nodes: readonly CheckpointNode[];
  readonly chosen: string | undefined;
  readonly current: string | null;
  readonly onChoose: (id: string) => void;
}

export function BranchTree({ nodes, chosen, current, onChoose }: Props): ReactNode {
  const rows = useMemo(() => lanesOf(nodes), [nodes]);
  const chosenRow = rows.findIndex(({ node }) => node.checkpoint_id === chosen);
  return (
    <VirtualList
      label="Checkpoints"
      items={rows}
      keyOf={({ node }) => node.checkpoint_id}
      estimate={ROW}
      reveal={chosenRow < 0 ? undefined : chosenRow}
      height={`min(${rows.length * ROW + 2}px, 70dvh)`}
      render={(row) => {
        const { node } = row;
        const isChosen = node.checkpoint_id === chosen;
        return (
          <button
            type="button"
            className={`checkpoint-row ${isChosen ? 'chosen' : ''}`}
            aria-pressed={isChosen}
            onClick={() => onChoose(node.checkpoint_id)}
          >
            <Lines row={row} isChosen={isChosen} isCurrent={node.checkpoint_id === current} />
            <span className="number muted small">{node.step_number}</span>
            <span className="clip">
              {node.name ?? node.branch_reason ?? words(node.checkpoint_reason)}
              {node.checkpoint_id === current && <span className="muted small"> · current</span>}
            </span>
            <span className="muted tiny">{integer(node.tokens_used)}</span>
            <span className="muted tiny checkpoint-time">
              <Time at={node.timestamp} />
            </span>
          </button>
        );
      }}
    />
  );
}

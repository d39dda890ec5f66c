/** A node of the graph, a block of leaves, and a link. */
import {
  BaseEdge,
  type Edge,
  EdgeLabelRenderer,
  type EdgeProps,
  getBezierPath,
  type Node,
  type NodeProps,
} from '@xyflow/react';
import { type CSSProperties, memo, type ReactNode, useContext } from 'react';
import { integer } from '../../data/format.js';
import { KindIcon, kindColor } from '../../ui/kinds.js';
import { ColorContext, labelOf } from './colors.js';
import { useRelation, useWay } from './focus.js';
import { type GraphNode, phraseOf } from './graph.js';
import { useNodeName } from './names.js';

export type EntityFlowNode = Node<{ readonly node: GraphNode }, 'entity'>;
export type BlockFlowNode = Node<{ readonly count: number }, 'block'>;
export type FlowNode = EntityFlowNode | BlockFlowNode;

/** The ends of the link in the graph, which a block of leaves stands for. */
export interface LinkData extends Record<string, unknown> {
  readonly kind: string;
  readonly from: string;
  readonly to: string;
  readonly edge_id?: string | undefined;
  readonly isLabelled: boolean;
}
export type FlowEdge = Edge<LinkData, 'link'>;

/** Where links end. React Flow finds them by their class; its own component would be most of the cost of a node. */
const Ends = (): ReactNode => (
  <>
    <i className="lineage-end target" data-handlepos="left" />
    <i className="lineage-end source" data-handlepos="right" />
  </>
);

export const EntityNode = memo(function EntityNode({ data: { node } }: NodeProps<EntityFlowNode>): ReactNode {
  const relation = useRelation(node.key);
  const color = useContext(ColorContext).get(labelOf(node)) ?? kindColor(node.type);
  const name = useNodeName(node);
  return (
    <div
      className={`lineage-node ${relation} ${node.packet?.erased ? 'erased' : ''}`}
      // A packet has the colour of its type.
      style={{ '--c': color, '--kind-packet': color } as CSSProperties}
      title={name}
    >
      <Ends />
      <KindIcon kind={node.type} />
      <span className="clip">{name}</span>
    </div>
  );
});

export const BlockNode = memo(function BlockNode({ data: { count } }: NodeProps<BlockFlowNode>): ReactNode {
  return (
    <div className="lineage-block">
      <Ends />
      <span>{integer(count)}</span>
    </div>
  );
});

export const LinkEdge = memo(function LinkEdge(props: EdgeProps<FlowEdge>): ReactNode {
  const { id, data } = props;
  const { kind, from, to, isLabelled } = data!;
  const way = useWay(from, to);
  const [path, x, y] = getBezierPath(props);
  return (
    <>
      <BaseEdge
        id={id}
        path={path}
        className={`lineage-link ${kind} ${way}`}
        markerEnd="url(#lineage-arrow)"
        interactionWidth={kind === 'parent' ? 0 : 16}
      />
      {isLabelled && kind !== 'parent' && (
        <EdgeLabelRenderer>
          <span
            className={`lineage-label ${kind}`}
            style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
          >
            {phraseOf(kind)}
          </span>
        </EdgeLabelRenderer>
      )}
    </>
  );
});

/** The head of every link, in the colour of its line. */
export const ArrowHead = (): ReactNode => (
  <svg className="lineage-defs" aria-hidden="true">
    <defs>
      <marker
        id="lineage-arrow"
        viewBox="0 0 8 8"
        refX="7"
        refY="4"
        markerWidth="8"
        markerHeight="8"
        markerUnits="userSpaceOnUse"
        orient="auto"
      >
        <path d="M0 0 L8 4 L0 8 z" fill="context-stroke" />
      </marker>
    </defs>
  </svg>
);

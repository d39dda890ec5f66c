/** The graph as React Flow wants it: with sizes and handles, so that what is out of view need not be measured. */
import { Position } from '@xyflow/react';
import { type Graph, phraseOf } from './graph.js';
import { type Layout, NODE_HEIGHT, NODE_WIDTH } from './layered-layout.js';
import type { FlowEdge, FlowNode } from './node-view.js';

/** Beyond so many links their words would hide each other. */
const MAX_LABELLED = 80;
/** Around the leaves of a block. */
const PADDING = 8;

const handlesOf = (width: number, height: number) => [
  { type: 'target' as const, position: Position.Left, x: 0, y: height / 2, width: 1, height: 1 },
  { type: 'source' as const, position: Position.Right, x: width, y: height / 2, width: 1, height: 1 },
];

const blockId = (of: string, isAfter: boolean): string => `block ${isAfter ? 'after' : 'before'} ${of}`;

export function flowNodes({ nodes }: Graph, { positions, blocks }: Layout): FlowNode[] {
  return [
    ...blocks.map(({ of, keys, x, y, width, height, isAfter }): FlowNode => {
      const size = { width: width + 2 * PADDING, height: height + 2 * PADDING };
      return {
        id: blockId(of, isAfter),
        type: 'block',
        position: { x: x - PADDING, y: y - PADDING },
        data: { count: keys.length },
        ...size,
        measured: size,
        handles: handlesOf(size.width, size.height),
        zIndex: -1,
      };
    }),
    // What is new has no place until the next layout.
    ...[...nodes.values()].flatMap((node): FlowNode[] => {
      const position = positions.get(node.key);
      if (!position) return [];
      const size = { width: NODE_WIDTH, height: NODE_HEIGHT };
      return [
        {
          id: node.key,
          type: 'entity',
          position,
          data: { node },
          ...size,
          measured: size,
          handles: handlesOf(NODE_WIDTH, NODE_HEIGHT),
        },
      ];
    }),
  ];
}

export function flowEdges({ links }: Graph, { positions, blocks }: Layout): FlowEdge[] {
  const blocked = new Set(blocks.flatMap(({ keys }) => keys));
  const isLabelled = links.length <= MAX_LABELLED;
  return [
    ...blocks.map(({ of, keys, isAfter }): FlowEdge => {
      const id = blockId(of, isAfter);
      const [from, to] = isAfter ? [of, keys[0]!] : [keys[0]!, of];
      const [source, target] = isAfter ? [of, id] : [id, of];
      return {
        id,
        type: 'link',
        source,
        target,
        data: { kind: 'parent', from, to, isLabelled: false },
        ariaLabel: phraseOf('parent'),
      };
    }),
    ...links.flatMap(({ key, from, to, kind, edge }): FlowEdge[] => {
      if (blocked.has(from) || blocked.has(to) || !positions.has(from) || !positions.has(to)) return [];
      const data = { kind, from, to, edge_id: edge?.edge_id, isLabelled };
      return [{ id: key, type: 'link', source: from, target: to, data, ariaLabel: phraseOf(kind) }];
    }),
  ];
}

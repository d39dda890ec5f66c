/** Where the nodes of a graph stand: by dagre as long as that is quick, else in plain layers. */
import dagre from '@dagrejs/dagre';
import type { Graph } from './graph.js';
import { GAP_X, GAP_Y, type Layout, layeredLayout, NODE_HEIGHT, NODE_WIDTH } from './layered-layout.js';

/** With 200 nodes dagre takes a second, with 2,000 minutes, and its walks overflow the stack. */
const MAX_FOR_DAGRE = 120;

function dagreLayout({ nodes, links }: Graph, gap: number): Layout {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'LR', nodesep: GAP_Y, ranksep: gap });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const key of nodes.keys()) graph.setNode(key, { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const { key, from, to } of links) graph.setEdge(from, to, {}, key);
  dagre.layout(graph);
  const positions = new Map(
    [...nodes.keys()].map((key) => {
      const { x, y } = graph.node(key) as { x: number; y: number };
      return [key, { x: x - NODE_WIDTH / 2, y: y - NODE_HEIGHT / 2 }];
    }),
  );
  return { positions, blocks: [] };
}

/** Relations carry words, which need room; parents carry none. */
const LABEL_GAP = 112;

export function layoutOf(graph: Graph): Layout {
  const gap = graph.links.some(({ kind }) => kind !== 'parent') ? LABEL_GAP : GAP_X;
  const isSmall = graph.nodes.size + graph.links.length <= MAX_FOR_DAGRE;
  return isSmall ? dagreLayout(graph, gap) : layeredLayout(graph, gap);
}

/** The graph itself: pans, zooms, and is walked by arrow keys. Only what is in view is in the document. */
import '@xyflow/react/dist/base.css';
import { ReactFlow, ReactFlowProvider, useReactFlow, useStore, useStoreApi } from '@xyflow/react';
import { Maximize, Minus, Plus, ScanSearch } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { IconButton } from '../../ui/button.js';
import { Loading } from '../../ui/states.js';
import { FarLayer } from './far-layer.js';
import { flowEdges, flowNodes } from './flow-elements.js';
import type { Graph } from './graph.js';
import { type Layout, NODE_HEIGHT, NODE_WIDTH } from './layered-layout.js';
import { layoutOf } from './layout.js';
import { ArrowHead, BlockNode, EntityNode, type FlowEdge, type FlowNode, LinkEdge } from './node-view.js';
import { boundsOf, nearest, nodeAt } from './walking.js';

const nodeTypes = { entity: EntityNode, block: BlockNode };
const edgeTypes = { link: LinkEdge };
const none: never[] = [];

/** A graph that is only this small as a whole opens around its root instead. */
const MIN_WHOLE = 0.6;
/** Nodes are smaller than their text below this. */
const FAR = 0.45;
const [MIN_ZOOM, NEAR, MAX_ZOOM] = [0.04, 0.9, 1.6];
const MOVE_MS = 200;

const isCalm = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;

/** A layout and the graph that it is of. Computed once the page is painted. */
function useLayout(graph: Graph): { readonly graph: Graph; readonly layout: Layout } | undefined {
  const [done, setDone] = useState<{ readonly graph: Graph; readonly layout: Layout }>();
  useEffect(() => {
    const timer = setTimeout(() => setDone({ graph, layout: layoutOf(graph) }), 0);
    return () => clearTimeout(timer);
  }, [graph]);
  return done;
}

interface Camera {
  /** The zoom at which everything is in view. */
  readonly whole: () => number;
  readonly showAll: () => void;
  /** Beside the rim at which the node stands, if it stands at one. */
  readonly open: (key: string | undefined, graph: Graph) => void;
  readonly show: (key: string | undefined, zoom?: number) => void;
  readonly isInView: (key: string) => boolean;
}

/** Around everything, in pixels of the screen. */
const MARGIN = 40;

function useCamera(layout: Layout): Camera {
  const flow = useReactFlow<FlowNode, FlowEdge>();
  const store = useStoreApi();
  return useMemo(() => {
    const whole = () => {
      const { width, height } = store.getState();
      const bounds = boundsOf(layout);
      const fits = Math.min((width - 2 * MARGIN) / bounds.width, (height - 2 * MARGIN) / bounds.height);
      return Math.max(MIN_ZOOM, Math.min(1, fits));
    };
    return {
      whole,
      open: (key, graph) => {
        const at = key === undefined ? undefined : layout.positions.get(key);
        if (!at || key === undefined) return;
        const { width, height } = store.getState();
        const [hasBefore, hasAfter] = [graph.before.has(key), graph.after.has(key)];
        const left =
          hasBefore === hasAfter
            ? (width - NODE_WIDTH * NEAR) / 2
            : hasAfter
              ? MARGIN
              : width - MARGIN - NODE_WIDTH * NEAR;
        const y = height / 2 - (at.y + NODE_HEIGHT / 2) * NEAR;
        void flow.setViewport({ x: left - at.x * NEAR, y, zoom: NEAR });
      },
      showAll: () => {
        const { width, height } = store.getState();
        const bounds = boundsOf(layout);
        const zoom = whole();
        const x = width / 2 - (bounds.x + bounds.width / 2) * zoom;
        void flow.setViewport({ x, y: height / 2 - (bounds.y + bounds.height / 2) * zoom, zoom });
      },
      show: (key, zoom) => {
        const at = key === undefined ? undefined : layout.positions.get(key);
        if (!at) return;
        const duration = isCalm() || zoom !== undefined ? 0 : MOVE_MS;
        const target = { zoom: zoom ?? flow.getZoom(), duration };
        void flow.setCenter(at.x + NODE_WIDTH / 2, at.y + NODE_HEIGHT / 2, target);
      },
      isInView: (key) => {
        const at = layout.positions.get(key);
        if (!at) return true;
        const { transform, width, height } = store.getState();
        const [left, top, zoom] = transform;
        const [x, y] = [at.x * zoom + left, at.y * zoom + top];
        return x > 0 && y > 0 && x + NODE_WIDTH * zoom < width && y + NODE_HEIGHT * zoom < height;
      },
    };
  }, [flow, store, layout]);
}

function Controls({ camera, start }: { camera: Camera; start: string | undefined }): ReactNode {
  const { zoomIn, zoomOut } = useReactFlow();
  return (
    <div className="lineage-controls">
      <IconButton label="Zoom in" onClick={() => void zoomIn()}>
        <Plus />
      </IconButton>
      <IconButton label="Zoom out" onClick={() => void zoomOut()}>
        <Minus />
      </IconButton>
      <IconButton label="Show everything" onClick={camera.showAll}>
        <Maximize />
      </IconButton>
      <IconButton label="Go to the focused node" onClick={() => camera.show(start, NEAR)}>
        <ScanSearch />
      </IconButton>
    </div>
  );
}

/** One can move so far beyond everything, and no further. */
const BEYOND = 2000;

function extentOf(layout: Layout): [[number, number], [number, number]] {
  const { x, y, width, height } = boundsOf(layout);
  return [
    [x - BEYOND, y - BEYOND],
    [x + width + BEYOND, y + height + BEYOND],
  ];
}

/** A small graph is shown as a whole; else the first layout around where the reader starts, later ones in its place. */
function usePlacement(graph: Graph, layout: Layout, camera: Camera, start: string | undefined): void {
  const flow = useReactFlow();
  const isSized = useStore(({ width, height }) => width > 0 && height > 0);
  const placed = useRef<Layout>(undefined);
  useEffect(() => {
    if (!isSized || placed.current === layout) return;
    const former = placed.current;
    placed.current = layout;
    const was = former?.positions.get(start ?? '');
    const is = layout.positions.get(start ?? '');
    const isWhole = camera.whole() >= MIN_WHOLE;
    if (former && was && is && !isWhole) {
      const { x, y, zoom } = flow.getViewport();
      void flow.setViewport({ x: x + (was.x - is.x) * zoom, y: y + (was.y - is.y) * zoom, zoom });
    } else if (isWhole) camera.showAll();
    else camera.open(start, graph);
  }, [graph, layout, camera, start, flow, isSized]);
}

interface Props {
  readonly graph: Graph;
  readonly root: string | undefined;
  readonly focus: string | undefined;
  readonly onFocus: (key: string | undefined) => void;
  readonly onEdge: (edge_id: string) => void;
}

function Flow({ graph, layout, root, focus, onFocus, onEdge }: Props & { layout: Layout }): ReactNode {
  const isFar = useStore(({ transform }) => transform[2] < FAR);
  const nodes = useMemo(() => flowNodes(graph, layout), [graph, layout]);
  const edges = useMemo(() => flowEdges(graph, layout), [graph, layout]);
  const extent = useMemo(() => extentOf(layout), [layout]);
  const flow = useReactFlow<FlowNode, FlowEdge>();
  const start = focus ?? root;
  const camera = useCamera(layout);
  usePlacement(graph, layout, camera, start);
  useEffect(() => {
    if (focus !== undefined && !camera.isInView(focus)) camera.show(focus);
  }, [focus, camera]);
  const onKeyDown = useCallback(
    (event: KeyboardEvent) => {
      if (event.key === 'Escape') onFocus(undefined);
      if (!event.key.startsWith('Arrow') || event.metaKey || event.ctrlKey || event.altKey) return;
      event.preventDefault();
      if (focus === undefined) onFocus(start);
      else onFocus(nearest(graph, layout.positions, focus, event.key) ?? focus);
    },
    [graph, layout, focus, start, onFocus],
  );
  return (
    <div className="lineage-canvas">
      <ArrowHead />
      <ReactFlow<FlowNode, FlowEdge>
        aria-label="Graph. Arrow keys walk to what is before, after and beside the focused node."
        tabIndex={0}
        onKeyDown={onKeyDown}
        nodes={isFar ? none : nodes}
        edges={isFar ? none : edges}
        translateExtent={extent}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        onlyRenderVisibleElements
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        disableKeyboardA11y
        zoomOnDoubleClick={false}
        minZoom={MIN_ZOOM}
        maxZoom={MAX_ZOOM}
        proOptions={{ hideAttribution: true }}
        onNodeClick={(_, { id, type }) => type === 'entity' && onFocus(id)}
        onEdgeClick={(_, { data }) => data?.edge_id && onEdge(data.edge_id)}
        onPaneClick={({ clientX, clientY }) => {
          const at = flow.screenToFlowPosition({ x: clientX, y: clientY });
          onFocus(isFar ? nodeAt(layout.positions, at) : undefined);
        }}
      />
      {isFar && <FarLayer graph={graph} layout={layout} />}
      <Controls camera={camera} start={start} />
    </div>
  );
}

export function Canvas(props: Props): ReactNode {
  const done = useLayout(props.graph);
  if (!done) return <Loading label="Laying out" lines={10} />;
  return (
    <ReactFlowProvider>
      <Flow {...props} {...done} />
    </ReactFlowProvider>
  );
}

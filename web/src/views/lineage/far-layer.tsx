/** The graph from far away, drawn in one piece: thousands of elements would make panning slow, and no text can be read. */
import { useStore } from '@xyflow/react';
import { type ReactNode, useContext, useEffect, useRef } from 'react';
import { kindColor } from '../../ui/kinds.js';
import { ColorContext, labelOf } from './colors.js';
import { FocusContext } from './focus.js';
import type { Graph } from './graph.js';
import { type Layout, NODE_HEIGHT, NODE_WIDTH } from './layered-layout.js';

/** Smaller rectangles could not be seen. */
const MIN_PIXELS = 2;

/** Values of CSS variables; a canvas knows none. */
function resolver(element: HTMLElement): (color: string) => string {
  const known = new Map<string, string>();
  return (color) => {
    let value = known.get(color);
    if (value === undefined) {
      element.style.color = color;
      value = getComputedStyle(element).color;
      known.set(color, value);
    }
    return value;
  };
}

interface Props {
  readonly graph: Graph;
  readonly layout: Layout;
}

export function FarLayer({ graph, layout }: Props): ReactNode {
  const ref = useRef<HTMLCanvasElement>(null);
  const colors = useContext(ColorContext);
  const focus = useContext(FocusContext);
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const [left, top, zoom] = useStore((state) => state.transform);
  useEffect(() => {
    const canvas = ref.current!;
    const draw = () => {
      const context = canvas.getContext('2d');
      if (!context) return;
      const ratio = devicePixelRatio;
      canvas.width = width * ratio;
      canvas.height = height * ratio;
      context.setTransform(ratio * zoom, 0, 0, ratio * zoom, left * ratio, top * ratio);
      const colorOf = resolver(canvas);
      drawLinks(context, graph, layout, zoom, colorOf);
      drawNodes(context, { graph, layout, zoom }, (key) => {
        const relation = focus.relationOf(key);
        const node = graph.nodes.get(key)!;
        const color = relation === 'focus' ? 'var(--accent)' : (colors.get(labelOf(node)) ?? kindColor(node.type));
        return { color: colorOf(color), isFaint: relation === 'apart', isFocus: relation === 'focus' };
      });
    };
    draw();
    return focus.subscribe(draw);
  }, [graph, layout, colors, focus, width, height, left, top, zoom]);
  return <canvas ref={ref} className="lineage-far" />;
}

function drawLinks(
  context: CanvasRenderingContext2D,
  { links }: Graph,
  { positions, blocks }: Layout,
  zoom: number,
  colorOf: (color: string) => string,
): void {
  const blocked = new Set(blocks.flatMap(({ keys }) => keys));
  context.strokeStyle = colorOf('var(--line-strong)');
  context.lineWidth = 1 / zoom;
  context.beginPath();
  for (const link of links) {
    if (blocked.has(link.from) || blocked.has(link.to)) continue;
    const from = positions.get(link.from);
    const to = positions.get(link.to);
    if (!from || !to) continue;
    const [x, y, farX, farY] = [from.x + NODE_WIDTH, from.y + NODE_HEIGHT / 2, to.x, to.y + NODE_HEIGHT / 2];
    const bend = Math.max(24, Math.abs(farX - x) / 2);
    context.moveTo(x, y);
    context.bezierCurveTo(x + bend, y, farX - bend, farY, farX, farY);
  }
  for (const { of, x, y, width, height, isAfter } of blocks) {
    const at = positions.get(of);
    if (!at) continue;
    context.moveTo(at.x + (isAfter ? NODE_WIDTH : 0), at.y + NODE_HEIGHT / 2);
    context.lineTo(isAfter ? x : x + width, y + height / 2);
  }
  context.stroke();
}

interface Look {
  readonly color: string;
  readonly isFaint: boolean;
  readonly isFocus: boolean;
}

function drawNodes(
  context: CanvasRenderingContext2D,
  { layout, zoom }: Props & { readonly zoom: number },
  lookOf: (key: string) => Look,
): void {
  const width = Math.max(NODE_WIDTH, MIN_PIXELS / zoom);
  const height = Math.max(NODE_HEIGHT, MIN_PIXELS / zoom);
  for (const [key, { x, y }] of layout.positions) {
    const { color, isFaint, isFocus } = lookOf(key);
    context.globalAlpha = isFaint ? 0.3 : 0.85;
    context.fillStyle = color;
    context.fillRect(x, y, width, height);
    if (!isFocus) continue;
    context.globalAlpha = 1;
    context.strokeStyle = color;
    context.lineWidth = 3 / zoom;
    context.strokeRect(x - 4 / zoom, y - 4 / zoom, width + 8 / zoom, height + 8 / zoom);
  }
  context.globalAlpha = 1;
}

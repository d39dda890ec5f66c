/** Where an arrow key leads: left to what was before, right to what came after, up and down along a column. */
import type { Graph } from './graph.js';
import { type Layout, NODE_HEIGHT, NODE_WIDTH, type Positions } from './layered-layout.js';

export function nearest(graph: Graph, positions: Positions, from: string, key: string): string | undefined {
  const at = positions.get(from);
  if (!at) return undefined;
  if (key === 'ArrowLeft' || key === 'ArrowRight') {
    const next = (key === 'ArrowLeft' ? graph.before : graph.after).get(from) ?? [];
    return closest(next, (one) => Math.abs(positions.get(one)!.y - at.y));
  }
  const side = key === 'ArrowDown' ? 1 : -1;
  const column = [...positions].filter(([, { x, y }]) => Math.abs(x - at.x) < 1 && (y - at.y) * side > 0);
  return closest(
    column.map(([one]) => one),
    (one) => Math.abs(positions.get(one)!.y - at.y),
  );
}

function closest(keys: readonly string[], distance: (key: string) => number): string | undefined {
  let best: string | undefined;
  for (const key of keys) if (best === undefined || distance(key) < distance(best)) best = key;
  return best;
}

export function nodeAt(positions: Positions, { x, y }: { x: number; y: number }): string | undefined {
  for (const [key, at] of positions)
    if (x >= at.x && x <= at.x + NODE_WIDTH && y >= at.y && y <= at.y + NODE_HEIGHT) return key;
  return undefined;
}

/** The frame of everything. */
export function boundsOf({ positions }: Layout): { x: number; y: number; width: number; height: number } {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y } of positions.values()) {
    left = Math.min(left, x);
    top = Math.min(top, y);
    right = Math.max(right, x + NODE_WIDTH);
    bottom = Math.max(bottom, y + NODE_HEIGHT);
  }
  return { x: left, y: top, width: right - left, height: bottom - top };
}

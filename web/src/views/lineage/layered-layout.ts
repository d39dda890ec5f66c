/**
 * Lays a graph of thousands of nodes out in layers, from left to right, in milliseconds: each node right of all before
 * it, and as near as possible to its neighbours. Many leaves of one node stand together as a block.
 */
import type { Graph } from './graph.js';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export type Positions = ReadonlyMap<string, Point>;

/** Many leaves of one node: drawn as one, with one link. */
export interface Block extends Point {
  readonly of: string;
  readonly keys: readonly string[];
  readonly width: number;
  readonly height: number;
  /** Whether the leaves came of the node, or it of them. */
  readonly isAfter: boolean;
}

export interface Layout {
  readonly positions: Positions;
  readonly blocks: readonly Block[];
}

export const NODE_WIDTH = 160;
export const NODE_HEIGHT = 34;
export const GAP_X = 48;
export const GAP_Y = 12;
const STEP_X = NODE_WIDTH + 12;
const STEP_Y = NODE_HEIGHT + GAP_Y;

/** Fewer leaves of a node stand in a column. */
const MIN_BLOCK = 16;
const SWEEPS = 8;

/** A node, or a block of leaves of the same node. */
interface Item {
  readonly keys: readonly string[];
  readonly rows: number;
  readonly width: number;
  readonly height: number;
  readonly before: Item[];
  readonly after: Item[];
  rank: number;
  /** Of the middle. */
  y: number;
}

function newItem(keys: readonly string[]): Item {
  // About twice as wide as high.
  const rows = keys.length === 1 ? 1 : Math.max(8, Math.ceil(Math.sqrt((keys.length * STEP_X) / (2 * STEP_Y))));
  const columns = Math.ceil(keys.length / rows);
  const width = columns * STEP_X - (STEP_X - NODE_WIDTH);
  const height = Math.min(rows, keys.length) * STEP_Y - GAP_Y;
  return { keys, rows, width, height, before: [], after: [], rank: 0, y: 0 };
}

function itemsOf({ nodes, before, after }: Graph): Item[] {
  const blocks = new Map<string, string[]>();
  for (const key of nodes.keys()) {
    const sources = before.get(key) ?? [];
    const results = after.get(key) ?? [];
    if (sources.length + results.length !== 1) continue;
    const name = sources.length === 1 ? `after ${sources[0]}` : `before ${results[0]}`;
    const block = blocks.get(name);
    if (block) block.push(key);
    else blocks.set(name, [key]);
  }
  const itemOf = new Map<string, Item>();
  const items: Item[] = [];
  for (const keys of blocks.values()) {
    if (keys.length < MIN_BLOCK) continue;
    const item = newItem(keys);
    items.push(item);
    for (const key of keys) itemOf.set(key, item);
  }
  for (const key of nodes.keys()) {
    if (itemOf.has(key)) continue;
    const item = newItem([key]);
    items.push(item);
    itemOf.set(key, item);
  }
  for (const item of items) {
    const near = (map: Graph['before']) =>
      new Set(item.keys.flatMap((key) => map.get(key) ?? []).map((key) => itemOf.get(key)!));
    item.before.push(...near(before));
    item.after.push(...near(after));
  }
  return items;
}

/** The longest way from a source. In a cycle, which relations may have, the first node found comes first. */
function rankItems(items: readonly Item[]): void {
  const waits = new Map(items.map((item) => [item, item.before.length]));
  const ready = items.filter(({ before }) => before.length === 0);
  const done = new Set<Item>();
  let next = 0;
  while (done.size < items.length) {
    const item = ready.pop() ?? items.slice(next).find((one) => !done.has(one))!;
    while (next < items.length && done.has(items[next]!)) next++;
    if (done.has(item)) continue;
    done.add(item);
    for (const one of item.after) {
      if (done.has(one)) continue;
      one.rank = Math.max(one.rank, item.rank + 1);
      const left = waits.get(one)! - 1;
      waits.set(one, left);
      if (left === 0) ready.push(one);
    }
  }
  // What has nothing before it stands beside what came of it, not at the far left.
  for (const item of items)
    if (item.before.length === 0 && item.after.length > 0)
      item.rank = Math.max(0, Math.min(...item.after.map(({ rank }) => rank)) - 1);
}

const heightOf = (layer: readonly Item[]): number => layer.reduce((sum, { height }) => sum + height + GAP_Y, 0);

/** Spaces a sorted layer so that all are as near as possible to where they want to be, without overlap. */
function place(layer: readonly Item[], wanted: readonly number[]): void {
  // Blocks of items that touch each other; `at` is where the middle of the first wants to be, on average.
  const blocks: { from: number; count: number; at: number }[] = [];
  const offsets: number[] = [];
  let offset = 0;
  for (const [index, item] of layer.entries()) {
    if (index > 0) offset += (layer[index - 1]!.height + item.height) / 2 + GAP_Y;
    offsets.push(offset);
    let block = { from: index, count: 1, at: wanted[index]! - offset };
    for (let last = blocks.at(-1); last && last.at >= block.at; last = blocks.at(-1)) {
      const count = last.count + block.count;
      block = { from: last.from, count, at: (last.at * last.count + block.at * block.count) / count };
      blocks.pop();
    }
    blocks.push(block);
  }
  for (const { from, count, at } of blocks)
    for (let index = from; index < from + count; index++) layer[index]!.y = at + offsets[index]!;
}

const mean = (items: readonly Item[], own: number): number =>
  items.length === 0 ? own : items.reduce((sum, { y }) => sum + y, 0) / items.length;

function sweep(layers: readonly Item[][], side: 'before' | 'after'): void {
  for (const layer of side === 'before' ? layers : [...layers].reverse()) {
    const wanted = new Map(layer.map((item) => [item, mean(item[side], item.y)]));
    layer.sort((a, b) => wanted.get(a)! - wanted.get(b)! || a.y - b.y);
    place(
      layer,
      layer.map((item) => wanted.get(item)!),
    );
  }
}

/** In the order of a walk from the sources, so that families begin together. */
function startOrder(items: readonly Item[]): Item[] {
  const seen = new Set<Item>();
  const order: Item[] = [];
  for (const start of [...items].sort((a, b) => a.rank - b.rank)) {
    const waiting = [start];
    for (let item = waiting.pop(); item; item = waiting.pop()) {
      if (seen.has(item)) continue;
      seen.add(item);
      order.push(item);
      for (let at = item.after.length - 1; at >= 0; at--) waiting.push(item.after[at]!);
    }
  }
  return order;
}

export function layeredLayout(graph: Graph, gap = GAP_X): Layout {
  const items = itemsOf(graph);
  rankItems(items);
  const layers: Item[][] = [];
  for (const item of startOrder(items)) (layers[item.rank] ??= []).push(item);
  const full = Array.from({ length: layers.length }, (_, rank) => layers[rank] ?? []);
  for (const layer of full) {
    let y = -heightOf(layer) / 2;
    for (const item of layer) {
      item.y = y + item.height / 2;
      y += item.height + GAP_Y;
    }
  }
  for (let at = 0; at < SWEEPS; at++) sweep(full, at % 2 === 0 ? 'before' : 'after');
  const positions = new Map<string, Point>();
  const blocks: Block[] = [];
  let x = 0;
  for (const layer of full) {
    const width = layer.reduce((widest, item) => Math.max(widest, item.width), 0);
    for (const item of layer) {
      const { keys, rows, height, y, before } = item;
      const top = y - height / 2;
      // What came before a node ends beside it.
      const left = before.length === 0 ? x + width - item.width : x;
      for (const [at, key] of keys.entries())
        positions.set(key, { x: left + Math.floor(at / rows) * STEP_X, y: top + (at % rows) * STEP_Y });
      const [of] = [...before, ...item.after].flatMap((one) => one.keys);
      if (keys.length > 1)
        blocks.push({ of: of!, keys, x: left, y: top, width: item.width, height, isAfter: before.length > 0 });
    }
    x += width + gap;
  }
  return { positions, blocks };
}

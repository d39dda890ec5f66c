/** A colour per kind; packets, which are all of one kind, by their type. */
import { createContext } from 'react';
import { kindColor } from '../../ui/kinds.js';
import type { Graph, GraphNode } from './graph.js';

/** Neighbours in this list are easy to tell apart. */
const palette = ['turn', 'delegation', 'execution', 'artifact', 'note', 'summary', 'agent', 'trajectory', 'message'];

export interface LegendEntry {
  readonly label: string;
  readonly type: string;
  readonly color: string;
  readonly count: number;
}

/** What the legend calls a node. */
export const labelOf = ({ type, packet }: GraphNode): string => packet?.packet_type ?? type;

/** The most frequent first. Types beyond the palette share the colour of packets. */
export function legendOf({ nodes }: Graph): LegendEntry[] {
  const counts = new Map<string, { type: string; count: number; isPacket: boolean }>();
  for (const node of nodes.values()) {
    const label = labelOf(node);
    const known = counts.get(label);
    if (known) known.count += 1;
    else counts.set(label, { type: node.type, count: 1, isPacket: node.packet !== undefined });
  }
  let next = 0;
  return [...counts]
    .sort(([a, x], [b, y]) => y.count - x.count || (a < b ? -1 : 1))
    .map(([label, { type, count, isPacket }]) => {
      const color = isPacket && next < palette.length ? `var(--kind-${palette[next++]})` : kindColor(type);
      return { label, type, color, count };
    });
}

export const ColorContext = createContext<ReadonlyMap<string, string>>(new Map());

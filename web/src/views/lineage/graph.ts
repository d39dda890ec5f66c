/** A graph of what came from what: packets by their parents, other entities by their edges. */
import type { Edge, Packet } from 'cairndb/client';

export interface EntityRef {
  readonly type: string;
  readonly id: string;
}

export interface GraphNode extends EntityRef {
  readonly key: string;
  /** What is known of a packet without asking again. */
  readonly packet?: Packet | undefined;
}

/** From what was before to what came of it; relations without such an order go from their first participant. */
export interface GraphLink {
  readonly key: string;
  readonly from: string;
  readonly to: string;
  /** `parent` between packets, else the type of the edge. */
  readonly kind: string;
  readonly edge?: Edge | undefined;
}

export interface Graph {
  readonly nodes: ReadonlyMap<string, GraphNode>;
  readonly links: readonly GraphLink[];
  /** Keys of the nodes before and after a node. */
  readonly before: ReadonlyMap<string, readonly string[]>;
  readonly after: ReadonlyMap<string, readonly string[]>;
}

export const keyOfEntity = ({ type, id }: EntityRef): string => `${type}:${id}`;

export function entityOfKey(key: string): EntityRef {
  const at = key.indexOf(':');
  return { type: key.slice(0, at), id: key.slice(at + 1) };
}

/** Types whose first participant came of the others. */
const BACKWARD: readonly Edge['edge_type'][] = ['DerivedFrom', 'SynthesizedFrom', 'Supersedes'];

/** What a link says, read along its arrow. */
const phrases: Readonly<Record<string, string>> = {
  parent: 'parent of',
  DerivedFrom: 'source of',
  SynthesizedFrom: 'part of',
  Supersedes: 'superseded by',
  Supports: 'supports',
  Contradicts: 'contradicts',
  RelatesTo: 'relates to',
  Temporal: 'before',
  Causal: 'causes',
  Grouped: 'grouped with',
  Compared: 'compared with',
};

export const phraseOf = (kind: string): string => phrases[kind] ?? kind;

export interface Found {
  readonly packets: readonly Packet[];
  readonly edges: readonly Edge[];
  readonly entities: readonly EntityRef[];
}

/** The type of the address: `agent_turn` and `packet` as entities are called elsewhere. */
export const entityType = (kind: string): string =>
  kind
    .split(/[_-]/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');

/** One graph of all that was found, from the root outwards. Links to what was not found are left out. */
export function graphOf(root: EntityRef | undefined, found: readonly Found[]): Graph {
  const nodes = new Map<string, GraphNode>();
  const links = new Map<string, GraphLink>();
  const add = (entity: EntityRef, packet?: Packet) => {
    const key = keyOfEntity(entity);
    const known = nodes.get(key);
    if (!known || (packet && !known.packet)) nodes.set(key, { ...entity, key, packet });
  };
  if (root) add(root);
  for (const { packets, entities } of found) {
    for (const packet of packets) add({ type: 'Packet', id: packet.packet_id }, packet);
    for (const entity of entities) add(entity);
  }
  const link = (one: GraphLink) => {
    if (nodes.has(one.from) && nodes.has(one.to) && one.from !== one.to) links.set(one.key, one);
  };
  for (const { key, packet } of nodes.values())
    for (const id of packet?.lineage.parent_ids ?? []) {
      const from = keyOfEntity({ type: 'Packet', id });
      link({ key: `${from}>${key}`, from, to: key, kind: 'parent' });
    }
  for (const edge of found.flatMap(({ edges }) => edges)) {
    const [first, ...others] = edge.participants.map((one) =>
      keyOfEntity({ type: one.entity_type, id: one.entity_id }),
    );
    const isBackward = BACKWARD.includes(edge.edge_type);
    for (const other of others) {
      const [from, to] = isBackward ? [other, first!] : [first!, other];
      link({ key: `${edge.edge_id}:${other}`, from, to, kind: edge.edge_type, edge });
    }
  }
  return { nodes, links: [...links.values()], ...neighbours([...links.values()]) };
}

function neighbours(links: readonly GraphLink[]): Pick<Graph, 'before' | 'after'> {
  const before = new Map<string, string[]>();
  const after = new Map<string, string[]>();
  const push = (map: Map<string, string[]>, key: string, value: string) => {
    const list = map.get(key);
    if (!list) map.set(key, [value]);
    else if (!list.includes(value)) list.push(value);
  };
  for (const { from, to } of links) {
    push(after, from, to);
    push(before, to, from);
  }
  return { before, after };
}

/** All that can be reached along one direction. */
export function reachable(neighboursOf: ReadonlyMap<string, readonly string[]>, from: string): Set<string> {
  const seen = new Set<string>();
  const waiting = [from];
  for (let key = waiting.pop(); key !== undefined; key = waiting.pop())
    for (const next of neighboursOf.get(key) ?? [])
      if (!seen.has(next) && next !== from) {
        seen.add(next);
        waiting.push(next);
      }
  return seen;
}

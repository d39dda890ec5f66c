/** The lineage of a packet, or the relations of another entity, as a graph. */
import './lineage.css';
import { useParams } from '@tanstack/react-router';
import { type CSSProperties, type ReactNode, useEffect, useMemo, useState } from 'react';
import { useSearch } from '../../app/search.js';
import { integer, words } from '../../data/format.js';
import { Page } from '../../ui/layout.js';
import { Empty, ErrorBox, Loading } from '../../ui/states.js';
import { Entity } from '../../ui/text.js';
import { type Ask, asksFor, useLineage } from './asks.js';
import { Canvas } from './canvas.js';
import { ColorContext, type LegendEntry, legendOf } from './colors.js';
import { createFocus, FocusContext } from './focus.js';
import { type EntityRef, entityOfKey, entityType, type Graph, keyOfEntity } from './graph.js';
import { EdgePanel, NodePanel } from './side-panel.js';

/** Steps of relations around the root; each expansion goes one further. */
const FIRST_DEPTH = 3;
/** A larger graph is no picture any more. */
const MAX_NODES = 4000;

/** Further types are in the graph, but not in its legend. */
const MAX_LEGEND = 10;

function Legend({ entries, graph }: { entries: readonly LegendEntry[]; graph: Graph }): ReactNode {
  const kinds = new Set(graph.links.map(({ kind }) => kind));
  const rest = entries.slice(MAX_LEGEND).reduce((sum, { count }) => sum + count, 0);
  return (
    <ul className="lineage-legend" aria-label="Legend">
      {entries.slice(0, MAX_LEGEND).map(({ label, color, count }) => (
        <li key={label}>
          <i className="dot" style={{ '--c': color } as CSSProperties} />
          {label.includes('.') ? label : words(label)} <span className="muted">{integer(count)}</span>
        </li>
      ))}
      {rest > 0 && <li className="muted">others {integer(rest)}</li>}
      {[...kinds]
        .filter((kind) => kind !== 'parent')
        .map((kind) => (
          <li key={kind}>
            <i className={`lineage-sample ${kind}`} />
            {words(kind)}
          </li>
        ))}
    </ul>
  );
}

function Explorer({ root }: { root: EntityRef }): ReactNode {
  const [search, change] = useSearch();
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(new Set());
  const [focusStore] = useState(createFocus);
  const rootKey = keyOfEntity(root);
  const asks = useMemo(() => {
    const all: Ask[] = asksFor(root, FIRST_DEPTH);
    for (const key of expanded) all.push(...asksFor(entityOfKey(key), 1));
    return all;
  }, [root, expanded]);
  const { graph, isPending, truncated, error, refetch } = useLineage(root, asks);
  const isEdge = root.type === 'Edge';
  const edge =
    isEdge || search.edge
      ? graph.links.find(({ edge: one }) => one?.edge_id === (search.edge ?? root.id))?.edge
      : undefined;
  const focus = search.focus ?? (isEdge ? undefined : rootKey);
  const focused = focus === undefined ? undefined : graph.nodes.get(focus);
  const legend = useMemo(() => legendOf(graph), [graph]);
  const colors = useMemo(() => new Map(legend.map(({ label, color }) => [label, color])), [legend]);
  useEffect(() => focusStore.set(graph, focused?.key), [focusStore, graph, focused]);
  // What is shown first decides where the graph opens, so it waits for all of the root.
  if (expanded.size === 0 && isPending) return <Loading lines={12} />;
  if (error && graph.nodes.size <= 1) return <ErrorBox error={error} retry={refetch} />;
  const setFocus = (key: string | undefined) => change({ focus: key, edge: undefined });
  const isFull = graph.nodes.size >= MAX_NODES;
  return (
    <FocusContext value={focusStore}>
      <ColorContext value={colors}>
        <div className="lineage-body">
          <div className="panel lineage-frame">
            <Canvas
              graph={graph}
              root={isEdge ? graph.nodes.keys().next().value : rootKey}
              focus={focused?.key}
              onFocus={setFocus}
              onEdge={(edge_id) => change({ edge: edge_id, focus: undefined })}
            />
            <div className="lineage-foot">
              <Legend entries={legend} graph={graph} />
              <span className="muted small" role="status">
                {graph.nodes.size === 1 ? 'Nothing is linked to it' : `${integer(graph.nodes.size)} nodes`}
                {truncated && ', and there are more: expand a node at the rim'}
              </span>
            </div>
          </div>
          <aside className="panel" aria-label="Details">
            {edge && !search.focus ? (
              <EdgePanel edge={edge} onFocus={setFocus} />
            ) : focused ? (
              <NodePanel
                key={focused.key}
                node={focused}
                graph={graph}
                isRoot={focused.key === rootKey}
                isExpanded={isFull || focused.key === rootKey || expanded.has(focused.key)}
                onFocus={setFocus}
                onExpand={() => setExpanded(new Set([...expanded, focused.key]))}
              />
            ) : (
              <Empty title="Nothing is chosen">Choose a node or a link, or walk with the arrow keys.</Empty>
            )}
          </aside>
        </div>
      </ColorContext>
    </FocusContext>
  );
}

export function View(): ReactNode {
  const { kind, id } = useParams({ strict: false }) as { kind: string; id: string };
  const type = entityType(kind);
  const root = useMemo(() => ({ type, id }), [type, id]);
  return (
    <Page
      title="Lineage"
      about={
        <span className="row muted small">
          What the {words(type)} came from is at the left, what came of it at the right.
          {type !== 'Packet' && type !== 'Edge' && <Entity type={type} id={id} />}
        </span>
      }
    >
      <Explorer key={keyOfEntity(root)} root={root} />
    </Page>
  );
}

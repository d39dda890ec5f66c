/** What is known of the focused node or link, and where one can go from it. */
import { Link } from '@tanstack/react-router';
import type { Edge } from 'cairndb/client';
import { ArrowLeft, ArrowRight, Crosshair, Expand } from 'lucide-react';
import type { ReactNode } from 'react';
import { type InputOf, useCall } from '../../data/api.js';
import { integer, words } from '../../data/format.js';
import { pathOf } from '../../data/links.js';
import { Button } from '../../ui/button.js';
import { CopyMenu } from '../../ui/copy-menu.js';
import { JsonTree } from '../../ui/json-tree.js';
import { Kind, KindIcon } from '../../ui/kinds.js';
import { Facts } from '../../ui/layout.js';
import { ErrorBox, Loading } from '../../ui/states.js';
import { Entity, Id, Time } from '../../ui/text.js';
import { type Graph, type GraphNode, phraseOf } from './graph.js';
import { useNodeName } from './names.js';

/** Buttons in a list of neighbours; the graph shows the others. */
const SHOWN = 30;

const Neighbour = ({ node, onFocus }: { node: GraphNode; onFocus: (key: string) => void }): ReactNode => (
  <li>
    <button type="button" className="lineage-go" onClick={() => onFocus(node.key)}>
      <KindIcon kind={node.type} />
      <span className="clip">{useNodeName(node)}</span>
    </button>
  </li>
);

interface NeighboursProps {
  readonly title: string;
  readonly icon: ReactNode;
  readonly keys: readonly string[];
  readonly graph: Graph;
  readonly onFocus: (key: string) => void;
}

function Neighbours({ title, icon, keys, graph, onFocus }: NeighboursProps): ReactNode {
  if (keys.length === 0) return null;
  const nodes = keys.slice(0, SHOWN).flatMap((key) => graph.nodes.get(key) ?? []);
  return (
    <section>
      <h3 className="row">
        {icon}
        {title} <span className="faint">{integer(keys.length)}</span>
      </h3>
      <ul>
        {nodes.map((node) => (
          <Neighbour key={node.key} node={node} onFocus={onFocus} />
        ))}
      </ul>
      {keys.length > SHOWN && <p className="muted small">{integer(keys.length - SHOWN)} more</p>}
    </section>
  );
}

function PacketDetails({ id }: { id: string }): ReactNode {
  const { data, error } = useCall('packets.get', { packet_id: id });
  if (error) return <ErrorBox error={error} />;
  if (!data) return <Loading lines={4} />;
  const { packet_type, timestamp, payload, lineage, thread_id, seq, erased, content_hash, ...rest } = data;
  const { packet_id, recorded_at, ...others } = rest;
  return (
    <>
      <Facts
        facts={[
          ['Type', packet_type],
          ['Happened', <Time key="t" at={timestamp} />],
          ['Recorded', <Time key="r" at={recorded_at} />],
          ['Position', integer(seq)],
          ['Generation', integer(lineage.generation)],
          ['Derived by', lineage.derivation_type],
          [
            'Root',
            lineage.root_packet_id === packet_id ? (
              'itself'
            ) : (
              <Entity key="o" type="Packet" id={lineage.root_packet_id} />
            ),
          ],
          ['Thread', thread_id && <Id key="h" id={thread_id} />],
          ['Hash', <Id key="c" id={content_hash} />],
        ]}
      />
      {erased ? (
        <p className="muted small">Its content expired or was erased. Its place in the lineage stays.</p>
      ) : (
        <section>
          <h3>Payload</h3>
          <JsonTree value={payload} />
        </section>
      )}
      {Object.keys(others).length > 0 && (
        <section>
          <h3>More</h3>
          <JsonTree value={others} open={1} />
        </section>
      )}
      <CopyMenu call="packets.get" input={{ packet_id: id }} value={data} />
    </>
  );
}

type Linked = NonNullable<InputOf<'edges.list'>['entity_type']>;

function CopyRelations({ node: { type, id, key }, graph }: { node: GraphNode; graph: Graph }): ReactNode {
  const own = graph.links.flatMap(({ from, to, edge }) => (edge && (from === key || to === key) ? [edge] : []));
  if (own.length === 0) return null;
  const input = { entity_id: id, entity_type: type as Linked };
  return <CopyMenu call="edges.list" input={input} value={[...new Set(own)]} />;
}

interface PanelProps {
  readonly node: GraphNode;
  readonly graph: Graph;
  readonly isRoot: boolean;
  readonly isExpanded: boolean;
  readonly onFocus: (key: string) => void;
  readonly onExpand: () => void;
}

export function NodePanel({ node, graph, isRoot, isExpanded, onFocus, onExpand }: PanelProps): ReactNode {
  const name = useNodeName(node);
  const { type, id, key } = node;
  const path = type === 'Packet' ? undefined : pathOf(type, id);
  return (
    <div className="lineage-panel">
      <header className="stack tight">
        <span className="row">
          <Kind kind={type} />
          <Id id={id} />
        </span>
        <h2>{name}</h2>
      </header>
      <div className="row wrap lineage-buttons">
        {path && (
          <Link to={path} className="button">
            Open
          </Link>
        )}
        {!isExpanded && (
          <Button onClick={onExpand} title="Its ancestors, descendants and relations">
            <Expand />
            Expand
          </Button>
        )}
        {!isRoot && (
          <Link to={`/lineage/${type.toLowerCase()}/${encodeURIComponent(id)}`} className="button">
            <Crosshair aria-hidden="true" />
            Start here
          </Link>
        )}
      </div>
      <Neighbours
        title="Before"
        icon={<ArrowLeft aria-hidden="true" />}
        keys={graph.before.get(key) ?? []}
        graph={graph}
        onFocus={onFocus}
      />
      <Neighbours
        title="After"
        icon={<ArrowRight aria-hidden="true" />}
        keys={graph.after.get(key) ?? []}
        graph={graph}
        onFocus={onFocus}
      />
      {type === 'Packet' ? <PacketDetails id={id} /> : <CopyRelations node={node} graph={graph} />}
    </div>
  );
}

export function EdgePanel({ edge, onFocus }: { edge: Edge; onFocus: (key: string) => void }): ReactNode {
  const { edge_id, edge_type, participants, weight, provenance, agent_id, metadata, created_at } = edge;
  return (
    <div className="lineage-panel">
      <header className="stack tight">
        <span className="row">
          <Kind kind="Edge" />
          <Id id={edge_id} />
        </span>
        <h2>{words(edge_type)}</h2>
      </header>
      <section>
        <h3>Participants</h3>
        <ul>
          {participants.map(({ entity_type, entity_id, role }, index) => (
            <li key={entity_type + entity_id}>
              <button type="button" className="lineage-go" onClick={() => onFocus(`${entity_type}:${entity_id}`)}>
                <KindIcon kind={entity_type} />
                <span className="clip">
                  {words(entity_type)} …{entity_id.slice(-8)}
                </span>
                <span className="faint small">{role ?? (index === 0 ? 'first' : '')}</span>
              </button>
            </li>
          ))}
        </ul>
        <p className="muted small">Drawn as: {phraseOf(edge_type)}.</p>
      </section>
      <Facts
        facts={[
          ['Made', <Time key="t" at={created_at} />],
          ['Weight', weight],
          ['By', agent_id && <Entity key="a" type="Agent" id={agent_id} />],
          ['Method', provenance?.extraction_method && words(provenance.extraction_method)],
          ['Confidence', provenance?.confidence],
          ['Source turn', provenance?.source_turn],
        ]}
      />
      {Object.keys(metadata).length > 0 && <JsonTree value={metadata} />}
      <CopyMenu call="edges.get" input={{ edge_id }} value={edge} />
    </div>
  );
}

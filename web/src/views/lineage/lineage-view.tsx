/** Where a lineage begins: the packets that users wrote, or the id of any entity. */
import './lineage.css';
import { useNavigate } from '@tanstack/react-router';
import type { Packet } from 'cairndb/client';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useSearch } from '../../app/search.js';
import { type InputOf, usePages } from '../../data/api.js';
import { integer, words } from '../../data/format.js';
import { Button } from '../../ui/button.js';
import { CopyMenu } from '../../ui/copy-menu.js';
import { Page, Panel, Segmented } from '../../ui/layout.js';
import { Answer, Empty } from '../../ui/states.js';
import { VirtualList } from '../../ui/table.js';
import { Entity, Time } from '../../ui/text.js';

/** What has a lineage. */
const types = ['packet', 'note', 'artifact', 'turn', 'card', 'trajectory', 'scope', 'box', 'edge'] as const;

const writers = [
  ['users', 'Own packets'],
  ['all', 'All events'],
] as const;

function OpenById(): ReactNode {
  const navigate = useNavigate();
  const [type, setType] = useState<string>('packet');
  const [id, setId] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (id.trim() !== '') void navigate({ to: `/lineage/${type}/${encodeURIComponent(id.trim())}` });
  };
  return (
    <form className="lineage-open" onSubmit={submit}>
      <select
        className="input"
        aria-label="Kind of entity"
        value={type}
        onChange={(event) => setType(event.target.value)}
      >
        {types.map((one) => (
          <option key={one} value={one}>
            {words(one)}
          </option>
        ))}
      </select>
      <input
        className="input mono"
        aria-label="Id of the entity"
        placeholder="Id"
        spellCheck={false}
        value={id}
        onChange={(event) => setId(event.target.value)}
      />
      <Button type="submit">Show</Button>
    </form>
  );
}

/** The beginning of a payload in one line. */
const summaryOf = ({ payload, erased }: Packet): string =>
  erased
    ? 'erased'
    : JSON.stringify(payload ?? {})
        .slice(1, 200)
        .replace(/\}$/, '');

const Row = ({ packet }: { packet: Packet }): ReactNode => (
  <div className="packet-line packet-row">
    <Entity type="Packet" id={packet.packet_id}>
      {packet.packet_type}
    </Entity>
    <span className="packet-payload clip mono muted">{summaryOf(packet)}</span>
    <span className="packet-agent clip muted">{String(packet.metadata?.agent ?? '')}</span>
    <span className="packet-generation number muted">{integer(packet.lineage.generation)}</span>
    <span className="number muted">
      <Time at={packet.timestamp} />
    </span>
  </div>
);

export function View(): ReactNode {
  const [{ type, written_by }, change] = useSearch();
  const isAll = written_by === 'all';
  const input: InputOf<'packets.list'> = {
    limit: 100,
    ...(type ? { packet_type: type } : isAll ? {} : { written_by: 'users' }),
  };
  const list = usePages('packets.list', 'packets', input);
  const isEmpty = list.query.data !== undefined && list.items.length === 0;
  return (
    <Page
      title="Lineage"
      about="What came from what. Choose a packet, or any entity by its id."
      actions={<CopyMenu call="packets.list" input={input} value={list.items} />}
    >
      <div className="row wrap">
        <OpenById />
        <Segmented
          label="Written by"
          options={writers}
          value={isAll ? 'all' : 'users'}
          onChange={(next) => change({ written_by: next === 'all' ? next : undefined, type: undefined })}
        />
        <form
          key={type ?? ''}
          onSubmit={(event) => {
            event.preventDefault();
            change({ type: String(new FormData(event.currentTarget).get('type')).trim() });
          }}
        >
          <input
            className="input lineage-type"
            name="type"
            type="search"
            aria-label="Type of packet"
            placeholder="Any type"
            defaultValue={type ?? ''}
            onBlur={(event) => event.currentTarget.form?.requestSubmit()}
          />
        </form>
      </div>
      <Panel flush>
        <div className="packet-list">
          <div className="packet-line packet-head" aria-hidden="true">
            <span>Type</span>
            <span>Payload</span>
            <span>Agent</span>
            <span className="number">Generation</span>
            <span className="number">Happened</span>
          </div>
          <Answer query={list.query} lines={10}>
            {() =>
              isEmpty ? (
                <Empty
                  title={type ? 'There is no packet of this type' : 'No packet was written yet'}
                  command={type ? undefined : `npx cairn demo --url ${location.origin}`}
                >
                  Packets are events of your own, each with its parents. The graph of a note or an artifact is reached
                  by its id.
                </Empty>
              ) : (
                <VirtualList<Packet>
                  label="Packets"
                  items={list.items}
                  keyOf={({ packet_id }) => packet_id}
                  estimate={41}
                  onEnd={list.loadMore}
                  height={`min(calc(${list.items.length} * var(--packet-row)), calc(100dvh - 15.5rem))`}
                  render={(packet) => <Row packet={packet} />}
                />
              )
            }
          </Answer>
        </div>
      </Panel>
    </Page>
  );
}

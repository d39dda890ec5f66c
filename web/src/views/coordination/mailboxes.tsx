/** Messages between agents; those that wait first, if one wants. */
import type { Message } from 'cairndb/client';
import type { ReactNode } from 'react';
import { useSearch } from '../../app/search.js';
import { useCall, usePages } from '../../data/api.js';
import { integer } from '../../data/format.js';
import { CopyMenu } from '../../ui/copy-menu.js';
import { JsonTree } from '../../ui/json-tree.js';
import { Status } from '../../ui/kinds.js';
import { Facts, Panel, Segmented } from '../../ui/layout.js';
import { Answer, Empty } from '../../ui/states.js';
import { type Column, Table } from '../../ui/table.js';
import { Entity, Id, Time } from '../../ui/text.js';

const columns: readonly Column<Message>[] = [
  { id: 'type', label: 'Type', cell: ({ message_type }) => <span className="mono">{message_type}</span> },
  {
    id: 'from',
    label: 'From',
    cell: ({ from_agent_id: id }) => (id ? <Entity type="Agent" id={id} /> : <span className="faint">nobody</span>),
  },
  {
    id: 'to',
    label: 'To',
    cell: ({ to_agent_id: id, to_agent_type: type }) => (id ? <Entity type="Agent" id={id} /> : `every ${type}`),
  },
  { id: 'payload', label: 'Payload', cell: ({ payload }) => <span className="lines-2">{payload}</span> },
  { id: 'priority', label: 'Priority', cell: ({ priority }) => priority },
  {
    id: 'state',
    label: 'Acknowledged',
    cell: ({ recipients, acknowledged }) => <Status status={acknowledged >= recipients ? 'done' : `waiting`} />,
  },
  { id: 'at', label: 'Sent', cell: ({ created_at }) => <Time at={created_at} /> },
];

/** A payload is a text, and often JSON. */
function parsed(payload: string): unknown {
  try {
    return JSON.parse(payload) as unknown;
  } catch {
    return payload;
  }
}

function MessageDetails({ message_id }: { message_id: string }): ReactNode {
  const message = useCall('messages.get', { message_id });
  return (
    <Panel title="Message" actions={<CopyMenu call="messages.get" input={{ message_id }} value={message.data} />}>
      <Answer query={message}>
        {(data) => (
          <div className="stack">
            <JsonTree value={parsed(data.payload)} />
            <Facts
              facts={[
                ['Type', data.message_type],
                ['From', data.from_agent_id && <Entity key="f" type="Agent" id={data.from_agent_id} />],
                ['To', data.to_agent_id && <Entity key="t" type="Agent" id={data.to_agent_id} />],
                ['To type', data.to_agent_type],
                ['Acknowledged', `${integer(data.acknowledged)} of ${integer(data.recipients)}`],
                ['Task', data.trajectory_id && <Entity key="k" type="Trajectory" id={data.trajectory_id} />],
                ['Expires', data.expires_at && <Time key="e" at={data.expires_at} />],
                ['Sent', <Time key="s" at={data.created_at} />],
                ['Id', <Id key="i" id={message_id} />],
              ]}
            />
          </div>
        )}
      </Answer>
    </Panel>
  );
}

export function Mailboxes({ chosen }: { chosen: string | undefined }): ReactNode {
  const [search, change] = useSearch();
  const isWaiting = search.mail === 'waiting';
  const list = usePages('messages.list', 'messages', {
    limit: 100,
    order: 'desc',
    ...(isWaiting ? { unacknowledged: true } : {}),
    ...(search.to ? { to_agent: search.to } : {}),
  });
  return (
    <>
      {chosen && <MessageDetails message_id={chosen} />}
      <Panel
        title={search.to ? `Messages to ${search.to}` : 'Messages'}
        flush
        actions={
          <Segmented
            label="Messages"
            options={[
              ['all', 'All'],
              ['waiting', 'Waiting'],
            ]}
            value={isWaiting ? 'waiting' : 'all'}
            onChange={(mail) => change({ mail: mail === 'all' ? undefined : mail })}
          />
        }
      >
        <Answer query={list.query}>
          {() =>
            list.items.length === 0 ? (
              <Empty title={isWaiting ? 'No message waits' : 'No message was sent'} />
            ) : (
              <Table
                label="Messages"
                columns={columns}
                rows={list.items}
                keyOf={({ message_id }) => message_id}
                onOpen={({ message_id }) => change({ message: message_id, tab: 'mail' })}
              />
            )
          }
        </Answer>
      </Panel>
    </>
  );
}

/** The registered agents with their last sign of life. */
import { useNavigate } from '@tanstack/react-router';
import type { Agent } from 'cairndb/client';
import type { ReactNode } from 'react';
import { usePages } from '../../data/api.js';
import { KindIcon, Status } from '../../ui/kinds.js';
import { Panel } from '../../ui/layout.js';
import { Answer, Empty } from '../../ui/states.js';
import { type Column, Table } from '../../ui/table.js';
import { Entity, Time } from '../../ui/text.js';

/** Heartbeats append no event, so they are asked for. */
const HEARTBEAT_MS = 10_000;

const columns: readonly Column<Agent>[] = [
  {
    id: 'agent',
    label: 'Agent',
    cell: ({ agent_id }) => (
      <span className="entity">
        <span className="entity-icon">
          <KindIcon kind="agent" />
        </span>
        <span className="clip mono">{agent_id}</span>
      </span>
    ),
  },
  { id: 'type', label: 'Type', cell: ({ agent_type }) => agent_type },
  { id: 'status', label: 'Status', cell: ({ status }) => <Status status={status} /> },
  { id: 'seen', label: 'Last seen', cell: ({ last_seen_at }) => <Time at={last_seen_at} relative /> },
  { id: 'task', label: 'Task', cell: ({ current_trajectory_id: id }) => id && <Entity type="Trajectory" id={id} /> },
  {
    id: 'capabilities',
    label: 'Capabilities',
    cell: ({ capabilities }) => <span className="lines-2 muted">{capabilities.join(', ')}</span>,
  },
];

export function Agents(): ReactNode {
  const navigate = useNavigate();
  const list = usePages('agents.list', 'agents', { limit: 200 }, { every_ms: HEARTBEAT_MS });
  return (
    <Panel flush>
      <Answer query={list.query}>
        {() =>
          list.items.length === 0 ? (
            <Empty title="No agent is registered" command={`npx cairn demo --url ${location.origin}`}>
              A key with an agent registers it, and so does agents.register.
            </Empty>
          ) : (
            <Table
              label="Agents"
              columns={columns}
              rows={list.items}
              keyOf={({ agent_id }) => agent_id}
              onOpen={({ agent_id }) => void navigate({ to: '/agents/$agentId', params: { agentId: agent_id } })}
            />
          )
        }
      </Answer>
    </Panel>
  );
}

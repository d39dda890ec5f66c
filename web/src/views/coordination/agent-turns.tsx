/** Runs of agents on packed contexts. */
import { useNavigate } from '@tanstack/react-router';
import type { AgentTurn } from 'cairndb/client';
import type { ReactNode } from 'react';
import { type InputOf, usePages } from '../../data/api.js';
import { Status } from '../../ui/kinds.js';
import { Answer, Empty } from '../../ui/states.js';
import { type Column, Table } from '../../ui/table.js';
import { Time } from '../../ui/text.js';

const columns: readonly Column<AgentTurn>[] = [
  { id: 'status', label: 'Status', cell: ({ status }) => <Status status={status} /> },
  {
    id: 'summary',
    label: 'Summary',
    cell: ({ summary, error }) => <span className="lines-2">{summary ?? error?.message ?? ''}</span>,
  },
  { id: 'profile', label: 'Profile', cell: ({ profile_name }) => profile_name },
  { id: 'at', label: 'Dispatched', cell: ({ dispatched_at }) => <Time at={dispatched_at} /> },
];

export function AgentTurns({ filter }: { filter: InputOf<'agent_turns.list'> }): ReactNode {
  const navigate = useNavigate();
  const list = usePages('agent_turns.list', 'agent_turns', { limit: 100, order: 'desc', ...filter });
  return (
    <Answer query={list.query}>
      {() =>
        list.items.length === 0 ? (
          <Empty title="It has not run yet" />
        ) : (
          <Table
            label="Runs of the agent"
            columns={columns}
            rows={list.items}
            keyOf={({ agent_turn_id }) => agent_turn_id}
            onOpen={({ agent_turn_id }) =>
              void navigate({ to: '/agent-turns/$agentTurnId', params: { agentTurnId: agent_turn_id } })
            }
          />
        )
      }
    </Answer>
  );
}

/** Who is at work, and when each was last heard of. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useCall } from '../../data/api.js';
import { Status } from '../../ui/kinds.js';
import { Entity, Time } from '../../ui/text.js';
import { Referred, useListedName } from './names.js';
import { SidePanel } from './side-panel.js';

const SHOWN = 8;
/** Heartbeats and renewals of leases cause no events. */
const EVERY_MS = 10_000;

function AgentName({ id }: { id: string }): ReactNode {
  return (
    <Entity type="Agent" id={id}>
      {useListedName(id)}
    </Entity>
  );
}

export function AgentsPanel(): ReactNode {
  const { data, error } = useCall('agents.list', { limit: 200 }, { every_ms: EVERY_MS });
  const here = data?.agents
    .filter(({ status }) => status !== 'offline')
    .sort((a, b) => (a.last_seen_at < b.last_seen_at ? 1 : -1));
  const gone = (data?.agents.length ?? 0) - (here?.length ?? 0);
  return (
    <SidePanel
      title="Agents"
      count={here?.length}
      items={here}
      error={error}
      empty={gone > 0 ? `No agent is active, ${gone} went silent.` : 'No agent is active.'}
    >
      {(agents) => (
        <ul className="side-list">
          {agents.slice(0, SHOWN).map(({ agent_id, status, last_seen_at, current_trajectory_id }) => (
            <li key={agent_id}>
              <div className="row spread">
                <AgentName id={agent_id} />
                <Status status={status} />
              </div>
              <div className="row spread faint tiny">
                <span className="clip">
                  {current_trajectory_id && <Referred reference={{ type: 'Trajectory', id: current_trajectory_id }} />}
                </span>
                <span>
                  heard <Time at={last_seen_at} relative />
                </span>
              </div>
            </li>
          ))}
          {(agents.length > SHOWN || gone > 0) && (
            <li className="muted small">
              <Link to="/coordination">
                {[
                  agents.length > SHOWN ? `${agents.length - SHOWN} more` : '',
                  gone > 0 ? `${gone} that went silent` : '',
                ]
                  .filter(Boolean)
                  .join(', ')}
              </Link>
            </li>
          )}
        </ul>
      )}
    </SidePanel>
  );
}

export function RunningPanel(): ReactNode {
  const { data, error } = useCall(
    'agent_turns.list',
    { status: 'running', order: 'desc', limit: 50 },
    { every_ms: EVERY_MS },
  );
  const waiting = useCall('agent_turns.list', { status: 'dispatched', limit: 1 });
  const total = waiting.data?.total ?? 0;
  return (
    <SidePanel
      title="Running agent turns"
      count={data?.total ?? undefined}
      items={data?.agent_turns}
      error={error}
      empty={total > 0 ? `None is running, ${total} wait for a worker.` : 'No agent turn is running.'}
    >
      {(turns) => (
        <ul className="side-list">
          {turns
            .slice(0, SHOWN)
            .map(({ agent_turn_id, agent_id, trajectory_id, claimed_at, lease_expires_at, worker_id }) => (
              <li key={agent_turn_id}>
                <div className="row spread">
                  <Entity type="AgentTurn" id={agent_turn_id}>
                    <TurnName agent_id={agent_id} trajectory_id={trajectory_id} />
                  </Entity>
                  <span className="faint tiny">
                    since <Time at={claimed_at} relative />
                  </span>
                </div>
                <div className="row spread faint tiny">
                  <span className="clip">held by {worker_id ?? 'nobody'}</span>
                  {lease_expires_at && (
                    <span>
                      lease ends <Time at={lease_expires_at} relative />
                    </span>
                  )}
                </div>
              </li>
            ))}
          {total > 0 && <li className="muted small">{total} more wait for a worker.</li>}
        </ul>
      )}
    </SidePanel>
  );
}

function TurnName({ agent_id, trajectory_id }: { agent_id: string; trajectory_id: string }): ReactNode {
  const agent = useListedName(agent_id) ?? agent_id;
  const task = useListedName(trajectory_id);
  return task === undefined ? agent : `${agent}: ${task}`;
}

/** One agent: rights, runs, messages, locks. */
import './coordination.css';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useCall, usePages } from '../../data/api.js';
import { duration } from '../../data/format.js';
import { CopyMenu } from '../../ui/copy-menu.js';
import { JsonTree } from '../../ui/json-tree.js';
import { Kind, Status } from '../../ui/kinds.js';
import { Facts, Page, Panel } from '../../ui/layout.js';
import { Answer } from '../../ui/states.js';
import { Entity, Id, Time } from '../../ui/text.js';
import { AgentTurns } from './agent-turns.js';

/** Heartbeats append no event. */
const HEARTBEAT_MS = 10_000;

function Locks({ agent_id }: { agent_id: string }): ReactNode {
  const list = usePages('locks.list', 'locks', { holder_agent_id: agent_id, limit: 50 });
  if (list.items.length === 0) return null;
  return (
    <Panel title="Locks">
      <ul className="stack tight">
        {list.items.map(({ lock_id, resource_type, resource_id, state, expires_at }) => (
          <li key={lock_id} className="row wrap small">
            <Entity type="Lock" id={lock_id}>
              {resource_type} {resource_id}
            </Entity>
            <Status status={state} />
            <span className="muted">
              until <Time at={expires_at} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

export function View(): ReactNode {
  const { agentId: agent_id } = useParams({ strict: false }) as { agentId: string };
  const agent = useCall('agents.get', { agent_id }, { every_ms: HEARTBEAT_MS });
  return (
    <Answer query={agent}>
      {(data) => (
        <Page
          title={<span className="mono">{agent_id}</span>}
          about={
            <>
              <Kind kind="agent">{data.agent_type}</Kind>
              <Status status={data.status} />
              <span className="muted small">
                seen <Time at={data.last_seen_at} relative />
              </span>
            </>
          }
          actions={<CopyMenu call="agents.get" input={{ agent_id }} value={data} />}
        >
          <div className="split">
            <Panel title="Runs" flush>
              <AgentTurns filter={{ agent_id }} />
            </Panel>
            <div className="stack">
              <Panel title="Facts">
                <Facts
                  facts={[
                    ['Capabilities', data.capabilities.join(', ')],
                    [
                      'Task',
                      data.current_trajectory_id && (
                        <Entity key="t" type="Trajectory" id={data.current_trajectory_id} />
                      ),
                    ],
                    ['Profile', data.profile_name],
                    ['Made by', data.parent_agent_id && <Entity key="p" type="Agent" id={data.parent_agent_id} />],
                    ['Delegates to', data.can_delegate_to?.join(', ') || 'nobody'],
                    ['Offline after', duration(data.offline_after_ms)],
                    ['Registered', <Time key="r" at={data.registered_at} />],
                    ['Id', <Id key="i" id={agent_id} />],
                  ]}
                />
              </Panel>
              {data.memory_access && (
                <Panel title="Rights">
                  <JsonTree value={data.memory_access} open={4} />
                </Panel>
              )}
              <Locks agent_id={agent_id} />
            </div>
          </div>
        </Page>
      )}
    </Answer>
  );
}

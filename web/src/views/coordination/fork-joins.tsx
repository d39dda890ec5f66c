/** Fork-joins as they run: the tasks of each, side by side. */
import type { ReactNode } from 'react';
import { useCall, usePages } from '../../data/api.js';
import { duration, integer } from '../../data/format.js';
import { Gauge } from '../../ui/gauges.js';
import { Status } from '../../ui/kinds.js';
import { Panel } from '../../ui/layout.js';
import { Answer, Empty } from '../../ui/states.js';
import { Entity, Time } from '../../ui/text.js';

const MOST = 10;

function ForkJoin({ batch_id }: { batch_id: string }): ReactNode {
  const batch = useCall('pmo.batch', { batch_id });
  return (
    <Answer query={batch} lines={3}>
      {(data) => {
        const ended = data.results.filter(({ status }) => status !== 'running').length;
        const took = data.ended_at && new Date(data.ended_at).getTime() - new Date(data.created_at).getTime();
        return (
          <Panel
            title={
              <span className="row">
                {integer(data.task_count)} parallel tasks
                <Status status={data.status} />
              </span>
            }
            actions={
              <span className="muted small">
                <Time at={data.created_at} />
                {took !== null && took !== '' && `, ${duration(took)}`}
              </span>
            }
          >
            <div className="stack">
              <Gauge label="Tasks that ended" value={ended} max={data.task_count} threshold={2} />
              <ul className="fork-tasks">
                {data.results.map((one) => (
                  <li key={one.task_index} className="fork-task">
                    <span className="row spread">
                      <Entity type="AgentTurn" id={one.agent_turn_id}>
                        Task {one.task_index + 1}
                      </Entity>
                      <Status status={one.status} />
                    </span>
                    <span className="lines-3 muted small">{one.summary ?? one.error?.message}</span>
                  </li>
                ))}
              </ul>
            </div>
          </Panel>
        );
      }}
    </Answer>
  );
}

export function ForkJoins(): ReactNode {
  const turns = usePages('agent_turns.list', 'agent_turns', { limit: 200, order: 'desc' });
  const batches = [...new Set(turns.items.flatMap(({ batch_id }) => batch_id ?? []))].slice(0, MOST);
  return (
    <Answer query={turns.query}>
      {() =>
        batches.length === 0 ? (
          <Empty title="No fork-join has run" command={`npx cairn demo --url ${location.origin}`}>
            pmo.fork_join dispatches up to eight tasks at once and waits for all.
          </Empty>
        ) : (
          batches.map((batch_id) => <ForkJoin key={batch_id} batch_id={batch_id} />)
        )
      }
    </Answer>
  );
}

/** A delegation or a handoff in full. */
import type { ReactNode } from 'react';
import { useCall } from '../../data/api.js';
import { textOf } from '../../data/format.js';
import { CopyMenu } from '../../ui/copy-menu.js';
import { JsonTree } from '../../ui/json-tree.js';
import { Status } from '../../ui/kinds.js';
import { Facts, Panel } from '../../ui/layout.js';
import { Answer } from '../../ui/states.js';
import { Entity, Id, Time } from '../../ui/text.js';

const agent = (id: string | null): ReactNode => id && <Entity type="Agent" id={id} />;
const task = (id: string | null): ReactNode => id && <Entity type="Trajectory" id={id} />;
const list = (texts: readonly string[]): ReactNode => texts.length > 0 && texts.join('; ');

export function DelegationDetails({ delegation_id }: { delegation_id: string }): ReactNode {
  const delegation = useCall('delegations.get', { delegation_id });
  return (
    <Panel
      title="Delegation"
      actions={<CopyMenu call="delegations.get" input={{ delegation_id }} value={delegation.data} />}
    >
      <Answer query={delegation}>
        {(data) => (
          <div className="stack">
            <p className="prose">{data.task_description}</p>
            <Facts
              facts={[
                ['Status', <Status key="s" status={data.status} />],
                ['From', agent(data.from_agent_id)],
                ['To', agent(data.to_agent_id)],
                ['Task', task(data.trajectory_id)],
                ['Subtask', task(data.child_trajectory_id)],
                ['Run of the agent', data.agent_turn_id && <Entity key="t" type="AgentTurn" id={data.agent_turn_id} />],
                ['Expected by', data.expected_completion && <Time key="e" at={data.expected_completion} />],
                ['Reason', data.reason],
                ['Result', data.result && `${data.result.status}: ${textOf(data.result.output)}`],
                ['Created', <Time key="c" at={data.created_at} />],
                ['Ended', data.ended_at && <Time key="x" at={data.ended_at} />],
                ['Id', <Id key="i" id={delegation_id} />],
              ]}
            />
            {data.context && <JsonTree value={data.context} open={1} />}
          </div>
        )}
      </Answer>
    </Panel>
  );
}

export function HandoffDetails({ handoff_id }: { handoff_id: string }): ReactNode {
  const handoff = useCall('handoffs.get', { handoff_id });
  return (
    <Panel title="Handoff" actions={<CopyMenu call="handoffs.get" input={{ handoff_id }} value={handoff.data} />}>
      <Answer query={handoff}>
        {(data) => (
          <Facts
            facts={[
              ['Status', <Status key="s" status={data.status} />],
              ['Reason', data.reason],
              ['From', agent(data.from_agent_id)],
              ['To', agent(data.to_agent_id)],
              ['Task', task(data.trajectory_id)],
              ['Next steps', list(data.next_steps)],
              ['Blockers', list(data.blockers)],
              ['Open questions', list(data.open_questions)],
              ['Rejected because', data.rejection],
              ['Expires', data.expires_at && <Time key="e" at={data.expires_at} />],
              ['Created', <Time key="c" at={data.created_at} />],
              ['Id', <Id key="i" id={handoff_id} />],
            ]}
          />
        )}
      </Answer>
    </Panel>
  );
}

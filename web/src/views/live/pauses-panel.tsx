/** Questions that wait for a person, answered right here. */
import type { Pause } from 'cairndb/client';
import type { ReactNode } from 'react';
import { useSearch } from '../../app/search.js';
import { useSession } from '../../app/session.js';
import { useCall } from '../../data/api.js';
import { words } from '../../data/format.js';
import { JsonTree } from '../../ui/json-tree.js';
import { Status } from '../../ui/kinds.js';
import { Entity, Time } from '../../ui/text.js';
import { AnswerForm } from './answer-form.js';
import { Referred } from './names.js';
import { SidePanel } from './side-panel.js';

/** Questions to other agents are theirs to answer. */
const isForPeople = ({ to_agent_id, to_agent_type }: Pause): boolean => to_agent_id === null && to_agent_type === null;

export function PausesPanel(): ReactNode {
  const [{ pause: wanted }] = useSearch();
  const { data, error } = useCall('pauses.list', { status: 'open', limit: 100 });
  const open = data?.pauses;
  const isOpen = open?.some(({ pause_id }) => pause_id === wanted);
  // A link may lead to one that was answered meanwhile.
  const linked = useCall(
    'pauses.get',
    { pause_id: wanted ?? '' },
    { enabled: wanted !== undefined && open !== undefined && !isOpen },
  );
  const first = [...(linked.data && !isOpen ? [linked.data] : [])];
  const shown = open && [
    ...first,
    ...open.filter(({ pause_id }) => pause_id === wanted),
    ...open.filter((one) => one.pause_id !== wanted && isForPeople(one)),
    ...open.filter((one) => one.pause_id !== wanted && !isForPeople(one)),
  ];
  return (
    <SidePanel
      title="Waiting for an answer"
      count={open?.length}
      items={shown}
      error={error}
      empty="No run waits for an answer."
    >
      {(pauses) => (
        <ul className="pauses">
          {pauses.map((pause) => (
            <li key={pause.pause_id} className={pause.pause_id === wanted ? 'wanted' : ''}>
              <Question pause={pause} />
            </li>
          ))}
        </ul>
      )}
    </SidePanel>
  );
}

function Question({ pause }: { pause: Pause }): ReactNode {
  const { canWrite, who } = useSession();
  const { question, trigger, agent_id, details, deadline_at, status, default: fallback } = pause;
  const asked = pause.to_agent_id ?? (pause.to_agent_type === null ? null : `any ${pause.to_agent_type}`);
  const isAsked = isForPeople(pause) || who.agent_id === pause.to_agent_id;
  return (
    <div className="stack">
      <div className="stack tight">
        <div className="row wrap tiny faint">
          <Referred reference={{ type: 'Agent', id: agent_id }} />
          <span>asks{asked === null ? '' : ` ${asked}`}</span>
          <span className="chip plain">{words(trigger)}</span>
          {status !== 'open' && <Status status={status} />}
        </div>
        <p className="prose">{question}</p>
        <div className="row wrap tiny faint">
          {pause.execution_id && (
            <>
              in <Referred reference={{ type: 'Execution', id: pause.execution_id }} />
            </>
          )}
          {pause.agent_turn_id && (
            <>
              in <Entity type="AgentTurn" id={pause.agent_turn_id} />
            </>
          )}
          {status === 'open' && deadline_at && (
            <span>
              until <Time at={deadline_at} />
              {fallback ? `, then: ${words(fallback.action)}${fallback.choice ? ` ${fallback.choice}` : ''}` : ''}
            </span>
          )}
          <span>
            asked <Time at={pause.created_at} relative />
          </span>
        </div>
      </div>
      {details && (
        <details className="small">
          <summary>What it is about</summary>
          <JsonTree value={details} open={3} />
        </details>
      )}
      {status !== 'open' ? (
        <Answered pause={pause} />
      ) : canWrite && isAsked ? (
        <AnswerForm key={pause.pause_id} pause={pause} />
      ) : (
        <p className="muted small">
          {canWrite ? 'Only the agent that is asked may answer.' : 'Your key may only read.'}
        </p>
      )}
    </div>
  );
}

function Answered({ pause: { answer, answered_by, answered_at } }: { pause: Pause }): ReactNode {
  if (answer === null) return <p className="muted small">It takes no more answers.</p>;
  const by = answered_by === null ? 'its default' : (answered_by.agent_id ?? 'a person');
  return (
    <p className="small">
      <b>{words(answer.action)}</b>
      {answer.choice && `: ${answer.choice}`} by {by}, <Time at={answered_at} />
      {answer.comment && <span className="muted"> “{answer.comment}”</span>}
    </p>
  );
}

/** Delegations and handoffs as a board: a column per stage. */
import type { Delegation, Handoff } from 'cairndb/client';
import type { ReactNode } from 'react';
import { useSearch } from '../../app/search.js';
import { usePages } from '../../data/api.js';
import { integer } from '../../data/format.js';
import { Kind, Status } from '../../ui/kinds.js';
import { Answer, Empty } from '../../ui/states.js';
import { Time } from '../../ui/text.js';
import { DelegationDetails, HandoffDetails } from './board-details.js';

interface Ticket {
  readonly id: string;
  readonly kind: 'delegation' | 'handoff';
  readonly status: string;
  readonly text: string;
  readonly from: string | null;
  readonly to: string;
  readonly at: string;
  readonly isOverdue: boolean;
}

/** Newest of each kind that the board shows. */
const MOST = 200;

const stages: readonly (readonly [name: string, statuses: readonly string[]])[] = [
  ['Offered', ['Pending', 'Initiated']],
  ['Accepted', ['Accepted']],
  ['In progress', ['InProgress']],
  ['Completed', ['Completed']],
  ['Not done', ['Rejected', 'Failed', 'Cancelled', 'Expired']],
];

const isPast = (time: string | null): boolean => time !== null && new Date(time).getTime() < Date.now();

const ofDelegation = (one: Delegation): Ticket => ({
  id: one.delegation_id,
  kind: 'delegation',
  status: one.status,
  text: one.task_description ?? 'erased',
  from: one.from_agent_id,
  to: one.to_agent_id,
  at: one.created_at,
  isOverdue: one.ended_at === null && isPast(one.expected_completion),
});

const ofHandoff = (one: Handoff): Ticket => ({
  id: one.handoff_id,
  kind: 'handoff',
  status: one.status,
  text: one.reason ?? 'a handoff',
  from: one.from_agent_id,
  to: one.to_agent_id,
  at: one.created_at,
  isOverdue: one.status === 'Initiated' && isPast(one.expires_at),
});

const short = (agent: string | null): string =>
  agent === null ? 'somebody' : agent.length > 20 ? `…${agent.slice(-8)}` : agent;

function Card({ ticket, isChosen }: { ticket: Ticket; isChosen: boolean }): ReactNode {
  const [, change] = useSearch();
  const open = () =>
    change({ delegation: undefined, handoff: undefined, [ticket.kind]: isChosen ? undefined : ticket.id });
  return (
    <button type="button" className={`ticket ${isChosen ? 'chosen' : ''}`} onClick={open} aria-pressed={isChosen}>
      <span className="lines-3">{ticket.text}</span>
      <span className="row wrap tiny muted">
        <Kind kind={ticket.kind} />
        {short(ticket.from)} → {short(ticket.to)}
      </span>
      <span className="row wrap tiny muted">
        <Time at={ticket.at} />
        {ticket.isOverdue && <Status status="overdue" />}
        {stages[4]![1].includes(ticket.status) && <Status status={ticket.status} />}
      </span>
    </button>
  );
}

export function Board({
  delegation,
  handoff,
}: {
  delegation: string | undefined;
  handoff: string | undefined;
}): ReactNode {
  const delegations = usePages('delegations.list', 'delegations', { limit: MOST, order: 'desc' });
  const handoffs = usePages('handoffs.list', 'handoffs', { limit: MOST, order: 'desc' });
  const tickets = [...delegations.items.map(ofDelegation), ...handoffs.items.map(ofHandoff)].sort((a, b) =>
    b.at.localeCompare(a.at),
  );
  const chosen = delegation ?? handoff;
  return (
    <Answer query={delegations.query}>
      {() =>
        tickets.length === 0 && !chosen ? (
          <Empty title="Nothing was delegated or handed off" command={`npx cairn demo --url ${location.origin}`} />
        ) : (
          <>
            {delegation && <DelegationDetails delegation_id={delegation} />}
            {handoff && <HandoffDetails handoff_id={handoff} />}
            <div className="board">
              {stages.map(([name, statuses]) => {
                const column = tickets.filter(({ status }) => statuses.includes(status));
                return (
                  <section key={name} className="board-column" aria-label={name}>
                    <h2 className="row spread">
                      {name}
                      <span className="muted small">{integer(column.length)}</span>
                    </h2>
                    {column.map((ticket) => (
                      <Card key={ticket.id} ticket={ticket} isChosen={ticket.id === chosen} />
                    ))}
                  </section>
                );
              })}
            </div>
          </>
        )
      }
    </Answer>
  );
}

/** Tasks that others were asked for, and that are not done in time. */
import type { Delegation } from 'cairndb/client';
import type { ReactNode } from 'react';
import { useCall } from '../../data/api.js';
import { Entity, Time } from '../../ui/text.js';
import { Referred } from './names.js';
import { SidePanel } from './side-panel.js';
import { useNow } from './use-growth.js';

const SHOWN = 6;
/** Without an expected completion a delegation fails after this. */
const STUCK_AFTER_MS = 3_600_000;
/** This close to its end one is worth a look. */
const SOON_MS = 600_000;
/** So long a failure for lateness is news. */
const RECENT_MS = 86_400_000;

const dueAt = ({ expected_completion, created_at }: Delegation): number =>
  expected_completion === null ? Date.parse(created_at) + STUCK_AFTER_MS : Date.parse(expected_completion);

const hasFailedLate = (one: Delegation, now: number): boolean =>
  one.ended_at !== null && Date.parse(one.ended_at) >= dueAt(one) && Date.parse(one.ended_at) > now - RECENT_MS;

export function DelegationsPanel(): ReactNode {
  const now = useNow(15_000);
  const list = (status: Delegation['status']) => ({ status, order: 'desc', limit: 100 }) as const;
  const pending = useCall('delegations.list', list('Pending'));
  const accepted = useCall('delegations.list', list('Accepted'));
  const started = useCall('delegations.list', list('InProgress'));
  const failed = useCall('delegations.list', { ...list('Failed'), limit: 20 });
  const queries = [pending, accepted, started, failed];
  const open = queries.slice(0, 3).flatMap(({ data }) => data?.delegations ?? []);
  const late = (failed.data?.delegations ?? []).filter((one) => hasFailedLate(one, now));
  const soon = open.filter((one) => dueAt(one) < now + SOON_MS).sort((a, b) => dueAt(a) - dueAt(b));
  const isReady = queries.every(({ data }) => data !== undefined);
  return (
    <SidePanel
      title="Overdue delegations"
      count={isReady ? soon.filter((one) => dueAt(one) < now).length + late.length : undefined}
      items={isReady ? [...soon, ...late] : undefined}
      error={queries.map(({ error }) => error).find(Boolean)}
      empty={open.length > 0 ? `All ${open.length} open delegations are in time.` : 'No delegation is open.'}
    >
      {(delegations) => (
        <ul className="side-list">
          {delegations.slice(0, SHOWN).map((one) => (
            <li key={one.delegation_id}>
              <div className="row spread">
                <Entity type="Delegation" id={one.delegation_id}>
                  {one.task_description ?? 'Delegation'}
                </Entity>
                <Lateness delegation={one} now={now} />
              </div>
              <div className="row faint tiny">
                {one.from_agent_id && <Referred reference={{ type: 'Agent', id: one.from_agent_id }} />}
                <span>asked</span>
                <Referred reference={{ type: 'Agent', id: one.to_agent_id }} />
                <span className="grow" />
                <span>
                  due <Time at={dueAt(one)} relative />
                </span>
              </div>
            </li>
          ))}
        </ul>
      )}
    </SidePanel>
  );
}

function Lateness({ delegation, now }: { delegation: Delegation; now: number }): ReactNode {
  if (delegation.ended_at !== null) return <span className="chip bad">failed, too late</span>;
  return dueAt(delegation) < now ? (
    <span className="chip bad">overdue</span>
  ) : (
    <span className="chip warn">due soon</span>
  );
}

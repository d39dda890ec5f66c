/** What is locked, by whom, and who waits for it. */
import type { Lock } from 'cairndb/client';
import type { ReactNode } from 'react';
import { useSearch } from '../../app/search.js';
import { useCall } from '../../data/api.js';
import { KindIcon } from '../../ui/kinds.js';
import { Time } from '../../ui/text.js';
import { Referred } from './names.js';
import { SidePanel } from './side-panel.js';

const SHOWN = 8;

interface Resource {
  readonly name: string;
  readonly type: string;
  readonly holders: readonly Lock[];
  readonly waiters: readonly Lock[];
}

function resourcesOf(locks: readonly Lock[]): Resource[] {
  const groups = Map.groupBy(locks, ({ resource_type, resource_id }) => JSON.stringify([resource_type, resource_id]));
  return [...groups.values()].map((all) => ({
    name: all[0]!.resource_id,
    type: all[0]!.resource_type,
    holders: all.filter(({ state }) => state === 'held'),
    waiters: all.filter(({ state }) => state === 'waiting').sort((a, b) => (a.asked_at < b.asked_at ? -1 : 1)),
  }));
}

export function LocksPanel(): ReactNode {
  const [{ lock: wanted }] = useSearch();
  const { data, error } = useCall('locks.list', { limit: 200 }, { every_ms: 10_000 });
  const resources = data && resourcesOf(data.locks).sort((a, b) => b.waiters.length - a.waiters.length);
  const isGone = wanted !== undefined && data !== undefined && !data.locks.some(({ lock_id }) => lock_id === wanted);
  return (
    <SidePanel
      title="Locks"
      count={resources?.length}
      items={resources}
      error={error}
      empty={isGone ? 'Nothing is locked: the lock that you look for has ended.' : 'Nothing is locked.'}
    >
      {(shown) => (
        <ul className="side-list">
          {isGone && <li className="muted small">The lock that you look for has ended.</li>}
          {shown.slice(0, SHOWN).map(({ name, type, holders, waiters }) => (
            <li
              key={`${type} ${name}`}
              className={[...holders, ...waiters].some(({ lock_id }) => lock_id === wanted) ? 'wanted' : ''}
            >
              <div className="row">
                <span className="entity-icon">
                  <KindIcon kind="lock" />
                </span>
                <span className="clip" title={`${type} ${name}`}>
                  <span className="muted">{type}</span> {name}
                </span>
              </div>
              {holders.map(({ lock_id, holder_agent_id, mode, expires_at }) => (
                <div key={lock_id} className="row spread tiny lock-party">
                  <span className="row">
                    <Referred reference={{ type: 'Agent', id: holder_agent_id }} />
                    <span className="faint">{mode === 'Shared' ? 'shares it' : 'holds it'}</span>
                  </span>
                  <span className="faint">
                    until <Time at={expires_at} />
                  </span>
                </div>
              ))}
              {waiters.map(({ lock_id, holder_agent_id, asked_at }) => (
                <div key={lock_id} className="row spread tiny lock-party">
                  <span className="row">
                    <Referred reference={{ type: 'Agent', id: holder_agent_id }} />
                    <span className="chip warn">waits</span>
                  </span>
                  <span className="faint">
                    since <Time at={asked_at} relative />
                  </span>
                </div>
              ))}
            </li>
          ))}
          {shown.length > SHOWN && <li className="muted small">and {shown.length - SHOWN} more</li>}
        </ul>
      )}
    </SidePanel>
  );
}

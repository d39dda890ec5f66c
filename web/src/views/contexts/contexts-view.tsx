/** All contexts that were made, newest first. */
import './contexts.css';
import type { ManifestSummary } from 'cairndb/client';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useSearch } from '../../app/search.js';
import { type InputOf, useCall, usePages } from '../../data/api.js';
import { integer } from '../../data/format.js';
import { IconButton } from '../../ui/button.js';
import { CopyMenu } from '../../ui/copy-menu.js';
import { Page, Panel, Segmented } from '../../ui/layout.js';
import { Answer, Empty } from '../../ui/states.js';
import { VirtualList } from '../../ui/table.js';
import { Entity } from '../../ui/text.js';
import { ContextRow } from './context-row.js';
import { ScopeName } from './names.js';
import { Welcome } from './welcome.js';

const kinds = [
  ['all', 'All'],
  ['assembly', 'Assembled'],
  ['packing', 'Packed'],
] as const;

/** Height of a row in pixels, on wide screens. */
const ROW = 49;

/** So many tasks are offered; any other is chosen by a link from its own page. */
const TASKS_OFFERED = 100;

function TaskChoice({ value, onChange }: { value: string | undefined; onChange: (id: string) => void }): ReactNode {
  const { data } = useCall('trajectories.list', { limit: TASKS_OFFERED });
  const tasks = data?.trajectories ?? [];
  const isListed = value === undefined || tasks.some(({ trajectory_id }) => trajectory_id === value);
  return (
    <select
      className="input context-task"
      aria-label="Task"
      value={value ?? ''}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">All tasks</option>
      {!isListed && <option value={value}>…{value?.slice(-8)}</option>}
      {tasks.map(({ trajectory_id, name }) => (
        <option key={trajectory_id} value={trajectory_id}>
          {name}
        </option>
      ))}
    </select>
  );
}

function Filter({ label, onClear, children }: { label: string; onClear: () => void; children: ReactNode }): ReactNode {
  return (
    <span className="context-filter">
      <span className="muted">{label}</span>
      {children}
      <IconButton label={`Remove the filter: ${label}`} onClick={onClear}>
        <X />
      </IconButton>
    </span>
  );
}

/** What a `card` in the address may be: artifacts and notes have ids of their own. */
function Shown({ id }: { id: string }): ReactNode {
  const { data } = useCall('cards.get_batch', { card_ids: [id] });
  const card = data?.cards[0];
  if (data && !card) return <span className="mono small">…{id.slice(-8)}</span>;
  return <Entity type="Card" id={id} />;
}

export function View(): ReactNode {
  const [{ kind, trajectory, scope, agent_turn, card }, change] = useSearch();
  const chosen = kind === 'assembly' || kind === 'packing' ? kind : undefined;
  const input: InputOf<'manifests.list'> = {
    order: 'desc',
    limit: 100,
    ...(chosen ? { kind: chosen } : {}),
    ...(trajectory ? { trajectory_id: trajectory } : {}),
    ...(scope ? { scope_id: scope } : {}),
    ...(agent_turn ? { agent_turn_id: agent_turn } : {}),
    ...(card ? { card_id: card } : {}),
  };
  const list = usePages('manifests.list', 'manifests', input);
  const isFiltered = [chosen, trajectory, scope, agent_turn, card].some((one) => one !== undefined);
  const isEmpty = list.query.data !== undefined && list.items.length === 0;
  if (isEmpty && !isFiltered) return <Welcome />;
  return (
    <Page
      title="Contexts"
      about="Every window that a model was given: what was in it, why, and what was left out."
      actions={<CopyMenu call="manifests.list" input={input} value={list.items} />}
    >
      <div className="row wrap">
        <Segmented
          label="Kind"
          options={kinds}
          value={chosen ?? 'all'}
          onChange={(next) => change({ kind: next === 'all' ? undefined : next })}
        />
        <TaskChoice value={trajectory} onChange={(id) => change({ trajectory: id })} />
        {scope && (
          <Filter label="Scope" onClear={() => change({ scope: undefined })}>
            <Entity type="Scope" id={scope}>
              <ScopeName id={scope} />
            </Entity>
          </Filter>
        )}
        {agent_turn && (
          <Filter label="Agent turn" onClear={() => change({ agent_turn: undefined })}>
            <Entity type="AgentTurn" id={agent_turn} />
          </Filter>
        )}
        {card && (
          <Filter label="Every context that showed" onClear={() => change({ card: undefined })}>
            <Shown id={card} />
          </Filter>
        )}
        <span className="grow" />
        <span className="muted small">{list.total !== undefined && `${integer(list.total)} contexts`}</span>
      </div>
      <Panel flush>
        <div className="context-list">
          <div className="context-line context-head" aria-hidden="true">
            <span>Task</span>
            <span>Scope</span>
            <span>Agent</span>
            <span>Tokens of the budget</span>
            <span className="number">Made</span>
          </div>
          <Answer query={list.query} lines={10}>
            {() =>
              isEmpty ? (
                <Empty title="No context fits these filters">Remove a filter to see others.</Empty>
              ) : (
                <VirtualList<ManifestSummary>
                  label="Contexts"
                  items={list.items}
                  keyOf={({ manifest_id }) => manifest_id}
                  estimate={ROW}
                  onEnd={list.loadMore}
                  height={`min(calc(${list.items.length} * var(--context-row)), calc(100dvh - 15.5rem))`}
                  render={(one) => <ContextRow context={one} />}
                />
              )
            }
          </Answer>
        </div>
      </Panel>
    </Page>
  );
}

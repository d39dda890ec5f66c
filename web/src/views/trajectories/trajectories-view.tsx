/** All tasks, newest first. */
import './trajectories.css';
import { useNavigate } from '@tanstack/react-router';
import type { Trajectory } from 'cairndb/client';
import { Search } from 'lucide-react';
import { type ReactNode, useDeferredValue, useState } from 'react';
import { useSearch } from '../../app/search.js';
import { usePages } from '../../data/api.js';
import { integer } from '../../data/format.js';
import { KindIcon, Status } from '../../ui/kinds.js';
import { Page, Panel, Segmented } from '../../ui/layout.js';
import { Answer, Empty } from '../../ui/states.js';
import { VirtualList } from '../../ui/table.js';
import { Time } from '../../ui/text.js';

type State = Trajectory['status'];

const states: readonly (readonly [State | 'all', string])[] = [
  ['all', 'All'],
  ['Active', 'Active'],
  ['Suspended', 'Suspended'],
  ['Completed', 'Completed'],
  ['Failed', 'Failed'],
];

function TrajectoryRow({ row }: { row: Trajectory }): ReactNode {
  const navigate = useNavigate();
  const open = () => void navigate({ to: '/trajectories/$trajectoryId', params: { trajectoryId: row.trajectory_id } });
  return (
    <button type="button" className="task-row" onClick={open}>
      <span className="entity-icon">
        <KindIcon kind="trajectory" />
      </span>
      <span className="task-name">
        <span className="clip">{row.name}</span>
        {row.description && <span className="clip muted small">{row.description}</span>}
      </span>
      <span className="task-agent clip muted small">{row.agent_id}</span>
      <Status status={row.outcome?.status ?? row.status} />
      <span className="muted small task-time">
        <Time at={row.created_at} />
      </span>
    </button>
  );
}

export function View(): ReactNode {
  const [search, change] = useSearch();
  const [text, setText] = useState(search.name ?? '');
  const name = useDeferredValue(text.trim());
  const status = states.some(([id]) => id === search.status) ? (search.status as State) : undefined;
  const list = usePages('trajectories.list', 'trajectories', {
    limit: 100,
    order: 'desc',
    ...(search.all ? {} : { top_level: true }),
    ...(status ? { status } : {}),
    ...(name ? { name } : {}),
  });
  const isFiltered = status !== undefined || name !== '';
  return (
    <Page title="Tasks" about="Trajectories with their subtasks, context windows and results.">
      <div className="row wrap">
        <span className="search-field">
          <Search aria-hidden="true" />
          <input
            className="input"
            aria-label="Name of a task"
            placeholder="Whole name of a task"
            value={text}
            onChange={(event) => {
              setText(event.target.value);
              change({ name: event.target.value.trim() });
            }}
          />
        </span>
        <Segmented
          label="Status"
          options={states}
          value={status ?? 'all'}
          onChange={(next) => change({ status: next === 'all' ? undefined : next })}
        />
        <label className="row small">
          <input
            type="checkbox"
            checked={search.all !== undefined}
            onChange={(event) => change({ all: event.target.checked ? '1' : undefined })}
          />
          Subtasks, too
        </label>
      </div>
      <Panel flush>
        <Answer query={list.query}>
          {() =>
            list.items.length === 0 ? (
              isFiltered ? (
                <Empty title="No task matches" />
              ) : (
                <Empty title="No task yet" command={`npx cairn demo --url ${location.origin}`}>
                  A trajectory is a task with its scopes, turns and results.
                </Empty>
              )
            ) : (
              <VirtualList
                label={`${integer(list.total ?? list.items.length)} tasks`}
                items={list.items}
                keyOf={({ trajectory_id }) => trajectory_id}
                estimate={52}
                onEnd={list.loadMore}
                render={(row) => <TrajectoryRow row={row} />}
              />
            )
          }
        </Answer>
      </Panel>
    </Page>
  );
}

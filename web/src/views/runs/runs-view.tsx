/** All runs with checkpoints, newest first. */
import './runs.css';
import { useNavigate } from '@tanstack/react-router';
import type { ExecutionRecord } from 'cairndb/client';
import type { ReactNode } from 'react';
import { useSearch } from '../../app/search.js';
import { usePages } from '../../data/api.js';
import { integer } from '../../data/format.js';
import { KindIcon, Status } from '../../ui/kinds.js';
import { Page, Panel, Segmented } from '../../ui/layout.js';
import { Answer, Empty } from '../../ui/states.js';
import { VirtualList } from '../../ui/table.js';
import { Time } from '../../ui/text.js';

type State = ExecutionRecord['status'];

const states: readonly (readonly [State | 'all', string])[] = [
  ['all', 'All'],
  ['running', 'Running'],
  ['paused', 'Paused'],
  ['completed', 'Completed'],
  ['failed', 'Failed'],
];

function RunRow({ run }: { run: ExecutionRecord }): ReactNode {
  const navigate = useNavigate();
  const open = () => void navigate({ to: '/runs/$executionId', params: { executionId: run.execution_id } });
  return (
    <button type="button" className="run-row" onClick={open}>
      <span className="entity-icon">
        <KindIcon kind="execution" />
      </span>
      <span className="clip">{run.name ?? run.thread_id ?? run.execution_id}</span>
      <span className="clip muted small run-agent">{run.agent_id}</span>
      <span className="muted small run-count">{integer(run.checkpoints)} checkpoints</span>
      <Status status={run.status} />
      <span className="muted small run-time">
        <Time at={run.updated_at} />
      </span>
    </button>
  );
}

export function View(): ReactNode {
  const [search, change] = useSearch();
  const status = states.some(([id]) => id === search.status) ? (search.status as State) : undefined;
  const list = usePages('executions.list', 'executions', {
    limit: 100,
    order: 'desc',
    ...(status ? { status } : {}),
    ...(search.agent ? { agent_id: search.agent } : {}),
  });
  return (
    <Page
      title="Runs"
      about="Executions with a checkpoint per step: scrub, compare, restore, branch."
      actions={
        <Segmented
          label="Status"
          options={states}
          value={status ?? 'all'}
          onChange={(next) => change({ status: next === 'all' ? undefined : next })}
        />
      }
    >
      <Panel flush>
        <Answer query={list.query}>
          {() =>
            list.items.length === 0 ? (
              <Empty
                title={status ? 'No run is in this state' : 'No run yet'}
                {...(status ? {} : { command: `npx cairn demo --url ${location.origin}` })}
              >
                Runs come from the runtime, from LangGraph with CairnSaver, or from checkpoints.create.
              </Empty>
            ) : (
              <VirtualList
                label={`${integer(list.total ?? list.items.length)} runs`}
                items={list.items}
                keyOf={({ execution_id }) => execution_id}
                estimate={44}
                onEnd={list.loadMore}
                render={(run) => <RunRow run={run} />}
              />
            )
          }
        </Answer>
      </Panel>
    </Page>
  );
}

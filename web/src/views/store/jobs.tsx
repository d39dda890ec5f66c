/** Background summaries and extractions. */
import type { Job } from 'cairndb/client';
import type { ReactNode } from 'react';
import { useSearch } from '../../app/search.js';
import { useCall, usePages } from '../../data/api.js';
import { duration, integer, words } from '../../data/format.js';
import { CopyMenu } from '../../ui/copy-menu.js';
import { Status } from '../../ui/kinds.js';
import { Facts, Panel } from '../../ui/layout.js';
import { Answer, Empty } from '../../ui/states.js';
import { type Column, Table } from '../../ui/table.js';
import { Entity, Id, Time } from '../../ui/text.js';

const columns: readonly Column<Job>[] = [
  { id: 'state', label: 'State', cell: ({ state }) => <Status status={state} /> },
  { id: 'action', label: 'Action', cell: ({ action }) => words(action) },
  { id: 'trigger', label: 'Trigger', cell: ({ trigger }) => words(trigger) },
  { id: 'scope', label: 'Scope', cell: ({ scope_id }) => scope_id && <Entity type="Scope" id={scope_id} /> },
  { id: 'sources', label: 'Sources', number: true, cell: ({ sources }) => integer(sources) },
  { id: 'made', label: 'Made', number: true, cell: ({ made }) => integer(made.length) },
  { id: 'at', label: 'Asked', cell: ({ created_at }) => <Time at={created_at} /> },
];

function JobDetails({ job_id }: { job_id: string }): ReactNode {
  const job = useCall('jobs.get', { job_id });
  return (
    <Panel title="Job" actions={<CopyMenu call="jobs.get" input={{ job_id }} value={job.data} />}>
      <Answer query={job}>
        {(data) => (
          <Facts
            facts={[
              ['State', <Status key="s" status={data.state} />],
              ['Action', words(data.action)],
              ['Error', data.error],
              ['Attempts', integer(data.attempts)],
              [
                'Made',
                data.made.length > 0 && (
                  <span className="row wrap" key="m">
                    {data.made.map(({ kind, id }) => (
                      <Entity key={id} type={kind} id={id} />
                    ))}
                  </span>
                ),
              ],
              [
                'Cost',
                data.cost &&
                  `${data.cost.provider} ${data.cost.model ?? ''}: ${integer(data.cost.input_tokens)} in, ${integer(data.cost.output_tokens)} out, ${duration(data.cost.duration_ms)}`,
              ],
              ['Ended', <Time key="e" at={data.ended_at} />],
              ['Id', <Id key="i" id={data.job_id} />],
            ]}
          />
        )}
      </Answer>
    </Panel>
  );
}

export function Jobs({ chosen }: { chosen: string | undefined }): ReactNode {
  const [, change] = useSearch();
  const list = usePages('jobs.list', 'jobs', { limit: 100, order: 'desc' });
  return (
    <>
      {chosen && <JobDetails job_id={chosen} />}
      <Panel title="Jobs" flush>
        <Answer query={list.query}>
          {() =>
            list.items.length === 0 ? (
              <Empty title="No job has run yet" command="npx cairn scopes summarize <scope_id>">
                Policies summarise turns and extract facts in the background.
              </Empty>
            ) : (
              <Table
                label="Jobs"
                columns={columns}
                rows={list.items}
                keyOf={({ job_id }) => job_id}
                onOpen={({ job_id }) => change({ job: job_id })}
              />
            )
          }
        </Answer>
      </Panel>
    </>
  );
}

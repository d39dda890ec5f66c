/** One task: its tree, and what happened in it over time. */
import './trajectories.css';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useCall } from '../../data/api.js';
import { CopyMenu } from '../../ui/copy-menu.js';
import { Kind, Status } from '../../ui/kinds.js';
import { Facts, Page, Panel } from '../../ui/layout.js';
import { Answer } from '../../ui/states.js';
import { Entity, Id, Time } from '../../ui/text.js';
import { Timeline } from './timeline.js';
import { TrajectoryTree } from './tree.js';

export function View(): ReactNode {
  const { trajectoryId: trajectory_id } = useParams({ strict: false }) as { trajectoryId: string };
  const trajectory = useCall('trajectories.get', { trajectory_id });
  return (
    <Answer query={trajectory}>
      {(data) => (
        <Page
          title={data.name}
          about={
            <>
              <Kind kind="trajectory">task</Kind>
              <Status status={data.status} />
              {data.outcome && <Status status={data.outcome.status} />}
              {data.agent_id && <Entity type="Agent" id={data.agent_id} />}
            </>
          }
          actions={<CopyMenu call="trajectories.get" input={{ trajectory_id }} value={data} />}
        >
          {data.description && <p className="muted">{data.description}</p>}
          <Timeline trajectory={data} />
          <div className="split">
            <Panel title="Tree" flush>
              <TrajectoryTree trajectory_id={trajectory_id} />
            </Panel>
            <Panel title="Facts">
              <Facts
                facts={[
                  ['Outcome', data.outcome?.summary],
                  [
                    'Parent',
                    data.parent_trajectory_id && <Entity key="p" type="Trajectory" id={data.parent_trajectory_id} />,
                  ],
                  ['About', data.subject_ids.join(', ')],
                  ['Created', <Time key="c" at={data.created_at} />],
                  ['Updated', <Time key="u" at={data.updated_at} />],
                  ['Finished', data.finished_at && <Time key="f" at={data.finished_at} />],
                  ['Id', <Id key="i" id={trajectory_id} />],
                ]}
              />
            </Panel>
          </div>
        </Page>
      )}
    </Answer>
  );
}

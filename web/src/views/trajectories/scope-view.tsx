/** A scope: its budget, and the conversation as a chat. */
import './trajectories.css';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useSearch } from '../../app/search.js';
import { useCall } from '../../data/api.js';
import { integer, percent } from '../../data/format.js';
import { CopyMenu } from '../../ui/copy-menu.js';
import { Gauge } from '../../ui/gauges.js';
import { Kind, Status } from '../../ui/kinds.js';
import { Facts, Page, Panel } from '../../ui/layout.js';
import { Answer } from '../../ui/states.js';
import { Entity, Id, Time } from '../../ui/text.js';
import { Chat } from './chat.js';

export function View(): ReactNode {
  const { scopeId: scope_id } = useParams({ strict: false }) as { scopeId: string };
  const [search] = useSearch();
  const scope = useCall('scopes.get', { scope_id });
  return (
    <Answer query={scope}>
      {(data) => (
        <Page
          title={data.name}
          about={
            <>
              <Kind kind="scope" />
              <Status status={data.is_active ? 'active' : 'closed'} />
              <Entity type="Trajectory" id={data.trajectory_id}>
                Task
              </Entity>
              {data.agent_id && <Entity type="Agent" id={data.agent_id} />}
            </>
          }
          actions={<CopyMenu call="scopes.get" input={{ scope_id }} value={data} />}
        >
          {data.purpose && <p className="muted">{data.purpose}</p>}
          <Panel>
            <div className="stack tight">
              <div className="row spread small">
                <span>
                  <strong>{integer(data.tokens_used)}</strong>
                  <span className="muted"> of {integer(data.token_budget)} tokens</span>
                </span>
                <span className="muted">{percent(data.tokens_used, data.token_budget)}</span>
              </div>
              <Gauge
                label="Token budget"
                value={data.tokens_used}
                max={data.token_budget}
                threshold={data.threshold_percent / 100}
              />
              {data.threshold_reached_at && (
                <p className="muted small">
                  The threshold of {data.threshold_percent} % was reached <Time at={data.threshold_reached_at} />.
                </p>
              )}
            </div>
          </Panel>
          <div className="split">
            <Panel title={`Conversation, ${integer(data.turns)} turns`} flush>
              <Chat scope={data} chosen={search.turn} />
            </Panel>
            <Panel title="Facts">
              <Facts
                facts={[
                  ['Contexts', <ContextsLink key="x" scope_id={scope_id} />],
                  ['Parent', data.parent_scope_id && <Entity key="p" type="Scope" id={data.parent_scope_id} />],
                  ['Restored from', data.restored_from && <Entity key="r" type="Scope" id={data.restored_from} />],
                  ['Checkpoint', data.checkpoint && <Time key="k" at={data.checkpoint.created_at} />],
                  ['Box', <Entity key="b" type="Box" id={data.box_id} />],
                  ['About', data.subject_ids.join(', ')],
                  ['Enforces its budget', data.enforce ? 'yes' : 'no'],
                  ['Erased turns', data.erasure && integer(data.erasure.erased)],
                  ['Created', <Time key="c" at={data.created_at} />],
                  ['Closed', data.closed_at && <Time key="d" at={data.closed_at} />],
                  ['Id', <Id key="i" id={scope_id} />],
                ]}
              />
            </Panel>
          </div>
        </Page>
      )}
    </Answer>
  );
}

function ContextsLink({ scope_id }: { scope_id: string }): ReactNode {
  const list = useCall('manifests.list', { scope_id, limit: 5 });
  const found = list.data?.manifests ?? [];
  if (found.length === 0) return <span className="faint">none was assembled</span>;
  return (
    <span className="stack tight">
      {found.map(({ manifest_id, created_at }) => (
        <Entity key={manifest_id} type="Manifest" id={manifest_id}>
          <Time at={created_at} />
        </Entity>
      ))}
    </span>
  );
}

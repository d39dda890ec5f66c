/** One run of an agent: what it was given, what it did with it, what came of it. */
import './coordination.css';
import { useParams } from '@tanstack/react-router';
import type { AgentTurn } from 'cairndb/client';
import type { ReactNode } from 'react';
import { useCall, usePages } from '../../data/api.js';
import { duration, integer, textOf } from '../../data/format.js';
import { CopyMenu } from '../../ui/copy-menu.js';
import { Kind, Status } from '../../ui/kinds.js';
import { Facts, Page, Panel } from '../../ui/layout.js';
import { Answer, Empty } from '../../ui/states.js';
import { VirtualList } from '../../ui/table.js';
import { Entity, Id, Time } from '../../ui/text.js';
import { AgentTurns } from './agent-turns.js';

const ROW = 72;

function BoxCards({ box_id, empty }: { box_id: string; empty: string }): ReactNode {
  const cards = usePages('boxes.cards', 'cards', { box_id, limit: 200 });
  return (
    <Answer query={cards.query}>
      {() =>
        cards.items.length === 0 ? (
          <Empty title={empty} />
        ) : (
          <VirtualList
            label="Cards"
            items={cards.items}
            keyOf={({ card_id }) => card_id}
            estimate={ROW}
            height={`min(${cards.items.length * ROW + 60}px, 60dvh)`}
            onEnd={cards.loadMore}
            render={({ card_id, content, metadata }) => {
              const { role, type } = metadata as { role?: string; type?: string };
              return (
                <div className="given-card">
                  <Entity type="Card" id={card_id}>
                    {role ?? 'card'}
                    {type ? <span className="muted">, {type}</span> : ''}
                  </Entity>
                  <p className="lines-3 prose small">{textOf(content)}</p>
                </div>
              );
            }}
          />
        )
      }
    </Answer>
  );
}

function TurnFacts({ turn }: { turn: AgentTurn }): ReactNode {
  const contexts = useCall('manifests.list', { agent_turn_id: turn.agent_turn_id, limit: 5 });
  const took = turn.ended_at && new Date(turn.ended_at).getTime() - new Date(turn.dispatched_at).getTime();
  return (
    <Facts
      facts={[
        ['Agent', <Entity key="a" type="Agent" id={turn.agent_id} />],
        ['Asked by', turn.source_agent_id && <Entity key="s" type="Agent" id={turn.source_agent_id} />],
        ['Profile', turn.profile_name],
        ['Task', <Entity key="t" type="Trajectory" id={turn.trajectory_id} />],
        ['Delegation', turn.delegation_id && <Entity key="d" type="Delegation" id={turn.delegation_id} />],
        [
          'Packed context',
          contexts.data && contexts.data.manifests.length > 0 && (
            <span key="m" className="stack tight">
              {contexts.data.manifests.map(({ manifest_id, created_at }) => (
                <Entity key={manifest_id} type="Manifest" id={manifest_id}>
                  why it knew this, <Time at={created_at} />
                </Entity>
              ))}
            </span>
          ),
        ],
        ['Parent run', turn.parent_agent_turn_id && <Entity key="p" type="AgentTurn" id={turn.parent_agent_turn_id} />],
        ['Forked from', turn.forked_from && <Entity key="f" type="AgentTurn" id={turn.forked_from} />],
        ['Worker', turn.worker_id],
        ['Lease until', turn.lease_expires_at && <Time key="l" at={turn.lease_expires_at} />],
        ['Attempts', `${integer(turn.attempts)} of ${integer(turn.max_attempts)}`],
        ['Epoch', integer(turn.turn_epoch)],
        ['Dispatched', <Time key="x" at={turn.dispatched_at} />],
        ['Took', typeof took === 'number' && duration(took)],
        ['Id', <Id key="i" id={turn.agent_turn_id} />],
      ]}
    />
  );
}

export function View(): ReactNode {
  const { agentTurnId: agent_turn_id } = useParams({ strict: false }) as { agentTurnId: string };
  const turn = useCall('agent_turns.get', { agent_turn_id });
  return (
    <Answer query={turn}>
      {(data) => (
        <Page
          title={data.profile_name ? `Run of ${data.profile_name}` : 'Run of an agent'}
          about={
            <>
              <Kind kind="agent">agent turn</Kind>
              <Status status={data.status} />
              {data.result_status && <Status status={data.result_status} />}
            </>
          }
          actions={<CopyMenu call="agent_turns.get" input={{ agent_turn_id }} value={data} />}
        >
          {data.summary && <p className="prose">{data.summary}</p>}
          {data.error && (
            <p className="row">
              <Status status="failed" />
              {data.error.code}: {data.error.message}
            </p>
          )}
          <div className="split">
            <div className="stack">
              <Panel title="What it was given" flush>
                <BoxCards box_id={data.context_box_id} empty="It was given nothing" />
              </Panel>
              <Panel title="What it made" flush>
                <BoxCards box_id={data.output_box_id} empty="It has made nothing yet" />
              </Panel>
              <Panel title="Runs that it started" flush>
                <AgentTurns filter={{ parent_agent_turn_id: agent_turn_id }} />
              </Panel>
            </div>
            <Panel title="Facts">
              <TurnFacts turn={data} />
            </Panel>
          </div>
        </Page>
      )}
    </Answer>
  );
}

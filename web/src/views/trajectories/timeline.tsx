/** A task over time: a lane per kind, a bar per scope, delegation and run, a mark per artifact. */

import { Link } from '@tanstack/react-router';
import type { Trajectory } from 'cairndb/client';
import type { CSSProperties, ReactNode } from 'react';
import { useCall } from '../../data/api.js';
import { duration, integer, localTime } from '../../data/format.js';
import { pathOf } from '../../data/links.js';
import { kindColor } from '../../ui/kinds.js';
import { Panel } from '../../ui/layout.js';

interface Span {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  /** Beside the name, for what has no colour to say it. */
  readonly detail: string;
  readonly from: number;
  /** Undefined: a moment. Infinity: not over. */
  readonly to: number | undefined;
  /** Of the bar, from 0 to 1: how much of a budget is used. */
  readonly filled?: number;
}

/** Newest ones of each kind: a timeline is for looking, the tree is complete. */
const MOST = 60;

const at = (time: string): number => new Date(time).getTime();
const end = (time: string | null): number => (time === null ? Number.POSITIVE_INFINITY : at(time));

function useSpans(trajectory_id: string): readonly (readonly [lane: string, spans: readonly Span[]])[] {
  const input = { trajectory_id, limit: MOST, order: 'desc' as const };
  const scopes = useCall('scopes.list', input).data?.scopes ?? [];
  const artifacts = useCall('artifacts.list', input).data?.artifacts ?? [];
  const delegations = useCall('delegations.list', input).data?.delegations ?? [];
  const executions = useCall('executions.list', input).data?.executions ?? [];
  return [
    [
      'Scopes',
      scopes.map((scope) => ({
        id: scope.scope_id,
        type: 'Scope',
        name: scope.name,
        detail: `${integer(scope.turns)} turns, ${integer(scope.tokens_used)} of ${integer(scope.token_budget)} tokens`,
        from: at(scope.created_at),
        to: end(scope.closed_at),
        filled: Math.min(1, scope.tokens_used / Math.max(1, scope.token_budget)),
      })),
    ],
    [
      'Runs',
      executions.map((run) => ({
        id: run.execution_id,
        type: 'Execution',
        name: run.name ?? 'run',
        detail: `${run.status}, ${integer(run.checkpoints)} checkpoints`,
        from: at(run.created_at),
        to: end(run.finished_at),
      })),
    ],
    [
      'Delegations',
      delegations.map((one) => ({
        id: one.delegation_id,
        type: 'Delegation',
        name: `to ${one.to_agent_id ?? 'an agent'}`,
        detail: one.status,
        from: at(one.created_at),
        to: end(one.ended_at),
      })),
    ],
    [
      'Artifacts',
      artifacts.map((artifact) => ({
        id: artifact.artifact_id,
        type: 'Artifact',
        name: artifact.name,
        detail: artifact.artifact_type,
        from: at(artifact.created_at),
        to: undefined,
      })),
    ],
  ];
}

function Bar({ span, from, length }: { span: Span; from: number; length: number }): ReactNode {
  const left = ((span.from - from) / length) * 100;
  const width = span.to === undefined ? 0 : ((Math.min(span.to, from + length) - span.from) / length) * 100;
  const took =
    span.to === undefined || span.to === Number.POSITIVE_INFINITY ? '' : `, ${duration(span.to - span.from)}`;
  const style = {
    '--left': `${left}%`,
    '--width': `${width}%`,
    '--filled': `${(span.filled ?? 1) * 100}%`,
    '--c': kindColor(span.type),
  } as CSSProperties;
  return (
    <Link
      to={pathOf(span.type, span.id) ?? '.'}
      className="span"
      style={style}
      title={`${span.name}: ${span.detail}${took}\n${localTime(span.from)}`}
    >
      <i className={span.to === undefined ? 'moment' : span.to === Number.POSITIVE_INFINITY ? 'open' : ''} />
      <span className="span-name clip">{span.name}</span>
      <span className="span-detail clip">{span.detail}</span>
    </Link>
  );
}

export function Timeline({ trajectory }: { trajectory: Trajectory }): ReactNode {
  const lanes = useSpans(trajectory.trajectory_id).filter(([, spans]) => spans.length > 0);
  if (lanes.length === 0) return null;
  const spans = lanes.flatMap(([, list]) => list);
  const from = Math.min(at(trajectory.created_at), ...spans.map((span) => span.from));
  // What is not over reaches the edge. It does not stretch to now, which would squeeze what happened.
  const moments = spans.flatMap(({ from: start, to = start }) =>
    to === Number.POSITIVE_INFINITY ? [start] : [start, to],
  );
  const known = Math.max(1, Math.max(at(trajectory.finished_at ?? trajectory.updated_at), ...moments) - from);
  const length = spans.some(({ to }) => to === Number.POSITIVE_INFINITY) ? known * 1.08 : known;
  return (
    <Panel
      title="Timeline"
      actions={
        <span className="muted small">
          {localTime(from)}, {duration(known)}
        </span>
      }
    >
      <div className="timeline">
        {lanes.map(([lane, list]) => (
          <div key={lane} className="lane">
            <h3 className="muted">{lane}</h3>
            <div>
              {[...list].reverse().map((span) => (
                <Bar key={span.id} span={span} from={from} length={length} />
              ))}
            </div>
          </div>
        ))}
      </div>
    </Panel>
  );
}

/** A context in the list. The whole row leads to it; the names in it lead elsewhere. */
import { Link } from '@tanstack/react-router';
import type { ManifestSummary } from 'cairndb/client';
import { Box, NotebookText } from 'lucide-react';
import type { ReactNode } from 'react';
import { integer } from '../../data/format.js';
import { Gauge } from '../../ui/gauges.js';
import { Entity, Time } from '../../ui/text.js';
import { ScopeName, TaskName } from './names.js';

function Tokens({ context }: { context: ManifestSummary }): ReactNode {
  const { token_count, token_budget, truncated } = context;
  if (token_count === null || token_budget === null) return <span className="faint small">no budget</span>;
  return (
    <>
      <Gauge label="Tokens of the budget" value={token_count} max={token_budget} threshold={1} />
      <span className="small">
        {integer(token_count)} <span className="muted">of {integer(token_budget)}</span>
        {truncated && <span className="context-cut"> did not all fit</span>}
      </span>
    </>
  );
}

const agentName = (id: string): string => (/^[0-9a-f-]{36}$/.test(id) ? `…${id.slice(-8)}` : id);

export function ContextRow({ context }: { context: ManifestSummary }): ReactNode {
  const { manifest_id, kind, trajectory_id, scope_id, agent_id, created_at } = context;
  const isPacked = kind === 'packing';
  return (
    <div className="context-line context-row">
      <span className="context-task-name">
        {isPacked ? <Box aria-hidden="true" /> : <NotebookText aria-hidden="true" />}
        <Link to={`/contexts/${manifest_id}`} className="context-open clip">
          {trajectory_id ? <TaskName id={trajectory_id} /> : 'Without a task'}
        </Link>
        <span className="chip plain">{isPacked ? 'packed' : 'assembled'}</span>
      </span>
      <span className="context-scope">
        {scope_id && (
          <Entity type="Scope" id={scope_id}>
            <ScopeName id={scope_id} />
          </Entity>
        )}
      </span>
      <span className="context-agent">
        {agent_id && (
          <Entity type="Agent" id={agent_id}>
            {agentName(agent_id)}
          </Entity>
        )}
      </span>
      <span className="context-tokens">
        <Tokens context={context} />
      </span>
      <span className="context-time number muted small">
        <Time at={created_at} />
      </span>
    </div>
  );
}

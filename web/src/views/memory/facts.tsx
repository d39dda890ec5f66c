/** What is known about a note or artifact besides its content. */
import type { ReactNode } from 'react';
import { integer } from '../../data/format.js';
import { JsonTree } from '../../ui/json-tree.js';
import { Facts, Panel } from '../../ui/layout.js';
import { Named } from '../../ui/named.js';
import { Entity, Id, Time } from '../../ui/text.js';
import { Day } from './day.js';
import type { Version } from './history.js';

const levels = { L0: undefined, L1: 'summary of turns', L2: 'principle, from summaries' } as const;

/** Shown by themselves. */
const KNOWN = ['tags', 'speaker', 'occurred_at'];

interface Props {
  readonly id: string;
  readonly current: Version;
  readonly versions: number | undefined;
}

export function EntryFacts({ id, current, versions }: Props): ReactNode {
  const { metadata, subject_ids, trajectory_ids, expires_at } = current;
  const text = (name: string) => (typeof metadata[name] === 'string' ? metadata[name] : undefined);
  const tags = Array.isArray(metadata.tags) ? metadata.tags.map(String) : [];
  const others = Object.fromEntries(Object.entries(metadata).filter(([name]) => !KNOWN.includes(name)));
  const happened = text('occurred_at');
  return (
    <Panel title="Facts">
      <div className="stack">
        <Facts
          facts={[
            ['Type', current.kind],
            ['Made as', levels[current.abstraction_level]],
            ['About', subject_ids.length > 0 ? subject_ids.join(', ') : 'nobody in particular'],
            ['Said by', text('speaker')],
            ['Happened', happened && <Day key="happened" at={happened} />],
            ['Written by', current.agent_id && <Entity key="agent" type="Agent" id={current.agent_id} />],
            [
              trajectory_ids.length > 1 ? 'Tasks' : 'Task',
              trajectory_ids.length > 0 && (
                <span key="tasks" className="stack tight">
                  {trajectory_ids.slice(0, 5).map((task) => (
                    <Named key={task} type="Trajectory" id={task} />
                  ))}
                </span>
              ),
            ],
            ['Extracted', current.extraction_method],
            ['Confidence', current.confidence === null ? undefined : current.confidence.toFixed(2)],
            ['Lifetime', current.lifetime],
            ['Expires', expires_at && <Time key="expires" at={expires_at} />],
            ['Tags', tags.join(', ')],
            ['Tokens', integer(current.token_count)],
            ['Read', reads(current)],
            ['Learned', <Time key="created" at={current.created_at} />],
            ['Changed', current.version > 1 ? <Time key="updated" at={current.updated_at} /> : undefined],
            ['Versions', integer(versions ?? current.version)],
            ['Id', <Id key="id" id={id} />],
          ].map(([name, value]) => [name as string, (value || undefined) as ReactNode] as const)}
        />
        {Object.keys(others).length > 0 && (
          <details className="small">
            <summary>Metadata</summary>
            <JsonTree value={others} />
          </details>
        )}
      </div>
    </Panel>
  );
}

const reads = ({ access_count, accessed_at }: Version): ReactNode =>
  access_count === 0 ? (
    'never'
  ) : (
    <>
      {access_count === 1 ? 'once' : `${integer(access_count)} times`}
      {accessed_at && (
        <>
          , last <Time at={accessed_at} relative />
        </>
      )}
    </>
  );

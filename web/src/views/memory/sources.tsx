/** Where it was learned: the turns, artifacts and notes that it was made from. */
import { Link } from '@tanstack/react-router';
import type { Expanded } from 'cairndb/client';
import { type ReactNode, useState } from 'react';
import { useCall } from '../../data/api.js';
import { textOf } from '../../data/format.js';
import { Button } from '../../ui/button.js';
import { Panel } from '../../ui/layout.js';
import { Named } from '../../ui/named.js';
import { Answer } from '../../ui/states.js';
import { Entity, Time } from '../../ui/text.js';
import type { Version } from './history.js';

type Source = Expanded['sources'][number];

const FIRST = 6;

interface Place {
  readonly scope_id: string;
  readonly turn_id: string;
  readonly sequence: number;
}

/** The scope, scrolled to the turn. Of a long one, either the newest or the first turns are loaded. */
export const turnPath = ({ scope_id, turn_id, sequence }: Place): { to: string; search: Record<string, string> } => ({
  to: `/scopes/${scope_id}`,
  search: sequence <= 200 ? { turn: turn_id, from: 'start' } : { turn: turn_id },
});

function SourceItem({ source }: { source: Source }): ReactNode {
  const { entity_type, id, name, content, scope_id, sequence, role, created_at } = source;
  const isTurn = entity_type === 'Turn' && scope_id !== null && sequence !== null;
  return (
    <li className="source">
      <div className="row wrap small">
        <Entity type={entity_type} id={id}>
          {isTurn ? `${role ?? 'Turn'}, turn ${sequence}` : name}
        </Entity>
        {isTurn && (
          <>
            <span className="faint">in</span>
            <Named type="Scope" id={scope_id} />
            <Link {...turnPath({ scope_id, turn_id: id, sequence })} className="chip plain">
              show in the conversation
            </Link>
          </>
        )}
        <span className="grow" />
        <span className="faint">
          <Time at={created_at} />
        </span>
      </div>
      <p className="prose lines-3 small">{textOf(content).slice(0, 600)}</p>
    </li>
  );
}

/** The turn itself may be gone: closing its scope erased it. */
function Gone({ current }: { current: Version }): ReactNode {
  const { scope_id, source_turn, trajectory_ids } = current;
  if (scope_id !== null)
    return (
      <p className="muted small row wrap">
        {source_turn === null ? 'From' : `From turn ${source_turn} of`}
        <Named type="Scope" id={scope_id} />
        {source_turn !== null && <span>which no longer has it: the turns of a closed scope are erased.</span>}
      </p>
    );
  return (
    <p className="muted small row wrap">
      It was told directly, not learned from a turn
      {trajectory_ids[0] === undefined ? (
        '.'
      ) : (
        <>
          , in
          <Named type="Trajectory" id={trajectory_ids[0]} />
        </>
      )}
    </p>
  );
}

interface Props {
  readonly type: 'Note' | 'Artifact';
  readonly id: string;
  readonly current: Version;
}

export function Sources({ type, id, current }: Props): ReactNode {
  const [all, setAll] = useState(false);
  const isNote = type === 'Note';
  const ofNote = useCall('notes.expand', { note_id: id, left: true }, { enabled: isNote });
  const ofArtifact = useCall('artifacts.expand', { artifact_id: id, left: true }, { enabled: !isNote });
  return (
    <Panel title="Learned from">
      <Answer query={isNote ? ofNote : ofArtifact} lines={3}>
        {({ sources }) =>
          sources.length === 0 ? (
            <Gone current={current} />
          ) : (
            <div className="stack">
              <ul className="sources">
                {sources.slice(0, all ? undefined : FIRST).map((source) => (
                  <SourceItem key={source.id} source={source} />
                ))}
              </ul>
              {!all && sources.length > FIRST && (
                <Button kind="quiet" onClick={() => setAll(true)}>
                  Show all {sources.length} sources
                </Button>
              )}
            </div>
          )
        }
      </Answer>
    </Panel>
  );
}

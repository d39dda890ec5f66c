/** What is recorded about a context besides its parts. */
import type { Manifest } from 'cairndb/client';
import type { ReactNode } from 'react';
import { useCall } from '../../data/api.js';
import { integer } from '../../data/format.js';
import { JsonTree } from '../../ui/json-tree.js';
import { Facts } from '../../ui/layout.js';
import { Entity, Id, Time } from '../../ui/text.js';
import { contentText } from './card-text.js';
import { ScopeName, TaskName } from './names.js';
import { parametersOf } from './reasons.js';

/** The text that memories were searched for. */
function Query({ card_id }: { card_id: string }): ReactNode {
  const { data } = useCall('cards.get_batch', { card_ids: [card_id] });
  const card = data?.cards[0];
  if (!data) return '…';
  return card ? contentText(card.content).slice(0, 400) : <span className="faint">no longer readable</span>;
}

const link = (type: string, id: string | null, name?: ReactNode): ReactNode =>
  id === null ? undefined : (
    <Entity type={type} id={id}>
      {name}
    </Entity>
  );

export function ContextFacts({ manifest }: { manifest: Manifest }): ReactNode {
  const { trajectory_id, scope_id } = manifest;
  const { query_card_id, query_from, user_input_card_id } = parametersOf(manifest);
  const query = query_card_id ?? (query_from === 'user_input' ? user_input_card_id : undefined);
  return (
    <div className="context-facts stack">
      <Facts
        facts={[
          ['Manifest', <Id key="m" id={manifest.manifest_id} />],
          ['Made', <Time key="t" at={manifest.created_at} />],
          ['Task', link('Trajectory', trajectory_id, trajectory_id && <TaskName id={trajectory_id} />)],
          ['Scope', link('Scope', scope_id, scope_id && <ScopeName id={scope_id} />)],
          ['Agent', link('Agent', manifest.agent_id, manifest.agent_id)],
          ['Agent turn', link('AgentTurn', manifest.agent_turn_id)],
          ['Box', link('Box', manifest.box_id)],
          ['Format', manifest.format],
          ['Budget', manifest.token_budget === null ? undefined : `${integer(manifest.token_budget)} tokens`],
          ['Used', manifest.token_count === null ? 'not counted' : `${integer(manifest.token_count)} tokens`],
          [
            'Searched for',
            query ? <Query key="q" card_id={query} /> : query_from && `the ${query_from.replaceAll('_', ' ')}`,
          ],
          ['Candidates', integer(manifest.entries_total)],
          [
            'SHA-256',
            manifest.content_hash && (
              <span className="mono tiny" key="h">
                {manifest.content_hash}
              </span>
            ),
          ],
        ]}
      />
      <h3>Parameters</h3>
      <JsonTree value={manifest.parameters} open={1} />
    </div>
  );
}

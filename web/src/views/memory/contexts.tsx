/** Every context that showed it. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { usePages } from '../../data/api.js';
import { integer } from '../../data/format.js';
import { pathOf } from '../../data/links.js';
import { Button } from '../../ui/button.js';
import { KindIcon } from '../../ui/kinds.js';
import { Panel } from '../../ui/layout.js';
import { Named } from '../../ui/named.js';
import { Answer } from '../../ui/states.js';
import { Time } from '../../ui/text.js';

export function Contexts({ id }: { id: string }): ReactNode {
  const { query, items, total, loadMore } = usePages('manifests.list', 'manifests', {
    card_id: id,
    order: 'desc',
    limit: 20,
  });
  return (
    <Panel title={total ? `In ${total === 1 ? 'one context' : `${integer(total)} contexts`}` : 'Contexts'}>
      <Answer query={{ ...query, data: query.data === undefined ? undefined : items }} lines={3}>
        {(manifests) =>
          manifests.length === 0 ? (
            <p className="muted small">No model has seen it yet.</p>
          ) : (
            <div className="stack">
              <ul className="stack tight small">
                {manifests.map(({ manifest_id, kind, agent_id, scope_id, token_count, created_at }) => (
                  <li key={manifest_id} className="context-item">
                    <Link to={pathOf('Manifest', manifest_id)!} className="entity">
                      <span className="entity-icon">
                        <KindIcon kind="context" />
                      </span>
                      <Time at={created_at} />
                    </Link>
                    <span className="clip muted">
                      {kind === 'packing' ? 'packed' : 'assembled'}
                      {agent_id ? ` for ${agent_id}` : ''}
                      {scope_id && !agent_id && (
                        <>
                          {' in '}
                          <Named type="Scope" id={scope_id} />
                        </>
                      )}
                    </span>
                    {token_count !== null && <span className="faint number">{integer(token_count)} tokens</span>}
                  </li>
                ))}
              </ul>
              {query.hasNextPage && (
                <Button kind="quiet" onClick={loadMore}>
                  Earlier contexts
                </Button>
              )}
            </div>
          )
        }
      </Answer>
    </Panel>
  );
}

/** A card: immutable, so it is only read and forgotten. */
import type { CairnError } from 'cairndb/client';
import type { ReactNode } from 'react';
import { useCall } from '../../data/api.js';
import { textOf } from '../../data/format.js';
import { CopyMenu } from '../../ui/copy-menu.js';
import { JsonTree } from '../../ui/json-tree.js';
import { Kind } from '../../ui/kinds.js';
import { Facts, Page, Panel } from '../../ui/layout.js';
import { Named } from '../../ui/named.js';
import { ErrorBox, Loading } from '../../ui/states.js';
import { Entity, Id, Time } from '../../ui/text.js';
import { Contexts } from './contexts.js';
import { Subject } from './entry-row.js';
import { ErasedEntry } from './erased.js';
import { Forgettable } from './forgettable.js';
import { Linked } from './linked.js';

export const CardEntry = ({ id }: { id: string }): ReactNode => (
  <Forgettable id={id}>{(forget) => <Card id={id} forget={forget} />}</Forgettable>
);

function Card({ id, forget }: { id: string; forget: ReactNode }): ReactNode {
  const query = useCall('cards.get', { card_id: id });
  if ((query.error as CairnError | null)?.code === 'CONTENT_ERASED') return <ErasedEntry error={query.error} />;
  if (query.error || !query.data)
    return (
      <Page title="Card">
        {query.error ? <ErrorBox error={query.error} retry={() => void query.refetch()} /> : <Loading lines={8} />}
      </Page>
    );
  const card = query.data;
  const { content, tool_calls, tool_call_id, metadata, author_id, subject_ids, derived_from } = card;
  const { type, role, ...others } = metadata;
  return (
    <Page
      title={typeof type === 'string' ? type : 'Card'}
      about={
        <>
          <Kind kind="card" />
          {subject_ids.map((subject) => (
            <Subject key={subject} id={subject} />
          ))}
        </>
      }
      actions={
        <>
          <CopyMenu call="cards.get" input={{ card_id: id }} value={card} />
          {forget}
        </>
      }
    >
      <div className="split memory-entry">
        <div className="stack">
          <Panel title="Content">
            {typeof content === 'string' ? (
              <div className="prose">{textOf(content)}</div>
            ) : (
              <JsonTree value={content} />
            )}
          </Panel>
          {tool_calls && (
            <Panel title="Tool calls">
              <JsonTree value={tool_calls} open={4} />
            </Panel>
          )}
        </div>
        <div className="stack">
          <Panel title="Facts">
            <div className="stack">
              <Facts
                facts={[
                  ['Role', typeof role === 'string' ? role : undefined],
                  ['About', subject_ids.length > 0 ? subject_ids.join(', ') : 'nobody in particular'],
                  ['Author', author_id && <Entity key="author" type="Agent" id={author_id} />],
                  ['Answers the tool call', tool_call_id],
                  [
                    'Derived from',
                    derived_from.length > 0 && (
                      <span key="from" className="stack tight">
                        {derived_from.slice(0, 8).map((source) => (
                          <Named key={source} type="Card" id={source} />
                        ))}
                      </span>
                    ),
                  ],
                  ['Expires', card.expires_at && <Time key="expires" at={card.expires_at} />],
                  ['Created', <Time key="created" at={card.created_at} />],
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
          <Linked id={id} />
          <Contexts id={id} />
        </div>
      </div>
    </Page>
  );
}

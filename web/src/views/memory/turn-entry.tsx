/** A turn by itself, with the way back to its conversation. */
import { Link } from '@tanstack/react-router';
import type { CairnError } from 'cairndb/client';
import { MessageSquare } from 'lucide-react';
import type { ReactNode } from 'react';
import { useCall } from '../../data/api.js';
import { integer, textOf } from '../../data/format.js';
import { CopyMenu } from '../../ui/copy-menu.js';
import { JsonTree } from '../../ui/json-tree.js';
import { Kind } from '../../ui/kinds.js';
import { Facts, Page, Panel } from '../../ui/layout.js';
import { Named } from '../../ui/named.js';
import { Empty, ErrorBox, Loading } from '../../ui/states.js';
import { Entity, Id, Time } from '../../ui/text.js';
import { Contexts } from './contexts.js';
import { Subject } from './entry-row.js';
import { ErasedEntry } from './erased.js';
import { Forgettable } from './forgettable.js';
import { Linked } from './linked.js';
import { turnPath } from './sources.js';

export const TurnEntry = ({ id }: { id: string }): ReactNode => (
  <Forgettable id={id}>{(forget) => <Turn id={id} forget={forget} />}</Forgettable>
);

function Turn({ id, forget }: { id: string; forget: ReactNode }): ReactNode {
  const query = useCall('turns.get', { turn_id: id });
  const code = (query.error as CairnError | null)?.code;
  if (code === 'CONTENT_ERASED') return <ErasedEntry error={query.error} />;
  if (code === 'TURN_NOT_FOUND')
    return (
      <Page title="Turn">
        <Empty title="This turn cannot be read">
          Its scope was closed, which erases its turns, or it never was. What was learned from it stays.
        </Empty>
        <Linked id={id} />
      </Page>
    );
  if (query.error || !query.data)
    return (
      <Page title="Turn">
        {query.error ? <ErrorBox error={query.error} retry={() => void query.refetch()} /> : <Loading lines={8} />}
      </Page>
    );
  const turn = query.data;
  const { scope_id, sequence, role, content, tool_calls, tool_results, metadata, subject_ids } = turn;
  const text = textOf(content);
  return (
    <Page
      title={`${role}, turn ${sequence}`}
      about={
        <>
          <Kind kind="turn" />
          {subject_ids.map((subject) => (
            <Subject key={subject} id={subject} />
          ))}
        </>
      }
      actions={
        <>
          <CopyMenu call="turns.get" input={{ turn_id: id }} value={turn} />
          <Link {...turnPath(turn)} className="button">
            <MessageSquare />
            Show in the conversation
          </Link>
          {forget}
        </>
      }
    >
      <div className="split memory-entry">
        <div className="stack">
          {(text !== '' || (!tool_calls && !tool_results)) && (
            <Panel title="Content">
              {typeof content === 'string' ? (
                <div className="prose">{text}</div>
              ) : (
                <JsonTree value={content} open={4} />
              )}
            </Panel>
          )}
          {tool_calls && (
            <Panel title="Tool calls">
              <JsonTree value={tool_calls} open={4} />
            </Panel>
          )}
          {tool_results && (
            <Panel title="Tool results">
              <JsonTree value={tool_results} open={4} />
            </Panel>
          )}
        </div>
        <div className="stack">
          <Panel title="Facts">
            <div className="stack">
              <Facts
                facts={[
                  ['Scope', <Named key="scope" type="Scope" id={scope_id} />],
                  ['Position', integer(sequence)],
                  ['Role', role],
                  ['About', subject_ids.length > 0 ? subject_ids.join(', ') : 'nobody in particular'],
                  ['Written by', turn.agent_id && <Entity key="agent" type="Agent" id={turn.agent_id} />],
                  ['Model', turn.model_id],
                  ['Tokens', integer(turn.token_count)],
                  ['Added', <Time key="added" at={turn.created_at} />],
                  ['Id', <Id key="id" id={id} />],
                ]}
              />
              {Object.keys(metadata).length > 0 && (
                <details className="small">
                  <summary>Metadata</summary>
                  <JsonTree value={metadata} />
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

/** A note or artifact with its versions. */
import type { CairnError } from 'cairndb/client';
import type { ReactNode } from 'react';
import { useSession } from '../../app/session.js';
import { CopyMenu } from '../../ui/copy-menu.js';
import { JsonTree } from '../../ui/json-tree.js';
import { Kind } from '../../ui/kinds.js';
import { Page, Panel } from '../../ui/layout.js';
import { ErrorBox, Loading } from '../../ui/states.js';
import { MemoryActions } from './actions.js';
import { Contexts } from './contexts.js';
import { titleBeside } from './entries.js';
import { Subject } from './entry-row.js';
import { ErasedEntry } from './erased.js';
import { EntryFacts } from './facts.js';
import { Forgettable } from './forgettable.js';
import { type History, useHistory, type Version } from './history.js';
import { Linked } from './linked.js';
import { Sources } from './sources.js';
import { StandingNotices } from './standing.js';
import { Versions } from './versions.js';

interface Props {
  readonly type: 'Note' | 'Artifact';
  readonly id: string;
}

export const MemoryEntry = ({ type, id }: Props): ReactNode => (
  <Forgettable id={id}>{(forget) => <Memory type={type} id={id} forget={forget} />}</Forgettable>
);

function Memory({ type, id, forget }: Props & { forget: ReactNode }): ReactNode {
  const history = useHistory(type, id);
  const current = history.versions[0];
  if (history.error !== undefined) {
    // Also if an earlier answer is still there: it may be erased by now.
    if ((history.error as CairnError).code === 'CONTENT_ERASED') return <ErasedEntry error={history.error} />;
    if (!current || (history.error as CairnError).code !== 'SERVER_UNREACHABLE')
      return (
        <Page title={type}>
          <ErrorBox error={history.error} retry={history.retry} />
        </Page>
      );
  }
  if (!current)
    return (
      <Page title={type}>
        <Loading lines={10} />
      </Page>
    );
  return <Shown type={type} id={id} history={history} current={current} forget={forget} />;
}

/** The first words of a text that has no title of its own. */
const headingOf = (text: string): string => {
  const line = text.trim().split('\n', 1)[0]!;
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
};

interface ShownProps extends Props {
  readonly history: History;
  readonly current: Version;
  readonly forget: ReactNode;
}

function Shown({ type, id, history, current, forget }: ShownProps): ReactNode {
  const { title, text, content, kind, abstraction_level } = current;
  const look = abstraction_level === 'L0' ? type : 'summary';
  const isDeleted = history.deleted_at !== null;
  const { who } = useSession();
  // A key for a user changes what is about this user alone.
  const mayChange =
    who.user_id === undefined || (current.subject_ids.length === 1 && current.subject_ids[0] === who.user_id);
  const input = type === 'Note' ? { note_id: id } : { artifact_id: id };
  return (
    <Page
      title={titleBeside(title, text) || headingOf(text) || title}
      about={
        <>
          <Kind kind={look}>{abstraction_level === 'L2' && kind !== 'Summary' ? `${kind}, a principle` : kind}</Kind>
          {current.subject_ids.map((subject) => (
            <Subject key={subject} id={subject} />
          ))}
          {isDeleted && <span className="chip bad">outdated</span>}
          {current.superseded_by.length > 0 && <span className="chip warn">replaced</span>}
          {current.contradicted_by.length > 0 && <span className="chip bad">contradicted</span>}
        </>
      }
      actions={
        <>
          <CopyMenu
            call={type === 'Note' ? 'notes.get' : 'artifacts.get'}
            input={input as never}
            value={current.whole}
          />
          {mayChange && !isDeleted && <MemoryActions type={type} id={id} current={current} />}
          {mayChange && forget}
        </>
      }
    >
      <StandingNotices type={type} id={id} current={current} deleted_at={history.deleted_at} />
      <div className="split memory-entry">
        <div className="stack">
          <Panel title="Content">
            {typeof content === 'string' ? <div className="prose">{text}</div> : <JsonTree value={content} />}
          </Panel>
          <Versions history={history} />
          <Sources type={type} id={id} current={current} />
        </div>
        <div className="stack">
          <EntryFacts id={id} current={current} versions={history.total} />
          <Linked id={id} />
          <Contexts id={id} />
        </div>
      </div>
    </Page>
  );
}

/** A panel of the side: its answer, or one line that says that there is nothing. */
import type { CairnError } from 'cairndb/client';
import type { ReactNode } from 'react';
import { Panel } from '../../ui/layout.js';
import { ErrorBox, Loading } from '../../ui/states.js';

interface Props<T> {
  readonly title: string;
  /** How many there are. */
  readonly count?: number | undefined;
  readonly actions?: ReactNode;
  readonly items: readonly T[] | undefined;
  readonly error: unknown;
  readonly empty: string;
  readonly children: (items: readonly T[]) => ReactNode;
}

export function SidePanel<T>({ title, count, actions, items, error, empty, children }: Props<T>): ReactNode {
  return (
    <Panel
      title={
        <>
          {title}
          {count ? <span className="side-count">{count}</span> : null}
        </>
      }
      actions={actions}
    >
      {items === undefined && error ? (
        (error as CairnError).code === 'FORBIDDEN' ? (
          <p className="muted small">Your key does not show them: {(error as CairnError).message}.</p>
        ) : (
          <ErrorBox error={error} />
        )
      ) : items === undefined ? (
        <div className="side-loading">
          <Loading lines={2} />
        </div>
      ) : items.length === 0 ? (
        <p className="muted small">{empty}</p>
      ) : (
        children(items)
      )}
    </Panel>
  );
}

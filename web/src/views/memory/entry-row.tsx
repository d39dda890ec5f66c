/** One memory in a list: what it says, whom it is about, what replaced or contradicts it. */
import { Link } from '@tanstack/react-router';
import { Repeat2, TriangleAlert, User } from 'lucide-react';
import type { ReactNode } from 'react';
import { pathOf } from '../../data/links.js';
import { KindIcon, kindStyle } from '../../ui/kinds.js';
import { Named } from '../../ui/named.js';
import { Time } from '../../ui/text.js';
import type { Entry, EntryType } from './entries.js';

interface FrameProps {
  readonly type: EntryType;
  readonly id: string;
  readonly look: string;
  readonly label: string;
  readonly isFaint?: boolean;
  /** Absent without the right to forget it. */
  readonly selected: boolean | undefined;
  readonly onSelect: (id: string) => void;
  readonly children: ReactNode;
  readonly aside: ReactNode;
}

/** The parts that rows of the list and results of a search share. The first link in it covers the row. */
export function RowFrame({ id, look, label, isFaint, selected, onSelect, children, aside }: FrameProps): ReactNode {
  return (
    <div className={`memory-row ${isFaint ? 'faint-row' : ''}`}>
      {selected === undefined ? (
        <span className="memory-look">
          <KindIcon kind={look} />
        </span>
      ) : (
        <label className="memory-look" title="Select">
          <KindIcon kind={look} />
          <input
            type="checkbox"
            checked={selected}
            onChange={() => onSelect(id)}
            aria-label={`Select: ${label.slice(0, 80)}`}
          />
        </label>
      )}
      <div className="memory-text">{children}</div>
      <div className="memory-aside">{aside}</div>
    </div>
  );
}

export const rowLink = (type: EntryType, id: string): string => pathOf(type, id)!;

/** Its type in the colour of its kind. */
export const TypeLabel = ({ look, type }: { look: string; type: string | null }): ReactNode => (
  <span className="memory-kind">
    {type && (
      <span className="chip" style={kindStyle(look)} title={type}>
        <span className="clip">{type}</span>
      </span>
    )}
  </span>
);

export const Subject = ({ id }: { id: string }): ReactNode => (
  <Link to="/memory" search={{ user: id }} className="chip plain above" title={`Everything about ${id}`}>
    <User aria-hidden="true" />
    <span className="clip">{id}</span>
  </Link>
);

/** What replaced it, and what speaks against it. */
export function Standing({ type, superseded_by, contradicted_by }: Entry): ReactNode {
  if (superseded_by.length === 0 && contradicted_by.length === 0) return null;
  const other = type === 'Artifact' ? 'Artifact' : 'Note';
  return (
    <span className="memory-standing">
      {superseded_by[0] !== undefined && (
        <span className="row above">
          <span className="chip warn">
            <Repeat2 aria-hidden="true" />
            replaced by
          </span>
          <Named type={other} id={superseded_by[0]} />
        </span>
      )}
      {contradicted_by[0] !== undefined && (
        <span className="row above">
          <span className="chip bad">
            <TriangleAlert aria-hidden="true" />
            contradicted by
          </span>
          <Named type={other} id={contradicted_by[0]} />
          {contradicted_by.length > 1 && <span className="faint small">and {contradicted_by.length - 1} more</span>}
        </span>
      )}
    </span>
  );
}

interface RowProps {
  readonly entry: Entry;
  readonly selected: boolean | undefined;
  readonly onSelect: (id: string) => void;
}

export function EntryRow({ entry, selected, onSelect }: RowProps): ReactNode {
  const { type, id, look, kind, title, text, subjects, created_at, version } = entry;
  return (
    <RowFrame
      type={type}
      id={id}
      look={look}
      label={title || text}
      isFaint={entry.superseded_by.length > 0}
      selected={selected}
      onSelect={onSelect}
      aside={
        <>
          {version > 1 && <span title={`Version ${version}`}>v{version}</span>}
          {subjects.slice(0, 2).map((subject) => (
            <Subject key={subject} id={subject} />
          ))}
          <TypeLabel look={look} type={kind} />
          <Time at={created_at} relative />
        </>
      }
    >
      <Link to={rowLink(type, id)} className="memory-title">
        {title || text.slice(0, 400) || <span className="faint">empty</span>}
      </Link>
      {title !== '' && <p className="memory-preview">{text.slice(0, 300)}</p>}
      <Standing {...entry} />
    </RowFrame>
  );
}

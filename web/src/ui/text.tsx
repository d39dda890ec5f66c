/** Small pieces of text: times, ids, links to entities, highlights. */
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { ago, localTime } from '../data/format.js';
import { pathOf } from '../data/links.js';
import { KindIcon } from './kinds.js';
import { copyText } from './states.js';

/** A local time; the exact one on hover. */
export function Time({
  at,
  relative = false,
}: {
  at: string | number | null | undefined;
  relative?: boolean;
}): ReactNode {
  if (at === null || at === undefined) return <span className="faint">–</span>;
  const exact = new Date(at).toISOString();
  return (
    <time dateTime={exact} title={exact}>
      {relative ? ago(at) : localTime(at)}
    </time>
  );
}

/** The end of an id, which differs; a click copies it whole. */
export function Id({ id }: { id: string }): ReactNode {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(id);
    setCopied(true);
    setTimeout(() => setCopied(false), 1200);
  };
  return (
    <button type="button" className="id" title={`${id} (click to copy)`} onClick={() => void copy()}>
      {copied ? 'copied' : id.length > 14 ? `…${id.slice(-8)}` : id}
    </button>
  );
}

interface EntityProps {
  readonly type: string;
  readonly id: string;
  readonly children?: ReactNode;
}

/** A link to an entity, with the icon of its kind. */
export function Entity({ type, id, children }: EntityProps): ReactNode {
  const path = pathOf(type, id);
  const text = children ?? <span className="mono">{id.length > 14 ? `…${id.slice(-8)}` : id}</span>;
  const inner = (
    <>
      <span className="entity-icon">
        <KindIcon kind={type} />
      </span>
      <span className="clip">{text}</span>
    </>
  );
  return path === undefined ? (
    <span className="entity" title={`${type} ${id}`}>
      {inner}
    </span>
  ) : (
    <Link to={path} className="entity" title={`${type} ${id}`}>
      {inner}
    </Link>
  );
}

/** Marks the words of a query in a text. */
export function Highlight({ text, query }: { text: string; query: string }): ReactNode {
  const terms = query.split(/\s+/).filter((term) => term.length > 1);
  if (terms.length === 0) return text;
  const pattern = new RegExp(`(${terms.map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})`, 'giu');
  return text.split(pattern).map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text have no other identity.
    index % 2 === 1 ? <mark key={index}>{part}</mark> : part,
  );
}

/** One passage that recall found: where it matched, how sure that is, and why. */
import { Link } from '@tanstack/react-router';
import type { Passage } from 'cairndb/client';
import { History, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { words } from '../../data/format.js';
import { Entity, Time } from '../../ui/text.js';
import { Day } from './day.js';
import { type EntryType, isSummary, titleBeside } from './entries.js';
import { RowFrame, rowLink, TypeLabel } from './entry-row.js';
import { GUESS } from './search.js';

const figure = (value: number): string => String(Number(value.toPrecision(3)));

/** The words of the question in a snippet, where recall found them in any form. */
function Marked({ text, at }: { text: string; at: Passage['highlights'] }): ReactNode {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const { start, end: until } of at) {
    if (start < end) continue;
    parts.push(text.slice(end, start), <mark key={start}>{text.slice(start, until)}</mark>);
    end = until;
  }
  return [...parts, text.slice(end)];
}

function Reasons({ passage }: { passage: Passage }): ReactNode {
  const { score, matched, nearby, boosts, same_as, speaker, role, occurred_at, created_at } = passage;
  const reasons = [
    matched.length > 0 && `has ${matched.join(', ')}`,
    nearby.length > 0 && `related to ${nearby.join(', ')}`,
    matched.length + nearby.length === 0 && (score < 0.01 ? 'nothing in common, but nearest' : 'near in meaning'),
    ...boosts.map(({ name, factor }) => `${words(name)} ×${figure(factor)}`),
    `score ${figure(score)}`,
    same_as.length > 0 && `said ${same_as.length + 1} times`,
    (speaker ?? role) && `by ${speaker ?? role}`,
  ].filter(Boolean);
  return (
    <p className="memory-reasons">
      {reasons.join(' · ')}
      {occurred_at !== created_at && (
        <>
          {' · '}happened <Day at={occurred_at} />
        </>
      )}
    </p>
  );
}

const relations: Readonly<Record<string, readonly [to: string, from: string]>> = {
  Supports: ['supports', 'supported by'],
  Contradicts: ['contradicts', 'contradicted by'],
};

interface Props {
  readonly passage: Passage;
  readonly selected: boolean | undefined;
  readonly onSelect: (id: string) => void;
}

export function ResultRow({ passage, selected, onSelect }: Props): ReactNode {
  const { id, name, snippet, highlights, confidence, mark, type, created_at, related } = passage;
  const entity = passage.entity_type as EntryType;
  const look = isSummary(passage) ? 'summary' : entity;
  const title = titleBeside(name ?? '', passage.text);
  return (
    <RowFrame
      type={entity}
      id={id}
      look={look}
      label={title || snippet}
      isFaint={confidence < GUESS}
      selected={selected}
      onSelect={onSelect}
      aside={
        <>
          <span
            className={`confidence ${confidence >= 0.6 ? 'high' : confidence >= GUESS ? '' : 'low'}`}
            title="How likely it answers the question, 0 to 1. Below 0.4 it is a guess"
          >
            <b>{confidence.toFixed(2)}</b> {confidence >= GUESS ? 'confidence' : 'a guess'}
          </span>
          <TypeLabel look={look} type={type} />
          <Time at={created_at} relative />
        </>
      }
    >
      <Link to={rowLink(entity, id)} className="memory-title">
        {title || <Marked text={snippet} at={highlights} />}
      </Link>
      {title !== '' && (
        <p className="memory-preview">
          <Marked text={snippet} at={highlights} />
        </p>
      )}
      {mark && (
        <p className="memory-mark">
          <History aria-hidden="true" />
          {mark}
        </p>
      )}
      {related.slice(0, 3).map((one) => (
        <span key={one.id} className="row above small">
          <span className={`chip ${one.edge_type === 'Contradicts' ? 'bad' : 'good'}`}>
            {one.edge_type === 'Contradicts' && <TriangleAlert aria-hidden="true" />}
            {relations[one.edge_type]?.[one.direction === 'to' ? 0 : 1] ?? words(one.edge_type)}
          </span>
          <Entity type={one.entity_type} id={one.id}>
            {one.name ?? one.snippet}
          </Entity>
        </span>
      ))}
      <Reasons passage={passage} />
    </RowFrame>
  );
}

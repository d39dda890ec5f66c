/** One line of a comparison: what the earlier context showed on the left, the later one on the right. */
import type { ContextEntry } from 'cairndb/client';
import { Equal, Minus, Pencil, Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { integer } from '../../data/format.js';
import { KindIcon } from '../../ui/kinds.js';
import { Entity } from '../../ui/text.js';
import { lineOf } from './card-text.js';
import { useCardOf } from './cards.js';
import type { Change, ComparedEntry } from './comparison-rows.js';
import { shortReason } from './reasons.js';

const marks: Readonly<Record<Change, readonly [label: string, icon: ReactNode]>> = {
  added: ['Added', <Plus key="i" aria-hidden="true" />],
  removed: ['Removed', <Minus key="i" aria-hidden="true" />],
  changed: ['Changed', <Pencil key="i" aria-hidden="true" />],
  replaced: ['Changed', <Pencil key="i" aria-hidden="true" />],
  same: ['In both', <Equal key="i" aria-hidden="true" />],
};

interface SideProps {
  readonly entry: ContextEntry | undefined;
  readonly chunk: readonly string[];
}

function Side({ entry, chunk }: SideProps): ReactNode {
  if (!entry) return <div className="compared-side none" />;
  return <Shown entry={entry} chunk={chunk} />;
}

function Shown({ entry, chunk }: SideProps & { entry: ContextEntry }): ReactNode {
  const card = useCardOf(entry.card_id, chunk);
  const text = card ? lineOf(card) : undefined;
  return (
    <div className="compared-side">
      <span className="entry-icon">
        <KindIcon kind={entry.section === 'summaries' ? 'summary' : entry.entity_type} />
      </span>
      <span className={`lines-2 ${card === null ? 'muted' : ''}`}>
        {text?.slice(0, 300) ?? (card === null ? 'No longer readable' : '…')}
      </span>
      <span className="compared-numbers">
        <Entity type={entry.entity_type} id={entry.id} />
        <span className="muted">{shortReason(entry.reason)}</span>
        {entry.score !== null && <span className="muted">{entry.score.toFixed(2)}</span>}
        <span className="muted">{entry.tokens === null ? '' : `${integer(entry.tokens)} tokens`}</span>
      </span>
    </div>
  );
}

export function Compared({ row, chunk }: { row: ComparedEntry; chunk: readonly string[] }): ReactNode {
  const { change, before, after, what } = row;
  const [label, icon] = marks[change];
  return (
    <div className={`compared ${change}`}>
      <Side entry={before} chunk={chunk} />
      <div className="compared-mark" title={label}>
        {icon}
        <span className="visually-hidden">{label}</span>
      </div>
      <Side entry={after} chunk={chunk} />
      {what.length > 0 && <p className="compared-what">{what.join(', ')}</p>}
    </div>
  );
}

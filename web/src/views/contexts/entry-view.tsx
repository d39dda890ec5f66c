/** One entry of a manifest: a line, and all that is known about it when it is selected. */
import { Link } from '@tanstack/react-router';
import type { ContextEntry, Manifest } from 'cairndb/client';
import { History, Network } from 'lucide-react';
import type { CSSProperties, ReactNode } from 'react';
import { integer } from '../../data/format.js';
import { KindIcon } from '../../ui/kinds.js';
import { Facts } from '../../ui/layout.js';
import { Named } from '../../ui/named.js';
import { Entity } from '../../ui/text.js';
import { lineOf } from './card-text.js';
import { useCardOf } from './cards.js';
import { rankOf, shortReason, whyOf } from './reasons.js';
import { useRelations } from './relations.js';
import { sectionColor, sectionLabel } from './sections.js';
import type { EntryRow } from './why-rows.js';

/** Artifacts and notes are found with all their versions, by their own id. */
const idInContexts = ({ entity_type, id, card_id }: ContextEntry): string =>
  entity_type === 'Note' || entity_type === 'Artifact' ? id : card_id;

function entityOf(id: string, { entries }: Manifest): ReactNode {
  const type = entries.find((entry) => entry.id === id)?.entity_type ?? 'Artifact';
  return <Named key={id} type={type} id={id} />;
}

function Details({
  entry,
  manifest,
  text,
}: {
  entry: ContextEntry;
  manifest: Manifest;
  text: string | undefined;
}): ReactNode {
  const { kept_characters, kept_from = 0, by, contradicts = [], replaces } = entry;
  const relations = useRelations(entry);
  const until = kept_from + (kept_characters ?? 0);
  const isHidden = entry.place === null || kept_characters !== null;
  return (
    <div className="entry-details">
      <p>
        {whyOf(entry.reason, entry.section, manifest)} {entry.score !== null && rankOf(entry, manifest)}
      </p>
      <Facts
        facts={[
          ['Source', <Named key="e" type={entry.entity_type} id={entry.id} />],
          ['Card', entry.card_id === entry.id ? undefined : <Entity key="c" type="Card" id={entry.card_id} />],
          ['Section', sectionLabel(entry.section)],
          ['Tokens', entry.tokens === null ? 'too long to count' : integer(entry.tokens)],
          ['Score', entry.score === null ? undefined : entry.score.toFixed(4)],
          ['Shown', kept_characters === null ? undefined : `characters ${integer(kept_from)} to ${integer(until)}`],
          [
            entry.reason === 'in_a_summary' ? 'Covered by' : 'Shown by',
            by === null ? undefined : entityOf(by, manifest),
          ],
          [
            'Contradiction shown',
            contradicts.length === 0 ? undefined : contradicts.map((id) => entityOf(id, manifest)),
          ],
          ...relations,
          ['Replaces', replaces && <Named key="r" type={replaces.entity_type} id={replaces.id} />],
        ]}
      />
      {isHidden && text !== undefined && text !== '' && <div className="prose entry-text">{text.slice(0, 4000)}</div>}
      <Link to="/contexts" search={{ card: idInContexts(entry) } as never} className="row small">
        <History aria-hidden="true" />
        Every context it was in
      </Link>
      <Link to={`/lineage/${entry.entity_type.toLowerCase()}/${entry.id}`} className="row small">
        <Network aria-hidden="true" />
        What it came from
      </Link>
    </div>
  );
}

interface Props {
  readonly row: EntryRow;
  readonly manifest: Manifest;
  readonly title: string | undefined;
  readonly isMarked: boolean;
  readonly isSelected: boolean;
  readonly onSelect: (entry: number | undefined) => void;
  readonly onHover: (entry: number | undefined) => void;
}

export function EntryView({ row, manifest, title, isMarked, isSelected, onSelect, onHover }: Props): ReactNode {
  const { entry, index, chunk } = row;
  const card = useCardOf(entry.card_id, chunk);
  const text = card ? lineOf(card) : undefined;
  const name = title ?? text ?? (card === null ? 'No longer readable' : '…');
  const out = entry.place === null;
  return (
    <div
      className={`entry ${isSelected ? 'selected' : ''} ${isMarked ? 'marked' : ''} ${out ? 'out' : ''}`}
      style={{ '--c': sectionColor(entry.section) } as CSSProperties}
    >
      <button
        type="button"
        className="entry-line"
        aria-expanded={isSelected}
        onClick={() => onSelect(isSelected ? undefined : index)}
        onMouseEnter={() => onHover(index)}
        onMouseLeave={() => onHover(undefined)}
        onFocus={() => onHover(index)}
        onBlur={() => onHover(undefined)}
      >
        <span className="entry-place">{entry.place ?? ''}</span>
        <span className="entry-icon">
          <KindIcon kind={entry.section === 'summaries' ? 'summary' : entry.entity_type} />
        </span>
        <span className={`clip ${card === null ? 'muted' : ''}`}>{name.slice(0, 200)}</span>
        <span className="entry-reason">
          {entry.action === 'truncate' ? 'shortened' : shortReason(entry.reason)}
          {entry.score !== null && <span> {entry.score.toFixed(2)}</span>}
        </span>
        {entry.tokens === 0 ? (
          <span className="number faint" title="Counted with the turn that it belongs to">
            –
          </span>
        ) : (
          <span className="number muted">{integer(entry.tokens)}</span>
        )}
      </button>
      {isSelected && <Details entry={entry} manifest={manifest} text={text} />}
    </div>
  );
}

/** In place of the messages, when content of a context was erased: which parts are gone. */
import type { CairnError, Manifest } from 'cairndb/client';
import { Eraser } from 'lucide-react';
import type { ReactNode } from 'react';
import { integer } from '../../data/format.js';
import { Kind } from '../../ui/kinds.js';
import { Id } from '../../ui/text.js';
import { sectionLabel } from './sections.js';

const SHOWN = 100;

export function Erased({
  error,
  manifest,
  onSelect,
}: {
  error: unknown;
  manifest: Manifest;
  onSelect: (entry: number) => void;
}): ReactNode {
  const ids = ((error as CairnError).details as { card_ids?: readonly string[] }).card_ids ?? [];
  const indexes = new Map(manifest.entries.map(({ card_id }, index) => [card_id, index]));
  return (
    <div className="erased">
      <Eraser aria-hidden="true" />
      <h3>This context can no longer be replayed</h3>
      <p className="muted">
        {ids.length === 1 ? 'One of its cards was' : `${integer(ids.length)} of its cards were`} erased. What was
        decided about each part is still recorded.
      </p>
      <ul aria-label="Erased cards">
        {ids.slice(0, SHOWN).map((card_id) => {
          const index = indexes.get(card_id);
          const entry = index === undefined ? undefined : manifest.entries[index];
          return (
            <li key={card_id} className="row wrap">
              {entry && <Kind kind={entry.entity_type}>{sectionLabel(entry.section)}</Kind>}
              <Id id={card_id} />
              {entry && index !== undefined && (
                <button type="button" className="link small" onClick={() => onSelect(index)}>
                  part {entry.place}
                </button>
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

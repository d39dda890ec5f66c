/** One event: its sentence, and unfolded all that it carries. */
import { Link } from '@tanstack/react-router';
import { ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';
import type { LiveEvent } from '../../data/events.js';
import { pathOf } from '../../data/links.js';
import { CopyMenu } from '../../ui/copy-menu.js';
import { JsonTree } from '../../ui/json-tree.js';
import { KindIcon } from '../../ui/kinds.js';
import { Id, Time } from '../../ui/text.js';
import { describe, entityOf } from './describe.js';
import { Referred, useText } from './names.js';

interface Props {
  readonly event: LiveEvent;
  readonly isOpen: boolean;
  readonly onToggle: (seq: number) => void;
}

/** The parts of a sentence in order: none of them has another identity. */
function Sentence({ event }: { event: LiveEvent }): ReactNode {
  return describe(event).map((bit, at) =>
    typeof bit === 'string' ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: as above.
      <span key={at}>{bit}</span>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: as above.
      <span key={at} className="event-reference">
        <Referred reference={bit} />
      </span>
    ),
  );
}

function Details({ event }: { event: LiveEvent }): ReactNode {
  const { packet_id, seq, recorded_at, payload } = event;
  const { type, id } = entityOf(event);
  const path = pathOf(type, id);
  return (
    <div className="event-details">
      <div className="row wrap small">
        {path !== undefined && type !== 'Packet' && (
          <Link to={path} className="button">
            Open the {type.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()}
          </Link>
        )}
        <Link to={pathOf('Packet', packet_id)!} className="button">
          Show its lineage
        </Link>
        <CopyMenu call="packets.get" input={{ packet_id }} value={event} />
        <span className="grow" />
        <span className="muted">
          No. {seq}, recorded <Time at={recorded_at} />
        </span>
        <Id id={packet_id} />
      </div>
      {event.erased ? (
        <p className="muted small">Its content was erased.</p>
      ) : (
        <JsonTree value={payload ?? {}} open={2} />
      )}
    </div>
  );
}

export function EventRow({ event, isOpen, onToggle }: Props): ReactNode {
  const { packet_type, seq, recorded_at } = event;
  const entity = entityOf(event);
  // The words of a turn follow its sentence; those of a note or artifact are part of it.
  const text = useText(entity.type === 'Turn' ? entity.card_id : undefined);
  return (
    <div className={`event ${isOpen ? 'open' : ''}`}>
      <div className="event-line">
        <span className="event-time">
          <Time at={recorded_at} />
        </span>
        <span className="event-icon">
          <KindIcon kind={entity.type} />
        </span>
        <span className="event-sentence">
          <Sentence event={event} />
          {text && <span className="event-text">{text}</span>}
        </span>
        <span className="event-type">{packet_type.replace(/^cairn\./, '')}</span>
        <button
          type="button"
          className="event-toggle"
          aria-expanded={isOpen}
          aria-label={`Payload of event ${seq}`}
          onClick={() => onToggle(seq)}
        >
          <ChevronRight aria-hidden="true" />
        </button>
      </div>
      {isOpen && <Details event={event} />}
    </div>
  );
}

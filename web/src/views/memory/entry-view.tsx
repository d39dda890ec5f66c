/** One memory: what it says, where it is from, what became of it, and every context it was in. */
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Page } from '../../ui/layout.js';
import { Empty } from '../../ui/states.js';
import { CardEntry } from './card-entry.js';
import './entry.css';
import './memory.css';
import { MemoryEntry } from './memory-entry.js';
import { TurnEntry } from './turn-entry.js';

export function View(): ReactNode {
  const { kind = '', id = '' } = useParams({ strict: false }) as { kind?: string; id?: string };
  switch (kind.toLowerCase()) {
    case 'note':
      return <MemoryEntry key={id} type="Note" id={id} />;
    case 'artifact':
      return <MemoryEntry key={id} type="Artifact" id={id} />;
    case 'card':
      return <CardEntry key={id} id={id} />;
    case 'turn':
      return <TurnEntry key={id} id={id} />;
    default:
      return (
        <Page title="Memory">
          <Empty title={`There is no kind of memory called ${kind}`}>
            A memory is a note, an artifact, a card or a turn.
          </Empty>
        </Page>
      );
  }
}

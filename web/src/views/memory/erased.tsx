/** What is left of a memory that was forgotten: its receipt. */
import { Link } from '@tanstack/react-router';
import type { CairnError } from 'cairndb/client';
import type { ReactNode } from 'react';
import { pathOf } from '../../data/links.js';
import { Page } from '../../ui/layout.js';
import { Empty } from '../../ui/states.js';

export function ErasedEntry({ error }: { error: unknown }): ReactNode {
  const { message, details } = error as CairnError;
  const erasure_id = (details as { erasure_id?: unknown } | undefined)?.erasure_id;
  const wasForgotten = typeof erasure_id === 'string';
  return (
    <Page title={wasForgotten ? 'A forgotten memory' : 'An erased memory'}>
      <Empty title={wasForgotten ? 'This was forgotten' : 'This was erased'}>
        {wasForgotten ? (
          <>
            Its content is erased in every version and copy.{' '}
            <Link to={pathOf('Erasure', erasure_id)!}>Open the receipt</Link>
          </>
        ) : (
          `${message.charAt(0).toUpperCase()}${message.slice(1)}.`
        )}
      </Empty>
    </Page>
  );
}

/** What was erased, and the way to the receipt. */
import { Link } from '@tanstack/react-router';
import type { Forgotten } from 'cairndb/client';
import { ShieldCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import { pathOf } from '../../data/links.js';
import { Status } from '../../ui/kinds.js';
import { Facts } from '../../ui/layout.js';
import { Id, Time } from '../../ui/text.js';
import { counted } from './forget-plan.js';

const meanings: Readonly<Record<string, string>> = {
  running: 'It is unreadable from now on. Its bytes are being erased.',
  pending: 'It is erased. The log of the database is emptied next, which verifies it.',
  verified: 'It is erased, and nothing of it is left in the database or its log.',
};

export function Receipt({ receipt }: { receipt: Forgotten }): ReactNode {
  const { erasure_id, status, erased, derived, created_at } = receipt;
  const total = (counts: Forgotten['erased']) =>
    counts
      .map(({ entity_type, entities, contents }) => {
        const texts = contents > entities ? ` (${contents} versions)` : '';
        return `${counted(entity_type, entities)}${texts}`;
      })
      .join(', ');
  return (
    <>
      <p className="row top">
        <ShieldCheck aria-hidden="true" className="receipt-mark" />
        <span>{meanings[status]}</span>
      </p>
      <Facts
        facts={[
          ['Erased', total(erased)],
          ['Made from it', total(derived)],
          ['Status', <Status key="status" status={status} />],
          ['Asked', <Time key="time" at={created_at} />],
          ['Receipt', erasure_id && <Id key="id" id={erasure_id} />],
        ]}
      />
      {erasure_id && (
        <p>
          <Link to={pathOf('Erasure', erasure_id)!}>Open the receipt</Link>
        </p>
      )}
    </>
  );
}

/** Agents at work: who is there, what was delegated and handed off, fork-joins, mailboxes. */
import './coordination.css';
import type { ReactNode } from 'react';
import { useSearch } from '../../app/search.js';
import { Page, Tabs } from '../../ui/layout.js';
import { Agents } from './agents.js';
import { Board } from './board.js';
import { ForkJoins } from './fork-joins.js';
import { Mailboxes } from './mailboxes.js';

const tabOf = (search: Readonly<Record<string, string | undefined>>): string => {
  if (search.tab) return search.tab;
  if (search.delegation || search.handoff) return 'board';
  return search.message ? 'mail' : 'agents';
};

export function View(): ReactNode {
  const [search, change] = useSearch();
  return (
    <Page title="Agents" about="Who is at work, what they gave to each other, and what waits.">
      <Tabs
        value={tabOf(search)}
        onChange={(tab) => change({ tab, delegation: undefined, handoff: undefined, message: undefined })}
        tabs={[
          { id: 'agents', label: 'Agents', content: <Agents /> },
          {
            id: 'board',
            label: 'Delegations and handoffs',
            content: <Board delegation={search.delegation} handoff={search.handoff} />,
          },
          { id: 'forks', label: 'Fork-joins', content: <ForkJoins /> },
          { id: 'mail', label: 'Mailboxes', content: <Mailboxes chosen={search.message} /> },
        ]}
      />
    </Page>
  );
}

/** The store: what it holds, whether it is sound, jobs, erasures, keys. */
import './store.css';
import type { ReactNode } from 'react';
import { useSearch } from '../../app/search.js';
import { useSession } from '../../app/session.js';
import { Page, Tabs } from '../../ui/layout.js';
import { Erasures } from './erasures.js';
import { Health } from './health.js';
import { Jobs } from './jobs.js';
import { Keys } from './keys.js';
import { Overview } from './overview.js';

export function View(): ReactNode {
  const [search, change] = useSearch();
  const { isAdmin, who } = useSession();
  const tabs = [
    ...(isAdmin
      ? [
          { id: 'overview', label: 'Overview', content: <Overview /> },
          { id: 'health', label: 'Health', content: <Health /> },
        ]
      : []),
    { id: 'erasures', label: 'Erasures', content: <Erasures chosen={search.erasure} /> },
    { id: 'jobs', label: 'Jobs', content: <Jobs chosen={search.job} /> },
    ...(isAdmin ? [{ id: 'keys', label: 'Keys', content: <Keys /> }] : []),
  ];
  const tab = tabs.some(({ id }) => id === search.tab) ? search.tab! : tabs[0]!.id;
  return (
    <Page title="Store" about={`What the tenant ${who.tenant_id} holds, and whether it is sound.`}>
      <Tabs tabs={tabs} value={tab} onChange={(id) => change({ tab: id, erasure: undefined, job: undefined })} />
    </Page>
  );
}

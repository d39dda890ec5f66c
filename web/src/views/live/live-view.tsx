/** What happens now: events as they arrive, who is at work, and what waits. */
import type { ReactNode } from 'react';
import { useLive } from '../../data/events.js';
import { CopyMenu } from '../../ui/copy-menu.js';
import { Page } from '../../ui/layout.js';
import { ErrorBox } from '../../ui/states.js';
import { AgentsPanel, RunningPanel } from './agents-panel.js';
import { BudgetsPanel } from './budgets-panel.js';
import { DelegationsPanel } from './delegations-panel.js';
import { Feed } from './feed.js';
import { Growth } from './growth.js';
import './live.css';
import { LocksPanel } from './locks-panel.js';
import { NamesProvider } from './names.js';
import { PausesPanel } from './pauses-panel.js';

export function View(): ReactNode {
  const { state, error, events } = useLive();
  return (
    <NamesProvider>
      <Page
        title="Live"
        about="What happens in the store, as it happens."
        actions={<CopyMenu call="packets.list" input={{ limit: 100 }} value={events.slice(-100)} />}
      >
        {state === 'lost' && error && <ErrorBox error={error} />}
        <div className="live">
          <div className="live-pauses">
            <PausesPanel />
          </div>
          <div className="live-main">
            <Growth />
            <Feed />
          </div>
          <div className="live-side">
            <RunningPanel />
            <BudgetsPanel />
            <DelegationsPanel />
            <LocksPanel />
            <AgentsPanel />
          </div>
        </div>
      </Page>
    </NamesProvider>
  );
}

/** What happens now: events as they arrive, who is at work, and what waits. */
import type { ReactNode } from 'react';
import { useSession } from '../../app/session.js';
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
  const { who } = useSession();
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
          {who.user_id === undefined && (
            <div className="live-pauses">
              <PausesPanel />
            </div>
          )}
          <div className="live-main">
            <Growth />
            <Feed />
          </div>
          <div className="live-side">
            {who.user_id === undefined && <RunningPanel />}
            <BudgetsPanel />
            {who.user_id === undefined ? (
              <>
                <DelegationsPanel />
                <LocksPanel />
              </>
            ) : (
              <p className="muted small">
                Your key is for user {who.user_id}: questions, agent turns, delegations and locks are about nobody, and
                not shown.
              </p>
            )}
            <AgentsPanel />
          </div>
        </div>
      </Page>
    </NamesProvider>
  );
}

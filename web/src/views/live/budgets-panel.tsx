/** Open scopes by how much of their budget is used. */
import type { ReactNode } from 'react';
import { useCall } from '../../data/api.js';
import { percent, short } from '../../data/format.js';
import { Gauge } from '../../ui/gauges.js';
import { Entity } from '../../ui/text.js';
import { SidePanel } from './side-panel.js';

const SHOWN = 8;
const LOOKED_AT = 200;

export function BudgetsPanel(): ReactNode {
  const { data, error } = useCall('scopes.list', { status: 'active', limit: LOOKED_AT, order: 'desc' });
  const share = ({ tokens_used, token_budget }: { tokens_used: number; token_budget: number }) =>
    tokens_used / Math.max(1, token_budget);
  const scopes = data?.scopes.filter(({ tokens_used }) => tokens_used > 0).sort((a, b) => share(b) - share(a));
  return (
    <SidePanel title="Budgets" items={scopes} error={error} empty="No open scope has used any of its budget.">
      {(shown) => (
        <ul className="side-list">
          {shown.slice(0, SHOWN).map(({ scope_id, name, tokens_used, token_budget, threshold_percent }) => (
            <li key={scope_id}>
              <div className="row spread">
                <Entity type="Scope" id={scope_id}>
                  {name}
                </Entity>
                <span className="faint tiny number">
                  {percent(tokens_used, token_budget)} of {short(token_budget)}
                </span>
              </div>
              <Gauge
                label={`Budget of ${name}`}
                value={tokens_used}
                max={token_budget}
                threshold={threshold_percent / 100}
              />
            </li>
          ))}
          {(data?.total ?? 0) > LOOKED_AT && <li className="faint tiny">Of the {LOOKED_AT} newest open scopes.</li>}
        </ul>
      )}
    </SidePanel>
  );
}

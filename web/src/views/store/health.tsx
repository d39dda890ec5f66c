/** The doctor's findings, on request: it reads everything. */
import type { StoreCheckResult } from 'cairndb/client';
import { CircleAlert, CircleCheck } from 'lucide-react';
import type { ReactNode } from 'react';
import { useChange } from '../../data/api.js';
import { duration, integer } from '../../data/format.js';
import { Button } from '../../ui/button.js';
import { Panel } from '../../ui/layout.js';
import { Empty, ErrorBox, Loading } from '../../ui/states.js';

function Findings({ data }: { data: StoreCheckResult }): ReactNode {
  const broken = data.findings.filter(({ ok }) => !ok);
  const sound = data.findings.filter(({ ok }) => ok);
  return (
    <div className="stack">
      <div className={`store-verdict ${data.healthy ? 'good' : 'bad'}`}>
        {data.healthy ? <CircleCheck aria-hidden="true" /> : <CircleAlert aria-hidden="true" />}
        <strong>
          {data.healthy ? 'The tenant is sound' : `${broken.length} of ${data.findings.length} checks failed`}
        </strong>
        <span className="muted">
          {integer(data.findings.length)} checks in {duration(data.duration_ms)}
        </span>
      </div>
      {broken.map(({ check, problems }) => (
        <div key={check} className="error-box">
          <CircleAlert aria-hidden="true" />
          <div className="stack tight">
            <strong>{check}</strong>
            {problems.map((problem) => (
              <span key={problem} className="mono small">
                {problem}
              </span>
            ))}
          </div>
        </div>
      ))}
      <ul className="store-checks">
        {sound.map(({ check }) => (
          <li key={check}>
            <CircleCheck aria-hidden="true" />
            {check}
          </li>
        ))}
      </ul>
    </div>
  );
}

export function Health(): ReactNode {
  const check = useChange('store.check', []);
  return (
    <Panel
      title="Checks"
      actions={
        <Button kind="primary" disabled={check.isPending} onClick={() => check.mutate({})}>
          {check.isPending ? 'Checking …' : check.data ? 'Check again' : 'Check everything'}
        </Button>
      }
    >
      {check.error && <ErrorBox error={check.error} />}
      {check.isPending && <Loading label="Checking every invariant and hash" />}
      {check.data && !check.isPending && <Findings data={check.data} />}
      {!(check.data || check.isPending || check.error) && (
        <Empty title="Check every invariant, hash and index entry" command="npx cairn doctor">
          It reads everything the tenant holds and changes nothing. The command also checks the database file and all
          tenants.
        </Empty>
      )}
    </Panel>
  );
}

/** The first page of a store without contexts: how to fill it. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Mark } from '../../app/mark.js';
import { useSession } from '../../app/session.js';
import { useCall } from '../../data/api.js';
import { Page } from '../../ui/layout.js';
import { Answer, Command, Empty } from '../../ui/states.js';

interface Step {
  readonly title: string;
  readonly about: string;
  readonly command: string;
}

const steps = (url: string): readonly Step[] => [
  {
    title: 'See everything at once',
    about: 'Fills this store with an example run: tasks, decisions, notes, packed contexts, a run with a failed step.',
    command: `npx cairn demo --url ${url}`,
  },
  {
    title: 'Or remember something',
    about: 'It is found by its meaning, with where it was learned and what it replaced.',
    command: `npx cairn remember "Anna prefers green tea to coffee." --url ${url}`,
  },
  {
    title: 'And make a context of it',
    about: 'What a model is given, within a budget. It appears here, with the reason for each part.',
    command: `npx cairn context assemble --user-input "What does Anna drink?" --url ${url}`,
  },
];

function FirstVisit(): ReactNode {
  const { canWrite, hasKey } = useSession();
  return (
    <div className="page">
      <div className="welcome">
        <div className="welcome-head">
          <Mark />
          <h1>See what an agent knew, when, and why</h1>
          <p className="muted">
            This store is empty. {canWrite ? 'Run one of these in a terminal' : 'Once it is filled'}; this page fills by
            itself.{hasKey && ' The commands read the key from CAIRN_KEY.'}
          </p>
        </div>
        <ol>
          {steps(location.origin).map(({ title, about, command }) => (
            <li key={title}>
              <h2>{title}</h2>
              <p className="muted small">{about}</p>
              <Command>{command}</Command>
            </li>
          ))}
        </ol>
      </div>
    </div>
  );
}

const NoContexts = (): ReactNode => (
  <Page title="Contexts" about="Every window that a model was given: what was in it, why, and what was left out.">
    <Empty
      title="No context was made yet"
      command={`npx cairn context assemble --user-input "What do we know?" --url ${location.origin}`}
    >
      A context is recorded when one is assembled or packed. What the store remembers is in{' '}
      <Link to="/memory">Memory</Link>.
    </Empty>
  </Page>
);

export function Welcome(): ReactNode {
  const packets = useCall('packets.list', { limit: 1 });
  return <Answer query={packets}>{(data) => (data.packets.length === 0 ? <FirstVisit /> : <NoContexts />)}</Answer>;
}

/** What an erasure takes with it, by kind and with its texts. */
import type { Forgotten } from 'cairndb/client';
import type { ReactNode } from 'react';
import { words } from '../../data/format.js';
import { Named } from '../../ui/named.js';
import { Entity } from '../../ui/text.js';
import { titleBeside } from './entries.js';
import { useHistory } from './history.js';

type Item = Forgotten['items'][number];

/** Texts are read one by one. */
const MAX_TEXTS = 40;
const MAX_LENGTH = 200;

const plurals: Readonly<Record<string, string>> = { Trajectory: 'trajectories' };

export const counted = (type: string, count: number): string =>
  `${count} ${count === 1 ? words(type) : (plurals[type] ?? `${words(type)}s`)}`;

function Group({ title, items, total }: { title: string; items: readonly Item[]; total: number }): ReactNode {
  if (total === 0) return null;
  const kinds = [...new Set(items.map(({ entity_type }) => entity_type))];
  return (
    <section className="stack tight">
      <h3>{title}</h3>
      <div className="forget-items">
        {kinds.map((kind) => {
          const own = items.filter(({ entity_type }) => entity_type === kind);
          return (
            <div key={kind}>
              <span className="muted tiny">{counted(kind, own.length)}</span>
              <ul>
                {own.slice(0, MAX_TEXTS).map(({ entity_type, entity_id }) => (
                  <li key={entity_id}>
                    <Going type={entity_type} id={entity_id} />
                  </li>
                ))}
                {own.length > MAX_TEXTS && <li className="muted">and {own.length - MAX_TEXTS} more</li>}
              </ul>
            </div>
          );
        })}
      </div>
    </section>
  );
}

/** A note or artifact in its own words, which a name alone does not tell. */
function Statement({ type, id }: { type: 'Note' | 'Artifact'; id: string }): ReactNode {
  const newest = useHistory(type, id, 1).versions[0];
  if (!newest) return <Named type={type} id={id} />;
  const title = titleBeside(newest.title, newest.text);
  return (
    <>
      <Entity type={type} id={id}>
        {title || newest.text.slice(0, MAX_LENGTH)}
      </Entity>
      {title && <span className="muted clip">{newest.text.slice(0, MAX_LENGTH)}</span>}
    </>
  );
}

const Going = ({ type, id }: { type: Item['entity_type']; id: string }): ReactNode =>
  type === 'Note' || type === 'Artifact' ? <Statement type={type} id={id} /> : <Named type={type} id={id} />;

interface Props {
  readonly plan: Forgotten;
  readonly copies: boolean;
  readonly onCopies: (copies: boolean) => void;
}

export function Plan({ plan, copies, onCopies }: Props): ReactNode {
  const sum = (counts: Forgotten['erased']) => counts.reduce((total, { entities }) => total + entities, 0);
  const goes = plan.items.filter(({ outcome }) => outcome === 'to_be_erased');
  const named = goes.filter(({ origin }) => origin === 'named');
  const contained = goes.filter(({ origin }) => origin === 'contained');
  const derived = goes.filter(({ origin }) => origin === 'derived');
  const summary = [...plan.erased, ...plan.derived].map(({ entity_type, entities }) => counted(entity_type, entities));
  return (
    <>
      <p>
        This erases {listed(summary)}, in every version and copy that Cairn keeps, from contexts and sealed boxes too.{' '}
        <strong>It cannot be undone.</strong>
      </p>
      <Group title="What you chose" items={named} total={named.length} />
      <Group title="What is in it" items={contained} total={contained.length} />
      <Group title="What was made from it" items={derived} total={sum(plan.derived)} />
      {plan.copies > 0 && (
        <label className="row small">
          <input type="checkbox" checked={copies} onChange={(event) => onCopies(event.target.checked)} />
          Also erase {plan.copies === 1 ? 'an independent copy' : `${plan.copies} independent copies`} of the same text
        </label>
      )}
      {plan.kept_shared > 0 && (
        <p className="small">{counted('entity', plan.kept_shared)} about other users as well, which stay.</p>
      )}
      <p className="muted small">A receipt without content stays. Cairn cannot erase {listed(plan.not_covered)}.</p>
    </>
  );
}

function listed(parts: readonly string[]): string {
  if (parts.length < 2) return parts[0] ?? 'nothing';
  return `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

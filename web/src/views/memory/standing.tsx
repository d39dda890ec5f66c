/** Whether it still holds: what replaced it and since when, what it replaced, what contradicts it. */
import { Link } from '@tanstack/react-router';
import type { Edge } from 'cairndb/client';
import { History as HistoryIcon, Repeat2, Trash2, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { useCall } from '../../data/api.js';
import { pathOf } from '../../data/links.js';
import { Named } from '../../ui/named.js';
import { Time } from '../../ui/text.js';
import { Day } from './day.js';
import { useHistory, type Version } from './history.js';

const MAX_SHOWN = 5;

type Tone = 'warn' | 'bad' | 'plain';

function Notice({ tone, icon, children }: { tone: Tone; icon: ReactNode; children: ReactNode }): ReactNode {
  return (
    <div className={`notice ${tone}`}>
      {icon}
      <div className="notice-text">{children}</div>
    </div>
  );
}

/** When something happened, or else when it was told. */
function Since({ version }: { version: Pick<Version, 'metadata' | 'created_at'> }): ReactNode {
  const { occurred_at } = version.metadata;
  return typeof occurred_at === 'string' ? <Day at={occurred_at} /> : <Time at={version.created_at} />;
}

/** The other statement in its own words. */
function Statement({ type, id }: { type: string; id: string }): ReactNode {
  const kind = type === 'Artifact' ? 'Artifact' : 'Note';
  const newest = useHistory(kind, id, 1).versions[0];
  if (!newest) return <Named type={type} id={id} />;
  return (
    <>
      <Link to={pathOf(kind, id)!}>{newest.text.trim().slice(0, 200) || newest.title}</Link>{' '}
      <span className="faint small">
        since <Since version={newest} />
      </span>
    </>
  );
}

interface Props {
  readonly type: 'Note' | 'Artifact';
  readonly id: string;
  readonly current: Version;
  readonly deleted_at: string | null;
}

const isMemory = ({ entity_type }: Edge['participants'][number]): boolean =>
  entity_type === 'Note' || entity_type === 'Artifact';

export function StandingNotices({ id, current, deleted_at }: Props): ReactNode {
  const { data } = useCall('edges.list', { entity_id: id, edge_type: 'Supersedes', limit: 20 });
  const contradicting = useCall(
    'edges.list',
    { entity_id: id, edge_type: 'Contradicts', limit: 20 },
    { enabled: current.contradicted_by.length > 0 },
  );
  const edges = data?.edges ?? [];
  const others = (list: readonly Edge[], of: (edge: Edge) => readonly Edge['participants'][number][]) =>
    list.flatMap(of).filter((one) => isMemory(one) && one.entity_id !== id);
  const replaced = others(edges, ({ participants: [first, ...rest] }) => (first?.entity_id === id ? rest : []));
  const replacing = others(edges, ({ participants: [first] }) => (first && first.entity_id !== id ? [first] : []));
  const against = others(contradicting.data?.edges ?? [], ({ participants }) => participants);
  return (
    <>
      {deleted_at !== null && (
        <Notice tone="warn" icon={<Trash2 aria-hidden="true" />}>
          Marked as no longer true <Time at={deleted_at} />. No search finds it, but its history stays. Forget it to
          erase the content.
        </Notice>
      )}
      {replacing.slice(0, MAX_SHOWN).map(({ entity_type, entity_id }) => (
        <Notice key={entity_id} tone="warn" icon={<Repeat2 aria-hidden="true" />}>
          Replaced by <Statement type={entity_type} id={entity_id} />
        </Notice>
      ))}
      {against.slice(0, MAX_SHOWN).map(({ entity_type, entity_id }) => (
        <Notice key={entity_id} tone="bad" icon={<TriangleAlert aria-hidden="true" />}>
          Contradicted by <Statement type={entity_type} id={entity_id} />
        </Notice>
      ))}
      {replaced.slice(0, MAX_SHOWN).map(({ entity_type, entity_id }) => (
        <Notice key={entity_id} tone="plain" icon={<HistoryIcon aria-hidden="true" />}>
          Before: <Statement type={entity_type} id={entity_id} />
        </Notice>
      ))}
    </>
  );
}

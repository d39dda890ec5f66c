/** A context: on the left as the model saw it, on the right why. */
import './contexts.css';
import { useNavigate, useParams } from '@tanstack/react-router';
import type { CairnError, Manifest } from 'cairndb/client';
import { GitCompareArrows } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { useSearch } from '../../app/search.js';
import { useCall } from '../../data/api.js';
import { Button } from '../../ui/button.js';
import { CopyMenu } from '../../ui/copy-menu.js';
import { Page, Panel, Segmented } from '../../ui/layout.js';
import { Answer, ErrorBox, Loading } from '../../ui/states.js';
import { Entity, Time } from '../../ui/text.js';
import { budgetOf } from './budget.js';
import { BudgetStrip } from './budget-strip.js';
import { useCards } from './cards.js';
import { ChooseContext } from './choose-context.js';
import { ContextFacts } from './context-facts.js';
import { Erased } from './erased.js';
import { MessagesPane } from './messages-pane.js';
import { ScopeName, TaskName } from './names.js';
import { piecesOf } from './pieces.js';
import { WhyPane } from './why-pane.js';

/** Beyond so many turns they are told apart by their place alone, and their cards are not read. */
const MAX_CARDS_READ = 500;

/** The cards by which parts of the messages are recognised. */
function cardsNeeded({ kind, entries }: Manifest): readonly string[] {
  if (kind === 'packing') return [];
  const shown = entries.filter(({ place }) => place !== null);
  const turns = shown.filter(({ section }) => section === 'turns');
  const needed = turns.length > MAX_CARDS_READ ? shown.filter(({ section }) => section !== 'turns') : shown;
  return needed.map(({ card_id }) => card_id);
}

type Pane = 'messages' | 'why' | 'facts';
const wide = [
  ['why', 'Why'],
  ['facts', 'Facts'],
] as const;
const narrow = [['messages', 'Messages'], ...wide] as const;

function Panes({ manifest }: { manifest: Manifest }): ReactNode {
  const [search, change] = useSearch();
  const [hovered, setHovered] = useState<number>();
  const replay = useCall('manifests.replay', { manifest_id: manifest.manifest_id });
  const ids = useMemo(() => cardsNeeded(manifest), [manifest]);
  const cards = useCards(ids);
  const pieces = useMemo(
    () => (replay.data ? piecesOf(manifest, replay.data, cards) : undefined),
    [manifest, replay.data, cards],
  );
  const titles = useMemo(() => {
    const found = new Map<number, string>();
    for (const { entry, title } of pieces ?? [])
      if (entry !== undefined && title !== undefined) found.set(entry, title);
    return found;
  }, [pieces]);
  const selected = search.entry === undefined ? undefined : Number(search.entry);
  const select = (entry: number | undefined) => change({ entry: entry?.toString() });
  const pane = (search.pane ?? 'messages') as Pane;
  const isErased = (replay.error as CairnError | null)?.code === 'CONTENT_ERASED';
  const placeOf = (entry: number) => manifest.entries[entry]?.place ?? null;
  const shown = manifest.entries.filter(({ place }) => place !== null).length;
  const left_out = manifest.entries.length - shown;
  return (
    <div className="context-panes" data-pane={pane}>
      <div className="only-narrow">
        <Segmented
          label="Part of this view"
          options={narrow}
          value={pane}
          onChange={(next) => change({ pane: next })}
        />
      </div>
      <div className="pane pane-messages">
        <Panel
          title="As the model saw it"
          actions={
            replay.data && (
              <CopyMenu
                call="manifests.replay"
                input={{ manifest_id: manifest.manifest_id }}
                value={replay.data.messages ?? replay.data}
              />
            )
          }
          flush
        >
          {pieces ? (
            <MessagesPane
              pieces={pieces}
              placeOf={placeOf}
              marked={hovered}
              selected={selected}
              onSelect={(entry) => change({ entry: String(entry), pane: 'why' })}
              onHover={setHovered}
            />
          ) : isErased ? (
            <Erased error={replay.error} manifest={manifest} onSelect={select} />
          ) : replay.error ? (
            <ErrorBox error={replay.error} retry={() => void replay.refetch()} />
          ) : (
            <Loading lines={12} />
          )}
        </Panel>
      </div>
      <div className="pane pane-why">
        <Panel
          title={
            <>
              Why{' '}
              <span className="faint">
                {shown} shown{left_out > 0 && `, ${left_out} left out`}
              </span>
            </>
          }
          actions={
            <span className="only-wide">
              <Segmented
                label="Reasons or facts"
                options={wide}
                value={pane === 'facts' ? 'facts' : 'why'}
                onChange={(next) => change({ pane: next === 'why' ? undefined : next })}
              />
            </span>
          }
          flush
        >
          {pane === 'facts' ? (
            <ContextFacts manifest={manifest} />
          ) : (
            <WhyPane
              manifest={manifest}
              titleOf={(entry) => titles.get(entry)}
              marked={hovered}
              selected={selected}
              onSelect={select}
              onHover={setHovered}
            />
          )}
        </Panel>
      </div>
    </div>
  );
}

function About({ manifest }: { manifest: Manifest }): ReactNode {
  const { kind, format, scope_id, agent_id, truncated, created_at } = manifest;
  return (
    <>
      <span className="chip plain">{kind === 'assembly' ? `assembled, ${format}` : 'packed'}</span>
      {truncated && <span className="chip warn">something did not fit</span>}
      {scope_id && (
        <Entity type="Scope" id={scope_id}>
          <ScopeName id={scope_id} />
        </Entity>
      )}
      {agent_id && (
        <Entity type="Agent" id={agent_id}>
          {agent_id.length > 24 ? `…${agent_id.slice(-8)}` : agent_id}
        </Entity>
      )}
      <span className="muted small">
        <Time at={created_at} />
      </span>
    </>
  );
}

/** A packing is told apart by the types of its cards, which its replay has. */
function Budget({ manifest }: { manifest: Manifest }): ReactNode {
  const { manifest_id, kind } = manifest;
  const replay = useCall('manifests.replay', { manifest_id }, { enabled: kind === 'packing' });
  const cards = replay.data?.cards ?? null;
  return <BudgetStrip budget={useMemo(() => budgetOf(manifest, cards), [manifest, cards])} />;
}

export function View(): ReactNode {
  const { manifestId } = useParams({ strict: false }) as { manifestId: string };
  const [choosing, setChoosing] = useState(false);
  const navigate = useNavigate();
  const query = useCall('manifests.get', { manifest_id: manifestId });
  const manifest = query.data;
  return (
    <Page
      title={manifest?.trajectory_id ? <TaskName id={manifest.trajectory_id} /> : 'Context'}
      about={manifest ? <About manifest={manifest} /> : <span className="muted">…</span>}
      actions={
        manifest && (
          <>
            <Button onClick={() => setChoosing(true)}>
              <GitCompareArrows />
              Compare
            </Button>
            <CopyMenu call="manifests.get" input={{ manifest_id: manifestId }} value={manifest} />
          </>
        )
      }
    >
      <Answer query={query} lines={14}>
        {(data) => (
          <>
            <Budget manifest={data} />
            <Panes key={data.manifest_id} manifest={data} />
          </>
        )}
      </Answer>
      {choosing && manifest && (
        <ChooseContext
          manifest={manifest}
          onClose={() => setChoosing(false)}
          onChoose={(against) => void navigate({ to: `/contexts/${manifestId}/compare/${against}` })}
        />
      )}
    </Page>
  );
}

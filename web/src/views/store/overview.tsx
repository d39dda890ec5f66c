/** What the tenant holds by kind, how it grew, and the state of its search index. */
import type { StoreStatsResult } from 'cairndb/client';
import type { ReactNode } from 'react';
import { useCall } from '../../data/api.js';
import { bytes, integer, short, words } from '../../data/format.js';
import { Chart } from '../../ui/chart.js';
import { CopyMenu } from '../../ui/copy-menu.js';
import { KindIcon } from '../../ui/kinds.js';
import { Panel, Stat } from '../../ui/layout.js';
import { Answer, Empty } from '../../ui/states.js';
import { type Column, Table } from '../../ui/table.js';

type Kind = StoreStatsResult['kinds'][number];

const columns: readonly Column<Kind>[] = [
  {
    id: 'kind',
    label: 'Kind',
    cell: ({ kind }) => (
      <span className="entity">
        <span className="entity-icon">
          <KindIcon kind={kind} />
        </span>
        {words(kind)}
      </span>
    ),
  },
  { id: 'total', label: 'Rows', number: true, cell: ({ total }) => integer(total) },
  { id: 'bytes', label: 'Content', number: true, cell: (row) => (row.bytes === null ? '' : bytes(row.bytes)) },
];

function Growth(): ReactNode {
  const growth = useCall('store.growth', { points: 200 });
  return (
    <Panel title="Growth">
      <Answer query={growth} lines={8}>
        {({ points }) =>
          points.length < 2 ? (
            <Empty title="Nothing has been written yet" command={`npx cairn demo --url ${location.origin}`} />
          ) : (
            <Chart
              label="Events over time"
              times={points.map(({ at }) => new Date(at).getTime() / 1000)}
              series={[{ label: 'Events', color: '--accent', values: points.map(({ events }) => events), fill: true }]}
            />
          )
        }
      </Answer>
    </Panel>
  );
}

export function Overview(): ReactNode {
  const stats = useCall('store.stats', {});
  return (
    <Answer query={stats} lines={12}>
      {(data) => {
        const { kinds, index } = data;
        const totalOf = (name: string) => kinds.find(({ kind }) => kind === name)?.total ?? 0;
        const content = kinds.reduce((sum, kind) => sum + (kind.bytes ?? 0), 0);
        const held = kinds.filter(({ total }) => total > 0).sort((a, b) => b.total - a.total);
        return (
          <>
            <div className="stats">
              <Stat label="events">{short(totalOf('packet'))}</Stat>
              <Stat label="notes">{short(totalOf('note'))}</Stat>
              <Stat label="cards">{short(totalOf('card'))}</Stat>
              <Stat label="checkpoints">{short(totalOf('checkpoint'))}</Stat>
              <Stat label="of content">{bytes(content)}</Stat>
            </div>
            <div className="store-columns">
              <div className="stack" style={{ gap: 'var(--s4)' }}>
                <Growth />
                <Panel title="Search index">
                  <div className="stats">
                    <Stat label="documents">{short(index.documents)}</Stat>
                    <Stat label="not folded yet">{short(index.tail)}</Stat>
                    <Stat label="segments">{short(index.segments)}</Stat>
                    <Stat label="hidden">{short(index.hidden)}</Stat>
                    <Stat label="in segments">{bytes(index.bytes)}</Stat>
                  </div>
                  <p className="muted small store-hint">
                    New documents are found at once. They are folded into segments in the background; searches read the
                    others one by one.
                  </p>
                </Panel>
              </div>
              <Panel title="By kind" flush actions={<CopyMenu call="store.stats" input={{}} value={data} />}>
                <Table label="Rows by kind" columns={columns} rows={held} keyOf={({ kind }) => kind} />
              </Panel>
            </div>
          </>
        );
      }}
    </Answer>
  );
}

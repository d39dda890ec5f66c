/** How the store grows: events by minute or hour. */
import { type ReactNode, useState } from 'react';
import { useSearch } from '../../app/search.js';
import { integer, localTime } from '../../data/format.js';
import { Panel, Segmented } from '../../ui/layout.js';
import { ErrorBox } from '../../ui/states.js';
import { type Span, spans } from './buckets.js';
import { Chart } from './chart.js';
import { useGrowth } from './use-growth.js';

const HEIGHT = 110;

const events = (count: number): string => `${integer(count)} ${count === 1 ? 'event' : 'events'}`;

export function Growth(): ReactNode {
  const [search, setSearch] = useSearch();
  const span: Span = search.per === 'hour' ? 'hour' : 'minute';
  const growth = useGrowth(span);
  const [hovered, setHovered] = useState<number | undefined>();
  const { columns, total, lastMinute, since, error } = growth;
  const [starts, counts] = columns;
  const sum = counts.reduce((all, one) => all + one, 0);
  const most = counts.reduce((top, one) => Math.max(top, one), 0);
  const per = span === 'hour' ? 'hour' : 'minute';
  return (
    <Panel
      title="Activity"
      actions={
        <Segmented
          label="Time"
          options={[
            ['minute', spans.minute.label],
            ['hour', spans.hour.label],
          ]}
          value={span}
          onChange={(value) => setSearch({ per: value === 'hour' ? value : undefined })}
        />
      }
    >
      <div className="stack tight">
        <p className="growth-facts">
          <span>
            <b>{total === undefined ? '0' : integer(total)}</b> events in all
          </span>
          <span>
            <b>{integer(sum)}</b> in the {spans[span].label.toLowerCase()}
          </span>
          <span>
            <b>{integer(lastMinute)}</b> in the last two minutes
          </span>
          <span className="grow" />
          <span className="muted">
            {hovered === undefined
              ? since !== undefined && `counted since ${localTime(since)}`
              : `${localTime(starts[hovered]! * 1000)}: ${events(counts[hovered]!)}`}
          </span>
        </p>
        {error === undefined ? (
          <Chart
            label={`Events by ${per}, ${spans[span].label.toLowerCase()}: ${sum} in all, at most ${most} in one ${per}`}
            columns={columns}
            height={HEIGHT}
            step={spans[span].minutes * 60}
            onHover={setHovered}
          />
        ) : (
          <ErrorBox error={error} />
        )}
      </div>
    </Panel>
  );
}

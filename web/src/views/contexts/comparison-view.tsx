/** Two contexts side by side: what was added, removed and changed. */
import './contexts.css';
import './comparison.css';
import { Link, useParams } from '@tanstack/react-router';
import type { Manifest, ManifestDiff } from 'cairndb/client';
import { ArrowLeftRight } from 'lucide-react';
import { type CSSProperties, type ReactNode, useMemo } from 'react';
import { useSearch } from '../../app/search.js';
import { useCall } from '../../data/api.js';
import { integer } from '../../data/format.js';
import { CopyMenu } from '../../ui/copy-menu.js';
import { Bar } from '../../ui/gauges.js';
import { Page, Panel, Segmented } from '../../ui/layout.js';
import { Answer, Empty, ErrorBox, Loading } from '../../ui/states.js';
import { VirtualList } from '../../ui/table.js';
import { Entity, Time } from '../../ui/text.js';
import { budgetOf } from './budget.js';
import { Compared } from './compared-entry.js';
import { type ComparedRow, type ComparedSection, type Comparison, compare } from './comparison-rows.js';
import { TaskName } from './names.js';
import { sectionColor, sectionLabel } from './sections.js';

function Head({ manifest, title, max }: { manifest: Manifest; title: string; max: number }): ReactNode {
  const { parts, used, limit } = budgetOf(manifest);
  return (
    <section className="panel compared-head" aria-label={title}>
      <h2>{title}</h2>
      <Entity type="Context" id={manifest.manifest_id}>
        <Time at={manifest.created_at} />
      </Entity>
      <span className="number">
        <b>{integer(used)}</b>
        <span className="muted">{limit === null ? ' tokens' : ` of ${integer(limit)} tokens`}</span>
      </span>
      <Bar
        label={`Tokens by section, ${title.toLowerCase()}`}
        parts={parts.filter(({ id }) => id !== 'unused').map((part) => ({ ...part, value: part.tokens }))}
        max={max}
      />
    </section>
  );
}

const signed = (value: number): string => (value > 0 ? `+${integer(value)}` : value < 0 ? `−${integer(-value)}` : '0');

function SectionLine({ section, before, after }: ComparedSection): ReactNode {
  return (
    <h3 className="compared-section">
      <span>
        <i className="dot" style={{ '--c': sectionColor(section) } as CSSProperties} />
        {sectionLabel(section)}
      </span>
      <span className="muted">
        {integer(before)} → {integer(after)} tokens
        {after !== before && <b> {signed(after - before)}</b>}
      </span>
    </h3>
  );
}

function Sums({ comparison, diff }: { comparison: Comparison; diff: ManifestDiff }): ReactNode {
  const { counts, tokens } = comparison;
  const { before, after } = diff.tokens;
  return (
    <div className="compared-sums" role="group" aria-label="Changes in numbers">
      <span className="chip good">
        {integer(counts.added)} added, {signed(tokens.added)} tokens
      </span>
      <span className="chip bad">
        {integer(counts.removed)} removed, {signed(-tokens.removed)} tokens
      </span>
      <span className="chip warn">{integer(counts.changed + counts.replaced)} changed</span>
      <span className="chip plain">{integer(counts.same)} in both</span>
      {before !== null && after !== null && <span className="muted small">{signed(after - before)} tokens in all</span>}
    </div>
  );
}

const shownRows = [
  ['changes', 'Changes'],
  ['all', 'Everything'],
] as const;

/** Without lines that are in both, and without sections in which nothing else is. */
function onlyChanges(rows: readonly ComparedRow[]): ComparedRow[] {
  const changed = rows.filter((row) => row.type === 'section' || row.change !== 'same');
  return changed.filter((row, at) => row.type === 'entry' || changed[at + 1]?.type === 'entry');
}

const CHUNK = 60;

function Rows({ rows }: { rows: readonly ComparedRow[] }): ReactNode {
  const chunks = useMemo(() => {
    const entries = rows.flatMap((row) => (row.type === 'entry' ? [row] : []));
    return new Map(
      entries.map((row, at) => {
        const from = at - (at % CHUNK);
        return [row.key, { from, row }] as const;
      }),
    );
  }, [rows]);
  const cards = useMemo(() => {
    const byStart = new Map<number, string[]>();
    for (const { from, row } of chunks.values()) {
      const list = byStart.get(from) ?? [];
      for (const entry of [row.before, row.after]) if (entry && list.length < 100) list.push(entry.card_id);
      byStart.set(from, list);
    }
    return byStart;
  }, [chunks]);
  return (
    <VirtualList
      label="Changes"
      items={rows}
      keyOf={({ key }) => key}
      estimate={70}
      height="max(24rem, calc(100dvh - 19rem))"
      render={(row) =>
        row.type === 'section' ? (
          <SectionLine {...row} />
        ) : (
          <Compared row={row} chunk={cards.get(chunks.get(row.key)?.from ?? 0) ?? []} />
        )
      }
    />
  );
}

function Body({ after, before, diff }: { after: Manifest; before: Manifest; diff: ManifestDiff }): ReactNode {
  const [{ show }, change] = useSearch();
  const comparison = useMemo(() => compare(after, before, diff), [after, before, diff]);
  const rows = useMemo(() => (show === 'all' ? comparison.rows : onlyChanges(comparison.rows)), [comparison, show]);
  const max = Math.max(1, ...[after, before].map(({ token_budget, token_count }) => token_budget ?? token_count ?? 0));
  return (
    <>
      <div className="compared-heads">
        <Head manifest={before} title="Before" max={max} />
        <Head manifest={after} title="After" max={max} />
      </div>
      <Panel
        title={<Sums comparison={comparison} diff={diff} />}
        actions={
          <Segmented
            label="Lines"
            options={shownRows}
            value={show === 'all' ? 'all' : 'changes'}
            onChange={(next) => change({ show: next === 'all' ? next : undefined })}
          />
        }
        flush
      >
        {rows.length === 0 ? (
          <Empty title={diff.same ? 'Both are the same, byte for byte' : 'Both have the same parts'} />
        ) : (
          <Rows rows={rows} />
        )}
      </Panel>
    </>
  );
}

export function View(): ReactNode {
  const { manifestId, againstId } = useParams({ strict: false }) as { manifestId: string; againstId: string };
  const input = { manifest_id: manifestId, against: againstId };
  const after = useCall('manifests.get', { manifest_id: manifestId });
  const before = useCall('manifests.get', { manifest_id: againstId });
  const diff = useCall('manifests.diff', input);
  const task = after.data?.trajectory_id;
  return (
    <Page
      title="Two contexts"
      about={
        task ? (
          <Entity type="Trajectory" id={task}>
            <TaskName id={task} />
          </Entity>
        ) : (
          <span className="muted">…</span>
        )
      }
      actions={
        <>
          <Link to={`/contexts/${againstId}/compare/${manifestId}`} className="button">
            <ArrowLeftRight aria-hidden="true" />
            Swap
          </Link>
          {diff.data && <CopyMenu call="manifests.diff" input={input} value={diff.data} />}
        </>
      }
    >
      <Answer query={diff} lines={12}>
        {(data) => {
          const error = after.error ?? before.error;
          if (error) return <ErrorBox error={error} />;
          if (!after.data || !before.data) return <Loading lines={12} />;
          return <Body after={after.data} before={before.data} diff={data} />;
        }}
      </Answer>
    </Page>
  );
}

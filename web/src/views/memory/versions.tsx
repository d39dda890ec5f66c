/** The versions over time, and what changed between two of them. */
import type { ReactNode } from 'react';
import { useSearch } from '../../app/search.js';
import { Button } from '../../ui/button.js';
import { Panel } from '../../ui/layout.js';
import { Entity, Time } from '../../ui/text.js';
import { titleBeside } from './entries.js';
import type { History, Version } from './history.js';
import { diffTexts } from './word-diff.js';

export function Diff({ before, after }: { before: string; after: string }): ReactNode {
  const seen = new Map<string, number>();
  return (
    <div className="prose">
      {diffTexts(before, after).map(({ kind, text }) => {
        const count = (seen.get(kind + text) ?? 0) + 1;
        seen.set(kind + text, count);
        const key = `${kind} ${count} ${text}`;
        if (kind === 'same') return <span key={key}>{text}</span>;
        return kind === 'removed' ? <del key={key}>{text}</del> : <ins key={key}>{text}</ins>;
      })}
    </div>
  );
}

/** A title that the text begins with changes with it. */
const isQuote = ({ title, text }: Version): boolean => titleBeside(title, text) === '';

function changed(before: Version, after: Version): (readonly [name: string, from: string, to: string])[] {
  const all = [
    ...(isQuote(before) && isQuote(after) ? [] : [['Title', before.title, after.title] as const]),
    ['Type', before.kind, after.kind],
    ['Confidence', String(before.confidence ?? 'none'), String(after.confidence ?? 'none')],
    ['Lifetime', before.lifetime, after.lifetime],
  ] as const;
  return all.filter(([, from, to]) => from !== to);
}

function Comparison({ before, after }: { before: Version; after: Version }): ReactNode {
  return (
    <div className="stack">
      {changed(before, after).map(([name, from, to]) => (
        <p key={name} className="small">
          <span className="muted">{name}: </span>
          <del>{from}</del> <ins>{to}</ins>
        </p>
      ))}
      {before.text === after.text ? (
        <p className="muted small">The text is the same.</p>
      ) : (
        <Diff before={before.text} after={after.text} />
      )}
    </div>
  );
}

export function Versions({ history }: { history: History }): ReactNode {
  const [search, setSearch] = useSearch();
  const { versions, total, hasMore, loadMore } = history;
  if (versions.length < 2) return null;
  const find = (version: string | undefined) => versions.find((one) => String(one.version) === version);
  const after = find(search.version) ?? versions[0]!;
  const before = find(search.against) ?? versions.find(({ version }) => version === after.version - 1);
  const select = (label: string, value: Version | undefined, onChange: (version: string) => void) => (
    <select
      className="input version-select"
      aria-label={label}
      value={value?.version ?? ''}
      onChange={(event) => onChange(event.target.value)}
    >
      {value === undefined && <option value="">none</option>}
      {versions.map(({ version }) => (
        <option key={version} value={version}>
          Version {version}
        </option>
      ))}
    </select>
  );
  return (
    <Panel
      title={`${total ?? versions.length} versions`}
      actions={
        <>
          <span className="muted small">From</span>
          {select('Compare from', before, (against) => setSearch({ against }))}
          <span className="muted small">to</span>
          {select('Compare to', after, (version) => setSearch({ version, against: undefined }))}
        </>
      }
    >
      <div className="versions">
        <ol className="version-list">
          {versions.map((one) => (
            <li key={one.version}>
              <button
                type="button"
                aria-current={one === after ? 'true' : undefined}
                onClick={() => setSearch({ version: String(one.version), against: undefined })}
              >
                <b>Version {one.version}</b>
                <Time at={one.updated_at} />
              </button>
            </li>
          ))}
          {hasMore && (
            <li>
              <Button kind="quiet" onClick={loadMore}>
                Older versions
              </Button>
            </li>
          )}
        </ol>
        <div className="stack">
          {after.agent_id && (
            <p className="muted small">
              By <Entity type="Agent" id={after.agent_id} />
            </p>
          )}
          {before ? <Comparison before={before} after={after} /> : <div className="prose">{after.text}</div>}
        </div>
      </div>
    </Panel>
  );
}

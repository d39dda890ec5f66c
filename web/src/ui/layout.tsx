/** Pages, panels, tabs. */
import { Tabs as RadixTabs } from 'radix-ui';
import type { ReactNode } from 'react';

interface PageProps {
  readonly title: ReactNode;
  /** One sentence under the title, or chips. */
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

export function Page({ title, about, actions, children }: PageProps): ReactNode {
  return (
    <div className="page">
      <header className="page-head">
        <div className="stack tight grow">
          <h1>{title}</h1>
          {typeof about === 'string' ? <p>{about}</p> : about && <div className="row wrap">{about}</div>}
        </div>
        {actions && <div className="row wrap">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface PanelProps {
  readonly title?: ReactNode;
  readonly actions?: ReactNode;
  /** Without padding, for tables and lists. */
  readonly flush?: boolean;
  readonly children: ReactNode;
}

export function Panel({ title, actions, flush = false, children }: PanelProps): ReactNode {
  return (
    <section className="panel">
      {(title || actions) && (
        <div className="panel-head">
          <h2>{title}</h2>
          {actions && <div className="row wrap">{actions}</div>}
        </div>
      )}
      <div className={`panel-body ${flush ? 'flush' : ''}`}>{children}</div>
    </section>
  );
}

export interface Tab {
  readonly id: string;
  readonly label: ReactNode;
  readonly content: ReactNode;
}

/** Tabs; the chosen one is in the URL, so it is a link. */
export function Tabs({
  tabs,
  value,
  onChange,
}: {
  tabs: readonly Tab[];
  value: string;
  onChange: (id: string) => void;
}): ReactNode {
  return (
    <RadixTabs.Root value={value} onValueChange={onChange} className="stack" style={{ gap: 'var(--s4)' }}>
      <RadixTabs.List className="tabs">
        {tabs.map(({ id, label }) => (
          <RadixTabs.Trigger key={id} value={id} className="tab">
            {label}
          </RadixTabs.Trigger>
        ))}
      </RadixTabs.List>
      {tabs.map(({ id, content }) => (
        <RadixTabs.Content key={id} value={id} className="stack" style={{ gap: 'var(--s4)' }}>
          {content}
        </RadixTabs.Content>
      ))}
    </RadixTabs.Root>
  );
}

/** A choice of two to four ways to look at the same. */
export function Segmented<T extends string>({
  label,
  options,
  value,
  onChange,
}: {
  label: string;
  options: readonly (readonly [value: T, label: string])[];
  value: T;
  onChange: (value: T) => void;
}): ReactNode {
  return (
    <div className="segmented" role="group" aria-label={label}>
      {options.map(([option, text]) => (
        <button key={option} type="button" aria-pressed={option === value} onClick={() => onChange(option)}>
          {text}
        </button>
      ))}
    </div>
  );
}

/** Names and values. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }): ReactNode {
  return (
    <dl className="facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== null && value !== '')
        .map(([name, value]) => (
          <div key={name} style={{ display: 'contents' }}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

export const Stat = ({ label, children }: { label: string; children: ReactNode }): ReactNode => (
  <div className="stat">
    <b>{children}</b>
    <span>{label}</span>
  </div>
);

/** The right side: why each part is in the context, and what was left out by which limit. */
import type { Manifest } from 'cairndb/client';
import { ChevronRight } from 'lucide-react';
import { type CSSProperties, type ReactNode, useMemo, useState } from 'react';
import { integer } from '../../data/format.js';
import { VirtualList } from '../../ui/table.js';
import { EntryView } from './entry-view.js';
import { shortReason, whyOf } from './reasons.js';
import { type SectionName, sectionColor, sectionLabel } from './sections.js';
import { type GroupRow, groupKey, type SectionRow, type WhyRow, whyRows } from './why-rows.js';

const colored = (color: string): CSSProperties => ({ '--c': color }) as CSSProperties;

const Section = ({ section, count, tokens }: SectionRow): ReactNode => (
  <h3 className="why-section">
    <i className="dot" style={colored(sectionColor(section))} />
    {sectionLabel(section)}
    <span className="faint">{integer(count)}</span>
    <span className="number muted">{integer(tokens)}</span>
  </h3>
);

function counted(section: SectionName, count: number): string {
  const name = sectionLabel(section).toLowerCase();
  if (count !== 1) return name;
  return section === 'summaries' ? 'summary' : name.replace(/s$/, '');
}

function Group({ row, manifest, onToggle }: { row: GroupRow; manifest: Manifest; onToggle: () => void }): ReactNode {
  const { section, reason, count, tokens, isOpen } = row;
  return (
    <button type="button" className="why-group" aria-expanded={isOpen} onClick={onToggle}>
      <ChevronRight aria-hidden="true" />
      <i className="dot" style={colored(sectionColor(section))} />
      <span className="grow">
        {integer(count)} {counted(section, count)}: {shortReason(reason)}
        <span className="muted small">{whyOf(reason, section, manifest)}</span>
      </span>
      <span className="number muted">{tokens > 0 ? integer(tokens) : ''}</span>
    </button>
  );
}

interface Props {
  readonly manifest: Manifest;
  /** Titles of what is shown, by index. */
  readonly titleOf: (entry: number) => string | undefined;
  readonly marked: number | undefined;
  readonly selected: number | undefined;
  readonly onSelect: (entry: number | undefined) => void;
  readonly onHover: (entry: number | undefined) => void;
}

export function WhyPane({ manifest, titleOf, marked, selected, onSelect, onHover }: Props): ReactNode {
  const chosen = selected === undefined ? undefined : manifest.entries[selected];
  const [open, setOpen] = useState<ReadonlySet<string>>(
    () => new Set(chosen && chosen.place === null ? [groupKey(chosen.section, chosen.reason)] : []),
  );
  const rows = useMemo(() => whyRows(manifest, open), [manifest, open]);
  const toggle = (key: string) =>
    setOpen((was) => {
      const next = new Set(was);
      if (!next.delete(key)) next.add(key);
      return next;
    });
  const render = (row: WhyRow): ReactNode => {
    if (row.type === 'section') return <Section {...row} />;
    if (row.type === 'group') return <Group row={row} manifest={manifest} onToggle={() => toggle(row.key)} />;
    if (row.type === 'title') return <h3 className="why-title">{row.text}</h3>;
    if (row.type === 'note') return <p className="why-note muted small">{row.text}</p>;
    return (
      <EntryView
        row={row}
        manifest={manifest}
        title={titleOf(row.index)}
        isMarked={marked === row.index}
        isSelected={selected === row.index}
        onSelect={onSelect}
        onHover={onHover}
      />
    );
  };
  return (
    <VirtualList
      label="Why each part is here, and what was left out"
      items={rows}
      keyOf={({ key }) => key}
      estimate={40}
      height="100%"
      reveal={
        selected === undefined ? undefined : rows.findIndex((row) => row.type === 'entry' && row.index === selected)
      }
      render={render}
    />
  );
}

/** The left side: the context as the model saw it, piece by piece. */
import { Bot, Settings2, User, Wrench } from 'lucide-react';
import type { CSSProperties, ReactNode } from 'react';
import { integer } from '../../data/format.js';
import { JsonTree } from '../../ui/json-tree.js';
import { VirtualList } from '../../ui/table.js';
import type { Piece, ToolCall } from './plan.js';
import { sectionColor, sectionLabel } from './sections.js';

const roles: Readonly<Record<string, readonly [label: string, icon: ReactNode]>> = {
  system: ['System', <Settings2 key="i" aria-hidden="true" />],
  user: ['User', <User key="i" aria-hidden="true" />],
  assistant: ['Assistant', <Bot key="i" aria-hidden="true" />],
  tool: ['Tool', <Wrench key="i" aria-hidden="true" />],
};

function Role({ role, label }: { role: string; label: string | undefined }): ReactNode {
  const [name, icon] = roles[role] ?? [role, null];
  return (
    <div className="piece-role">
      {icon}
      {name}
      {label && <span className="faint mono">{label}</span>}
    </div>
  );
}

const Call = ({ id, name, input }: ToolCall): ReactNode => (
  <details className="piece-call" open>
    <summary>
      Calls <code>{name}</code> {id && <span className="faint mono">{id}</span>}
    </summary>
    <JsonTree value={input} open={1} />
  </details>
);

/** Texts beyond this length are shown in parts. */
const FOLD = 6000;

function Text({ text }: { text: string }): ReactNode {
  const title = /^### [^\n]*/.exec(text)?.[0];
  const body = title === undefined ? text : text.slice(title.length).trimStart();
  return (
    <>
      {title !== undefined && <div className="piece-title">{title}</div>}
      <div className="prose">{body.slice(0, FOLD)}</div>
      {body.length > FOLD && (
        <details>
          <summary className="muted small">{integer(body.length - FOLD)} more characters</summary>
          <div className="prose">{body.slice(FOLD)}</div>
        </details>
      )}
    </>
  );
}

interface PieceProps {
  readonly piece: Piece;
  readonly place: number | null | undefined;
  readonly isMarked: boolean;
  readonly isSelected: boolean;
  readonly onSelect: (entry: number) => void;
  readonly onHover: (entry: number | undefined) => void;
}

function PieceView({ piece, place, isMarked, isSelected, onSelect, onHover }: PieceProps): ReactNode {
  const { section, entry } = piece;
  const color = section === undefined ? 'var(--line-strong)' : sectionColor(section);
  const state = `${isSelected ? 'selected' : ''} ${isMarked ? 'marked' : ''} ${piece.role ? 'first' : ''}`;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hovering marks its reason; the button does the same by keyboard.
    <div
      className={`piece ${state}`}
      style={{ '--c': color } as CSSProperties}
      onMouseEnter={() => onHover(entry)}
      onMouseLeave={() => onHover(undefined)}
    >
      <div className="piece-gutter">
        {entry !== undefined && section !== undefined && (
          <button
            type="button"
            aria-pressed={isSelected}
            aria-label={`Why is part ${place} here (${sectionLabel(section)})`}
            title={`Part ${place}: why it is here`}
            onClick={() => onSelect(entry)}
          >
            {place}
          </button>
        )}
      </div>
      <div className="piece-body">
        {piece.role && <Role role={piece.role} label={piece.label} />}
        {piece.isHeading ? (
          <div className="piece-heading">{piece.text}</div>
        ) : (
          <>
            {!piece.role && piece.label && <div className="faint mono tiny">{piece.label}</div>}
            {piece.text && <Text text={piece.text} />}
            {piece.data !== undefined && <JsonTree value={piece.data} />}
            {piece.calls?.map((call) => (
              <Call key={call.id + call.name} {...call} />
            ))}
          </>
        )}
      </div>
    </div>
  );
}

interface Props extends Pick<PieceProps, 'onSelect' | 'onHover'> {
  readonly pieces: readonly Piece[];
  /** Places of the entries, by index. */
  readonly placeOf: (entry: number) => number | null;
  readonly marked: number | undefined;
  readonly selected: number | undefined;
}

export function MessagesPane({ pieces, placeOf, marked, selected, ...on }: Props): ReactNode {
  return (
    <VirtualList
      label="Messages"
      items={pieces}
      keyOf={({ key }) => key}
      estimate={90}
      height="100%"
      reveal={selected === undefined ? undefined : pieces.findIndex(({ entry }) => entry === selected)}
      render={(piece) => (
        <PieceView
          piece={piece}
          place={piece.entry === undefined ? undefined : placeOf(piece.entry)}
          isMarked={marked !== undefined && piece.entry === marked}
          isSelected={selected !== undefined && piece.entry === selected}
          {...on}
        />
      )}
    />
  );
}

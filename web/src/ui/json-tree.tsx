/** Any JSON as a tree that folds. Long lists show their beginning first. */
import { type ReactNode, useState } from 'react';

const FIRST = 100;
const LONG_TEXT = 400;

function Scalar({ value }: { value: unknown }): ReactNode {
  const [whole, setWhole] = useState(false);
  if (typeof value !== 'string') return <span className="value">{String(value)}</span>;
  const cut = !whole && value.length > LONG_TEXT;
  return (
    <span className="string">
      "{cut ? value.slice(0, LONG_TEXT) : value}
      {cut && (
        <button type="button" className="id" onClick={() => setWhole(true)}>
          … {value.length - LONG_TEXT} more
        </button>
      )}
      "
    </span>
  );
}

function Node({ name, value, depth, open }: { name?: string; value: unknown; depth: number; open: number }): ReactNode {
  const [shown, setShown] = useState(FIRST);
  const [isOpen, setIsOpen] = useState(depth < open);
  const label = name !== undefined && <span className="key">{name}: </span>;
  if (value === null || typeof value !== 'object')
    return (
      <div>
        {label}
        <Scalar value={value} />
      </div>
    );
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  if (entries.length === 0)
    return (
      <div>
        {label}
        {isList ? '[]' : '{}'}
      </div>
    );
  return (
    <details open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>
        {label}
        <span className="faint">{isList ? `[${entries.length}]` : `{${entries.length}}`}</span>
      </summary>
      {isOpen && (
        <div>
          {entries.slice(0, shown).map(([key, item]) => (
            <Node key={key} name={key} value={item} depth={depth + 1} open={open} />
          ))}
          {entries.length > shown && (
            <button type="button" className="id" onClick={() => setShown(shown + 1000)}>
              {entries.length - shown} more
            </button>
          )}
        </div>
      )}
    </details>
  );
}

export const JsonTree = ({ value, open = 2 }: { value: unknown; open?: number }): ReactNode => (
  <div className="json">
    <Node value={value} depth={0} open={open} />
  </div>
);

/** Tables and long lists. Rows beyond the window are not in the document. */
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';

export interface Column<T> {
  readonly id: string;
  readonly label: string;
  readonly number?: boolean;
  readonly width?: string;
  readonly cell: (row: T) => ReactNode;
}

interface TableProps<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  readonly onOpen?: ((row: T) => void) | undefined;
}

/** A table of up to some hundred rows. Enter or a click opens a row. */
export function Table<T>({ label, columns, rows, keyOf, onOpen }: TableProps<T>): ReactNode {
  const open = (row: T) => (event: KeyboardEvent) => {
    if (event.key === 'Enter' && event.target === event.currentTarget) onOpen?.(row);
  };
  return (
    <div className="table-scroll">
      <table className="table" aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ id, label: text, number, width }) => (
              <th key={id} className={number ? 'number' : ''} style={width ? { width } : undefined} scope="col">
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={keyOf(row)}
              className={onOpen ? 'open' : ''}
              tabIndex={onOpen ? 0 : undefined}
              onClick={onOpen && (() => onOpen(row))}
              onKeyDown={onOpen && open(row)}
            >
              {columns.map(({ id, number, cell }) => (
                <td key={id} className={number ? 'number' : ''}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface ListProps<T> {
  readonly label: string;
  readonly items: readonly T[];
  readonly keyOf: (item: T) => string;
  readonly render: (item: T, index: number) => ReactNode;
  /** Guessed height of an item in pixels; measured once it is shown. */
  readonly estimate: number;
  /** Called when the end comes near: loads the next page. */
  readonly onEnd?: (() => void) | undefined;
  /** A CSS height. Default: what the window leaves. */
  readonly height?: string;
  /** Scrolls to the end whenever items are added while the end is in view, as a chat does. */
  readonly follow?: boolean;
  /** Brings the item of this index into view whenever it changes. */
  readonly reveal?: number | undefined;
}

/** A list of any length with items of any height. */
export function VirtualList<T>({
  label,
  items,
  keyOf,
  render,
  estimate,
  onEnd,
  height = 'calc(100dvh - 14rem)',
  follow = false,
  reveal,
}: ListProps<T>): ReactNode {
  const frame = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => frame.current,
    estimateSize: () => estimate,
    getItemKey: (index) => keyOf(items[index]!),
    overscan: 12,
  });
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? -1;
  useEffect(() => {
    if (last >= items.length - 20) onEnd?.();
  }, [last, items.length, onEnd]);
  const atEnd = useRef(true);
  useEffect(() => {
    if (follow && atEnd.current && items.length > 0) virtual.scrollToIndex(items.length - 1, { align: 'end' });
  }, [follow, items.length, virtual]);
  useEffect(() => {
    if (reveal !== undefined && reveal >= 0) virtual.scrollToIndex(reveal, { align: 'auto' });
  }, [reveal, virtual]);
  return (
    <div
      className="virtual"
      ref={frame}
      style={{ height }}
      role="list"
      aria-label={label}
      // A region that scrolls must be reachable by keyboard.
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
        atEnd.current = scrollTop + clientHeight >= scrollHeight - 80;
      }}
    >
      <div className="virtual-inner" style={{ height: virtual.getTotalSize() }}>
        {shown.map(({ index, key, start }) => (
          <div
            key={key}
            ref={virtual.measureElement}
            data-index={index}
            role="listitem"
            className="virtual-item"
            style={{ transform: `translateY(${start}px)` }}
          >
            {render(items[index]!, index)}
          </div>
        ))}
      </div>
    </div>
  );
}

/** The question, whom and what it is about, and what happens to the selected ones. */
import { Search as SearchIcon, Trash2 } from 'lucide-react';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Button } from '../../ui/button.js';
import { Segmented } from '../../ui/layout.js';
import { type Filters, kinds } from './filters.js';

/** Between the last key and the search. */
const TYPING_MS = 200;

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly options?: readonly string[];
  readonly search?: boolean;
}

/** A field that tells its value once nobody types any more. */
function TypedField({ label, value, onChange, options, search = false }: FieldProps): ReactNode {
  const [text, setText] = useState(value);
  const told = useRef(value);
  const list = useId();
  useEffect(() => {
    // From elsewhere, such as a link; not what was typed here.
    if (value === told.current) return;
    told.current = value;
    setText(value);
  }, [value]);
  useEffect(() => {
    if (text.trim() === told.current) return;
    const timer = setTimeout(() => {
      told.current = text.trim();
      onChange(told.current);
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, onChange]);
  return (
    <div className={search ? 'search-field' : 'memory-user'}>
      {search && <SearchIcon aria-hidden="true" />}
      <input
        className="input"
        type={search ? 'search' : 'text'}
        aria-label={label}
        placeholder={label}
        value={text}
        list={options && list}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => setText(event.target.value)}
      />
      {options && (
        <datalist id={list}>
          {options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
    </div>
  );
}

interface ToolbarProps {
  readonly filters: Filters;
  readonly onChange: (change: Partial<Record<keyof Filters, string | undefined>>) => void;
  readonly users: readonly string[];
  readonly types: readonly string[];
  readonly selected: number;
  readonly onClear: () => void;
  readonly onForget: () => void;
  /** How many are shown. */
  readonly children: ReactNode;
}

export function Toolbar({ filters, onChange, users, types, selected, ...rest }: ToolbarProps): ReactNode {
  const change = useRef(onChange);
  change.current = onChange;
  const [setQuery] = useState(() => (query: string) => change.current({ query }));
  const [setUser] = useState(() => (user: string) => change.current({ user }));
  return (
    <div className="memory-toolbar">
      <div className="row wrap">
        <TypedField search label="Ask a question, or search" value={filters.query} onChange={setQuery} />
        <TypedField label="User" value={filters.user ?? ''} onChange={setUser} options={users} />
        <select
          className="input memory-type"
          aria-label="Type"
          value={filters.type ?? ''}
          onChange={(event) => onChange({ type: event.target.value })}
        >
          <option value="">Any type</option>
          {types.map((type) => (
            <option key={type}>{type}</option>
          ))}
        </select>
      </div>
      <div className="row spread memory-second">
        <div className="memory-kinds">
          <Segmented
            label="Kind"
            options={kinds}
            value={filters.kind}
            onChange={(kind) => onChange({ kind, type: undefined })}
          />
        </div>
        {selected > 0 ? (
          <div className="row">
            <span className="small memory-count">{selected} selected</span>
            <Button kind="quiet" onClick={rest.onClear}>
              Clear
            </Button>
            <Button kind="danger" onClick={rest.onForget}>
              <Trash2 />
              Forget
            </Button>
          </div>
        ) : (
          <span className="muted small memory-count" aria-live="polite">
            {rest.children}
          </span>
        )}
      </div>
    </div>
  );
}

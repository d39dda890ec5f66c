/** The command palette: views, and a search of all content as one types. */
import { useNavigate } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { type ReactNode, useDeferredValue, useEffect, useRef, useState } from 'react';
import { useCall } from '../data/api.js';
import { pathOf } from '../data/links.js';
import { KindIcon } from '../ui/kinds.js';
import { navigation } from './views.js';

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** An id alone does not say what it is of: these are offered. */
const idTypes = [
  'Note',
  'Artifact',
  'Turn',
  'Card',
  'Trajectory',
  'Scope',
  'Execution',
  'Checkpoint',
  'Manifest',
  'Packet',
];

export function Palette({ onClose }: { onClose: () => void }): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const query = useDeferredValue(text.trim());
  useEffect(() => dialog.current!.showModal(), []);
  const isId = ID.test(query);
  const found = useCall('search.query', { query, limit: 12 }, { enabled: query.length > 1 && !isId, keep: true });
  const go = (path: string) => () => {
    onClose();
    void navigate({ to: path });
  };
  const views = navigation.filter(({ label }) => label.toLowerCase().includes(query.toLowerCase()));
  const results = query.length > 1 && !isId ? (found.data?.results ?? []) : [];
  return (
    <dialog
      ref={dialog}
      className="dialog palette"
      aria-label="Search"
      onCancel={onClose}
      onClick={(event) => {
        if (event.target === event.currentTarget) onClose();
      }}
    >
      <Command shouldFilter={false} label="Search">
        <Command.Input value={text} onValueChange={setText} placeholder="A question, an id, a view" />
        <Command.List>
          <Command.Empty>{found.isFetching ? 'Searching …' : 'Nothing found.'}</Command.Empty>
          {isId && (
            <Command.Group heading="Open the id as">
              {idTypes.map((type) => (
                <Command.Item key={type} value={type} onSelect={go(pathOf(type, query)!)}>
                  <KindIcon kind={type} />
                  {type}
                </Command.Item>
              ))}
            </Command.Group>
          )}
          {results.length > 0 && (
            <Command.Group heading="Memory">
              {results.map(({ entity_type, id, name, snippet }) => (
                <Command.Item key={id} value={id} onSelect={go(pathOf(entity_type, id) ?? '/memory')}>
                  <KindIcon kind={entity_type} />
                  <span className="clip grow">{name ?? snippet}</span>
                </Command.Item>
              ))}
            </Command.Group>
          )}
          {views.length > 0 && (
            <Command.Group heading="Views">
              {views.map(({ path, label, icon: Icon }) => (
                <Command.Item key={path} value={path} onSelect={go(path)}>
                  <Icon aria-hidden="true" />
                  {label}
                </Command.Item>
              ))}
            </Command.Group>
          )}
        </Command.List>
      </Command>
    </dialog>
  );
}

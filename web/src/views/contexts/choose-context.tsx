/** Chooses the context to compare with: others of the same scope or task, newest first. */
import type { Manifest, ManifestSummary } from 'cairndb/client';
import { type FormEvent, type ReactNode, useState } from 'react';
import { usePages } from '../../data/api.js';
import { integer } from '../../data/format.js';
import { Button } from '../../ui/button.js';
import { Segmented } from '../../ui/layout.js';
import { Dialog } from '../../ui/overlays.js';
import { Answer, Empty } from '../../ui/states.js';
import { Time } from '../../ui/text.js';

type Within = 'scope' | 'task' | 'all';

interface Props {
  readonly manifest: Manifest;
  readonly onChoose: (manifest_id: string) => void;
  readonly onClose: () => void;
}

const Choice = ({ one, onChoose }: { one: ManifestSummary; onChoose: (id: string) => void }): ReactNode => (
  <li>
    <button type="button" className="choice" onClick={() => onChoose(one.manifest_id)}>
      <Time at={one.created_at} />
      <span className="muted">{one.kind === 'assembly' ? 'assembled' : 'packed'}</span>
      <span className="number muted">
        {one.token_count === null ? '' : `${integer(one.token_count)} of ${integer(one.token_budget)} tokens`}
      </span>
    </button>
  </li>
);

export function ChooseContext({ manifest, onChoose, onClose }: Props): ReactNode {
  const { scope_id, trajectory_id } = manifest;
  const [within, setWithin] = useState<Within>(scope_id ? 'scope' : trajectory_id ? 'task' : 'all');
  const [id, setId] = useState('');
  const options = [
    ...(scope_id ? [['scope', 'Same scope'] as const] : []),
    ...(trajectory_id ? [['task', 'Same task'] as const] : []),
    ['all', 'All'] as const,
  ];
  const list = usePages('manifests.list', 'manifests', {
    order: 'desc',
    limit: 50,
    ...(within === 'scope' && scope_id ? { scope_id } : {}),
    ...(within === 'task' && trajectory_id ? { trajectory_id } : {}),
  });
  const others = list.items.filter(({ manifest_id }) => manifest_id !== manifest.manifest_id);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (id.trim() !== '') onChoose(id.trim());
  };
  return (
    <Dialog title="Compare with" onClose={onClose}>
      <Segmented label="Contexts of" options={options} value={within} onChange={setWithin} />
      <Answer query={list.query}>
        {() =>
          others.length === 0 ? (
            <Empty title="There is no other context here" />
          ) : (
            <ul className="choices">
              {others.map((one) => (
                <Choice key={one.manifest_id} one={one} onChoose={onChoose} />
              ))}
              {list.query.hasNextPage && (
                <li>
                  <Button kind="quiet" onClick={list.loadMore}>
                    Show more
                  </Button>
                </li>
              )}
            </ul>
          )
        }
      </Answer>
      <form className="row" onSubmit={submit}>
        <input
          className="input mono"
          aria-label="Manifest id"
          placeholder="Or the id of a manifest"
          value={id}
          onChange={(event) => setId(event.target.value)}
        />
        <Button type="submit">Compare</Button>
      </form>
    </Dialog>
  );
}

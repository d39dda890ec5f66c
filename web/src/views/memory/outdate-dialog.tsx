/** A memory that holds no longer: replaced by a new statement, or simply not true any more. */
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useSession } from '../../app/session.js';
import { useChange } from '../../data/api.js';
import { pathOf } from '../../data/links.js';
import { Segmented } from '../../ui/layout.js';
import { Confirm } from '../../ui/overlays.js';
import { notify } from '../../ui/toast.js';
import type { Version } from './history.js';

interface Props {
  readonly type: 'Note' | 'Artifact';
  readonly id: string;
  readonly current: Version;
  readonly onClose: () => void;
}

const ways = [
  ['replaced', 'Something replaced it'],
  ['over', 'It is no longer true'],
] as const;

export function OutdateDialog({ type, id, current, onClose }: Props): ReactNode {
  const [way, setWay] = useState<(typeof ways)[number][0]>('replaced');
  const [text, setText] = useState('');
  const replace = useReplacement(type, id, current);
  const note = useChange('notes.delete', ['notes', 'search', 'memory']);
  const artifact = useChange('artifacts.delete', ['artifacts', 'search', 'memory']);
  const confirm = async () => {
    if (way === 'replaced') return replace(text.trim());
    if (type === 'Note') await note.mutateAsync({ note_id: id });
    else await artifact.mutateAsync({ artifact_id: id });
    notify('Marked as no longer true');
  };
  return (
    <Confirm
      title="Mark outdated"
      action={way === 'replaced' ? 'Replace it' : 'Mark as no longer true'}
      isReady={way === 'over' || text.trim() !== ''}
      onConfirm={confirm}
      onClose={onClose}
    >
      <blockquote className="quoted lines-3">{current.text}</blockquote>
      <div>
        <Segmented label="Why" options={ways} value={way} onChange={setWay} />
      </div>
      {way === 'replaced' ? (
        <>
          <label className="field">
            <span>What holds now</span>
            <textarea
              className="input"
              rows={3}
              value={text}
              placeholder={current.text.slice(0, 80)}
              onChange={(event) => setText(event.target.value)}
            />
          </label>
          <p className="muted small">
            The new statement is remembered and supersedes this one, which recall then shows as the former value.
          </p>
        </>
      ) : (
        <p className="muted small">
          It is deleted: lists and searches no longer find it. Its history remains, for whoever asks what was known at
          an earlier time. To erase the content as well, forget it.
        </p>
      )}
    </Confirm>
  );
}

/** Remembers a statement in place of another, about the same people, and opens it. */
function useReplacement(type: Props['type'], id: string, current: Version): (text: string) => Promise<void> {
  const { who } = useSession();
  const navigate = useNavigate();
  const remember = useChange('memory.remember', ['notes', 'search', 'memory', 'edges']);
  const create = useChange('notes.create', ['notes', 'search', 'memory', 'edges']);
  const link = useChange('edges.create', ['edges', 'notes', 'artifacts', 'search', 'memory']);
  const note_type = type === 'Note' ? current.kind : 'Fact';
  const { subject_ids } = current;
  return async (text) => {
    let new_id: string;
    let isLinked = false;
    if (subject_ids.length > 1) {
      // remember is for one user at most.
      const title = text.split('\n', 1)[0]!.slice(0, 80);
      const made = await create.mutateAsync({ note_type, title, content: text, subject_ids: [...subject_ids] });
      new_id = made.note_id;
    } else {
      const user = who.user_id ?? subject_ids[0];
      const made = await remember.mutateAsync({ text, type: note_type, user });
      new_id = made.id;
      isLinked = made.superseded?.some((one) => one.id === id) ?? false;
    }
    if (!isLinked)
      await link.mutateAsync({
        edge_type: 'Supersedes',
        participants: [
          { entity_type: 'Note', entity_id: new_id },
          { entity_type: type, entity_id: id },
        ],
      });
    notify('Replaced by the new statement');
    void navigate({ to: pathOf('Note', new_id)! });
  };
}

/** A correction: the same memory with another text, as a new version. */
import { type ReactNode, useState } from 'react';
import { useChange } from '../../data/api.js';
import { Confirm } from '../../ui/overlays.js';
import { notify } from '../../ui/toast.js';
import { titleBeside } from './entries.js';
import type { Version } from './history.js';

interface Props {
  readonly type: 'Note' | 'Artifact';
  readonly id: string;
  readonly current: Version;
  readonly onClose: () => void;
}

const TITLE_LENGTH = 80;

/** A title that is the beginning of the text follows it. */
const titleOf = (text: string): string => {
  const line = text.trim().split('\n', 1)[0]!;
  const letters = [...line];
  return letters.length <= TITLE_LENGTH ? line : `${letters.slice(0, TITLE_LENGTH - 1).join('')}…`;
};

/** The content as it was: JSON stays JSON. */
function contentFrom(text: string, isText: boolean): { content?: unknown; fault?: string } {
  if (isText) return text.trim() === '' ? { fault: 'The text must not be blank.' } : { content: text };
  try {
    return { content: JSON.parse(text) as unknown };
  } catch (error) {
    return { fault: `This is no JSON: ${(error as Error).message}` };
  }
}

export function CorrectDialog({ type, id, current, onClose }: Props): ReactNode {
  const isText = typeof current.content === 'string';
  const [text, setText] = useState(current.text);
  const follows = isText && titleBeside(current.title, current.text) === '';
  const [title, setTitle] = useState(current.title);
  const note = useChange('notes.update', ['notes', 'search', 'memory']);
  const artifact = useChange('artifacts.update', ['artifacts', 'search', 'memory']);
  const { content, fault } = contentFrom(text, isText);
  const shownTitle = follows ? titleOf(text) : title;
  const isChanged = text !== current.text || (!follows && title !== current.title);
  const save = async () => {
    const patch = { ...(text === current.text ? {} : { content: content as never }), version: current.version };
    const name = shownTitle === current.title ? undefined : shownTitle;
    if (type === 'Note') await note.mutateAsync({ note_id: id, title: name, ...patch });
    else await artifact.mutateAsync({ artifact_id: id, name, ...patch });
    notify(`Corrected: version ${current.version + 1}`);
  };
  return (
    <Confirm
      title="Correct this memory"
      action="Save the correction"
      isReady={isChanged && fault === undefined && shownTitle.trim() !== ''}
      onConfirm={save}
      onClose={onClose}
    >
      {!follows && (
        <label className="field">
          <span>{type === 'Note' ? 'Title' : 'Name'}</span>
          <input className="input" value={title} onChange={(event) => setTitle(event.target.value)} />
        </label>
      )}
      <label className="field">
        <span>{isText ? 'Text' : 'Content, as JSON'}</span>
        <textarea
          className={`input ${isText ? '' : 'mono'}`}
          rows={Math.min(16, Math.max(5, Math.ceil(text.length / 70)))}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      {fault && (
        <p className="small fault" role="alert">
          {fault}
        </p>
      )}
      <p className="muted small">
        It becomes version {current.version + 1}. Earlier versions stay in its history. If the world changed rather than
        the record was wrong, mark it outdated instead.
      </p>
    </Confirm>
  );
}

/** An answer: one of the choices, an action, what to use instead, a remark. */
import type { Pause } from 'cairndb/client';
import { type ReactNode, useId, useState } from 'react';
import { type InputOf, useChange } from '../../data/api.js';
import { Button } from '../../ui/button.js';
import { ErrorBox } from '../../ui/states.js';
import { notify } from '../../ui/toast.js';

type Action = Pause['answers'][number];

const labels: Readonly<Record<Action, string>> = {
  approve: 'Approve',
  reject: 'Reject',
  modify: 'Use this instead',
  continue: 'Continue',
  retry: 'Retry',
  cancel: 'Cancel the run',
};

/** With choices, these take one. */
const CHOOSING: readonly Action[] = ['approve', 'continue'];

/** JSON where it is some, such as a number or an object; else text. */
function valueFrom(text: string): InputOf<'pauses.answer'>['value'] {
  try {
    return JSON.parse(text) as InputOf<'pauses.answer'>['value'];
  } catch {
    return text;
  }
}

export function AnswerForm({ pause }: { pause: Pause }): ReactNode {
  const { pause_id, choices, answers } = pause;
  const [choice, setChoice] = useState<string | undefined>();
  const [value, setValue] = useState('');
  const [comment, setComment] = useState('');
  const group = useId();
  const change = useChange('pauses.answer', ['pauses', 'executions', 'agent_turns']);
  const answer = (action: Action) =>
    change.mutate(
      {
        pause_id,
        action,
        ...(CHOOSING.includes(action) && choice !== undefined ? { choice } : {}),
        ...(action === 'modify' ? { value: valueFrom(value) } : {}),
        ...(comment.trim() === '' ? {} : { comment: comment.trim() }),
      },
      { onSuccess: () => notify('Answered: the run goes on') },
    );
  const isReady = (action: Action): boolean =>
    action === 'modify'
      ? value.trim() !== ''
      : !(CHOOSING.includes(action) && choices.length > 0 && choice === undefined);
  const main = answers.find((action) => CHOOSING.includes(action));
  return (
    <div className="stack">
      {choices.length > 0 && (
        <fieldset className="choices">
          <legend className="visually-hidden">Choices</legend>
          {choices.map(({ value: id, label }) => (
            <label key={id} className="row small">
              <input type="radio" name={group} checked={choice === id} onChange={() => setChoice(id)} />
              {label}
            </label>
          ))}
        </fieldset>
      )}
      {answers.includes('modify') && (
        <details className="small" open={answers.length === 1}>
          <summary>Use something else</summary>
          <textarea
            className="input"
            rows={2}
            aria-label="What to use instead, as text or JSON"
            placeholder="Text or JSON"
            value={value}
            onChange={(event) => setValue(event.target.value)}
          />
        </details>
      )}
      <input
        className="input"
        aria-label="Remark for the run"
        placeholder="Remark, if any"
        value={comment}
        onChange={(event) => setComment(event.target.value)}
      />
      {change.error && <ErrorBox error={change.error} />}
      <div className="row wrap">
        {answers
          .filter((action) => action !== 'modify' || value.trim() !== '')
          .map((action) => (
            <Button
              key={action}
              kind={action === main ? 'primary' : action === 'cancel' ? 'danger' : undefined}
              disabled={!isReady(action) || change.isPending}
              onClick={() => answer(action)}
            >
              {labels[action]}
            </Button>
          ))}
      </div>
    </div>
  );
}

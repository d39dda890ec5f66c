/** Asks for a key once the store has keys. */
import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from '../ui/button.js';
import { ErrorBox } from '../ui/states.js';
import { Mark } from './mark.js';

interface Props {
  readonly error: Error | undefined;
  readonly onKey: (key: string, remember: boolean) => Promise<void>;
}

export function SignIn({ error, onKey }: Props): ReactNode {
  const [key, setKey] = useState('');
  const [remember, setRemember] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (key.trim() !== '') void onKey(key.trim(), remember);
  };
  return (
    <main className="sign-in">
      <form className="panel" onSubmit={submit}>
        <div className="row">
          <Mark />
          <h1>Sign in to Cairn</h1>
        </div>
        <p className="muted small">
          This store has keys. Create one on the machine of the store: <code>cairn keys create --role read</code>
        </p>
        {error && <ErrorBox error={error} />}
        <label className="field">
          <span>Key</span>
          <input
            className="input mono"
            type="password"
            autoComplete="off"
            spellCheck={false}
            value={key}
            onChange={(event) => setKey(event.target.value)}
            // The only field of the page.
            // biome-ignore lint/a11y/noAutofocus: nothing precedes it.
            autoFocus
          />
        </label>
        <label className="row small">
          <input type="checkbox" checked={remember} onChange={(event) => setRemember(event.target.checked)} />
          Keep the key until this tab closes
        </label>
        <Button type="submit" kind="primary" disabled={key.trim() === ''}>
          Sign in
        </Button>
      </form>
    </main>
  );
}

/** What a view shows while it waits, when it failed, and when there is nothing. */
import type { CairnError } from 'cairndb/client';
import { Check, CircleAlert, Copy } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button, IconButton } from './button.js';

export function Loading({ label = 'Loading', lines = 6 }: { label?: string; lines?: number }): ReactNode {
  return (
    <div className="skeleton" role="status">
      <span className="visually-hidden">{label}</span>
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are alike.
        <i key={line} />
      ))}
    </div>
  );
}

export function ErrorBox({ error, retry }: { error: unknown; retry?: (() => void) | undefined }): ReactNode {
  const { code, message } = error as CairnError;
  return (
    <div className="error-box" role="alert">
      <CircleAlert aria-hidden="true" />
      <div className="grow stack tight">
        {code && <strong>{code}</strong>}
        <span>{message}</span>
      </div>
      {retry && <Button onClick={retry}>Try again</Button>}
    </div>
  );
}

export async function copyText(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
}

/** A command to copy. */
export function Command({ children }: { children: string }): ReactNode {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(children);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <span className="command">
      <code>{children}</code>
      <IconButton label={copied ? 'Copied' : 'Copy the command'} onClick={() => void copy()}>
        {copied ? <Check /> : <Copy />}
      </IconButton>
    </span>
  );
}

interface EmptyProps {
  readonly title: string;
  /** The command that fills this view. */
  readonly command?: string | undefined;
  readonly children?: ReactNode;
}

export function Empty({ title, command, children }: EmptyProps): ReactNode {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {command && <Command>{command}</Command>}
    </div>
  );
}

interface Asked<T> {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly isPending: boolean;
  readonly refetch?: () => unknown;
}

/** The answer of a query, or why there is none yet. */
export function Answer<T>({
  query,
  lines,
  children,
}: {
  query: Asked<T>;
  lines?: number;
  children: (data: T) => ReactNode;
}): ReactNode {
  if (query.data !== undefined) return children(query.data);
  if (query.error) return <ErrorBox error={query.error} retry={() => void query.refetch?.()} />;
  return <Loading {...(lines === undefined ? {} : { lines })} />;
}

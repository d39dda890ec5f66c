/** A short notice that something was done. */
import { type ReactNode, useEffect, useSyncExternalStore } from 'react';

let text: string | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

export function notify(message: string | undefined): void {
  text = message;
  clearTimeout(timer);
  if (message !== undefined) timer = setTimeout(() => notify(undefined), 4000);
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export function Toasts(): ReactNode {
  const message = useSyncExternalStore(subscribe, () => text);
  useEffect(() => () => notify(undefined), []);
  return (
    <div role="status" aria-live="polite">
      {message !== undefined && <div className="toast">{message}</div>}
    </div>
  );
}

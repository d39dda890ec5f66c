/** Combined abort signals. */

const sources = new WeakMap<AbortSignal, readonly AbortSignal[]>();

/**
 * Aborts when the first of the signals does. Keeps them referenced: Node 20 collects a timeout signal that only
 * `AbortSignal.any` refers to, and then it never fires.
 */
export function anySignal(signals: readonly AbortSignal[]): AbortSignal {
  const any = AbortSignal.any([...signals]);
  sources.set(any, signals);
  return any;
}

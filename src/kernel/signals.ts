/** Combined abort signals. */

const sources = new WeakMap<AbortSignal, readonly AbortSignal[]>();

/** Aborts with the first signal. Refers to all: Node 20 collects a timeout that only `AbortSignal.any` refers to. */
export function anySignal(signals: readonly AbortSignal[]): AbortSignal {
  const any = AbortSignal.any([...signals]);
  sources.set(any, signals);
  return any;
}

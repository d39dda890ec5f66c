/** Signals put together. */

const sources = new WeakMap<AbortSignal, readonly AbortSignal[]>();

/**
 * Given as soon as one of these is. Node 20 lets a time-out go that nobody holds but what was put together of it, and then
 * it never ends anything: here the one holds the other.
 */
export function anySignal(signals: readonly AbortSignal[]): AbortSignal {
  const any = AbortSignal.any([...signals]);
  sources.set(any, signals);
  return any;
}

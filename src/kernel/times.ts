/** Moments as numbers and as texts. Without the schemas: a thread that only reads loads none. */
let last = { ms: 0, iso: new Date(0).toISOString() };

/** Many in a row are of the same millisecond: that of now. */
export function toIso(ms: number): string {
  if (ms !== last.ms) last = { ms, iso: new Date(ms).toISOString() };
  return last.iso;
}

export const toMs = (iso: string): number => Date.parse(iso);

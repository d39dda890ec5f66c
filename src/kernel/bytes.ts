/** Bytes on the wire: base64 text, or a list of numbers for languages without base64 at hand. */
import { z } from 'zod';
import { withCommas } from './numbers.js';

type Bytes = ArrayLike<number>;

const isByte = (value: unknown): boolean =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) < 256;

/** The bytes of a Buffer or a Uint8Array in JSON: `{ "0": 1, "1": 2 }`. */
function bytesOfObject(value: object): unknown[] | undefined {
  const { type, data } = value as { type?: unknown; data?: unknown };
  if (type === 'Buffer' && Array.isArray(data)) return data;
  const entries = Object.entries(value);
  return entries.every(([key], i) => key === String(i)) ? entries.map(([, byte]) => byte as unknown) : undefined;
}

/** Without zod, which would report every wrong element. */
function bytesIn(value: unknown): Bytes | undefined {
  if (value instanceof Uint8Array) return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const list = Array.isArray(value) ? (value as unknown[]) : bytesOfObject(value);
  return list?.every(isByte) ? (list as number[]) : undefined;
}

const CHUNK = 8192;

function toBase64(bytes: Bytes): string {
  let binary = '';
  for (let i = 0; i < bytes.length; i += CHUNK)
    binary += String.fromCharCode(...Array.prototype.slice.call(bytes, i, i + CHUNK));
  return btoa(binary);
}

/** Opaque bytes, stored and returned as base64. */
export function bytes(max: number) {
  const error = `must be base64 text or a list of bytes (0 to 255), up to ${withCommas(max)} bytes`;
  const text = z.base64({ error }).max(Math.ceil(max / 3) * 4, { error });
  const list = z
    .unknown()
    .refine((value) => (bytesIn(value)?.length ?? max + 1) <= max, error)
    .meta({ type: 'array', items: { type: 'integer', minimum: 0, maximum: 255 }, maxItems: max });
  const asList = list as unknown as z.ZodType<Uint8Array | number[], Uint8Array | number[]>;
  return z
    .union([text, asList], { error })
    .transform((value) => (typeof value === 'string' ? value : toBase64(bytesIn(value)!)));
}

/** Ids that Cairn emits (UUIDv7) and accepts. */
import { z } from 'zod';

const PER_ID = 10;
/** Random bytes for many ids: one request per id would be most of the cost. */
const pool = new Uint8Array(400 * PER_ID);
let used = pool.length;
let lastMs = 0;
let counter = 0;

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** A UUIDv7 that increases within the process, so that new keys append to their index. */
export function newId(now = Date.now()): string {
  const random = takeRandom();
  if (now > lastMs) {
    lastMs = now;
    counter = firstCount(random);
  } else if (++counter > 0xfff) {
    lastMs++;
    counter = 0;
  }
  return idOf(lastMs, counter, random);
}

let atMs = 0;
let atCounter = 0;

/** A UUIDv7 with exactly this time, so that an index by id finds by time too. Ids of one millisecond mostly increase. */
export function newIdAt(ms: number): string {
  const random = takeRandom();
  atCounter = ms === atMs ? (atCounter + 1) & 0xfff : firstCount(random);
  atMs = ms;
  return idOf(ms, atCounter, random);
}

/** The text that the UUIDv7s of this millisecond start with, and that all later ones are greater than. */
export function timePrefix(ms: number): string {
  const time = Math.max(0, ms).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}`;
}

function takeRandom(): Uint8Array {
  if (used === pool.length) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  return pool.subarray(used, (used += PER_ID));
}

/** In the lower half of its range, so that there is room to count. */
const firstCount = (random: Uint8Array): number => ((random[0]! & 0x07) << 8) | random[1]!;

function idOf(ms: number, count: number, random: Uint8Array): string {
  const sequence = count.toString(16).padStart(3, '0');
  const variant = hex[0x80 | (random[2]! & 0x3f)];
  let tail = '';
  for (let i = 3; i < PER_ID; i++) tail += hex[random[i]!];
  return `${timePrefix(ms)}-7${sequence}-${variant}${tail.slice(0, 2)}-${tail.slice(2)}`;
}

export const NIL_ID = '00000000-0000-0000-0000-000000000000';

export const uuid = z
  .string()
  .regex(/^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/, 'must be a UUID')
  .toLowerCase()
  .meta({ format: 'uuid' });

/** card_id, box_id, agent_id: any printable string. "." and ".." would vanish from a URL path. */
export const anyId = z
  .string()
  .min(1)
  .max(200)
  .regex(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
    /^(?!\.{1,2}$)(?=.*\S)[^\u0000-\u001f\u007f-\u009f\u2028\u2029]+$/,
    'must be 1 to 200 printable characters, not all of them white space',
  )
  .refine((value) => value.isWellFormed(), 'contains half of a surrogate pair');

export const tenantId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, 'must be 1 to 64 letters, digits, "_", "." or "-"');

export const profileName = anyId.regex(/^\S(.*\S)?$/, 'must not begin or end with a space');

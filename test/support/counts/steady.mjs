// Makes a process repeatable: a clock that stands still until it is moved, seeded randomness, intervals that never fire,
// and timers that are counted. Imported before the product, so that ids, times and the shape of the trees they are kept in are the same in every run.
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { seeded } from '../../../bench/support/seeded.mjs';

let now = Date.UTC(2030, 0, 1);
let next = seeded(1);

/** Moves the clock, in milliseconds. */
export const advance = (ms) => (now += ms);

/** Begins the random numbers anew. */
export const reseed = () => (next = seeded(1));

function fill(buffer) {
  const bytes = new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  for (let i = 0; i < bytes.length; i++) bytes[i] = next() & 0xff;
  return buffer;
}

function uuid() {
  const hex = fill(Buffer.alloc(16)).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}

const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...args) {
    super(...(args.length === 0 ? [now] : args));
  }
  static now = () => now;
};
performance.now = () => now;
Math.random = () => next() / 2 ** 32;
crypto.webcrypto.getRandomValues = fill;
crypto.webcrypto.randomUUID = uuid;
crypto.randomUUID = uuid;
crypto.randomBytes = (size) => fill(Buffer.alloc(size));
// What is done every so often depends on how long a run takes.
const never = { unref: () => never, ref: () => never, hasRef: () => false, [Symbol.toPrimitive]: () => 0 };
globalThis.setInterval = () => never;

const SHORT_MS = 1000;
const realTimeout = globalThis.setTimeout;
const realClear = globalThis.clearTimeout;
const pending = new Set();
/** Timers that fire soon: work goes on in the background. */
export const pendingTimers = () => pending.size;
export const pause = (ms) => new Promise((resolve) => realTimeout(resolve, ms));
globalThis.setTimeout = (work, ms = 0, ...args) => {
  const timer = realTimeout(() => {
    pending.delete(timer);
    work(...args);
  }, ms);
  if (ms < SHORT_MS) pending.add(timer);
  return timer;
};
globalThis.clearTimeout = (timer) => {
  pending.delete(timer);
  realClear(timer);
};
syncBuiltinESMExports();

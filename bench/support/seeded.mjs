// Work that is the same in every run: a seeded generator, and UUIDv7 ids made from it.

/** A small generator of good quality (mulberry32): gives numbers from 0 to 2³² - 1. */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
}

const hex = (value, digits) => value.toString(16).padStart(digits, '0').slice(-digits);

/** Gives UUIDv7 ids that rise as a clock would make them rise: about four in a millisecond. */
export function uuids(seed) {
  const next = seeded(seed);
  let made = 0;
  return () => {
    const time = hex(1_700_000_000_000 + Math.floor(made / 4), 12);
    const sequence = hex(((made++ % 4) << 10) | (next() & 0x3ff), 3);
    const variant = hex(0x8000 | (next() & 0x3fff), 4);
    return `${time.slice(0, 8)}-${time.slice(8)}-7${sequence}-${variant}-${hex(next(), 8)}${hex(next(), 4)}`;
  };
}

const words = 'the agent found a supplier of recycled polymer and asked for its price per tonne'.split(' ');

/** Text of about so many characters. */
export function prose(next, length) {
  let text = '';
  while (text.length < length) text += `${words[next() % words.length]} `;
  return text.trimEnd();
}

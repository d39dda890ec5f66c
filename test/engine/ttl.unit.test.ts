/** Every form of a lifetime, and what it comes to. */
import { describe, expect, it } from 'vitest';
import { type Ttl, ttl } from '#cairn/engine/lifetimes/model.js';
import { lifetimeClassOf, lifetimeOf } from '#cairn/engine/lifetimes/ttl.js';

const NOW = 1_000_000;
const HOUR = 3_600_000;

describe('a lifetime', () => {
  it.each<[Ttl, string, number | null]>([
    ['Persistent', 'Persistent', null],
    ['Permanent', 'Persistent', null],
    ['Session', 'Session', null],
    ['Scope', 'Scope', null],
    ['Ephemeral', 'Scope', null],
    ['ShortTerm', 'Duration', NOW + HOUR],
    ['MediumTerm', 'Duration', NOW + 24 * HOUR],
    ['LongTerm', 'Duration', NOW + 168 * HOUR],
    ['Duration(1)', 'Duration', NOW + 1],
    ['Duration(3153600000000)', 'Duration', NOW + 3_153_600_000_000],
    [{ Duration: 90_000 }, 'Duration', NOW + 90_000],
  ])('%j is %s', (form, lifetime, expires_at) => {
    expect(ttl.parse(form)).toEqual(form);
    expect(lifetimeOf(form, NOW)).toEqual({ lifetime, expires_at });
    expect(lifetimeClassOf(form)).toBe(lifetime);
  });

  it.each<[unknown]>([
    ['Forever'],
    ['persist ent'],
    ['constructor'],
    ['Duration'],
    ['Duration()'],
    ['Duration(0)'],
    ['Duration(-1)'],
    ['Duration(1.5)'],
    ['Duration(3153600000001)'],
    [' Duration(5)'],
    [{ Duration: 0 }],
    [{ Duration: 0.5 }],
    [{ Duration: 3_153_600_000_001 }],
    [{ Duration: '5' }],
    [{ Duration: 5, unit: 's' }],
    [{}],
    [5],
    [null],
  ])('%j is none', (form) => {
    expect(ttl.safeParse(form).success).toBe(false);
  });
});

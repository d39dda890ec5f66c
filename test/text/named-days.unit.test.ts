/** Which day people mean. */
import { describe, expect, it } from 'vitest';
import { namedDay, type Tense } from '#cairn/text/named-days.js';

/** A Wednesday. */
const SAID_AT = Date.parse('2024-03-13T22:30:00Z');

describe('a named day', () => {
  it.each([
    ['on 12 April', 'coming', '2024-04-12'],
    ['on 12 January', 'coming', '2025-01-12'],
    ['on the 12th of January', 'past', '2024-01-12'],
    ['on April 12th', 'past', '2023-04-12'],
    ['by April 12', 'any', '2024-04-12'],
    ['for November 1', 'any', '2023-11-01'],
    ['May 3, 2022', 'coming', '2022-05-03'],
    ['2024-02-29', 'coming', '2024-02-29'],
    ['29.12.2023', 'coming', '2023-12-29'],
    ['12/29/2023', 'coming', '2023-12-29'],
    ['2024年5月6日', 'any', '2024-05-06'],
    ['today', 'coming', '2024-03-13'],
    ['tomorrow', 'coming', '2024-03-14'],
    ['yesterday', 'past', '2024-03-12'],
    ['the day after tomorrow', 'coming', '2024-03-15'],
    ['on Friday', 'coming', '2024-03-15'],
    ['on Friday', 'past', '2024-03-08'],
    ['next Friday', 'coming', '2024-03-22'],
    ['last Friday', 'past', '2024-03-08'],
    ['next Wednesday', 'coming', '2024-03-20'],
    ['last Wednesday', 'past', '2024-03-06'],
    ['in two weeks', 'coming', '2024-03-27'],
    ['in 3 days', 'coming', '2024-03-16'],
    ['a week ago', 'past', '2024-03-06'],
  ] as const)('%s (%s) is %s', (words, tense: Tense, day) => {
    const sentence = `It happens ${words} in Rome`;
    const named = namedDay(sentence, SAID_AT, tense);
    expect(named?.day).toBe(day);
    expect(sentence.slice(named!.index).startsWith(named!.words)).toBe(true);
  });

  it.each(['at 10.10.10.10', 'in v2.10.24', 'on 31 February', 'on 2024-13-01', 'some day', 'in a week of rain'])(
    '%s is none',
    (words) => {
      expect(namedDay(`It happens ${words}`, SAID_AT, 'coming')).toBeUndefined();
    },
  );

  it('that is told by the moment is none without it', () => {
    expect(namedDay('on Friday', undefined, 'coming')).toBeUndefined();
    expect(namedDay('on 12 April', undefined, 'coming')).toBeUndefined();
    expect(namedDay('on 12 April 2024', undefined, 'coming')?.day).toBe('2024-04-12');
  });
});

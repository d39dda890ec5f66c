/** Every form of a date that is read, what is none, and the dates that a question names. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readQuestion } from '#cairn/recall/index.js';
import { parseDate } from '#cairn/text/parse-date.js';
import { type DateMention, dateMentions, dateWords, isWithin, relativeMentions } from '#cairn/text/question-dates.js';

describe('a date', () => {
  it.each<[unknown, string]>([
    ['2021-06-05', '2021-06-05T00:00:00.000Z'],
    ['2021-06-05 07:08', '2021-06-05T07:08:00.000Z'],
    ['2021-06-05T07:08:09Z', '2021-06-05T07:08:09.000Z'],
    ['2021-06-05T07:08:09.123456+02:00', '2021-06-05T05:08:09.123Z'],
    ['2021-06-05T07:08:09-0330', '2021-06-05T10:38:09.000Z'],
    ['2021/6/5', '2021-06-05T00:00:00.000Z'],
    ['Sat, 05 Jun 2021 07:08:09 +0100', '2021-06-05T06:08:09.000Z'],
    ['Sat, 05 Jun 2021 07:08:09 GMT', '2021-06-05T07:08:09.000Z'],
    ['Sat Jun 05 2021 07:08:09 GMT+0200 (Central European Summer Time)', '2021-06-05T05:08:09.000Z'],
    ['Sat Jun  5 07:08:09 UTC 2021', '2021-06-05T07:08:09.000Z'],
    ['7:08 pm on 5 June, 2021', '2021-06-05T19:08:00.000Z'],
    ['12:00 am on 5 June, 2021', '2021-06-05T00:00:00.000Z'],
    ['June 5th, 2021 at 3pm', '2021-06-05T15:00:00.000Z'],
    ['June-05-2021', '2021-06-05T00:00:00.000Z'],
    ['5-Sept-2021', '2021-09-05T00:00:00.000Z'],
    ['05.06.2021, 07:08:09', '2021-06-05T07:08:09.000Z'],
    ['07:08 05-06-2021', '2021-06-05T07:08:00.000Z'],
    ['06/05/2021', '2021-06-05T00:00:00.000Z'],
    ['25/06/2021', '2021-06-25T00:00:00.000Z'],
    ['6/5/99', '1999-06-05T00:00:00.000Z'],
    ['29.02.2024', '2024-02-29T00:00:00.000Z'],
    [1_622_876_889_000, '2021-06-05T07:08:09.000Z'],
    ['1622876889000', '2021-06-05T07:08:09.000Z'],
    [1_622_876_889, '2021-06-05T07:08:09.000Z'],
    [0, '1970-01-01T00:00:00.000Z'],
  ])('%j is %s', (value, expected) => {
    expect(parseDate(value)).toBe(Date.parse(expected));
  });

  it.each<[unknown]>([
    [''],
    ['yesterday'],
    ['June'],
    ['June 2021'],
    ['2021'],
    ['07:08'],
    ['29.02.2023'],
    ['2021-13-01'],
    ['0021-06-05'],
    ['25:00 on 5 June, 2021'],
    ['13 pm on 5 June, 2021'],
    ['chapter 5.6.2021'],
    ['5 June 2021 or 6 June 2021'],
    [`5 June 2021${' '.repeat(100)}`],
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
    [1e300],
    [null],
    [undefined],
    [{}],
    [true],
  ])('%j is none', (value) => {
    expect(parseDate(value)).toBeUndefined();
  });

  it('is read back as it was written, and nothing throws', () => {
    const dates = fc.date({ min: new Date('1971-01-01'), max: new Date('2200-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(dates, (date) => {
        const second = Math.floor(date.getTime() / 1000) * 1000;
        expect(parseDate(date.toISOString())).toBe(date.getTime());
        expect(parseDate(date.toUTCString())).toBe(second);
        expect(parseDate(date.toString())).toBe(second);
      }),
    );
    fc.assert(fc.property(fc.oneof(fc.anything(), fc.string()), (value) => void parseDate(value)));
  });
});

describe('the dates in a question', () => {
  it.each<[string, DateMention[]]>([
    ['What did Ida cook on 5 June, 2021?', [{ day: 5, month: 5, year: 2021 }]],
    ['What did Ida cook on June 5th 2021?', [{ day: 5, month: 5, year: 2021 }]],
    ['on the 5th of June', [{ day: 5, month: 5 }]],
    ['who called in May 2021', [{ month: 4, year: 2021 }]],
    ['who called last May?', [{ month: 4 }]],
    ['may we march on?', []],
    ['May we go?', []],
    ['5 may', [{ day: 5, month: 4 }]],
    ['since 2019 or in 2021', [{ year: 2019 }, { year: 2021 }]],
    [
      'on 05.06.2021, then on 2021-06-07',
      [
        { day: 5, month: 5, year: 2021 },
        { day: 7, month: 5, year: 2021 },
      ],
    ],
    [
      'from Jan 5 to Feb 6 2021',
      [
        { day: 5, month: 0 },
        { day: 6, month: 1, year: 2021 },
      ],
    ],
    ['release 10.20.30 of 1234', []],
  ])('%j', (text, mentions) => {
    expect(dateMentions(text)).toEqual(mentions);
  });

  // 10 March 2021 was a Wednesday.
  it.each<[string, DateMention[]]>([
    ['what did I eat today?', [{ year: 2021, month: 2, day: 10 }]],
    ['Yesterday?', [{ year: 2021, month: 2, day: 9 }]],
    ['calls on Monday', [{ year: 2021, month: 2, day: 8 }]],
    ['last Wednesday', [{ year: 2021, month: 2, day: 3 }]],
    ['this month', [{ year: 2021, month: 2 }]],
    ['last year', [{ year: 2020 }]],
    ['last week', [1, 2, 3, 4, 5, 6, 7].map((day) => ({ year: 2021, month: 2, day }))],
    ['the last straw', []],
  ])('are counted from now: %j', (text, mentions) => {
    const now = Date.UTC(2021, 2, 10, 15);
    expect(relativeMentions(text, now)).toEqual(mentions);
    expect(readQuestion(text, now).dates).toEqual(mentions);
    expect(readQuestion(text).dates).toEqual([]);
  });

  it('of last month are of the year before in January', () => {
    expect(relativeMentions('last month', Date.UTC(2021, 0, 31))).toEqual([{ year: 2020, month: 11 }]);
  });

  it('hold for the moments that lie within, and for no others', () => {
    const at = Date.UTC(2021, 5, 5, 23, 59);
    for (const mention of [{}, { year: 2021 }, { month: 5 }, { day: 5, month: 5 }, { day: 5, month: 5, year: 2021 }])
      expect(isWithin(mention, at)).toBe(true);
    for (const mention of [{ year: 2020 }, { month: 6 }, { day: 6, month: 5 }, { day: 5, month: 5, year: 2020 }])
      expect(isWithin(mention, at)).toBe(false);
  });

  it('meet the words of a moment', () => {
    expect(dateWords(Date.UTC(2021, 4, 9, 23))).toBe('9 may 2021');
    expect(dateWords(Number.NaN)).toBe('');
  });
});

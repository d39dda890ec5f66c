/** Which way a day lies that a sentence names. */
import { describe, expect, it } from 'vitest';
import { cooperativeYield } from '#cairn/kernel/index.js';
import { extractFacts } from '#cairn/recall/extraction/english/extraction.js';

/** A Tuesday. */
const SAID_AT = Date.parse('2026-11-17T10:00:00Z');

async function daysIn(text: string): Promise<(string | undefined)[]> {
  const source = { id: 's', role: 'user' as const, text, speaker: 'Ann', occurred_at: SAID_AT };
  const facts = await extractFacts([source], { maybe_yield: cooperativeYield(), recalled: [] });
  return facts.map(({ happens_at }) => happens_at);
}

describe('a day without a date', () => {
  it.each([
    ['We moved the meeting to Friday.', '2026-11-20'],
    ["I've moved the budget meeting to Friday.", '2026-11-20'],
    ['We moved the design meeting from Thursday to Friday.', '2026-11-20'],
    ['We moved the design meeting from Monday to next Friday.', '2026-11-27'],
    ['We postponed the Berlin launch until Thursday.', '2026-11-19'],
    ['We pushed the Berlin launch back to Monday.', '2026-11-23'],
    ['I rescheduled the dentist appointment to Wednesday.', '2026-11-18'],
    ['We scheduled the Berlin call for Friday.', '2026-11-20'],
    ['I booked a table at Luigi for Saturday.', '2026-11-21'],
    ['We agreed to ship the Berlin release on Friday.', '2026-11-20'],
    ['I promised to finish the Berlin report by Thursday.', '2026-11-19'],
    ['The budget meeting was moved to Friday.', '2026-11-20'],
    ['The budget meeting has been moved to Friday.', '2026-11-20'],
    ['The budget meeting was moved from Monday to Friday.', '2026-11-20'],
    ['The Berlin launch was scheduled for Friday.', '2026-11-20'],
    ['The budget meeting is on Friday.', '2026-11-20'],
    ['The project deadline is now Friday.', '2026-11-20'],
    ["I'm flying to Rome on Friday.", '2026-11-20'],
    ['I have an interview at Acme on Monday.', '2026-11-23'],
  ])('EXTRACT-9 lies ahead: %s', async (text, day) => {
    expect(await daysIn(text)).toEqual([day]);
  });

  it.each([
    ['We met the Acme team on Friday.', '2026-11-13'],
    ['I moved to Berlin on Friday.', '2026-11-13'],
    ['We moved the budget meeting on Friday.', '2026-11-13'],
    ['I bought a guitar for Ben on Friday.', '2026-11-13'],
    ['We launched the Berlin store on Monday.', '2026-11-16'],
    ['I stayed in Rome until Friday.', '2026-11-13'],
    ['I finished the Berlin report by Friday.', '2026-11-13'],
    ['We decided on Friday to launch in Berlin.', '2026-11-13'],
    ['The budget meeting was on Friday.', '2026-11-13'],
    ['The design sprint started on Monday.', '2026-11-16'],
    ['The security training ended on Friday.', '2026-11-13'],
    ['The hosting invoice was due on Friday.', '2026-11-13'],
    ['We moved the budget meeting to last Friday.', '2026-11-13'],
  ])('EXTRACT-9 lies behind: %s', async (text, day) => {
    expect(await daysIn(text)).toEqual([day]);
  });

  it.each([
    ['We moved the budget meeting to 3 December.', '2026-12-03'],
    ['We moved the budget meeting from 12 November to 3 December.', '2026-12-03'],
    ['We moved the budget meeting to 3 January.', '2027-01-03'],
    ['I met the Acme team on 3 December.', '2025-12-03'],
    ['The budget meeting was on 3 December.', '2025-12-03'],
  ])('EXTRACT-9 with a month: %s', async (text, day) => {
    expect(await daysIn(text)).toEqual([day]);
  });

  it('EXTRACT-9 is put beside the words that name it', async () => {
    const source = {
      id: 's',
      role: 'user' as const,
      text: 'We moved the budget meeting from Monday to Friday.',
      occurred_at: SAID_AT,
    };
    const [fact] = await extractFacts([source], { maybe_yield: cooperativeYield(), recalled: [] });
    expect(fact?.content).toBe('We moved the budget meeting from Monday to Friday (2026-11-20).');
  });
});

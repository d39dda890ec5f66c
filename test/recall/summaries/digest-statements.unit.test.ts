/** What digests state of short dialogues: nothing false, decisions with what they decide, present values with the old ones. */
import { describe, expect, it } from 'vitest';
import { offlineExtractor } from '#cairn/recall/extraction/offline-extractor.js';
import { offlineSummarizer } from '#cairn/recall/summaries/offline-summarizer.js';
import type { TextSource } from '#cairn/recall/summaries/sources.js';

const ROLES: Readonly<Record<string, string>> = { A: 'Assistant', T: 'Tool' };

/** "A: …" is the assistant, "T: …" a tool, "U: …" the user; any other name is that of a person. */
const sourcesOf = (lines: readonly string[]): TextSource[] =>
  lines.map((line, i) => {
    const [, who, text] = /^(\w+): (.*)$/.exec(line) as unknown as [string, string, string];
    return { id: `${i}`, role: ROLES[who] ?? 'User', text, speaker: who.length > 1 ? who : null };
  });

const digestOf = async (...lines: readonly string[]): Promise<string> =>
  (await offlineSummarizer.summarize({ sources: sourcesOf(lines), max_tokens: 2000, max_words: 120, digest: true }))
    .text;

const factsOf = async (...lines: readonly string[]): Promise<string[]> =>
  (await offlineExtractor.extract({ sources: sourcesOf(lines) })).facts.map(({ content }) => content);

describe('an answer gets the subject of its question', () => {
  it.each<[lines: string[], filled: string]>([
    [['A: Do you ship abroad?', 'U: Only to Denmark and Austria.'], 'ship abroad: Only to Denmark and Austria.'],
    [['A: Do you have a nut allergy?', 'U: No, pollen.'], 'nut allergy: no, pollen.'],
    [['A: Is the deposit refundable?', 'U: Yes.'], 'deposit refundable: yes'],
    [['A: What about the piano?', 'U: It needs two people and a ramp.'], 'piano: It needs two people and a ramp.'],
    [['A: And the floor?', 'U: grey stoneware, R10'], 'floor: grey stoneware, R10'],
    [['A: Insurance?', 'U: PetSure, 23 dollars a month'], 'Insurance: PetSure, 23 dollars a month'],
    [['A: Which colour?', 'U: Hmm, let me think.', 'U: Sage green.'], 'colour: Sage green.'],
    [['A: Which colour?', 'U: Let me check. Sage green.'], 'colour: Sage green.'],
    [['A: Should I prepare travel? Where are you based?', 'U: Madison'], 'based: Madison'],
    [['A: What is her name, in case we have to write to her?', 'U: Mrs. Adebayo'], 'name: Mrs. Adebayo'],
    [['A: How many singers will there be?', 'U: 38. Two of the altos need the ramp'], 'singers: 38.'],
    [['Anna: Which inn did you take?', 'Ben: Hotel Astoria'], 'inn: Hotel Astoria'],
  ])('%j', async (lines, filled) => {
    expect(await digestOf(...lines)).toContain(filled);
  });

  it.each<[lines: string[], said: string]>([
    // Only the first answer is one.
    [
      ['A: How about a loyalty programme?', 'U: Not now.', 'U: The VAT id is DE298765432.'],
      'The VAT id is DE298765432.',
    ],
    [['A: Who signs the lease?', 'U: Mats Lindqvist.', 'U: 2,300 a month.'], '2,300 a month.'],
    [['A: Which colour?', 'U: Sage green.', 'U: 42 boxes'], '42 boxes'],
    [['A: Do you ship abroad?', 'U: No.', 'U: 42 boxes'], '42 boxes'],
    [['A: Which database is it?', 'T: 42 rows', 'U: MariaDB 11', 'U: 42 rows'], '42 rows'],
    // What has a subject of its own is no answer that lacks one.
    [['A: How about a loyalty programme?', 'U: The VAT id is DE298765432.'], 'The VAT id is DE298765432.'],
    [['A: What colour is the door?', 'U: My sister calls.'], 'My sister calls.'],
    [['A: What colour is the door?', 'U: 42 boxes arrived.'], '42 boxes arrived.'],
    [['A: What colour is the door?', 'U: Tobias drives the van.'], 'Tobias drives the van.'],
    // Nor what is of another kind, about something else, or says that there is no answer.
    [['A: Who signs the lease?', 'U: 2,300 a month.'], '2,300 a month.'],
    [['A: When is the handover?', 'U: 0431 55512'], '0431 55512'],
    [['A: How many people come?', 'U: Hotel Astoria'], 'Hotel Astoria'],
    [['A: Which colour?', 'U: By the way, Mollie Ltd.'], 'Mollie Ltd.'],
    [['A: Which colour do you want?', 'U: no idea, ask Mats Lindqvist'], 'no idea, ask Mats Lindqvist'],
    // Of two questions nothing tells which is answered.
    [["A: What's the domain? What's the budget?", 'U: harbour.example and 3,000.'], 'harbour.example and 3,000.'],
    [['A: Which languages? Do you have translations?', 'U: Only Dutch.'], 'Only Dutch.'],
  ])('but not in %j', async (lines, said) => {
    const digest = await digestOf(...lines);
    expect(digest.split(/\n|; |(?<=\.) /)).toContain(said);
    expect((await factsOf(...lines)).filter((fact) => fact.includes(`: ${said.replace(/\.$/, '')}`))).toEqual([]);
  });
});

describe('a proposal in a question is decided by the reply', () => {
  it.each<[asked: string, replied: string, decided: string]>([
    ['Should we use Stripe or Mollie for payments?', 'Mollie it is.', 'Use Mollie for payments'],
    ['Should we use Stripe or Mollie for payments?', 'Stripe', 'Use Stripe for payments'],
    ['Should we use Stripe, Adyen or Mollie for payments?', "let's go with Adyen", 'Use Adyen for payments'],
    [
      'Should we use Stripe or Mollie for payments?',
      'Klarna it is',
      'Klarna (asked: use Stripe or Mollie for payments)',
    ],
    ['Shall I deploy to Frankfurt?', 'ok do that', 'Deploy to Frankfurt'],
    ['Great. Do you want me to book the Lindner?', 'yes please', 'Book the Lindner'],
    ['How about Friday for the demo?', 'works for me', 'Friday for the demo'],
    [
      'Should the tickets be sold online or at the door?',
      'Online it is. Less cash',
      'The tickets should be sold online',
    ],
    ['Should the crate go in the bedroom or in the hall?', 'the hall', 'The crate should go in the hall'],
    ['Should we book a removal firm or rent a van?', 'a van', 'Rent a van'],
    [
      'Should we send the form by mail or drop it at the office?',
      'mail',
      'Mail (asked: send the form by mail or drop it at the office)',
    ],
    ['Shall I cancel the subscription?', 'Yes, but only after June.', 'Cancel the subscription, but only after June'],
    ['Do you want me to order 20 chairs or 30 chairs?', '30', 'Order 30 chairs'],
    ['Do you want to fly with Ryanair or Lufthansa?', 'Lufthansa', 'Fly with Lufthansa'],
    ['Could we use Postgres instead of MySQL?', "yes let's", 'Use Postgres instead of MySQL'],
    ["Let's move the launch to 5 May.", 'ok', 'move the launch to 5 May'],
    ['Soll ich nach Frankfurt umziehen?', 'ja, machen wir so', 'Nach Frankfurt umziehen'],
  ])('"%s" – "%s"', async (asked, replied, decided) => {
    expect(`${await digestOf(`A: ${asked}`, `U: ${replied}`)} `).toMatch(
      new RegExp(`(?:^|\\n)Decided: ${decided.replace(/[()]/g, '\\$&')}(?:[.;\\n ]|$)`),
    );
    expect(await factsOf(`A: ${asked}`, `U: ${replied}`)).toContain(`Decided: ${decided}.`);
  });

  it.each<[asked: string, replied: string]>([
    ['Should we use Stripe or Mollie for payments?', 'ok'],
    ['Should we use Stripe or Mollie for payments?', 'I think Mollie, not sure'],
    ['Shall I deploy to Frankfurt?', 'not now'],
    ['Shall I deploy to Frankfurt?', 'Yes? When?'],
    ['Shall I deploy to Frankfurt?', 'good question'],
    ['Shall I deploy to Frankfurt?', 'Wait until the 15th.'],
    ['Shall I deploy to Frankfurt?', 'ok, let me check first'],
    ['Should we meet on Monday or Tuesday?', 'Either is fine'],
    ['Shall I deploy to Frankfurt?', 'nice, but not before June'],
    ['Shall I deploy to Frankfurt?', "I don't know what time it is"],
    ['What about the piano in Kiel?', 'ok'],
    ["I'd suggest Mollie for the payments.", 'Stripe it is.'],
    ["I'd recommend PostgreSQL 16.", 'good question, let me check'],
    ['You can pay by Visa or PayPal.', 'ok thanks'],
  ])('"%s" – "%s" decides nothing', async (asked, replied) => {
    expect(await digestOf(`A: ${asked}`, `U: ${replied}`)).not.toContain('Decided');
    expect((await factsOf(`A: ${asked}`, `U: ${replied}`)).join()).not.toContain('Decided');
  });

  it('also between two people, where nobody is an assistant', async () => {
    const text = await digestOf('Anna: Shall we take the Lindner for two nights?', 'Ben: ok do that');
    expect(text).toBe('Ben: Decided: Take the Lindner for two nights');
  });
});

describe('a value that is given anew', () => {
  it.each<[lines: string[], marked: string]>([
    [
      ['U: The budget is 12,000 euros.', 'U: Actually, the budget is 14,000 now.'],
      'The budget is 14,000 euros (before: 12,000 euros)',
    ],
    [
      ['U: The budget is 12,000 euros.', 'U: The budget is 14,000 euros now.'],
      'The budget is 14,000 euros (before: 12,000 euros)',
    ],
    [
      ['U: Our budget for the wedding is 12,000 euros.', 'U: the budget is 14,000 now'],
      'wedding is 14,000 euros (before: 12,000 euros)',
    ],
    [
      ['U: The rent is 900 euros a month.', "U: The rent went up, it's 950 now."],
      'The rent is 950 euros (before: 900 euros) a month',
    ],
    [
      ['U: The budget is 10,000 euros.', 'U: The budget is 12,000 euros now.', 'U: Sorry, the budget is 14,000 euros.'],
      '14,000 euros (before: 12,000 euros, 10,000 euros)',
    ],
    [
      [
        'A: When do you get the keys?',
        'U: On 14 March, at 10:30.',
        'A: ok',
        'U: It was moved. The keys come on 12 March',
      ],
      'on 12 March (before: 14 March)',
    ],
    [['U: We meet in Room 12.', 'U: we meet in Room 14 now'], 'Room 14 (before: Room 12)'],
    [['U: Lena works at Siemens.', 'U: Lena now works at Bosch.'], 'works at Bosch (before: Siemens)'],
    [
      ['U: The lease runs until 31 May 2027.', 'U: The lease has been extended, it runs until 31 May 2029.'],
      'until 31 May 2029 (before: 31 May 2027)',
    ],
    [
      ["A: What's the wifi password?", 'U: Tulip-4471', 'U: correction: Tulip-4472'],
      'wifi password: Tulip-4472 (before: Tulip-4471)',
    ],
    [
      ["A: What's your phone number?", 'U: 0171 2345678', "U: sorry, it's 0171 2345679"],
      'phone number: 0171 2345679 (before: 0171 2345678)',
    ],
    [
      ['U: Anna brings 20 chairs and Ben brings 10 chairs.', 'U: Ben brings 15 chairs now.'],
      'Anna brings 20 chairs and Ben brings 15 chairs (before: 10 chairs)',
    ],
    [['U: It has eight episodes.', 'U: we went from eight to six episodes'], 'six episodes (before: eight episodes)'],
    [
      ['U: The train leaves at 7:40 and arrives at 9:10.', 'U: Actually the train leaves at 8:10.'],
      'leaves at 8:10 (before: 7:40) and arrives at 9:10',
    ],
    [
      ['U: We sing four songs by Elgar.', 'U: Margit swapped the Elgar for three Stanford songs.'],
      'Elgar (replaced by three Stanford songs)',
    ],
    [
      ['A: Wie hoch ist das Budget?', 'U: 850 Euro vom Förderverein', 'U: Das Budget ist jetzt 1.000 Euro'],
      '1.000 Euro (before: 850 Euro) vom Förderverein',
    ],
  ])('has the old one in brackets: %j', async (lines, marked) => {
    expect((await digestOf(...lines)).toLowerCase()).toContain(marked.toLowerCase());
  });

  it.each<[lines: string[]]>([
    [['U: The kitchen costs 4,200 euros.', 'U: Actually, the electrician costs 900 euros.']],
    [['U: The painter comes on 3 May.', 'U: Now the plumber comes on 9 May.']],
    [['U: Lunch is at 12:30.', 'U: Dinner is now at 19:00.']],
    [['U: Tickets cost 12 euros.', 'U: Student tickets cost 8 euros now.']],
    [['U: The first meeting is on Monday.', 'U: The second meeting is on Wednesday now.']],
    [["U: Anna's flight leaves at 9:15.", "U: Ben's train leaves at 10:40 now."]],
    [['U: The rent is 900 euros.', 'U: The deposit is 1,800 euros now.']],
    [['U: Classes are on Mondays. Delphine runs them.', 'U: Actually we go on 9 June, Delphine is off on Friday.']],
    [['U: They run 140 trucks. The yard is in Moline.', 'U: Already did: 10 trucks, 30 days, free, in Moline.']],
    [['U: We voted on Sunday.', 'U: The Sunday match - scratch that, we moved to Thursdays.']],
    [['U: We paid 200 euros for the tent.', 'U: Actually, we paid 300 euros for the band.']],
    [['U: We have 45 boxes.', 'U: We need 60 boxes now.']],
    [['A: How old is she?', 'U: 71', 'A: And he?', 'U: 70', "U: wait, she's 72"]],
    [['U: Check-in is at 3 pm.', 'U: Check-out is at 10 am now.']],
    [['U: The hall seats 200 people.', 'U: Now 150 people have bought tickets.']],
    [['U: Version 3 supports Node 18.', 'U: Version 4 now supports Node 20.']],
    [['U: I pay 50 euros a month for the gym.', 'U: I now pay 30 euros for the pool.']],
    [['U: The meeting with Acme is on 4 May.', 'U: The meeting with Initech is on 6 May now.']],
  ])('is not that of another thing: %j', async (lines) => {
    const digest = await digestOf(...lines);
    expect(digest).not.toContain('before:');
  });
});

describe('a fact whose value is given anew', () => {
  it.each<[lines: string[], marked: string]>([
    [
      [
        'A: When do you pick her up?',
        'U: Friday the 8th, after work',
        'A: ok',
        'U: Actually we pick her up on Saturday the 9th',
      ],
      'Pick: Saturday the 9th (before: Friday the 8th), after work.',
    ],
    [
      ['U: The train leaves at 7:40 from platform 4.', 'U: Actually the train leaves at 8:10.'],
      'The train leaves at 8:10 (before: 7:40) from platform 4.',
    ],
  ])('has the old one in brackets: %j', async (lines, marked) => {
    expect(await factsOf(...lines)).toContain(marked);
  });

  it('is left to the later fact of the same slot, which replaces it when it is stored', async () => {
    expect(await factsOf('U: I live in Hamburg.', 'U: I live in Munich now.')).toEqual([
      'The user lives in Hamburg.',
      'The user lives in Munich.',
    ]);
  });
});

describe('whom a sentence means', () => {
  it.each<[lines: string[], named: string]>([
    [['U: Jonas fixes the heating. His number is 0431 55512.'], "Jonas' number is 0431 55512"],
    [
      ['A: Who has the keys?', 'U: The caretaker, Mr. Sobotka. His number is 0431 55512.'],
      "Mr. Sobotka's number is 0431 55512",
    ],
    [['U: Our contact there is Delphine. She can be reached on 555-0148.'], 'Delphine can be reached on 555-0148'],
    [
      ['A: Is Delphine your contact?', "U: Yes. She's in the office until 4 pm."],
      'Delphine is in the office until 4 pm',
    ],
    [['U: My sister Ana is a nurse, she lives in Porto.'], 'Ana lives in Porto'],
  ])('is filled in: %j', async (lines, named) => {
    expect(await digestOf(...lines)).toContain(named);
    expect((await factsOf(...lines)).join(' ')).toContain(named);
  });

  it.each<[lines: string[], said: string]>([
    [['U: Jonas called the landlord. His number is 0431 55512.'], 'His number is 0431 55512'],
    [['U: Jonas met Tobias. His number is 0431 55512.'], 'His number is 0431 55512'],
    [['U: I talked to Jonas and Maria. His number is 0431 55512.'], 'His number is 0431 55512'],
    [['U: Jonas told Peter that he got the job. He starts on 1 May.'], 'He starts on 1 May'],
    [['U: My son Leo has a teacher, Mr. Brandt. He is allergic to nuts.'], 'He is allergic to nuts'],
    [['U: My wife Ana works at Siemens. His number is 0431 55512.'], 'His number is 0431 55512'],
    [['U: We moved to Kiel. His number is 0431 55512.'], 'His number is 0431 55512'],
  ])('is left open where more than one may be meant: %j', async (lines, said) => {
    expect(await digestOf(...lines)).toContain(said);
  });
});

describe('what happens at the moment', () => {
  it.each([
    'our cat just walked over the keyboard',
    'sorry, the doorbell rang',
    'my phone is at 2 percent btw, might drop out',
    'the kettle just boiled over',
  ])('is no part of a summary: "%s"', async (text) => {
    expect(await digestOf('U: The alarm code is 7714.', `U: ${text}`)).toBe('The alarm code is 7714.');
  });

  it('is kept where it says more', async () => {
    expect(await digestOf('U: The baby is on antibiotics until 14 May.')).toContain('antibiotics until 14 May');
  });
});

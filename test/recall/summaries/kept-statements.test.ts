/** What the digest of a closed conversation keeps, offline, and how. */
import { expect, it } from 'vitest';
import { someScope } from '../../support/nouns/scopes.js';
import { summariesOf, synthesizedFrom } from '../../support/nouns/summaries.js';
import { onEveryTarget } from '../../support/targets.js';

type Said = readonly [role: 'User' | 'Assistant' | 'Tool', content: string, metadata?: Record<string, string>];

onEveryTarget('statements that a digest keeps', (test) => {
  /** The digest of a conversation, and the turns that it is linked to, counted from 1. */
  async function digestOf(...turns: readonly Said[]): Promise<{ text: string; linked: number[] }> {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn, { retain: 'digest' });
    const ids: string[] = [];
    for (const [role, content, metadata] of turns)
      ids.push((await cairn.turns.add({ scope_id, role, content, ...(metadata ? { metadata } : {}) })).turn_id);
    await cairn.scopes.close({ scope_id });
    const [digest] = await summariesOf(cairn, scope_id);
    const linked = (await synthesizedFrom(cairn, digest!.artifact_id)).map((id) => ids.indexOf(id) + 1);
    return { text: digest!.content as string, linked: linked.sort((a, b) => a - b) };
  }

  it('SUM-46 greetings, acknowledgements and farewells are never kept, also where there is room', async () => {
    const { text } = await digestOf(
      ['User', 'Hi there! I run the bakery on Elm Street.'],
      ['Assistant', 'Lovely idea! How can I help?'],
      ['User', 'ok thanks, the oven needs 3 phases and 32 amps'],
      ['Assistant', 'Understood. Let me know when the electrician comes.'],
      ['User', "great, I'm off to lunch"],
      ['Assistant', 'Enjoy your lunch!'],
    );
    expect(text).toContain('I run the bakery on Elm Street');
    expect(text).toContain('the oven needs 3 phases and 32 amps');
    expect(text).not.toMatch(/\b(?:hi|thanks|lovely|understood|let me know|lunch|great)\b/i);
  });

  it('SUM-46 what is known, decided or required goes before what is mused, joked and told in passing', async () => {
    const filler = Array.from({ length: 60 }, (_, i): Said[] => [
      ['Assistant', `Then there is the matter of the shelf, which is ${['near', 'far', 'left'][i % 3]} of the door.`],
      ['User', 'maybe we could move it somewhere else some day, just thinking'],
    ]).flat();
    const { text } = await digestOf(
      ...filler.slice(0, 60),
      ['User', 'The alarm code is 7714 and only Marta may change it.'],
      ['User', 'What if we painted the whole van purple?'],
      ...filler.slice(60),
    );
    expect(text).toContain('The alarm code is 7714');
    expect(text).not.toContain('purple');
  });

  it('SUM-47 an answer has the subject of its question, and an agreed proposal is a decision', async () => {
    const { text, linked } = await digestOf(
      ['Assistant', 'Which languages should the site support?'],
      ['User', 'English, German, Dutch.'],
      ['Assistant', "For the payments I'd suggest Mollie, with iDEAL and cards."],
      ['User', 'Mollie it is'],
      ['Assistant', 'For the logo: (1) a heron, (2) a blue bicycle, (3) a tulip.'],
      ['User', '2!! yes'],
      ['Assistant', "I'd also recommend a newsletter by Mailjet."],
      ['User', 'no, skip that'],
    );
    expect(text).toContain('languages, site support: English, German, Dutch.');
    expect(text).toMatch(/Decided: .*Mollie, with iDEAL and cards/);
    expect(text).toContain('Decided: a blue bicycle');
    expect(text).not.toMatch(/heron|tulip/);
    expect(linked).toEqual(expect.arrayContaining([1, 2, 3, 4, 5, 6]));
  });

  it('SUM-47 a question is closed by its first answer, and a proposal in a question by the decision', async () => {
    const { text } = await digestOf(
      ['Assistant', 'How about a loyalty programme?'],
      ['User', 'Not now.'],
      ['User', 'The VAT id is DE298765432.'],
      ['Assistant', 'Should we use Stripe or Mollie for payments?'],
      ['User', 'Mollie it is.'],
      ['Assistant', 'Do you ship abroad?'],
      ['User', 'Only to Denmark and Austria. Jonas packs the boxes. His number is 0431 55512.'],
    );
    expect(text).toContain('The VAT id is DE298765432.');
    expect(text).not.toMatch(/loyalty/);
    expect(text).toContain('Decided: Use Mollie for payments');
    expect(text).toContain('ship abroad: Only to Denmark and Austria.');
    expect(text).toContain("Jonas' number is 0431 55512");
  });

  it.each<[string, Said[], RegExp, RegExp]>([
    [
      'a number that is denied',
      [
        ['User', 'They run 140 trucks out of Dubuque.'],
        ['User', "two fixes: it's 152 trucks not 140"],
      ],
      /152 trucks \(before: 140 trucks\) out of Dubuque/,
      /They run 140 trucks/,
    ],
    [
      'a date that moves',
      [
        ['User', 'The demo is on Thursday the 18th in the big room.'],
        ['User', 'the demo moves to Friday the 19th'],
      ],
      /Friday the 19th \(before: Thursday the 18th\)/,
      /is on Thursday the 18th/,
    ],
    [
      'a day that was too early',
      [
        ['User', 'The cut-off for orders is Wednesday 8pm.'],
        ['User', 'oh and wait, the cut-off is Thursday noon now, Wednesday was too early for people'],
      ],
      /Thursday \(before: Wednesday\)/,
      /cut-off for orders is Wednesday/,
    ],
    [
      'a name that is denied',
      [
        ['User', 'The workshop takes place in Hamburg.'],
        ['User', 'The workshop is in Munich, not Hamburg.'],
      ],
      /in Munich \(before: Hamburg\)/,
      /takes place in Hamburg/,
    ],
    [
      'a slot that the rules know',
      [
        ['User', 'I live in Hamburg.'],
        ['User', 'I live in Munich.'],
      ],
      /live in Munich \(before: Hamburg\)/,
      /live in Hamburg/,
    ],
    [
      'a slot of a named person',
      [
        ['User', 'Lena lives in Hamburg.'],
        ['User', 'Correction: Lena lives in Munich now.'],
      ],
      /Lena lives in Munich(?: now)? \(before: Hamburg\)/,
      /Lena lives in Hamburg/,
    ],
    [
      'an amount that is named again without its unit',
      [
        ['User', 'The budget is 12,000 euros.'],
        ['User', 'Actually, the budget is 14,000 now'],
      ],
      /The budget is 14,000 euros \(before: 12,000 euros\)/,
      /budget is 12,000/,
    ],
    [
      'an amount that changes twice',
      [
        ['User', 'The budget is 10,000 euros.'],
        ['User', 'The budget is 12,000 euros now.'],
        ['User', 'Sorry, the budget is 14,000 euros now.'],
      ],
      /14,000 euros \(before: 12,000 euros, 10,000 euros\)/,
      /is 1[02],000/,
    ],
    [
      'another language',
      [
        ['User', 'La mairie veut le dossier complet pour le 15 juin.'],
        ['User', "Pour la mairie ce n'est pas le 15 juin mais le 30 mai."],
      ],
      /le 30 mai \(before: .*15 juin\)/,
      /dossier complet pour le 15 juin/,
    ],
  ])('SUM-48 %s is replaced, and the old value is marked', async (_, turns, marked, unmarked) => {
    const { text } = await digestOf(...turns);
    expect(text).toMatch(marked);
    expect(text).not.toMatch(unmarked);
  });

  it('SUM-48 a correction on another day says since when; what was concluded from the old value is dropped', async () => {
    const { text, linked } = await digestOf(
      ['User', 'The pool has 20 connections per pod.', { occurred_at: '2026-02-01' }],
      ['Assistant', 'So 120 connections altogether.', { occurred_at: '2026-02-01' }],
      ['User', "The pool isn't 20 connections, it's 25 connections.", { occurred_at: '2026-03-01' }],
    );
    expect(text).toContain('25 connections (since 2026-03-01; before: 20 connections) per pod');
    expect(text).not.toContain('120');
    expect(linked).toEqual(expect.arrayContaining([1, 3]));
  });

  it('SUM-48 what another statement says of another thing is no correction', async () => {
    const { text } = await digestOf(
      ['User', 'The kitchen costs 4,200 euros.'],
      ['User', 'The tiles were moved to the garage; the electrician costs 900 euros.'],
      ['User', 'The painter comes on 3 May.'],
      ['User', 'The plumber comes on 9 June, not in July.'],
    );
    for (const kept of ['4,200 euros', '900 euros', '3 May', '9 June']) expect(text).toContain(kept);
    expect(text).not.toContain('before:');
  });
});

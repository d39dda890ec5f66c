/** Confidence: each passage is judged by its own text, and a long text by the sentence that answers. */
import { expect, it } from 'vitest';
import { someScope } from '../../support/nouns/scopes.js';
import { onEveryTarget } from '../../support/targets.js';

const MEMORIES = [
  'The logo is deep green, Pantone 3435.',
  'Payment goes through Stripe.',
  'The landing page is built with Astro.',
  'Anna designs the icons in Figma.',
  'Invoices are sent on the first of the month.',
  'Our brand font is Inter.',
  'The newsletter has 1,200 readers.',
  'The office dog is called Rex.',
  'Deploys happen on Thursdays.',
  'Ben is allergic to peanuts.',
];

const SAID = [
  'Hi! We are planning the summer fair of the school.',
  'The fair is on 14 June, from two to six, in the back yard.',
  'Mrs Okafor bakes four trays of plantain cake.',
  'The band is called Low Tide and needs two sockets.',
  'We rent the tent from Zeltverleih Nord for 180 euros.',
  'The raffle has 300 tickets at one euro each.',
  'Ivo borrows the grill from the rugby club.',
  'The fire brigade wants the gate on Elm Street kept free.',
  'Leftover food goes to the shelter on Kiln Lane.',
  'The headmaster opens the fair with a short speech.',
  'Parking is on the gravel behind the gym.',
  'If it rains, we move everything into the gym.',
  'Tickets for the tombola are sold by class 4b.',
  'The first aid post is next to the library.',
];

onEveryTarget('confidence', (test) => {
  it('RECALL-21 only what answers is sure: a sure first passage makes no other one sure', async () => {
    const cairn = await test().freshTenant();
    for (const text of MEMORIES) await cairn.memory.remember({ text });
    const { passages } = await cairn.memory.recall({ query: 'What is the color of the logo?' });
    expect(passages.length).toBeGreaterThan(5);
    expect(passages[0]).toMatchObject({ text: MEMORIES[0] });
    expect(passages[0]!.confidence).toBeGreaterThan(0.8);
    for (const { text, confidence } of passages.slice(1)) expect(confidence, text).toBeLessThan(0.4);
  });

  it('RECALL-21 a statement that was replaced is no likely answer', async () => {
    const cairn = await test().freshTenant();
    for (const text of MEMORIES) await cairn.memory.remember({ text });
    const told = [
      ['Gloves come from Medistock, boxes of 200.', '2025-01-10'],
      ['Medistock went bust, so we order gloves at Hygienia now.', '2025-06-02'],
    ] as const;
    for (const [text, occurred_at] of told) await cairn.memory.remember({ text, occurred_at });
    const { passages } = await cairn.memory.recall({ query: 'Where do the gloves come from?' });
    const [newer, older] = passages;
    expect(newer!.text).toContain('Hygienia now. (since');
    expect(older!.text).toContain('boxes of 200. (contradicts');
    expect(older!.confidence).toBeLessThan(newer!.confidence / 2);
  });

  it('RECALL-22 a digest is judged by its best sentence, so that min_confidence keeps it', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn, { retain: 'digest' });
    for (const content of SAID) await cairn.turns.add({ scope_id, role: 'User', content });
    await cairn.scopes.close({ scope_id, wait: true });
    const recalled = async (query: string, min_confidence?: number) =>
      (await cairn.memory.recall({ query, ...(min_confidence === undefined ? {} : { min_confidence }) })).passages;
    const answered = ['What do we pay for the tent?', 'Who borrows the grill?', 'Which street must be kept free?'];
    for (const query of answered) {
      expect((await recalled(query))[0], query).toMatchObject({ entity_type: 'Artifact' });
      expect(await recalled(query, 0.5), query).toHaveLength(1);
    }
    expect(await recalled('Which programming language does Ana prefer?', 0.5)).toEqual([]);
  });
});

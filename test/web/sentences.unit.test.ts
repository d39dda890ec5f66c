/** The feed of the inspector tells every event of Cairn in plain words. */
import { expect, it } from 'vitest';
import { allOperations } from '#cairn/api/contract.js';
import { sentences } from '../../web/src/views/live/sentences.js';

const nouns = new Set(Object.keys(sentences).map((type) => type.split('.')[0]));

it('UI-18 every event of an operation has a sentence', () => {
  const types = allOperations.flatMap(({ event }) => [...(event ?? '').matchAll(/cairn\.([a-z_]+\.[a-z_]+)/g)]);
  const named = [...new Set(types.map(([, type]) => type!))];
  expect(named.length).toBeGreaterThan(60);
  // An edge is told by its participants.
  expect(named.filter((type) => !(type in sentences) && type !== 'edge.created')).toEqual([]);
});

it('UI-18 a sentence starts and ends with what it says, and has no empty part', () => {
  expect(nouns.size).toBeGreaterThan(20);
  for (const [type, templates] of Object.entries(sentences))
    for (const sentence of templates.split(' | ')) expect([type, sentence]).toEqual([type, sentence.trim()]);
});

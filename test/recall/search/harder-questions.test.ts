/** Questions that need several turns: a search follows answers and names. */
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { someScope } from '../../support/nouns/scopes.js';
import { found, note, pages } from '../../support/nouns/search.js';
import { onEveryTarget } from '../../support/targets.js';

async function talk(cairn: Api, said: readonly (readonly [speaker: string, content: string])[]): Promise<string[]> {
  const { scope_id } = await someScope(cairn, { token_budget: 1_000_000 });
  const ids: string[] = [];
  for (const [speaker, content] of said) {
    const { turn_id } = await cairn.turns.add({ scope_id, role: 'User', content, metadata: { speaker } });
    ids.push(`Turn ${turn_id}`);
  }
  return ids;
}

onEveryTarget('harder questions', (test) => {
  it('SEARCH-33 find the answer of another speaker right behind the question, and say why', async () => {
    const cairn = await test().freshTenant();
    const ids = await talk(cairn, [
      ['Bo', 'The orchestra meets in the old mill'],
      ['Ida', 'Oh, the old mill by the river'],
      ['Bo', 'Yes, and it is cold'],
      ['Bo', 'Well then'],
      ['Ida', 'Which instrument do you have in the orchestra?'],
      ['Bo', 'The oboe, since school'],
    ]);
    const { results } = await cairn.search.query({ query: 'What instrument does Bo play in the orchestra?' });
    const answer = results.find(({ id }) => `Turn ${id}` === ids[5])!;
    expect(answer.boosts.map(({ name }) => name)).toContain('reply');
    expect(results.findIndex(({ id }) => `Turn ${id}` === ids[5])).toBeLessThan(2);
  });

  it('SEARCH-33 follow a name in the best result to what else has it', async () => {
    const cairn = await test().freshTenant();
    const plain: string[] = [];
    for (let i = 0; i < 14; i++) plain.push((await note(cairn, `some company and its office ${i}`)).note_id);
    const linked = await note(cairn, 'the office of Brixham is in Lisbon');
    for (let i = 14; i < 28; i++) plain.push((await note(cairn, `some company and its office ${i}`)).note_id);
    const first = await note(cairn, 'my sister Odile works for the company Brixham');
    const query = 'Where is the office of the company my sister works for?';
    const { results } = await cairn.search.query({ query, limit: 100 });
    expect(results[0]!.id).toBe(first.note_id);
    const one = results.find(({ id }) => id === linked.note_id)!;
    expect(one.boosts.map(({ name }) => name)).toContain('linked');
    expect(results.some(({ id, boosts }) => plain.includes(id) && boosts.some(({ name }) => name === 'linked'))).toBe(
      false,
    );
  });

  it('SEARCH-12 SEARCH-33 keep to the names of the first page when the result that had them is deleted', async () => {
    const cairn = await test().freshTenant();
    const first = await note(cairn, 'ferry sailing, ferry sailing, all the ferry sailing to Brixham');
    for (let i = 0; i < 40; i++)
      await note(cairn, `${i % 8 === 0 ? 'Brixham saw' : 'We saw'} the ferry ${'sails '.repeat(i % 5)}${i}`);
    const asked = { query: 'ferry sailing', limit: 5 };
    const before = await found(cairn, 'ferry sailing');
    expect(before[0]).toBe(`Note ${first.note_id}`);
    let isGone = false;
    const seen = await pages(cairn, asked, async () => {
      if (!isGone) await cairn.notes.delete({ note_id: first.note_id });
      isGone = true;
    });
    expect(seen).toEqual(before);
  });

  it('SEARCH-32 for a summary find what the assistant answered, whatever its words', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn, { token_budget: 1_000_000 });
    const say = (role: 'User' | 'Assistant', content: string) => cairn.turns.add({ scope_id, role, content });
    for (let i = 0; i < 6; i++) {
      await say('User', `My pottery kiln stays cold ${i}`);
      await say('Assistant', `Check the fuse ${i}`);
    }
    const repliesTo = async (query: string) => {
      const { results } = await cairn.search.query({ query, limit: 12 });
      return results.filter(({ boosts }) => boosts.some(({ name }) => name === 'reply')).length;
    };
    expect(await repliesTo('Can you give me a summary of my pottery?')).toBe(12);
    expect(await repliesTo('What of my pottery?')).toBe(0);
  });
});

/** Recall by meaning: an answer wherever there is anything, and how sure it is. */
import { expect, it } from 'vitest';
import { say, someScope } from '../../support/nouns/scopes.js';
import { onEveryTarget, refusalOf } from '../../support/targets.js';

const MEMORIES = [
  'We chose Postgres over MySQL for its extensions.',
  'The dentist wants Zuri back in six months.',
  'Biscuit is our border terrier, turned nine in March.',
  'The spare key is with the Pattersons at number 14.',
  'Recycling is collected on alternate Thursdays.',
  'Ben takes the train to Leeds on Mondays.',
];

onEveryTarget('recall by meaning', (test) => {
  async function remembered(texts: readonly string[] = MEMORIES) {
    const cairn = await test().freshTenant();
    for (const text of texts) await cairn.memory.remember({ text });
    return cairn;
  }

  it('RECALL-20 finds a memory that shares no word with the question', async () => {
    const cairn = await remembered();
    const first = async (query: string) => (await cairn.memory.recall({ query })).passages[0]!;
    expect(await first('How old is the dog?')).toMatchObject({ text: MEMORIES[2], matched: [] });
    expect(await first('Which database did we pick?')).toMatchObject({ text: MEMORIES[0] });
    expect(await first('When is garbage removed?')).toMatchObject({ text: MEMORIES[4], matched: [] });
  });

  it('RECALL-20 answers with the nearest if nothing answers, also without a known word', async () => {
    const cairn = await remembered();
    for (const query of ['What is the salary of a pilot?', '北京在哪里', 'zzyzx qwrtp', '?!'])
      expect((await cairn.memory.recall({ query })).passages, query).toHaveLength(MEMORIES.length);
    expect((await cairn.search.query({ query: 'zzyzx' })).results).toEqual([]);
  });

  it('RECALL-20 keeps to what the filters and lifetimes allow', async () => {
    const cairn = await remembered();
    const query = 'How old is the dog?';
    expect((await cairn.memory.recall({ query, entity_types: ['Turn'] })).passages).toEqual([]);
    const [found] = (await cairn.memory.recall({ query })).passages;
    await cairn.notes.delete({ note_id: found!.id });
    const { passages } = await cairn.memory.recall({ query });
    expect(passages.map(({ text }) => text)).not.toContain(MEMORIES[2]);
    expect(passages).toHaveLength(MEMORIES.length - 1);
  });

  it('RECALL-20 leaves out ended content among many notes, with few endings and with many', async () => {
    const texts = Array.from({ length: 60 }, (_, i) => `Parcel ${i} has arrived at the depot.`);
    const cairn = await remembered(texts);
    const { scope_id } = await someScope(cairn);
    await say(cairn, scope_id, 'Biscuit is our border terrier.');
    const query = 'How old is the dog?';
    const recalled = async () => {
      const { passages } = await cairn.memory.recall({ query, limit: 100, entity_types: ['Turn', 'Note'] });
      return passages.map(({ entity_type }) => entity_type);
    };
    expect((await recalled())[0]).toBe('Turn');
    await cairn.scopes.close({ scope_id });
    expect(await recalled()).not.toContain('Turn');
    for (let i = 0; i < 70; i++) {
      const { id } = await cairn.memory.remember({ text: `Crate ${i} is empty.` });
      await cairn.notes.delete({ note_id: id });
    }
    const left = await recalled();
    expect(left).not.toContain('Turn');
    expect(left.length).toBeGreaterThanOrEqual(40);
  });

  it('RECALL-20 pages through all of a store, each memory once', async () => {
    const cairn = await remembered([...MEMORIES, ...MEMORIES.map((text) => `${text} So it was in spring.`)]);
    const query = 'How old is the dog?';
    const ids: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await cairn.memory.recall({ query, limit: 5, ...(cursor === undefined ? {} : { cursor }) });
      ids.push(...page.passages.map(({ id }) => id));
      if (page.next_cursor === null) break;
      cursor = page.next_cursor;
    }
    expect([ids.length, new Set(ids).size]).toEqual([12, 12]);
  });

  it('RECALL-20 finds an old memory among thousands by words of like meaning', async () => {
    const cairn = await remembered(['The doctor is called Adaeze.']);
    for (let from = 0; from < 1200; from += 100) {
      const cards = Array.from({ length: 100 }, (_, i) => ({
        content: `Parcel ${from + i} has arrived at the depot.`,
      }));
      await cairn.cards.add_batch({ cards });
    }
    const { passages } = await cairn.memory.recall({ query: 'Which physician do we see?' });
    expect(passages[0]).toMatchObject({ text: 'The doctor is called Adaeze.', matched: [] });
  });

  it('RECALL-21 is surer of an answer than of a guess', async () => {
    const cairn = await remembered();
    const top = async (query: string) => (await cairn.memory.recall({ query })).passages[0]!.confidence;
    const sure = await top('Which day is recycling collected?');
    const guess = await top('What size are the shoes?');
    expect(sure).toBeGreaterThan(0.7);
    expect(guess).toBeLessThan(0.5);
  });

  it('RECALL-21 falls with the score, between 0 and 1', async () => {
    const cairn = await remembered();
    const { passages } = await cairn.memory.recall({ query: 'Which day is recycling collected?' });
    const all = passages.map(({ confidence }) => confidence);
    expect(all.every((one) => one >= 0 && one <= 1)).toBe(true);
    expect(all[0]).toBe(Math.max(...all));
  });

  it('RECALL-21 leaves out what is below min_confidence', async () => {
    const cairn = await remembered();
    const query = 'Which day is recycling collected?';
    const { passages } = await cairn.memory.recall({ query, min_confidence: 0.7 });
    expect(passages.map(({ text }) => text)).toEqual([MEMORIES[4]]);
    expect((await cairn.memory.recall({ query: 'zzyzx', min_confidence: 0.9 })).passages).toEqual([]);
    expect(await refusalOf(cairn.memory.recall({ query, min_confidence: 1.5 }))).toMatchObject({
      code: 'INVALID_INPUT',
    });
  });

  it('SEARCH-30 ranks words of like meaning above unlike ones, and adds no result', async () => {
    const cairn = await remembered([
      'The meeting about the harbour was long.',
      'The meeting with the doctor was long.',
      'The meeting about the budget was long.',
      'Nothing to see here.',
    ]);
    const { results, total } = await cairn.search.query({ query: 'meeting with a physician' });
    expect(results[0]!.snippet).toContain('doctor');
    expect([results.length, total]).toEqual([3, 3]);
  });

  it('SEARCH-31 reads short forms, spellings, compounds and derivations as one word', async () => {
    const cairn = await remembered([
      'The k8s cluster is in Frankfurt',
      'We keep 8,000 bottles',
      'Colour of the walls: sage',
      'Send the invoice by e-mail',
      'Deployment happens at noon',
      'Rita is allergic to nuts',
    ]);
    const found = async (query: string) =>
      (await cairn.search.query({ query })).results.map(({ name }) => name!.split(' ')[1]);
    expect(await found('kubernetes')).toEqual(['k8s']);
    expect(await found('k8s')).toEqual(['k8s']);
    expect(await found('8000')).toEqual(['keep']);
    expect(await found('color')).toEqual(['of']);
    expect(await found('email')).toEqual(['the']);
    expect(await found('deployed')).toEqual(['happens']);
    expect(await found('allergies')).toEqual(['is']);
  });
});

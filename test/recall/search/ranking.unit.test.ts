/** What comes first and why: terms, neighbours, speakers, roles, dates, and what a question asks for. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readQuestion, wordsNaming } from '#cairn/recall/ranking/question.js';
import { type Candidate, type Ranked, rank, termWeights } from '#cairn/recall/ranking/ranking.js';
import { withReplies } from '#cairn/recall/ranking/replies.js';
import { type Link, linksOf, type NameCodes, withLinks } from '#cairn/recall/ranking/second-hop.js';
import { searchTextOf } from '#cairn/text/index.js';

interface Said {
  readonly content: string;
  readonly speaker?: string;
  readonly role?: string;
  readonly scope?: string | null;
  readonly position?: number;
  readonly on?: string;
  readonly context_only?: boolean;
}

type Found = Candidate & { readonly content: string };

/** Ranks texts as a search over all of them would: one scope unless they say otherwise, in the order given. */
function ask(text: string, said: readonly Said[], docs = 1000): Ranked<Found>[] {
  const question = readQuestion(text);
  const candidates = said.map((one, at): Found => {
    const occurred_at = one.on === undefined ? null : Date.parse(one.on);
    const kept = searchTextOf({ content: one.content, speaker: one.speaker ?? null, occurred_at });
    return {
      content: one.content,
      doc_no: at,
      scope_id: one.scope === undefined ? 'one' : one.scope,
      position: one.scope === null ? null : (one.position ?? at),
      role: one.role ?? (one.scope === null ? null : 'user'),
      speaker: one.speaker ?? null,
      occurred_at,
      length: kept.length,
      flags: kept.flags,
      tf: question.terms.map((term) => kept.frequencies.get(term) ?? 0),
      ...(one.context_only === true && { context_only: true }),
    };
  });
  const df = question.terms.map((_, at) => candidates.filter(({ tf }) => tf[at]! > 0).length);
  return rank(question, candidates, { docs, df });
}

const contents = (ranked: readonly Ranked<Found>[]): string[] => ranked.map(({ candidate }) => candidate.content);
const filler = (count: number): Said[] => Array.from({ length: count }, () => ({ content: 'Hm, okay.' }));

describe('the ranking', () => {
  it('puts what has more and rarer words of the question first, and says which', () => {
    const ranked = ask('Where is the copper kettle?', [
      { content: 'The kettle is on.', scope: 'a' },
      { content: 'A copper kettle hangs there.', scope: 'b' },
      { content: 'Rain again.', scope: 'c' },
    ]);
    expect(contents(ranked)).toEqual(['A copper kettle hangs there.', 'The kettle is on.']);
    expect(ranked[0]!.matched).toEqual(['copper', 'kettle']);
    expect(ranked[1]!.matched).toEqual(['kettle']);
    expect(ranked[0]!.score).toBeCloseTo(1, 5);
  });

  it('finds an answer by the turn before it, more than a question by the turn after', () => {
    const ranked = ask('Which violin does he play?', [
      ...filler(4),
      { content: 'Lovely weather today' },
      { content: 'So you play the violin, tell me more about that violin of yours' },
      { content: 'An old one from Cremona' },
      ...filler(4),
    ]);
    expect(contents(ranked)[1]).toBe('An old one from Cremona');
    const weather = ranked.find(({ candidate }) => candidate.content === 'Lovely weather today')!;
    expect(weather.score).toBeLessThan(ranked[1]!.score);
    expect(ranked[1]!.matched).toEqual([]);
    expect(ranked[1]!.nearby).toEqual(['violin', 'play']);
  });

  it('takes as neighbours what is near in position, not in the list', () => {
    const scores = (position: number): number[] =>
      ask('violin', [
        { content: 'A violin', position: 0 },
        { content: 'From Cremona', position },
      ]).map(({ score }) => score);
    expect(scores(1)[1]).toBeGreaterThan(scores(3)[1]!);
    // Farther than three it has nothing to do with the question.
    expect([scores(3), scores(4), scores(400)].map(({ length }) => length)).toEqual([2, 1, 1]);
  });

  it('lets a neighbour lend its words without being a result', () => {
    const ranked = ask('violin', [{ content: 'A violin', context_only: true }, { content: 'From Cremona' }]);
    expect(contents(ranked)).toEqual(['From Cremona']);
    expect(ranked[0]!.nearby).toEqual(['violin']);
  });

  it('scores a note beside turns, with no neighbours', () => {
    const ranked = ask('violin strings', [
      { content: 'Violin strings cost a lot', scope: null },
      { content: 'My violin needs care' },
    ]);
    expect(contents(ranked)[0]).toBe('Violin strings cost a lot');
  });

  it('takes long texts for what each of their words weighs', () => {
    const long = `A violin. ${'Many other matters follow in every sentence here. '.repeat(30)}`;
    expect(
      contents(
        ask('violin', [
          { content: long, scope: 'a' },
          { content: 'The violin', scope: 'b' },
        ]),
      )[0],
    ).toBe('The violin');
  });

  it('takes what is of the kind asked for, after what is asked for itself', () => {
    const question = readQuestion('Any pets?');
    const at = question.terms.indexOf('pet');
    expect(question.related[at]).toContain('kitten');
    const one = (doc_no: number, own: number, kindred: number): Candidate => ({
      ...{ doc_no, scope_id: null, position: null, role: null, speaker: null, occurred_at: null },
      ...{ length: 9, flags: 0, tf: [own], related_tf: [kindred] },
    });
    const ranked = rank(question, [one(1, 1, 0), one(2, 0, 1), one(3, 0, 0)], { docs: 9, df: [1] });
    expect(ranked.map(({ candidate, matched, nearby }) => [candidate.doc_no, matched, nearby])).toEqual([
      [1, ['pets'], []],
      [2, [], ['pets']],
    ]);
  });

  it('puts the newer of equals first, whatever the order they come in', () => {
    const question = readQuestion('violin');
    const one = (doc_no: number): Candidate => ({
      ...{ doc_no, scope_id: null, position: null, role: null, speaker: null, occurred_at: null },
      ...{ length: 1, flags: 0, tf: [1] },
    });
    const order = (numbers: number[]): number[] =>
      rank(question, numbers.map(one), { docs: 9, df: [3] }).map(({ candidate }) => candidate.doc_no);
    expect(order([1, 3, 2])).toEqual([3, 2, 1]);
    expect(order([3, 2, 1])).toEqual([3, 2, 1]);
  });
});

describe('a boost', () => {
  /** As answers are: with more than thirty words that say something. */
  const long = (text: string): string => `${text} ${Array.from({ length: 40 }, (_, i) => `word${i}`).join(' ')}`;

  const boostsOf = (text: string, said: Said): string[] =>
    ask(text, [said, { content: 'Hm' }])
      .filter(({ candidate }) => candidate.content === said.content)
      .flatMap(({ boosts }) => boosts.map(({ name, factor }) => `${name} ${factor}`));

  it.each<[string, Said, string[]]>([
    ['What does Ida grow?', { content: 'I grow leeks', speaker: 'Ida' }, ['speaker 1.8']],
    ['What does Ida grow?', { content: 'I grow leeks', speaker: 'Bo' }, []],
    ['what does ida grow?', { content: 'I grow leeks', speaker: 'Ida Holm' }, ['speaker 1.8']],
    ['What will he grow?', { content: 'I grow leeks', speaker: 'Will' }, []],
    ['What does Will grow?', { content: 'I grow leeks', speaker: 'Will' }, ['speaker 1.8']],
    ['What do I grow?', { content: long('You grow leeks'), role: 'assistant' }, ['role 0.7']],
    ['What do I grow?', { content: 'You grow leeks', role: 'assistant' }, []],
    ['What do I grow?', { content: long('You grow leeks'), role: 'assistant', speaker: 'assistant' }, ['role 0.7']],
    ['What do I grow?', { content: 'You grow leeks', role: 'assistant', speaker: 'Ida' }, []],
    ['What did you say of leeks?', { content: 'Leeks need sun', role: 'assistant' }, ['role 1.2']],
    ['A summary of leeks', { content: 'Leeks need sun', role: 'assistant' }, ['role 1.2']],
    ['A summary of leeks', { content: long('Leeks need sun'), role: 'tool' }, ['role 0.7']],
    ['Leeks in June 2021', { content: 'Leeks!', on: '2021-06-05' }, ['date 1.3']],
    ['Leeks in June 2020', { content: 'Leeks!', on: '2021-06-05' }, []],
    ['When were the leeks ripe?', { content: 'Leeks ripe since yesterday' }, ['temporal 1.1']],
    ['Where are the leeks from?', { content: 'my leeks come from Ghent' }, ['place 1.3']],
    ['How should I cook leeks?', { content: 'Always mention salt for leeks.' }, ['instruction 1.7']],
    ['Can you plan a meal of leeks?', { content: 'I prefer leeks raw' }, ['preference 1.7']],
    ['Did I say I prefer leeks?', { content: 'I prefer leeks raw' }, []],
    ['Can you plan leeks?', { content: 'I prefer leeks', role: 'assistant' }, []],
    ['leeks', { content: 'Leeks?' }, ['short_question 0.8']],
  ])('for %j of %j: %j', (text, said, boosts) => {
    expect(boostsOf(text, said)).toEqual(boosts);
  });

  it.each([
    ['Mel', 'Melanie', ['mel']],
    ['Mohamed', 'Muhammad', ['mohamed']],
    ['Nikolas', 'Nicolas', ['nikolas']],
    ['Elisa', 'Elise', ['elisa']],
    ['Erik', 'Emil', []],
    ['Anna', 'Hanna', []],
    ['Marta', 'Maria', ['marta']],
    ['Christopher', 'Christine', []],
  ])('of a speaker: %s names %s by %j', (name, speaker, words) => {
    expect(wordsNaming(readQuestion(`What does ${name} do?`), speaker)).toEqual(words);
  });

  it('spreads what a broad question finds over the scopes', () => {
    const said = ['b', 'a', 'a', 'a'].map((scope, at) => ({ content: 'Leeks', scope, position: 10 * at }));
    const scopesOf = (text: string): (string | null)[] => ask(text, said).map(({ candidate }) => candidate.scope_id);
    expect(scopesOf('leeks')).toEqual(['a', 'a', 'a', 'b']);
    expect(scopesOf('leeks over time')).toEqual(['a', 'b', 'a', 'a']);
    const last = ask('leeks over time', said).at(-1)!;
    expect(last.boosts.map(({ name }) => name)).toEqual(['spread']);
  });
});

describe('a question about several things', () => {
  const said = [
    { content: 'I finished the draft of the novel', scope: 'a' },
    { content: 'The abstract for the workshop is due', scope: 'b' },
    { content: 'Between chores a draft came from the door, and days went by', scope: 'c' },
  ];

  it('SEARCH-32 has each side ranked as a question of its own', () => {
    const between = 'How many days lie between the draft of the novel and the abstract for the workshop?';
    const without = 'How many days for the draft of the novel or the abstract for the workshop?';
    const scoresOf = (text: string) => {
      const ranked = ask(text, said);
      return said.map(({ content }) => ranked.find(({ candidate }) => candidate.content === content)!.score);
    };
    const [novel, workshop, draft] = scoresOf(between);
    expect(Math.min(novel!, workshop!)).toBeGreaterThanOrEqual(0.6);
    const [alone, other, chores] = scoresOf(without);
    expect(novel! - draft!).toBeGreaterThan(alone! - chores!);
    expect(workshop! - draft!).toBeGreaterThan(other! - chores!);
  });

  it.each([
    ['How long is it between the launch and the audit?', [['launch'], ['audit']]],
    ['Which came first, the launch of the app or the audit?', [['launch', 'appli'], ['audit']]],
    ['What happened between 3 May 2021 and 7 June 2021?', []],
    ['What is between?', []],
    ['What did the launch and the audit cost?', []],
  ])('has the sides of %j', (text, sides) => {
    const question = readQuestion(text);
    expect(question.sides.map((side) => side.map((at) => question.terms[at]))).toEqual(sides);
  });

  it('SEARCH-32 for a list or a summary goes by its subject, not by the words that ask', () => {
    const text = 'Can you list the order in which I brought up different aspects of my pottery throughout our chats?';
    const question = readQuestion(text);
    expect(question.subject).toEqual(['pottery']);
    const weightOf = (word: string) => question.weights[question.asked.indexOf(word)]!;
    expect(weightOf('pottery')).toBeGreaterThan(3 * weightOf('aspects'));
    expect(readQuestion('What different aspects of pottery do I like?').subject).toContain('aspects');
    // What only asks is its own subject.
    expect(readQuestion('Give me a summary').subject).not.toEqual([]);
  });

  it('SEARCH-32 takes the answer of the assistant with the turn that it answers, for a summary', () => {
    const talk = [
      { content: 'My pottery kiln stays cold', role: 'user' },
      { content: 'Check the fuse', role: 'assistant' },
    ];
    const namesOf = (text: string) =>
      withReplies(readQuestion(text), ask(text, talk)).map(({ boosts }) => boosts.map(({ name }) => name).join());
    expect(namesOf('A summary of my pottery')).toEqual(['reply', 'role,spread,reply']);
    expect(namesOf('What about my pottery?')).toEqual(['', '']);
  });
});

describe('a search follows', () => {
  const talk: Said[] = [
    { content: 'What instrument do you play in the orchestra?', speaker: 'Ida' },
    { content: 'The oboe, since school', speaker: 'Bo' },
    ...filler(4),
    { content: 'The orchestra was late', speaker: 'Bo' },
    { content: 'A pity, I like the sea', speaker: 'Ida' },
  ];
  const replied = (text: string, said = talk) =>
    withReplies(readQuestion(text), ask(text, said))
      .filter(({ boosts }) => boosts.some(({ name }) => name === 'reply'))
      .map(({ candidate }) => candidate.content);

  it('SEARCH-33 a question to its answer, by another speaker', () => {
    expect(replied('Which instrument is for the orchestra?')).toEqual(['The oboe, since school']);
    expect(replied('When did the instrument join the orchestra?')).toEqual([]);
    const monologue = talk.map((one) => ({ ...one, speaker: 'Bo' }));
    expect(replied('Which instrument is for the orchestra?', monologue)).toEqual([]);
    const apart = talk.map((one, at) => ({ ...one, position: 5 * at }));
    expect(replied('Which instrument is for the orchestra?', apart)).toEqual([]);
  });

  /** Each has the names 1 to 9 of its text, in order; those in brackets begin a sentence. */
  const namesOf = ({ candidate }: Ranked<Candidate>): NameCodes => {
    const { content } = candidate as Found;
    const [within, first] = [content.match(/(?<!\()\d/g) ?? [], content.match(/(?<=\()\d/g) ?? []];
    return { codes: Float64Array.from([...within, ...first].map(Number)), within: within.length };
  };
  const linked = (contents: readonly string[], known: number[] = []): Link[] =>
    linksOf(
      ask(
        'leeks',
        contents.map((content) => ({ content, scope: null })),
      ),
      namesOf,
      new Set(known),
    );

  it('SEARCH-33 names in the best results that are new, and that some others have', () => {
    // Of equals the newer is better, and the older ones are not among the best.
    const best = ['Leeks leeks leeks in 1 and 2', 'Leeks leeks in 3'];
    const others = Array.from({ length: 20 }, () => 'Leeks');
    expect(linked(['Leeks of 1', ...others, ...best])).toEqual([[1, 100]]);
    expect(linked(['Leeks of (1)', ...others, ...best])).toEqual([[1, 100]]);
    expect(linked(['Leeks of 1', ...others, ...best], [1])).toEqual([]);
    expect(linked([...others, ...best])).toEqual([]);
    expect(linked([...others.map(() => 'Leeks of 1'), ...others, ...best])).toEqual([]);
    // A word that begins a sentence may be no name.
    expect(linked(['Leeks of 1', ...others, 'Leeks leeks leeks (1)'])).toEqual([]);
    expect(linked([])).toEqual([]);
  });

  it('SEARCH-33 names, and ranks the results that have them higher, by what they weigh', () => {
    const ranked = ask(
      'leeks',
      ['Leeks', 'Leeks of 1', 'Leeks of 2'].map((content) => ({ content, scope: null })),
    );
    const before = ranked[0]!.score;
    const after = withLinks(ranked, namesOf, [
      [2, 100],
      [1, 50],
    ]);
    expect(contents(after)).toEqual(['Leeks of 2', 'Leeks of 1', 'Leeks']);
    const [two, one, none] = after as [Ranked<Found>, Ranked<Found>, Ranked<Found>];
    expect(none.score).toBe(before);
    expect(two.score - before).toBeCloseTo(2 * (one.score - before), 10);
    expect(two.boosts.map(({ name }) => name)).toEqual(['linked']);
    // It is no evidence for an answer.
    expect(two.score - two.linked).toBeCloseTo(before, 10);
    expect(withLinks(ranked, namesOf, [])).toEqual(ranked);
  });
});

describe('a question', () => {
  it('has each term once, with the word that it stands for', () => {
    const { terms, asked, weights } = readQuestion('Tell me: which kettles did Odile buy, and what kettle now?');
    expect(terms).toEqual(['tell', 'kettl', 'odil', 'bui']);
    expect(asked).toEqual(['tell', 'kettles', 'odile', 'buy']);
    // A word of asking weighs least, a name without a vector most.
    const [tell, kettles, odile, buy] = weights as [number, number, number, number];
    expect([odile, kettles, buy, tell]).toEqual([...weights].sort((a, b) => b - a));
  });

  it('of stop words alone asks for those', () => {
    expect(readQuestion('who are you?').terms).toEqual(['who', 'ar', 'you']);
    expect(readQuestion('?!').terms).toEqual([]);
  });

  it('weighs rare terms more, however wrong the statistics are', () => {
    const question = readQuestion('kettle violin leek');
    const [rare, common, absurd] = termWeights(question, { docs: 100, df: [1, 60, 500] });
    expect(rare).toBeGreaterThan(common!);
    expect(common).toBeGreaterThan(absurd!);
    expect(absurd).toBeGreaterThan(0);
    expect(termWeights(question, { docs: 0, df: [] }).every((weight) => weight > 0)).toBe(true);
  });
});

it('the scores of anything are finite, the same each time, and in order', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 40 }),
    fc.constantFrom('When did Ida go to Ghent in May 2021?', 'Can you summarise leeks over time?', '何を食べた'),
    fc.constantFrom('Days between leeks and Ghent?', 'Which was first, Ghent or leeks?'),
  );
  const candidate = fc.record({
    doc_no: fc.nat(),
    scope_id: fc.option(fc.constantFrom('a', 'b')),
    position: fc.option(fc.nat(9)),
    role: fc.option(fc.constantFrom('user', 'assistant', 'system', 'tool')),
    speaker: fc.option(fc.oneof(fc.string(), fc.constantFrom('Ida', 'user'))),
    occurred_at: fc.option(fc.integer({ min: -8.64e15, max: 8.64e15 })),
    length: fc.nat(),
    flags: fc.nat(255),
    tf: fc.array(fc.nat(20), { maxLength: 8 }),
    context_only: fc.boolean(),
  });
  const statistics = fc.record({ docs: fc.nat(), df: fc.array(fc.nat(), { maxLength: 8 }) });
  fc.assert(
    fc.property(text, fc.array(candidate, { maxLength: 20 }), statistics, (asked, candidates, numbers) => {
      const question = readQuestion(asked);
      const ranked = withReplies(question, rank(question, candidates, numbers));
      expect(ranked.every(({ score }) => Number.isFinite(score) && score > 0)).toBe(true);
      expect(ranked.some(({ candidate: one }) => one.context_only)).toBe(false);
      ranked.slice(1).forEach(({ score }, at) => {
        expect(score).toBeLessThanOrEqual(ranked[at]!.score);
      });
      expect(withReplies(question, rank(question, candidates, numbers))).toEqual(ranked);
    }),
  );
});

/** Whatever is in the store, a context keeps to its budget, splits no tool call from its result, and is replayed alike. */
import fc from 'fast-check';
import { countTokens as reference } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import type { Json } from '#cairn/kernel/contract.js';
import { CairnError } from '#cairn/kernel/index.js';
import type { ContextFormat, SectionName } from '#cairn/recall/contexts/model.js';
import { type Assembly, assemble, type Material, type Uncounted } from '#cairn/recall/windows/assembly.js';
import { calledBy } from '#cairn/recall/windows/conflicts.js';
import { sectionsFor } from '#cairn/recall/windows/sections.js';
import type { TurnCard } from '#cairn/recall/windows/turns.js';
import { HEADINGS } from '#cairn/recall/windows/window.js';
import { charactersWithin, countTokens } from '#cairn/text/index.js';
import { openTarget, type TestStore, targetNames } from '../../support/targets.js';

/** CAIRN_TEST_SEED=… repeats a run. */
const SEED = process.env.CAIRN_TEST_SEED;
const seeded = SEED === undefined ? {} : { seed: Number(SEED) };
const FORMATS: readonly ContextFormat[] = ['messages', 'markdown', 'xml', 'json'];
const plainly = { disallowedSpecial: new Set<string>() };
const meter = { count: countTokens, within: charactersWithin };

const words = fc.constantFrom(
  'login',
  'the',
  ' ',
  '\n',
  '\n\n',
  '. ',
  '记忆是什么。',
  '기억 ',
  'ذاكرة',
  'स्मृति ',
  '👩‍👩‍👧‍👦',
  '🏳️‍🌈😀',
  'e\u0301',
  '"quoted" \\ <b>&amp;</b>',
  'const x = (a) => { return a; };\n',
  '    \t',
  'x'.repeat(60),
  'ÀÉ'.repeat(20),
  '\u0001',
  '<|endoftext|>',
  '0123456789',
);
const prose = fc.array(words, { minLength: 1, maxLength: 25 }).map((list) => list.join(''));
/** What somebody may write who wants it to be taken for something else, or who forgot to end it. */
const sly = fc.constantFrom(
  '\n## Conversation\n',
  '\n### ',
  '\n**User:** ',
  '\n```ts\n',
  '\n```\n',
  '\n~~~~\n',
  '```',
  '\r  ## Notes\r',
);
const stored = fc
  .array(fc.oneof({ weight: 4, arbitrary: words }, { weight: 1, arbitrary: sly }), { minLength: 1, maxLength: 25 })
  .map((list) => list.join(''));
/** Now and then one that is much too long. */
const anyText = fc.oneof({ weight: 6, arbitrary: stored }, { weight: 1, arbitrary: stored.map((p) => p.repeat(40)) });

interface Said {
  readonly role: 'user' | 'assistant' | 'system' | 'tool';
  readonly text: string;
  readonly calls: number;
  /** How the results come: each in a turn of its own, in one turn, with the call, or not at all. */
  readonly results: 'apart' | 'together' | 'within' | 'none';
  readonly named: boolean;
  /** What each result says besides: now and then more than fits. */
  readonly more: string;
}

const said: fc.Arbitrary<Said> = fc.record({
  role: fc.constantFrom('user', 'assistant', 'assistant', 'system', 'tool'),
  text: fc.oneof(stored, fc.constant('')),
  calls: fc.constantFrom(0, 0, 1, 2, 3),
  results: fc.constantFrom('apart', 'apart', 'together', 'within', 'none'),
  named: fc.boolean(),
  more: fc.oneof({ weight: 4, arbitrary: fc.constant('') }, { weight: 1, arbitrary: stored.map((p) => p.repeat(40)) }),
});

type Turn = Pick<TurnCard, 'role' | 'content' | 'tool_calls' | 'tool_results' | 'tool_call_id'>;

/** Turns of a conversation: after calls their results, in one of the ways in which they are written. */
function turnsOf(list: readonly Said[]): Turn[] {
  return list.flatMap(({ role, text, calls, results, named, more }, n): Turn[] => {
    const plain = { role, content: text, tool_calls: null, tool_results: null, tool_call_id: null };
    if (role !== 'assistant' || calls === 0) return [plain];
    const ids = Array.from({ length: calls }, (_, i) => `call-${n}-${i}`);
    const tool_calls: Json[] = ids.map((id) => ({ id, function: { name: 'look', arguments: '{"at":1}' } }));
    const answers: Json[] = ids.map((tool_call_id) => ({ tool_call_id, content: `result of ${tool_call_id} ${more}` }));
    if (results === 'within') return [{ ...plain, tool_calls, tool_results: answers }];
    const caller = { ...plain, tool_calls };
    if (results === 'none') return [caller];
    const tool = { role: 'tool', content: '', tool_calls: null, tool_results: null, tool_call_id: null };
    if (results === 'together') return [caller, { ...tool, tool_results: answers }];
    return [
      caller,
      ...ids.map((id) => ({ ...tool, content: `result of ${id} ${more}`, tool_call_id: named ? id : null })),
    ];
  });
}

const candidate: fc.Arbitrary<Uncounted> = fc
  .record({
    section: fc.constantFrom<SectionName>('principles', 'notes', 'artifacts', 'summaries', 'passages'),
    title: fc.oneof(stored, fc.constant('')),
    text: anyText,
    moment: fc.nat(5),
  })
  .map(({ section, title, text, moment }) => ({
    entity_type: 'Note',
    id: `${section}/${title}/${text}`,
    card_id: `${section}/${title}/${text}`,
    score: 1,
    reason: 'relevant',
    part: { section, title, type: 'Fact', text },
    moment,
  }));

const inConflict = (one: Uncounted, all: readonly Uncounted[]): Uncounted => {
  const others = all.map(({ id }) => id).filter((id) => id !== one.id);
  const called = calledBy(one.part.title, one.part.text);
  return { ...one, conflict: { called, with: others, at: one.moment } };
};

const given = (section: SectionName, text: string): Uncounted => ({
  entity_type: 'Card',
  id: section,
  card_id: section,
  score: null,
  reason: 'given',
  part: { section, title: '', type: '', text },
  moment: 0,
});

const materials: fc.Arbitrary<Material> = fc
  .record({
    format: fc.constantFrom(...FORMATS),
    budget: fc.oneof(fc.integer({ min: 40, max: 400 }), fc.integer({ min: 400, max: 4000 })),
    candidates: fc.array(candidate, { maxLength: 8 }),
    turns: fc.array(said, { maxLength: 12 }),
    query: fc.oneof(prose, fc.constant(undefined)),
    instructions: fc.oneof(prose, fc.constant(undefined)),
    user_input: fc.oneof(prose, fc.constant(undefined)),
    sections: fc.constantFrom(
      [],
      [
        { name: 'turns' as const, priority: 99, share: 0.5 },
        { name: 'notes' as const, min_tokens: 60 },
      ],
    ),
  })
  .map(({ format, budget, candidates, turns, instructions, user_input, sections, query }) => ({
    format,
    budget,
    sections: sectionsFor(sections),
    given: [
      ...(instructions === undefined ? [] : [given('instructions', instructions)]),
      ...(user_input === undefined ? [] : [given('user_input', user_input)]),
    ],
    candidates: candidates.map((one, i) => (i % 3 === 0 ? inConflict(one, candidates) : one)),
    refused: [],
    turns: turnsOf(turns).map((turn, i) => ({ ...turn, card_id: `turn-${i}` })),
    turns_total: 100,
    max_turns: 1000,
    query,
  }));

interface ChatMessage {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: readonly { readonly id: string }[];
  readonly tool_call_id?: string;
}

/** The headings of sections, as a reader of Markdown finds them: not within blocks of code. */
function headingsIn(text: string): string[] {
  let open = '';
  return text.split(/\r\n|[\n\r\u2028\u2029]/).filter((line) => {
    const marks = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(line)?.[1] ?? '';
    if (open !== '') {
      if (marks.startsWith(open) && line.trim() === marks) open = '';
      return false;
    }
    open = marks;
    return /^ {0,3}## /.test(line);
  });
}

const HEADED: Readonly<Record<string, string>> = { ...HEADINGS, user_input: 'User input' };

/** Nothing but the sections has the heading of one. */
function expectOwnHeadings({ text, sections }: Assembly): void {
  const found = headingsIn(text);
  const own = sections
    .filter(({ name, included }) => included > 0 && HEADED[name] !== undefined)
    .map(({ name }) => `## ${HEADED[name]}`);
  // Turns that say nothing are no conversation.
  expect(found).toEqual(own.filter((heading) => heading !== '## Conversation' || found.includes(heading)));
}

/** Every call is answered right behind it, once, and nothing else is an answer. */
function expectValidChat(messages: readonly ChatMessage[]): void {
  for (let i = 0; i < messages.length; i++) {
    const { role, tool_calls = [] } = messages[i]!;
    expect(role).not.toBe('tool');
    if (tool_calls.length === 0) continue;
    const answers = messages.slice(i + 1, i + 1 + tool_calls.length);
    expect(answers.map(({ tool_call_id }) => tool_call_id)).toEqual(tool_calls.map(({ id }) => id));
    expect(answers.every((answer) => answer.role === 'tool')).toBe(true);
    i += tool_calls.length;
  }
}

describe('contexts', () => {
  it('CTX-2 CTX-4 CTX-6 keep to the budget by one token, split no pair, and are the same again', () =>
    fc.assert(
      fc.asyncProperty(materials, async (material) => {
        const made = await assemble(material, meter).catch((error: unknown) => {
          if (!(error instanceof CairnError) || error.code !== 'CONTEXT_BUDGET_TOO_SMALL') throw error;
          expect(error.details?.needed_tokens).toBeGreaterThan(material.budget);
          return undefined;
        });
        if (!made) return;
        expect(reference(made.text, plainly)).toBe(made.token_count);
        expect(made.token_count).toBeLessThanOrEqual(material.budget);
        expect((await assemble(material, meter)).text).toBe(made.text);
        const shown = new Set(made.entries.filter(({ place }) => place !== null).map(({ card_id }) => card_id));
        for (const [i, { tool_calls }] of material.turns.entries()) {
          const id = (tool_calls?.[0] as { id: string } | undefined)?.id;
          if (id === undefined) continue;
          const answers = material.turns.slice(i + 1).filter((turn) => answersTo(turn, id));
          for (const turn of answers) expect(shown.has(turn.card_id)).toBe(shown.has(`turn-${i}`));
        }
        if (material.format === 'markdown') expectOwnHeadings(made);
        if (!made.messages) return;
        const messages = made.messages as unknown as ChatMessage[];
        expect(JSON.stringify(messages)).toBe(made.text);
        expectValidChat(messages);
        // What a model is sent: each message apart, and a few tokens around it.
        const sent = messages.reduce((sum, { content }) => sum + 4 + reference(content ?? '', plainly), 0);
        expect(made.token_count).toBeGreaterThanOrEqual(sent);
      }),
      { numRuns: 150, ...seeded },
    ));
});

/** Counts what is short as nothing: as if joining texts made many more tokens of them. */
const joined = { count: async (text: string) => (text.length < 400 ? 0 : countTokens(text)), within: charactersWithin };

describe('contexts whose parts cost more together than alone', () => {
  it('CTX-2 CTX-6 keep to the budget all the same, without splitting a pair', () =>
    fc.assert(
      fc.asyncProperty(materials, async (given) => {
        const material = { ...given, given: [], budget: Math.max(given.budget, 200) };
        const made = await assemble(material, joined);
        const tokens = await joined.count(made.text);
        expect(tokens).toBe(made.token_count);
        expect(tokens).toBeLessThanOrEqual(material.budget);
        if (made.messages) expectValidChat(made.messages as unknown as ChatMessage[]);
        const inOrder = made.entries.flatMap(({ place }) => (place === null ? [] : [place]));
        expect(inOrder).toEqual(inOrder.map((_, i) => i + 1));
      }),
      { numRuns: 60, ...seeded },
    ));
});

describe('a context that costs one token too many', () => {
  it.each(FORMATS)('CTX-2 shows its newest turn alone, as %s', async (format) => {
    const said = ['first words', 'last words'];
    // Together they cost more than apart, so that both are chosen and counted once more.
    const MORE = 50;
    const meter = {
      count: async (text: string) =>
        (await countTokens(text)) + (said.every((words) => text.includes(words)) ? MORE : 0),
      within: charactersWithin,
    };
    const material = (budget: number): Material => ({
      format,
      budget,
      sections: sectionsFor([]),
      given: [],
      candidates: [],
      refused: [],
      turns: said.map((content, i) => ({
        role: 'user',
        content,
        tool_calls: null,
        tool_results: null,
        tool_call_id: null,
        card_id: `turn-${i}`,
      })),
      turns_total: 2,
      max_turns: 10,
      query: undefined,
    });
    const whole = await assemble(material(1000), meter);
    for (const [budget, shown] of [
      [whole.token_count, said],
      [whole.token_count - 1, said.slice(1)],
    ] as const) {
      const { text, token_count } = await assemble(material(budget), meter);
      expect(said.filter((words) => text.includes(words))).toEqual(shown);
      expect(token_count).toBeLessThanOrEqual(budget);
    }
  });

  it.each(FORMATS)('CTX-3 is refused where all of it must be in, as %s', async (format) => {
    const material = (budget: number): Material => ({
      format,
      budget,
      sections: sectionsFor([]),
      given: [given('user_input', 'What must be in, whatever it costs.')],
      candidates: [],
      refused: [],
      turns: [],
      turns_total: 0,
      max_turns: 10,
      query: undefined,
    });
    const { token_count } = await assemble(material(1000), meter);
    expect((await assemble(material(token_count), meter)).token_count).toBe(token_count);
    await expect(assemble(material(token_count - 1), meter)).rejects.toMatchObject({
      code: 'CONTEXT_BUDGET_TOO_SMALL',
      details: { needed_tokens: token_count, token_budget: token_count - 1 },
    });
  });
});

const answersTo = ({ tool_call_id, tool_results }: TurnCard, id: string): boolean =>
  tool_call_id === id || (tool_results ?? []).some((one) => (one as { tool_call_id?: string }).tool_call_id === id);

const RUNS = { sqlite: 12, postgres: 4 } as const;
const kinds = (['sqlite', 'postgres'] as const).filter((kind) => targetNames().includes(kind));

for (const kind of kinds) {
  describe(`contexts on ${kind}`, () => {
    let test: TestStore;
    beforeAll(async () => {
      test = await openTarget(kind);
    });
    afterAll(() => test.close());

    it('MAN-4 are replayed byte for byte, whatever is written after them', () =>
      fc.assert(
        fc.asyncProperty(
          fc.record({
            turns: fc.array(said, { minLength: 1, maxLength: 6 }),
            texts: fc.array(prose, { minLength: 2, maxLength: 4 }),
            format: fc.constantFrom(...FORMATS),
            token_budget: fc.integer({ min: 200, max: 1500 }),
          }),
          async ({ turns, texts, format, token_budget }) => {
            const cairn = await test.freshTenant();
            const world = await settle(cairn, turnsOf(turns), texts);
            const { trajectory_id } = world;
            const input = { trajectory_id, format, token_budget, user_input: `${texts[0]} login` };
            const made = await cairn.context.assemble(input);
            expect(made.token_count).toBeLessThanOrEqual(token_budget);
            await goOn(cairn, world, texts);
            const again = await cairn.manifests.replay({ manifest_id: made.manifest_id });
            const { messages, text, content_hash, token_count } = made;
            expect(again).toMatchObject({ messages, text, content_hash, token_count });
          },
        ),
        { numRuns: RUNS[kind], ...seeded },
      ));
  });
}

interface World {
  readonly trajectory_id: string;
  readonly scope_id: string;
  readonly artifact_ids: string[];
  readonly note_ids: string[];
}

async function settle(cairn: Api, turns: readonly Turn[], texts: readonly string[]): Promise<World> {
  const { trajectory_id } = await cairn.trajectories.create({ name: 'task' });
  const { scope_id } = await cairn.scopes.create({ trajectory_id, name: 'window' });
  await cairn.turns.batch({
    items: turns.map(({ role, content, tool_calls, tool_results, tool_call_id }) => ({
      create: {
        scope_id,
        role,
        content,
        tool_calls: tool_calls as never,
        tool_results: tool_results as never,
        metadata: tool_call_id === null ? {} : { tool_call_id },
      },
    })),
  });
  const artifact_ids: string[] = [];
  const note_ids: string[] = [];
  for (const content of texts) {
    const made = { name: 'login', content, artifact_type: 'Fact', trajectory_id };
    artifact_ids.push((await cairn.artifacts.create(made)).artifact_id);
    const note = { note_type: 'Fact', title: 'login', content, source_trajectory_ids: [trajectory_id] };
    note_ids.push((await cairn.notes.create(note)).note_id);
  }
  return { trajectory_id, scope_id, artifact_ids, note_ids };
}

/** New versions, more turns, other contexts: nothing that was shown is erased. */
async function goOn(cairn: Api, world: World, texts: readonly string[]): Promise<void> {
  const { trajectory_id, scope_id } = world;
  for (const artifact_id of world.artifact_ids)
    await cairn.artifacts.update({ artifact_id, name: 'new name', content: 'new content' });
  for (const note_id of world.note_ids) await cairn.notes.update({ note_id, title: 'new title' });
  for (const content of texts) await cairn.turns.add({ scope_id, role: 'User', content });
  await cairn.scopes.create({ trajectory_id, name: 'another' });
  await cairn.context.assemble({ trajectory_id, instructions: 'Otherwise.', token_budget: 500 });
}

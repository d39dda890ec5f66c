/** What a model sees of any list of cards: what the APIs of models insist on, and that nothing is lost. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderSteps } from '#cairn/facts/transcripts/hydration.js';
import type { Prompt } from '#cairn/facts/transcripts/model.js';
import type { HydratedCard } from '#cairn/facts/transcripts/transcript.js';
import type { Json, JsonObject } from '#cairn/kernel/contract.js';
import { asList, runSteps } from '#cairn/kernel/index.js';

/** Few, so that they meet; of some the formats think differently. */
const ids = ['a', 'a_b', 'a.b', 'a b', 'é', '', 'x'.repeat(50), `call_${'0'.repeat(24)}`];
const someId = fc.constantFrom(...ids);
const types = ['agent.thought', 'task.instruction', 'task.deliverable', 'sys.rendered_prompt', 'sys.tools', 'x'];
const roles = ['user', 'assistant', 'system', 'tool'];
const around = fc.constantFrom('', ' ', '\n', '"\\');

interface Seed {
  readonly kind: 'said' | 'call' | 'result';
  readonly type: string;
  readonly role: string | undefined;
  readonly id: string | null;
  readonly before: string;
  readonly after: string;
  readonly asJson: boolean;
  readonly listed: readonly { readonly id: string | null; readonly shared: boolean }[];
  readonly again: boolean;
}

const seed: fc.Arbitrary<Seed> = fc.record({
  kind: fc.constantFrom('said', 'call', 'result'),
  type: fc.constantFrom(...types),
  role: fc.option(fc.constantFrom(...roles), { nil: undefined }),
  id: fc.option(someId, { nil: null, freq: 8 }),
  before: around,
  after: around,
  asJson: fc.boolean(),
  listed: fc.array(fc.record({ id: fc.option(someId, { nil: null }), shared: fc.boolean() }), { maxLength: 3 }),
  again: fc.boolean(),
});

/** The word `w<n>.` is in the content of the nth card, `w<n>-<i>.` in the ith call of its list, and nowhere else. */
function toCards(seeds: readonly Seed[]): HydratedCard[] {
  return seeds.flatMap((one, n) => {
    const words = `${one.before}w${n}.${one.after}`;
    const card = (content: Json, metadata: JsonObject): HydratedCard => ({
      card_id: `card-${n}`,
      content,
      metadata: one.role === undefined ? metadata : { ...metadata, role: one.role },
      tool_call_id: one.id,
      tool_calls: one.listed.map(({ id, shared }, i) => ({
        ...(id === null ? {} : { id }),
        name: 'f',
        arguments: { q: shared ? 'shared' : `w${n}-${i}.` },
      })),
    });
    const made = {
      said: () => card(one.asJson ? { words } : words, { type: one.type }),
      call: () => card({ tool_name: 'f', arguments: { q: words } }, { type: 'tool.call' }),
      result: () => card({ status: one.asJson ? 'success' : 'failed', result: words }, { type: 'tool.result' }),
    }[one.kind]();
    return one.again ? [made, made] : [made];
  });
}

const cards = fc.array(seed, { maxLength: 14 }).map(toCards);

interface Spoken {
  readonly role: string;
  readonly calls: string[];
  readonly results: string[];
  readonly texts: string[];
}

type Block = { type: string; id: string; tool_use_id: string; text: string };

/** Either format as the same few facts. */
const spoken = ({ format, messages }: Prompt): Spoken[] =>
  messages.map(format === 'openai' ? openaiFacts : anthropicFacts);

function openaiFacts({ role, content, tool_calls, tool_call_id }: JsonObject): Spoken {
  return {
    role: role as string,
    calls: ((tool_calls ?? []) as { id: string }[]).map(({ id }) => id),
    results: tool_call_id === undefined ? [] : [tool_call_id as string],
    texts: content === null ? [] : [content as string],
  };
}

function anthropicFacts({ role, content }: JsonObject): Spoken {
  const blocks = content as Block[];
  const of = (type: string) => blocks.filter((block) => block.type === type);
  // A text or a call before a result is refused.
  const results = of('tool_result');
  expect(blocks.slice(0, results.length)).toEqual(results);
  return {
    role: role as string,
    calls: of('tool_use').map(({ id }) => id),
    results: results.map(({ tool_use_id }) => tool_use_id),
    texts: of('text').map(({ text }) => text),
  };
}

const views = (given: readonly HydratedCard[]) =>
  (['openai', 'anthropic'] as const).map(
    (format) => runSteps(renderSteps({ profile: { name: 'p', instructions: 'Work.' }, cards: given, format })).prompt,
  );

/** The results that follow a message before anything else does. */
function answersTo(all: readonly Spoken[], at: number): string[] {
  const results: string[] = [];
  for (const next of all.slice(at + 1)) {
    if (next.results.length === 0) break;
    results.push(...next.results);
  }
  return results;
}

const isSaid = ({ metadata }: HydratedCard) => metadata.type !== 'sys.rendered_prompt' && metadata.type !== 'sys.tools';

function wordsOf(card: HydratedCard, n: string): string[] {
  const { type, role } = card.metadata;
  const isAssistant = role === 'assistant' || (type === 'agent.thought' && role === undefined);
  const listed =
    isAssistant && type !== 'tool.call' && type !== 'tool.result'
      ? asList(card.tool_calls as JsonObject | JsonObject[] | null)
      : [];
  const own = listed
    .map((call) => ((call as JsonObject).arguments as JsonObject).q)
    .filter((word) => word !== 'shared');
  return isSaid(card) ? [`w${n}.`, ...(own as string[])] : [];
}

describe('what a model sees of any cards', () => {
  it('HYD-18 HYD-11 HYD-14 every call is answered once, directly after it, and no id comes twice', () => {
    fc.assert(
      fc.property(cards, (given) => {
        for (const view of views(given)) {
          const all = spoken(view);
          const calls = all.flatMap((one) => one.calls);
          expect(new Set(calls).size).toBe(calls.length);
          expect(all.flatMap(({ results }) => results)).toEqual(calls);
          all.forEach((one, at) => {
            if (one.calls.length > 0) expect(answersTo(all, at)).toEqual(one.calls);
          });
          const fits = view.format === 'openai' ? /^.{1,40}$/s : /^[a-zA-Z0-9_-]{1,64}$/;
          expect(calls.filter((id) => !fits.test(id))).toEqual([]);
        }
      }),
      { numRuns: 400 },
    );
  });

  it('HYD-18 all that is said, called and answered is there once, unless it is a record', () => {
    fc.assert(
      fc.property(cards, (given) => {
        for (const view of views(given)) {
          const shown = JSON.stringify([view.format === 'openai' ? '' : view.system, view.messages]);
          for (const card of given) {
            const n = card.card_id.slice('card-'.length);
            for (const word of wordsOf(card, n)) expect([word, shown.split(word).length - 1]).toEqual([word, 1]);
            if (!isSaid(card)) expect(shown).not.toContain(`w${n}.`);
          }
        }
      }),
      { numRuns: 400 },
    );
  });

  it('HYD-16 HYD-17 no text is blank, and in the Anthropic format the roles alternate from the user on', () => {
    fc.assert(
      fc.property(cards, (given) => {
        for (const view of views(given)) {
          const all = spoken(view);
          expect(all.flatMap(({ texts }) => texts).filter((text) => text.trim() === '')).toEqual([]);
          expect(all.filter((one) => one.texts.length + one.calls.length + one.results.length === 0)).toEqual([]);
          if (view.format === 'openai') continue;
          expect(all.map(({ role }) => role)).toEqual(all.map((_, i) => (i % 2 === 0 ? 'user' : 'assistant')));
        }
      }),
      { numRuns: 400 },
    );
  });

  it('HYD-1 the same cards give the same bytes, and are left as they are', () => {
    fc.assert(
      fc.property(cards, (given) => {
        const before = JSON.stringify(given);
        const bytes = JSON.stringify(views(given));
        expect(JSON.stringify(views(JSON.parse(before) as HydratedCard[]))).toBe(bytes);
        expect(JSON.stringify(given)).toBe(before);
      }),
      { numRuns: 100 },
    );
  });
});

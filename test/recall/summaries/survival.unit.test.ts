/** What survives of eight closed conversations in their digests: facts, stale values, and what is not worth keeping. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { offlineSummarizer } from '#cairn/recall/summaries/offline-summarizer.js';

interface Labelled {
  readonly text: string;
  /** It is in a text that has one string of each of these sets. */
  readonly must: readonly (readonly string[])[];
}

interface Conversation {
  readonly id: string;
  readonly turns: readonly { readonly role: string; readonly content: string; readonly speaker?: string }[];
  readonly facts: readonly Labelled[];
  readonly stale: readonly Labelled[];
  readonly junk: readonly Labelled[];
}

const file = new URL('../../fixtures/closed-conversations.json', import.meta.url);
const conversations = JSON.parse(readFileSync(file, 'utf8')) as Conversation[];

/** Share of the words that a digest has. */
const SHARE = 0.385;
/** Today's shares of 156 facts and 36 items of junk. A change may improve these, never the reverse. */
const SCORE = { facts: 0.8, junk: 0.12 };

const wordsOf = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length;
const plain = (text: string): string => text.toLowerCase().replace(/\s+/g, ' ');
const has = (text: string, { must }: Labelled): boolean => must.every((some) => some.some((one) => text.includes(one)));
const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

async function closed({ turns, facts, stale, junk }: Conversation) {
  const sources = turns.map(({ role, content, speaker = null }, i) => ({ id: `${i}`, role, speaker, text: content }));
  const said = sum(turns.map(({ content }) => wordsOf(content)));
  const { text } = await offlineSummarizer.summarize({
    sources,
    max_tokens: 2000,
    max_words: Math.floor(said * SHARE),
    digest: true,
  });
  const left = plain(text);
  // An old value stands only after "before:".
  const current = left.replace(/\((?:since [\d-]+; )?before: [^)]*\)/g, '');
  return {
    said,
    kept: wordsOf(text),
    facts: facts.filter((fact) => has(left, fact)).length,
    junk: junk.filter((item) => has(left, item)).length,
    unmarked: stale.filter((value) => has(current, value)).map((value) => value.text),
  };
}

describe('the digests of eight conversations', async () => {
  const left = await Promise.all(conversations.map(closed));

  it('keep at least 80 % of the facts in less than 39 % of the words', () => {
    const facts = sum(conversations.map((one) => one.facts.length));
    expect(facts).toBeGreaterThanOrEqual(156);
    expect(sum(left.map((one) => one.facts)) / facts).toBeGreaterThanOrEqual(SCORE.facts);
    expect(sum(left.map(({ kept }) => kept)) / sum(left.map(({ said }) => said))).toBeLessThan(0.39);
  });

  it('keep at most 12 % of what is not worth it', () => {
    const junk = sum(conversations.map((one) => one.junk.length));
    expect(junk).toBeGreaterThanOrEqual(36);
    expect(sum(left.map((one) => one.junk)) / junk).toBeLessThanOrEqual(SCORE.junk);
  });

  it('keep no value that was replaced without a mark', () => {
    expect(left.flatMap(({ unmarked }) => unmarked)).toEqual([]);
  });
});

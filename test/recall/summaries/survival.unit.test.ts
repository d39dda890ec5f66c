/** What survives of closed conversations: facts, stale values, and what is not worth keeping. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { offlineExtractor } from '#cairn/recall/extraction/offline-extractor.js';
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

const read = (name: string): Conversation[] =>
  JSON.parse(readFileSync(new URL(`../../fixtures/${name}`, import.meta.url), 'utf8')) as Conversation[];
const conversations = read('closed-conversations.json');
/** Denser ones: a fact per 27 words, against one per 41. */
const everyday = read('everyday-conversations.json');

/** Share of the words that a digest has. */
const SHARE = 0.385;
/** Today's shares of 156 facts and 36 items of junk. A change may improve these, never the reverse. */
const SCORE = { facts: 0.83, junk: 0.09 };
/** Today's shares of 64 facts: in the digest, in notes and decisions, and in either. No item of junk is left. */
const EVERYDAY = { digest: 0.92, facts: 0.67, either: 0.96 };

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
  const extracted = plain((await offlineExtractor.extract({ sources })).facts.map((fact) => fact.content).join('\n'));
  const both = `${left}\n${extracted}`;
  // An old value stands only after "before:", or before "replaced by".
  const present = (whole: string): string =>
    whole.replace(/\((?:since [\d-]+; )?before: [^)]*\)|, not \d+|.{40}\(replaced by /g, '');
  const unmarked = (whole: string): string[] =>
    stale.filter((value) => has(present(whole), value)).map((value) => value.text);
  return {
    said,
    kept: wordsOf(text),
    facts: facts.filter((fact) => has(left, fact)).length,
    extracted: facts.filter((fact) => has(extracted, fact)).length,
    either: facts.filter((fact) => has(both, fact)).length,
    junk: junk.filter((item) => has(left, item)).length,
    extracted_junk: junk.filter((item) => has(extracted, item)).length,
    unmarked: unmarked(left),
    extracted_unmarked: unmarked(extracted),
  };
}

describe('the digests of eight conversations', async () => {
  const left = await Promise.all(conversations.map(closed));

  it('keep at least 83 % of the facts in less than 39 % of the words', () => {
    const facts = sum(conversations.map((one) => one.facts.length));
    expect(facts).toBeGreaterThanOrEqual(156);
    expect(sum(left.map((one) => one.facts)) / facts).toBeGreaterThanOrEqual(SCORE.facts);
    expect(sum(left.map(({ kept }) => kept)) / sum(left.map(({ said }) => said))).toBeLessThan(0.39);
  });

  it('keep at most 9 % of what is not worth it', () => {
    const junk = sum(conversations.map((one) => one.junk.length));
    expect(junk).toBeGreaterThanOrEqual(36);
    expect(sum(left.map((one) => one.junk)) / junk).toBeLessThanOrEqual(SCORE.junk);
  });

  it('keep no value that was replaced without a mark', () => {
    expect(left.flatMap(({ unmarked, extracted_unmarked }) => [...unmarked, ...extracted_unmarked])).toEqual([]);
  });
});

describe('three everyday conversations', async () => {
  const left = await Promise.all(everyday.map(closed));
  const facts = sum(everyday.map((one) => one.facts.length));

  it('leave nine of ten facts in digests of less than 39 % of the words', () => {
    expect(facts).toBeGreaterThanOrEqual(64);
    expect(sum(left.map((one) => one.facts)) / facts).toBeGreaterThanOrEqual(EVERYDAY.digest);
    expect(sum(left.map((one) => one.either)) / facts).toBeGreaterThanOrEqual(EVERYDAY.either);
    expect(sum(left.map(({ kept }) => kept)) / sum(left.map(({ said }) => said))).toBeLessThan(0.39);
  });

  it('leave six of ten facts as notes and decisions', () => {
    expect(sum(left.map((one) => one.extracted)) / facts).toBeGreaterThanOrEqual(EVERYDAY.facts);
  });

  it('leave nothing that is not worth it, and no stale value without a mark', () => {
    expect(sum(everyday.map((one) => one.junk.length))).toBeGreaterThanOrEqual(15);
    expect(sum(left.map((one) => one.junk + one.extracted_junk))).toBe(0);
    expect(left.flatMap(({ unmarked, extracted_unmarked }) => [...unmarked, ...extracted_unmarked])).toEqual([]);
  });
});

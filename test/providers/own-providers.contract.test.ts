/** Embedders, summarisers and extractors of the caller's own: what is wrong with one is said when the store is opened. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { httpEmbedder, type OpenOptions, openCairn } from '#cairn/cairndb.js';
import { inFolder } from '../support/run.js';
import { DIMENSIONS, vectorOf } from '../support/stand-ins/embedder.js';
import { refusalOf } from '../support/targets.js';

const open = (cwd: string, options: object) =>
  openCairn({ database: join(cwd, 'cairn.db'), ...options } as OpenOptions);

const embed = async (texts: readonly string[]) => texts.map(vectorOf);

describe('an embedder of one’s own', () => {
  it.each<[string, (texts: readonly string[]) => unknown]>([
    ['arrays of numbers', embed],
    ['arrays of numbers, at once', (texts) => texts.map(vectorOf)],
    ['Float32Arrays', async (texts) => texts.map((text) => Float32Array.from(vectorOf(text)))],
    ['Float64Arrays', async (texts) => texts.map((text) => Float64Array.from(vectorOf(text)))],
  ])('EMB-13 may give %s', (_, given) =>
    inFolder(async (cwd) => {
      const cairn = await open(cwd, { embedder: { name: 'mine', embed: given } });
      try {
        await cairn.remember('we adopted a puppy');
        await cairn.remember('rain again tomorrow');
        expect(await cairn.embedded(10_000)).toBe(0);
        const { results } = await cairn.search.query({ query: 'canine' });
        expect(results.map(({ snippet }) => snippet)).toEqual(['we adopted a puppy']);
      } finally {
        await cairn.close();
      }
    }),
  );

  it.each<[string, object, RegExp]>([
    ['no name', { embed }, /embedder\.name/],
    ['a blank name', { name: '  ', embed }, /embedder\.name/],
    ['a name that is no text', { name: 7, embed }, /embedder\.name/],
    ['a name too long', { name: 'n'.repeat(201), embed }, /embedder\.name/],
    ['no embed', { name: 'mine' }, /embedder\.embed/],
    ['dimensions of none', { name: 'mine', embed, dimensions: 0 }, /embedder\.dimensions/],
    ['a batch of a half', { name: 'mine', embed, batch_size: 0.5 }, /embedder\.batch_size/],
    ['a weight below 0', { name: 'mine', embed, weight: -1 }, /embedder\.weight/],
  ])('EMB-13 is refused by openCairn with %s', (_, embedder, words) =>
    inFolder(async (cwd) => {
      const refusal = await refusalOf(open(cwd, { embedder }));
      expect(refusal).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringMatching(words) });
    }),
  );

  it('EMB-13 over HTTP needs a model', () => {
    const url = 'http://127.0.0.1:1/v1';
    expect(() => httpEmbedder({ url } as never)).toThrow(/`model`/);
    expect(() => httpEmbedder({ url, model: ' ' })).toThrow(/`model`/);
    expect(httpEmbedder({ url, model: 'm', dimensions: DIMENSIONS }).name).toBe('m');
  });
});

describe('a summariser or extractor of one’s own', () => {
  it.each<[string, object, RegExp]>([
    ['a summarizer without a name', { summarizer: { summarize: async () => ({}) } }, /summarizer\.name/],
    ['a summarizer that does nothing', { summarizer: { name: 'mine' } }, /summarizer\.summarize/],
    ['an extractor without a name', { extractor: { extract: async () => ({}) } }, /extractor\.name/],
    ['an extractor that does nothing', { extractor: { name: 'mine', extract: 1 } }, /extractor\.extract/],
    ['an extractor that is null', { extractor: null }, /extractor/],
  ])('LIB-2 openCairn refuses %s', (_, options, words) =>
    inFolder(async (cwd) => {
      const refusal = await refusalOf(open(cwd, options));
      expect(refusal).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringMatching(words) });
    }),
  );
});

/** The file of word vectors, and what words and texts have in common by it. */
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { meaningOf, nearestWords, similarityOf, vectorIdOf } from '#cairn/text/index.js';
import { WordVectors, wordVectors, wordVectorsFile } from '#cairn/text/word-vectors.js';

const FILE = new URL('../../assets/word-vectors.bin', import.meta.url);
const MODULE = new URL('../../dist/text/word-vectors.js', import.meta.url);
const WORDS = 65_000;
const near = (a: string, b: string): number => similarityOf(meaningOf(a), meaningOf(b));

describe('the file of word vectors', () => {
  it('is in the build as in the repository, and at most 10 MB', () => {
    expect(readFileSync(new URL('../../dist/word-vectors.bin', import.meta.url)).equals(readFileSync(FILE))).toBe(true);
    expect(statSync(FILE).size).toBeLessThan(10_000_000);
  });

  it('takes at most 20 MB of memory, once per thread, with the vectors of all words in use', () => {
    const code = `
      const { wordVectors } = await import(${JSON.stringify(MODULE.href)});
      const bytes = () => (gc(), process.memoryUsage().heapUsed + process.memoryUsage().external);
      const before = bytes();
      const vectors = wordVectors();
      for (let id = 0; id < ${WORDS}; id++) vectors.similarity(0, id);
      const taken = bytes() - before;
      console.log(JSON.stringify({ taken, isSame: wordVectors() === vectors }));`;
    const output = execFileSync(process.execPath, ['--expose-gc', '--input-type=module', '--eval', code]);
    const { taken, isSame } = JSON.parse(output.toString()) as { taken: number; isSame: boolean };
    expect(taken).toBeGreaterThan(statSync(FILE).size);
    expect(taken).toBeLessThan(20_000_000);
    expect(isSame).toBe(true);
  });

  it('has what was written', () => {
    const rows = [
      [1, 0, 0],
      [0.5, -0.5, 0],
      [0, 0, -2],
    ].map((row) => Float64Array.from(row));
    const nearest = [[1], [0, 2]];
    const vectors = new WordVectors(
      Buffer.from(wordVectorsFile({ words: ['cat', 'dog', 'zinc'], rows, nearest, per_word: 2 })),
    );
    expect(['cat', 'dog', 'zinc', 'ca', 'cats', ''].map((word) => vectors.idOf(word))).toEqual([
      0,
      1,
      2,
      undefined,
      undefined,
      undefined,
    ]);
    expect([0, 1, 2].map((id) => vectors.wordOf(id))).toEqual(['cat', 'dog', 'zinc']);
    const vectorOf = (id: number) => {
      const sum = new Float32Array(3);
      vectors.addTo(sum, id, 1);
      return [...sum].map((one) => Math.round(100 * one));
    };
    expect([0, 1, 2].map(vectorOf)).toEqual([
      [100, 0, 0],
      [71, -71, 0],
      [0, 0, -100],
    ]);
    expect(vectors.similarity(0, 1)).toBeCloseTo(Math.SQRT1_2, 6);
    expect([vectors.similarity(1, 1), vectors.similarity(0, 2)].map((one) => Math.round(100 * one))).toEqual([100, 0]);
    expect([0, 1, 2].map((id) => vectors.nearestWords(id))).toEqual([['dog'], ['cat', 'zinc'], []]);
  });

  it('has every word at its id', () => {
    const vectors = wordVectors();
    for (let id = 0; id < WORDS; id += 97) expect(vectors.idOf(vectors.wordOf(id))).toBe(id);
  });
});

describe('words of like meaning', () => {
  it('are near each other', () => {
    expect(nearestWords('physician')).toContain('doctor');
    expect(nearestWords('repo')).toEqual(nearestWords('repository'));
    expect(nearestWords('zzyzx')).toEqual([]);
    expect(vectorIdOf('zzyzx')).toBeUndefined();
  });

  it('make texts alike, and texts without known words like nothing', () => {
    const text = 'Our terrier is getting a bit deaf.';
    expect(near('How old is the dog?', text)).toBeGreaterThan(near('What does the flight cost?', text) + 0.1);
    expect(near('豆豆是只三岁的柯基', text)).toBe(0);
  });
});

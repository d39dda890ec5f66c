/** Vectors as they are kept and compared, and one ranking out of two. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BitTable, bitsFromText, distance, embeddingText, normalised } from '#cairn/index/index.js';
import { bitsAsDigits, bitsToText, signBits, similarity, vectorFromText, vectorToText } from '#cairn/index/sql.js';
import { fuse } from '#cairn/recall/ranking/fusion.js';

const order = (fused: readonly { doc_no: number }[]) => fused.map(({ doc_no }) => doc_no);

describe('fusion', () => {
  it('EMB-5 leaves the ranking by terms as it is where nothing was compared', () => {
    const lexical = [
      { doc_no: 3, score: 5 },
      { doc_no: 1, score: 2 },
    ];
    expect(fuse(lexical, new Map(), 0.4)).toEqual(lexical.map((one) => ({ ...one, gained: 0 })));
  });

  it('EMB-5 lets a likeness reorder what is close by terms, and brings what has no term', () => {
    const lexical = [
      { doc_no: 1, score: 5 },
      { doc_no: 2, score: 4.9 },
      { doc_no: 3, score: 1 },
    ];
    const similarities = new Map([
      [1, 0.1],
      [2, 0.9],
      [3, 0.1],
      [4, 0.8],
      [5, 0.05],
    ]);
    expect(order(fuse(lexical, similarities, 0.4))).toEqual([2, 1, 4, 3]);
  });

  it('EMB-5 measures in standard deviations: neither the scale of scores nor that of similarities matters', () => {
    const lexical = [1, 2, 3, 4, 5].map((doc_no) => ({ doc_no, score: ((doc_no * 7) % 5) + 1 }));
    const similar = new Map([1, 3, 5, 8, 9].map((doc_no) => [doc_no, ((doc_no * 3) % 7) / 10 + 0.1]));
    const scaled = lexical.map(({ doc_no, score }) => ({ doc_no, score: score * 1000 }));
    const squeezed = new Map([...similar].map(([doc_no, one]) => [doc_no, 0.9 + one / 10]));
    const plain = order(fuse(lexical, similar, 0.5));
    expect(order(fuse(scaled, similar, 0.5))).toEqual(plain);
    expect(order(fuse(lexical, squeezed, 0.5))).toEqual(plain);
  });

  it('EMB-5 brings the only one that is alike, and none that has nothing in common', () => {
    expect(fuse([], new Map([[7, 0.8]]), 0.4)).toEqual([{ doc_no: 7, score: 0, gained: 0 }]);
    expect(fuse([], new Map([[7, 0]]), 0.4)).toEqual([]);
    expect(fuse([], new Map(), 0.4)).toEqual([]);
  });

  it('EMB-5 brings all that are about as much alike, and leaves out what is much less', () => {
    const similarities = new Map([
      [1, 0.9],
      [2, 0.88],
      [3, 0.85],
      [4, 0.3],
    ]);
    expect(order(fuse([], similarities, 0.4))).toEqual([1, 2, 3]);
    similarities.delete(4);
    expect(order(fuse([], similarities, 0.4))).toEqual([1, 2, 3]);
  });

  it('EMB-5 puts the newer of equals first', () => {
    const same = new Map([
      [1, 0.5],
      [2, 0.5],
      [3, 0.1],
    ]);
    expect(order(fuse([], same, 0.4))).toEqual([2, 1]);
  });
});

const members = fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: 1, maxLength: 100 });

describe('vectors', () => {
  it('EMB-2 come back from their text as they were, with length one', () => {
    fc.assert(
      fc.property(members, (given) => {
        const vector = normalised(given);
        if (!vector) return given.every((member) => Math.abs(member) < 1e-20);
        expect(vectorFromText(vectorToText(vector))).toEqual(vector);
        return Math.abs(similarity(vector, vector) - 1) < 1e-5;
      }),
      { numRuns: 50 },
    );
  });

  it('EMB-2 have no direction when they are zero or not finite', () => {
    expect(normalised([0, 0])).toBeUndefined();
    expect(normalised([Number.NaN, 1])).toBeUndefined();
    expect(normalised([Number.POSITIVE_INFINITY])).toBeUndefined();
  });

  it('EMB-6 differ in as many bits as in signs', () => {
    fc.assert(
      fc.property(members, fc.array(fc.boolean(), { minLength: 100, maxLength: 100 }), (given, flips) => {
        const a = Float32Array.from(given, (member) => (member === 0 ? 1 : member));
        const b = a.map((member, i) => (flips[i] ? -member : member));
        const bits = new Uint32Array(Math.ceil(a.length / 32));
        bitsFromText(bitsToText(signBits(a)), bits, 0);
        const digits = [bitsAsDigits(a), bitsAsDigits(b)];
        const differing = [...digits[0]!].filter((digit, i) => digit !== digits[1]![i]).length;
        expect(differing).toBe(flips.slice(0, a.length).filter(Boolean).length);
        expect(distance(bits, 0, signBits(b), 0, bits.length)).toBe(differing);
      }),
      { numRuns: 50 },
    );
  });
});

describe('bits in memory', () => {
  const bitsOf = (number: number) => bitsToText(Uint32Array.of(number));

  it('EMB-6 give the nearest first, of equals the newer, within a range', () => {
    const table = new BitTable(32, 1 << 20);
    for (const doc_no of [1, 2, 3, 4, 5, 6]) table.add(doc_no, bitsOf(doc_no % 3 === 0 ? 0b111 : doc_no & 1));
    expect(table.nearest(Uint32Array.of(0), { from: 0, to: 100 }, 10)).toEqual([4, 2, 5, 1, 6, 3]);
    expect(table.nearest(Uint32Array.of(0), { from: 2, to: 5 }, 2)).toEqual([4, 2]);
  });

  it('EMB-6 never take more than they may: the oldest give way', () => {
    const limit = 64 * 12;
    const table = new BitTable(32, limit);
    for (let doc_no = 1; doc_no <= 1000; doc_no++) table.add(doc_no, bitsOf(0));
    expect(table.bytes).toBeLessThanOrEqual(limit);
    const found = table.nearest(Uint32Array.of(0), { from: 0, to: 2000 }, 2000);
    expect(found.length).toBeGreaterThan(50);
    expect(found).toEqual(found.map((_, i) => 1000 - i));
  });
});

describe('what is embedded', () => {
  it('EMB-2 is what is said, by whom, under which name, and no half of a character', () => {
    const parts = { name: null, speaker: null, said: ' hello ', caption: null };
    expect(embeddingText(parts)).toBe('hello');
    expect(embeddingText({ ...parts, speaker: 'Ada', caption: 'a cat' })).toBe('Ada: hello\na cat');
    expect(embeddingText({ ...parts, name: 'Greeting' })).toBe('Greeting\nhello');
    expect(embeddingText({ ...parts, said: '', speaker: 'Ada' })).toBe('');
    const long = embeddingText({ ...parts, said: `a${'😀'.repeat(5000)}` });
    expect(long.length).toBeLessThanOrEqual(6000);
    expect(long.endsWith('😀')).toBe(true);
  });
});

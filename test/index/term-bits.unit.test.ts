/** Documents with the terms that each has, held against plain maps. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TermBits } from '#cairn/index/term-bits.js';

const postings = fc
  .uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 40 })
  .map((list) => list.sort((a, b) => b - a));

const merged = (lists: readonly (readonly number[])[]) =>
  lists.reduce((all, list, bit) => all.and(list, bit), TermBits.NONE);

function asMap(lists: readonly (readonly number[])[]): Map<number, number> {
  const has = new Map<number, number>();
  for (const [bit, list] of lists.entries())
    for (const doc_no of list) has.set(doc_no, (has.get(doc_no) ?? 0) | (1 << bit));
  return has;
}

const worthOf = (bits: number) =>
  [0.9, 0.5, 0.5, 0.1].reduce((sum, one, bit) => ((bits >> bit) & 1 ? sum + one : sum), 0);

/** The best first; of those with the same bits the newest. */
const sorted = (has: ReadonlyMap<number, number>) =>
  [...has].sort(([a, x], [b, y]) => worthOf(y) - worthOf(x) || x - y || b - a).map(([doc_no]) => doc_no);

it('the lists of terms come to what each document has, in the order of its worth', () => {
  fc.assert(
    fc.property(fc.array(postings, { maxLength: 4 }), (lists) => {
      const [bits, has] = [merged(lists), asMap(lists)];
      for (let doc_no = 0; doc_no <= 61; doc_no++) expect(bits.get(doc_no)).toBe(has.get(doc_no) ?? 0);
      expect([...bits.byWorth(worthOf)]).toEqual(sorted(has));
      const listed = [...has].sort(([a], [b]) => b - a);
      expect([...TermBits.of(listed).byWorth(worthOf)]).toEqual(sorted(has));
    }),
  );
});

it('what was met before is left out', () => {
  fc.assert(
    fc.property(fc.array(postings, { maxLength: 3 }), fc.array(postings, { maxLength: 3 }), (lists, before) => {
      const has = asMap(lists);
      for (const doc_no of asMap(before).keys()) has.delete(doc_no);
      expect([...merged(lists).without(merged(before)).byWorth(worthOf)]).toEqual(sorted(has));
    }),
  );
});

it('a term may be the thirtieth', () => {
  const bits = TermBits.NONE.and([7, 3], 29).and([9, 3], 0);
  expect([9, 7, 3].map((doc_no) => bits.get(doc_no))).toEqual([1, 2 ** 29, 2 ** 29 + 1]);
});

/** Measuring for the search: before the transaction, for the state that it is for, and without holding up others. */
import { expect, it } from 'vitest';
import type { Call } from '#cairn/engine/index.js';
import { afterYield } from '#cairn/kernel/index.js';
import { sha256 } from '#cairn/kernel/node.js';
import { measureTerms, termsFor } from '#cairn/memory/versions/search-doc.js';
import type { VersionRow } from '#cairn/memory/versions/store.js';

const call = { tenant: 'acme', meta: { store_epoch: 'e', erasure_key: 'k' } } as Call;
const stateOf = (text: string, name: string, metadata: object = {}) => {
  const content = JSON.stringify(text);
  return { content, content_hash: sha256(content), name, metadata: metadata as Record<string, never> };
};
const rowOf = ({ metadata, ...state }: ReturnType<typeof stateOf>) =>
  ({ ...state, metadata: JSON.stringify(metadata) }) as VersionRow;

it('what was measured before is taken for the same state, and is measured anew for another', async () => {
  const state = stateOf('the heron waits', 'birds', { speaker: 'Ada', tags: ['a'] });
  const known = await measureTerms(call, state);
  expect(termsFor(call, rowOf({ ...state, metadata: { ...state.metadata, made_by: 1 } as never }), known)).toBe(
    known.measured,
  );
  for (const other of [
    stateOf('the heron left', 'birds', state.metadata),
    stateOf('the heron waits', 'herons', state.metadata),
    stateOf('the heron waits', 'birds', { speaker: 'Ada', tags: ['b'] }),
    stateOf('the heron waits', 'birds', { speaker: 'Bo', tags: ['a'] }),
  ])
    expect(termsFor(call, rowOf(other), known)).toEqual((await measureTerms(call, other)).measured);
});

it('many that are measured at once let the event loop turn in between', async () => {
  let turns = 0;
  let over = false;
  const count = () => {
    turns++;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  const work = () => {
    const until = performance.now() + 2;
    while (performance.now() < until);
  };
  await Promise.all(Array.from({ length: 40 }, () => afterYield(work)));
  over = true;
  expect(turns).toBeGreaterThan(5);
});

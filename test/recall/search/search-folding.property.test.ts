/** Folding, merging and purging change no answer, whatever was written, changed and erased, in no process. */

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { indexKey } from '#cairn/engine/index.js';
import { termCode, termSteps } from '#cairn/index/sql.js';
import { runSteps } from '#cairn/kernel/index.js';
import { stem } from '#cairn/text/index.js';
import { illnesses } from '../../support/inspect/audit.js';
import { say, someScope } from '../../support/nouns/scopes.js';
import { foldAll, foldSome, mergeOnce, purge, segmentsOf, tailOf } from '../../support/nouns/search-index.js';
import { freshDatabase, targetNames } from '../../support/targets.js';

const kinds = targetNames().filter((name) => name !== 'http');
/** CAIRN_TEST_SEED=… repeats a run. */
const seed = Number(process.env.CAIRN_TEST_SEED ?? Math.trunc(Math.random() * 2 ** 31));
const WORDS = ['heron', 'otter', 'ferry', 'lighthouse', 'sailing', 'tea', 'blue', 'the old mill'];

const some = <T>(...values: readonly T[]) => fc.constantFrom(...values);
const text = fc.array(some(...WORDS), { minLength: 1, maxLength: 5 }).map((words) => words.join(' '));

type Change =
  | { readonly do: 'turns' | 'cards'; readonly texts: readonly string[] }
  | { readonly do: 'note' | 'update' | 'expiring'; readonly text: string; readonly at: number }
  | { readonly do: 'deleteCard' | 'deleteNote' | 'close'; readonly at: number }
  | { readonly do: 'later' };

type Upkeep = { readonly do: 'fold'; readonly limit: number } | { readonly do: 'merge' | 'purge' };

const texts = fc.array(text, { minLength: 1, maxLength: 6 });
const at = fc.nat(100);
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: some('turns' as const, 'cards' as const), texts }) },
  { weight: 3, arbitrary: fc.record({ do: some('note' as const, 'update' as const, 'expiring' as const), text, at }) },
  { weight: 2, arbitrary: fc.record({ do: some('deleteCard' as const, 'deleteNote' as const), at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('close' as const), at }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('later' as const) }) },
);
const upkeep: fc.Arbitrary<Upkeep> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('fold' as const), limit: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('merge' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('purge' as const) }) },
);
const history = fc.array(fc.tuple(fc.array(change, { minLength: 1, maxLength: 4 }), upkeep), {
  minLength: 5,
  maxLength: 9,
});

/** What a tenant has, so that changes find something. */
class World {
  readonly cards: string[] = [];
  readonly notes: string[] = [];
  readonly scopes: { readonly scope_id: string; readonly trajectory_id: string }[] = [];
  readonly #cairn: Api;
  readonly #advance: (ms: number) => void;

  constructor(cairn: Api, advance: (ms: number) => void) {
    this.#cairn = cairn;
    this.#advance = advance;
  }

  async scope(): Promise<string> {
    if (this.scopes.length === 0) {
      const { scope_id, trajectory_id } = await someScope(this.#cairn);
      this.scopes.push({ scope_id, trajectory_id });
    }
    return this.scopes.at(-1)!.scope_id;
  }

  async apply(one: Change): Promise<void> {
    const cairn = this.#cairn;
    switch (one.do) {
      case 'turns': {
        const scope_id = await this.scope();
        for (const content of one.texts) await say(cairn, scope_id, content);
        return;
      }
      case 'cards': {
        for (const content of one.texts) this.cards.push((await cairn.cards.add({ content })).card_id);
        return;
      }
      case 'note': {
        const { note_id } = await cairn.notes.create({ note_type: 'Fact', title: 'a note', content: one.text });
        return void this.notes.push(note_id);
      }
      case 'update': {
        const note_id = this.notes[one.at % this.notes.length];
        if (note_id !== undefined) await cairn.notes.update({ note_id, content: one.text });
        return;
      }
      case 'expiring':
        await cairn.cards.add({ content: one.text, ttl_seconds: 60 });
        return;
      case 'deleteCard':
        for (const card_id of this.cards.splice(one.at % (this.cards.length + 1), 1))
          await cairn.cards.delete({ card_id });
        return;
      case 'deleteNote':
        for (const note_id of this.notes.splice(one.at % (this.notes.length + 1), 1))
          await cairn.notes.delete({ note_id });
        return;
      case 'close':
        // Erasure hides documents, which changes frequencies: it must not run beside the searches that are compared.
        for (const { scope_id } of this.scopes.splice(0)) await cairn.scopes.close({ scope_id, wait: true });
        return;
      case 'later':
        this.#advance(61_000);
        await cairn.lifetime.sweep();
    }
  }
}

async function keep(store: Store, tenant: string, one: Upkeep): Promise<void> {
  if (one.do === 'fold') await foldSome(store, tenant, one.limit);
  else if (one.do === 'merge') await mergeOnce(store, tenant);
  else await purge(store, tenant);
}

const QUESTIONS = ['the otter by the mill', 'lighthouse ferry heron otter', ''];

/** All that searches answer, but for cursors, which are encrypted; and a cursor to go on from. */
async function asked(
  cairn: Api,
  limits: readonly object[],
): Promise<{ answers: unknown[]; cursors: (string | null)[] }> {
  const answers: unknown[] = [];
  const cursors: (string | null)[] = [];
  for (const query of QUESTIONS)
    for (const more of limits) {
      const { results, total, next_cursor } = await cairn.search.query({ query, limit: 4, ...more });
      answers.push({ query, more, results, total, more_follow: next_cursor !== null });
      cursors.push(next_cursor);
    }
  return { answers, cursors };
}

/** The pages after these cursors. */
async function following(
  cairn: Api,
  limits: readonly object[],
  cursors: readonly (string | null)[],
): Promise<unknown[]> {
  const answers: unknown[] = [];
  const all = QUESTIONS.flatMap((query) => limits.map((more) => ({ query, limit: 4, ...more })));
  for (const [i, one] of all.entries()) {
    const cursor = cursors[i];
    if (cursor) answers.push((await cairn.search.query({ ...one, cursor })).results);
  }
  return answers;
}

describe.each(kinds)('the upkeep of the index on %s', (kind) => {
  let opened: { database: string; drop(): Promise<void> };
  let offset = 0;
  let store: Store;
  /** As another process: with caches of its own. */
  let second: Store;
  let tenants = 0;
  beforeAll(async () => {
    opened = await freshDatabase(kind);
    const options = { database: opened.database, sweep_every_ms: 0, count_every_ms: 0, clock_offset_ms: () => offset };
    [store, second] = [await Store.open(options), await Store.open(options)];
  });
  afterAll(async () => {
    for (const one of [store, second]) await one.close();
    expect(await illnesses(opened.database, offset)).toEqual([]);
    await opened.drop();
  });

  async function freshTenant(): Promise<{ tenant: string; cairn: Api; other: Api }> {
    const tenant = `tenant-${++tenants}`;
    await store.ensureTenant(tenant);
    const caller = { tenant_id: tenant, agent_id: null, role: 'admin', key_id: null } as const;
    return { tenant, cairn: store.api(caller), other: second.api(caller) };
  }

  it('INDEX-6 answers, scores, totals and pages are the same before and after it, in every process', async () => {
    let merged = 0;
    await fc.assert(
      fc.asyncProperty(history, async (steps) => {
        const { tenant, cairn, other } = await freshTenant();
        const world = new World(cairn, (ms) => (offset += ms));
        for (const [changes, one] of steps) {
          for (const each of changes) await world.apply(each);
          const limits = [
            {},
            { entity_types: ['note' as const, 'card' as const] },
            ...world.scopes.map(({ scope_id }) => ({ scope_id })),
          ];
          const before = await asked(cairn, limits);
          const next = await following(cairn, limits, before.cursors);
          expect((await asked(other, limits)).answers).toEqual(before.answers);
          await keep(store, tenant, one);
          for (const api of [cairn, other]) {
            expect((await asked(api, limits)).answers).toEqual(before.answers);
            expect(await following(api, limits, before.cursors)).toEqual(next);
          }
        }
        const last = await asked(cairn, [{}]);
        await foldAll(store, tenant, 2);
        while (await mergeOnce(store, tenant)) merged++;
        expect(await tailOf(store, tenant)).toBe(0);
        for (const api of [cairn, other]) expect((await asked(api, [{}])).answers).toEqual(last.answers);
      }),
      { numRuns: 5, seed, interruptAfterTimeLimit: 45_000, markInterruptAsFailure: false },
    );
    expect(merged, `seed ${seed}`).toBeGreaterThan(0);
  });

  it('SEARCH-5 codes words by a key that only this store has, for each tenant another', async () => {
    const codes = async (): Promise<number> => {
      const { tenant, cairn } = await freshTenant();
      await cairn.cards.add({ content: 'heron' });
      await foldAll(store, tenant);
      const [segment] = await segmentsOf(store, tenant);
      const { codes } = runSteps(termSteps(segment!))[0]!;
      expect([...codes]).toEqual([termCode(indexKey(store.runtime.meta, tenant), stem('heron'))]);
      expect([...codes]).not.toEqual([termCode(tenant, stem('heron'))]);
      return codes[0]!;
    };
    expect(await codes()).not.toBe(await codes());
    expect(indexKey({ erasure_key: 'a' }, 'acme')).not.toBe(indexKey({ erasure_key: 'b' }, 'acme'));
  });
});

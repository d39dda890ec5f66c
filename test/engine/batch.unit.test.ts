/** Batches whose items commit alone, on a store: what is answered when some fail, stop the rest, or come again. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDriver, Store } from '#cairn/api/index.js';
import type { Driver } from '#cairn/driver/index.js';
import type { Call } from '#cairn/engine/calls/call.js';
import { runEach } from '#cairn/engine/writes/batch.js';
import { useCases } from '#cairn/facts/index.js';
import { CairnError } from '#cairn/kernel/index.js';
import { callOn } from '../support/inspect/wakes.js';

const { add } = useCases.cards;

const folder = mkdtempSync(join(tmpdir(), 'cairn-batch-'));
let driver: Driver;
let store: Store;
let call: Call;

beforeAll(async () => {
  driver = await openDriver({ database: join(folder, 'cairn.db') });
  store = await Store.on(driver, { sweep_every_ms: 0 });
  call = { ...(await callOn(driver)), operation: 'cards.add_batch' };
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const keyed = (idempotency_key: string): Call => ({ ...call, options: { idempotency_key } });
const good = (card_id: string) => ({ card_id, content: card_id });
/** Refused, as no such card exists. */
const bad = (card_id: string) => ({ card_id, content: card_id, derived_from: ['no-such-card'] });
const lost = () => new CairnError('DATABASE_UNAVAILABLE', 'the database is gone');
const codes = (results: readonly { status: string; code?: string }[]) =>
  results.map(({ status, code }) => code ?? status);
const exists = async (card_id: string) => {
  const api = store.api(call.caller);
  return (await api.cards.get_batch({ card_ids: [card_id] })).cards.length === 1;
};

describe('a batch of items that commit alone', () => {
  it('answers each in order, and what fails does not touch the others', async () => {
    const items = [good('a1'), bad('a2'), good('a3')];
    const answer = await runEach(call, { items }, items, add);
    expect(codes(answer.results)).toEqual(['success', 'UNKNOWN_CARD', 'success']);
    expect(answer).toMatchObject({ succeeded: 2, failed: 1, results: [{ data: { card_id: 'a1' } }, {}, {}] });
    expect(await exists('a3')).toBe(true);
  });

  it('starts them together, unless it is to stop at an error', async () => {
    const most = async (stop_on_error: boolean) => {
      let running = 0;
      let highest = 0;
      const items = ['x', 'y', 'z'].map((name) => good(`b-${name}-${stop_on_error}`));
      const run: typeof add = async (one, item) => {
        highest = Math.max(highest, ++running);
        return add(one, item).finally(() => running--);
      };
      expect((await runEach(call, { items }, items, run, { stop_on_error })).succeeded).toBe(3);
      return highest;
    };
    expect(await most(false)).toBe(3);
    expect(await most(true)).toBe(1);
  });

  it('starts in order what was prepared in any, and what is about the same one after another', async () => {
    const items = [
      { name: 'slow', takes: 30, changes: 'a' },
      { name: 'quick', takes: 0, changes: 'b' },
      { name: 'of both', takes: 10, names: ['a', 'b'] },
      { name: 'refused', takes: 0, changes: 'c' },
      { name: 'again', takes: 0, changes: 'a' },
    ];
    const log: string[] = [];
    const run = async (_: Call, { name }: (typeof items)[number], prepared: string) => {
      log.push(`${prepared} starts`);
      await new Promise((resolve) => setTimeout(resolve, name === 'slow' ? 20 : 1));
      log.push(`${name} ends`);
      return name;
    };
    const answer = await runEach(call, { items }, items, run, {
      prepare: async (_, { name, takes }) => {
        await new Promise((resolve) => setTimeout(resolve, takes));
        if (name === 'refused') throw new CairnError('INVALID_INPUT', 'not so');
        return name;
      },
      about: ({ changes, names }) => ({ changes, names }),
    });
    expect(codes(answer.results)).toEqual(['success', 'success', 'success', 'INVALID_INPUT', 'success']);
    expect(log).toEqual([
      'slow starts',
      'quick starts',
      'quick ends',
      'slow ends',
      'of both starts',
      'of both ends',
      'again starts',
      'again ends',
    ]);
  });

  it('does not wait anew for a database that is away', async () => {
    const items = ['a', 'b', 'a', 'a'];
    let tried = 0;
    const run = async (_: Call, item: string) => {
      tried++;
      if (item === 'a') throw lost();
      return item;
    };
    const about = (changes: string) => ({ changes });
    const { results } = await runEach(call, { items }, items, run, { about });
    expect([tried, ...codes(results)]).toEqual([
      2,
      'DATABASE_UNAVAILABLE',
      'success',
      'DATABASE_UNAVAILABLE',
      'DATABASE_UNAVAILABLE',
    ]);
  });

  it('tries none behind one that failed when it is to stop there', async () => {
    const items = [good('c1'), bad('c2'), good('c3'), good('c4')];
    const answer = await runEach(call, { items }, items, add, { stop_on_error: true });
    expect(codes(answer.results)).toEqual(['success', 'UNKNOWN_CARD', 'NOT_ATTEMPTED', 'NOT_ATTEMPTED']);
    expect(answer).toMatchObject({ succeeded: 1, failed: 3 });
    expect([await exists('c1'), await exists('c3')]).toEqual([true, false]);
  });

  it('is refused as a whole if all that was tried failed by a fault of ours', async () => {
    const items = ['d1', 'd2'];
    const fail = async () => Promise.reject(lost());
    for (const stop_on_error of [false, true])
      await expect(runEach(call, { items }, items, fail, { stop_on_error })).rejects.toMatchObject({
        code: 'DATABASE_UNAVAILABLE',
      });
  });

  it('is answered if only some failed so, and a defect shows nothing of its inside', async () => {
    const items = ['e1', 'e2', 'e3'];
    const run = async (_: Call, item: string) => {
      if (item === 'e1') return item;
      throw item === 'e2' ? lost() : new TypeError('x is not a function');
    };
    const { results } = await runEach(call, { items }, items, run, { noun: 'card' });
    expect(results).toEqual([
      { status: 'success', data: 'e1' },
      { status: 'error', code: 'DATABASE_UNAVAILABLE', message: 'the database is gone' },
      { status: 'error', code: 'INTERNAL', message: 'a defect in Cairn: this card was not written' },
    ]);
  });

  it('answers nothing for no items', async () => {
    expect(await runEach(call, { items: [] }, [], add)).toEqual({ results: [], succeeded: 0, failed: 0 });
  });

  it.each([false, true])('does each once under a key, with stop_on_error %s', async (stop_on_error) => {
    const key = `again-${stop_on_error}`;
    const items = [{ content: 'one' }, { content: 'two' }];
    const first = await runEach(keyed(key), { items }, items, add, { stop_on_error });
    const again = await runEach(keyed(key), { items }, items, add, { stop_on_error });
    expect(first.succeeded).toBe(2);
    expect(again).toEqual(first);
    const other = [{ content: 'three' }];
    await expect(runEach(keyed(key), { items: other }, other, add, { stop_on_error })).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    });
  });

  it('goes on under its key where it stopped, once what failed is possible', async () => {
    const items = [{ content: 'f1' }, { content: 'f2', derived_from: ['f0'] }, { content: 'f3' }];
    const run = () => runEach(keyed('go-on'), { items }, items, add, { stop_on_error: true });
    const first = await run();
    expect(codes(first.results)).toEqual(['success', 'UNKNOWN_CARD', 'NOT_ATTEMPTED']);
    await add(call, good('f0'));
    const again = await run();
    expect(codes(again.results)).toEqual(['success', 'success', 'success']);
    expect(again.results[0]).toEqual(first.results[0]);
  });
});

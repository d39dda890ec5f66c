/** Turns, closing, checkpoints and restoring that happen at once, on stores and in processes that share a database. */
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import type { Turn } from '#cairn/memory/turns/model.js';
import { illnesses } from '../support/inspect/audit.js';
import { contentsOf, eventsOf, say, someScope } from '../support/nouns/scopes.js';
import { exitOf, sleep, until, within } from '../support/server.js';
import { freshDatabase, targetNames } from '../support/targets.js';

const CALLER = { tenant_id: 'default', agent_id: null, role: 'admin', key_id: null } as const;
const WRITERS = 16;
const EACH = 40;
const ROUNDS = 8;

const kinds = (['sqlite', 'postgres'] as const).filter((kind) => targetNames().includes(kind));

interface Said {
  readonly content: string;
  readonly sequence: number;
  readonly token_count: number;
}

async function allTurns(api: Api, scope_id: string): Promise<Turn[]> {
  const turns: Turn[] = [];
  let cursor: string | undefined;
  do {
    const page = await api.scopes.turns({ scope_id, limit: 500, ...(cursor ? { cursor } : {}) });
    turns.push(...page.turns);
    cursor = page.next_cursor ?? undefined;
  } while (cursor);
  return turns;
}

/** What was acknowledged is there, each in its place and once, and nothing else; the sums are right. */
async function holds(api: Api, scope_id: string, said: readonly Said[]): Promise<void> {
  const turns = await allTurns(api, scope_id);
  const inOrder = [...said].sort((a, b) => a.sequence - b.sequence);
  expect(turns.map(({ content, sequence, token_count }) => ({ content, sequence, token_count }))).toEqual(inOrder);
  expect(turns.map(({ sequence }) => sequence)).toEqual(turns.map((_, i) => i + 1));
  expect(new Set(turns.map(({ turn_id }) => turn_id)).size).toBe(said.length);
  const scope = await api.scopes.get({ scope_id });
  expect(scope.turns).toBe(said.length);
  expect(scope.tokens_used).toBe(said.reduce((sum, { token_count }) => sum + token_count, 0));
  expect(scope.threshold_reached_at).not.toBeNull();
  expect(await eventsOf(api, 'cairn.scope.threshold', scope_id)).toHaveLength(1);
}

/** The codes that calls were refused with; whatever is no refusal is shown whole. */
const codes = (settled: readonly PromiseSettledResult<unknown>[]): string[] =>
  settled.flatMap((one) =>
    one.status === 'rejected' ? [String((one.reason as { code?: string }).code ?? (one.reason as Error).stack)] : [],
  );

describe.each(kinds)('scopes on %s', (kind) => {
  let database: string;
  let drop: () => Promise<void>;
  let stores: Store[];
  let apis: Api[];

  beforeEach(async () => {
    ({ database, drop } = await freshDatabase(kind));
    stores = [];
    for (let i = 0; i < 2; i++) stores.push(await Store.open({ database, sweep_every_ms: 0 }));
    apis = stores.map((store) => store.api(CALLER));
  });

  afterEach(async () => {
    for (const store of stores) await store.close();
    expect(await illnesses(database)).toEqual([]);
    await drop();
  });

  it.each([1, 2])(`TURN-14 ${WRITERS} writers add to one scope through %i stores`, async (count) => {
    const { scope_id } = await someScope(apis[0]!, { token_budget: 1000 });
    const said: Said[] = [];
    const writers = Array.from({ length: WRITERS }, async (_, w) => {
      for (let n = 0; n < EACH; n++) {
        const more = { token_count: 1 + ((w + n) % 5) };
        const { content, sequence, token_count } = await say(apis[w % count]!, scope_id, `${w}/${n}`, more);
        said.push({ content: content as string, sequence, token_count });
      }
    });
    await within(120_000, Promise.all(writers), 'the writers');
    expect(said).toHaveLength(WRITERS * EACH);
    await holds(apis[0]!, scope_id, said);
  });

  it('TURN-14 batches and single turns with ids of their own, sent twice, land once', async () => {
    const { scope_id } = await someScope(apis[0]!, { token_budget: 100 });
    const create = (w: number, n: number) => ({
      turn_id: `00000000-0000-4000-8000-${String(w * 1000 + n).padStart(12, '0')}`,
      scope_id,
      role: 'User',
      content: `${w}/${n}`,
      token_count: 1,
    });
    const writers = Array.from({ length: WRITERS }, async (_, w) => {
      for (let n = 0; n < 12; n += 4) {
        const items = [0, 1, 2].map((i) => ({ create: create(w, n + i) }));
        // The same at both stores at once.
        const [one, other] = await Promise.all(apis.map((api) => api.turns.batch({ items })));
        expect(other!.results.map((result) => result.status === 'success' && result.data.turn_id)).toEqual(
          one!.results.map((result) => result.status === 'success' && result.data.turn_id),
        );
        expect([one!.failed, other!.failed]).toEqual([0, 0]);
        const single = await Promise.all(apis.map((api) => api.turns.add(create(w, n + 3))));
        expect(single[0]!.sequence).toBe(single[1]!.sequence);
      }
    });
    await within(120_000, Promise.all(writers), 'the writers');
    const turns = await allTurns(apis[1]!, scope_id);
    await holds(
      apis[1]!,
      scope_id,
      turns.map(({ content, sequence, token_count }) => ({ content: String(content), sequence, token_count })),
    );
    expect(turns).toHaveLength(WRITERS * 12);
    expect(new Set(turns.map(({ content }) => content)).size).toBe(WRITERS * 12);
  });

  it('TURN-14 two processes add to one scope', async () => {
    const { scope_id } = await someScope(apis[0]!, { token_budget: 500 });
    const said: Said[] = [];
    const failures: string[] = [];
    const children = ['a', 'b'].map((name) =>
      fork(join(import.meta.dirname, '../support/children/writes.mjs'), [
        'turns',
        database,
        `${name} ${scope_id}`,
        '200',
      ]),
    );
    let ready = 0;
    for (const child of children) {
      child.on('message', (report: { ready?: true; failed?: string; turn?: string } & Omit<Said, 'content'>) => {
        if (report.ready && ++ready === children.length) for (const one of children) one.send('go');
        if (report.failed) failures.push(report.failed);
        if (report.turn !== undefined)
          said.push({ content: report.turn, sequence: report.sequence, token_count: report.token_count });
      });
    }
    const exits = await within(120_000, Promise.all(children.map(exitOf)), 'the processes to end');
    expect(failures).toEqual([]);
    expect(exits.map(({ code }) => code)).toEqual([0, 0]);
    expect(said).toHaveLength(400);
    await holds(apis[0]!, scope_id, said);
  });

  it('CLOSE-9 turns that race with a close are counted by it or refused', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { scope_id } = await someScope(apis[0]!);
      const said: number[] = [];
      const refusals: string[] = [];
      const writers = Array.from({ length: WRITERS }, async (_, w) => {
        for (let n = 0; ; n++) {
          const [settled] = await Promise.allSettled([say(apis[w % 2]!, scope_id, `${w}/${n}`)]);
          if (settled!.status === 'fulfilled') said.push(settled!.value.sequence);
          else return refusals.push(...codes([settled!]));
        }
      });
      await until('a first turn', () => said.length > 0);
      await sleep(Math.random() * 60);
      const closed = await apis[round % 2]!.scopes.close({ scope_id, wait: round % 3 === 0 });
      await within(60_000, Promise.all(writers), 'the writers');
      expect(new Set(refusals)).toEqual(new Set(['SCOPE_CLOSED']));
      expect(said.sort((a, b) => a - b)).toEqual(said.map((_, i) => i + 1));
      expect(closed).toMatchObject({ turns: said.length, tokens_used: said.length });
      await apis[0]!.lifetime.sweep();
      expect((await apis[1]!.scopes.get({ scope_id })).erasure).toEqual({
        state: 'done',
        erased: said.length,
        kept: 0,
      });
    }
  });

  it('CLOSE-9 a scope that is nested while the outer one is closed goes with it, or is refused', async () => {
    for (let round = 0; round < 2 * ROUNDS; round++) {
      const outer = await someScope(apis[0]!);
      const { trajectory_id, scope_id: parent_scope_id } = outer;
      const nesting = Array.from({ length: 6 }, async (_, i) => {
        await sleep(Math.random() * 6);
        const made = await someScope(apis[i % 2]!, { trajectory_id, parent_scope_id });
        return someScope(apis[(i + 1) % 2]!, { trajectory_id, parent_scope_id: made.scope_id });
      });
      await sleep(Math.random() * 8);
      const settled = Promise.allSettled(nesting);
      const closing = await Promise.all(apis.map((api) => api.scopes.close({ scope_id: parent_scope_id })));
      expect([...new Set(codes(await settled))].filter((code) => code !== 'SCOPE_CLOSED')).toEqual([]);
      const { scopes } = await apis[0]!.scopes.list({ trajectory_id, status: 'active' });
      expect(scopes).toEqual([]);
      const ids = closing.flatMap(({ closed_scope_ids }) => closed_scope_ids);
      const all = (await apis[1]!.scopes.list({ trajectory_id })).scopes.map(({ scope_id }) => scope_id);
      expect(ids.sort()).toEqual(all.sort());
    }
  });

  it('SCOPE-10 a restored scope has all its turns, however its checkpoint is let go at that moment', async () => {
    let restored = 0;
    for (let round = 0; round < 2 * ROUNDS; round++) {
      const { scope_id } = await someScope(apis[0]!);
      const words = Array.from({ length: 5 }, () => randomUUID());
      for (const word of words) await say(apis[0]!, scope_id, word);
      await apis[0]!.scopes.checkpoint({ scope_id });
      const restoring = Array.from({ length: 6 }, async (_, i) => {
        await sleep(Math.random() * 10);
        return (await apis[i % 2]!.scopes.restore({ scope_id })).scope_id;
      });
      const settled = Promise.allSettled(restoring);
      await sleep(Math.random() * 5);
      await apis[1]!.scopes.checkpoint({ scope_id, recoverable: false });
      await apis[0]!.scopes.close({ scope_id, wait: true });
      expect([...new Set(codes(await settled))].filter((code) => code !== 'NOT_RECOVERABLE')).toEqual([]);
      for (const one of await settled) {
        if (one.status === 'rejected') continue;
        restored++;
        expect(await contentsOf(apis[1]!, one.value)).toEqual(words);
        await apis[1]!.scopes.close({ scope_id: one.value, wait: true });
      }
    }
    console.log(`${restored} of ${12 * ROUNDS} were restored in time`);
  });
});

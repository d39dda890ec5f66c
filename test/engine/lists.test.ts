import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

interface Page {
  readonly ids: string[];
  readonly next_cursor: string | null;
  readonly total: number | null;
}
interface PageInput {
  readonly limit?: number;
  readonly cursor?: string;
  readonly offset?: number;
}

const THREAD = randomUUID();
const TASK = randomUUID();
const taskId = (i: number) => `0197a000-0000-7000-8000-${String(i).padStart(12, '0')}`;
const COUNT = 23;
const ids = Array.from({ length: COUNT }, (_, i) => `n${String(i).padStart(3, '0')}`);

/** 23 of everything that can be listed, and some that the filters leave out. */
async function filled(cairn: Api): Promise<Api> {
  await cairn.cards.add_batch({ cards: ids.map((card_id) => ({ card_id, subject_ids: ['s'] })), atomic: true });
  await cairn.cards.add({ card_id: 'other' });
  await cairn.packets.write_batch({
    packets: ids.flatMap((name) => [
      { packet_type: 'event', payload: { name }, thread_id: THREAD, tags: ['t'] },
      { packet_type: 'event', payload: { name: 'other' } },
    ]),
  });
  const { trajectory_id } = await cairn.trajectories.create({ name: 'all', trajectory_id: TASK });
  await cairn.trajectories.batch({
    items: ids.map((name, i) => ({
      operation: 'create',
      create: { trajectory_id: taskId(i), name, parent_trajectory_id: trajectory_id },
    })),
    atomic: true,
  });
  await Promise.all(ids.map((box_id) => cairn.boxes.create({ box_id, agent_id: 'a', card_ids: ids })));
  return cairn;
}

type Name = { readonly payload?: { readonly name?: unknown } | undefined };
const names = (packets: readonly Name[]) => packets.map(({ payload }) => String(payload?.name));

const lists: readonly [string, (cairn: Api, page: PageInput) => Promise<Page>][] = [
  [
    'cards.list',
    async (cairn, page) => {
      const { cards, ...rest } = await cairn.cards.list({ subject_id: 's', ...page });
      return { ids: cards.map(({ card_id }) => card_id), ...rest };
    },
  ],
  [
    'boxes.list',
    async (cairn, page) => {
      const { boxes, ...rest } = await cairn.boxes.list({ agent_id: 'a', ...page });
      return { ids: boxes.map(({ box_id }) => box_id), ...rest };
    },
  ],
  [
    'boxes.cards',
    async (cairn, page) => {
      const { cards, missing_card_ids: _, ...rest } = await cairn.boxes.cards({ box_id: ids[0]!, ...page });
      return { ids: cards.map(({ card_id }) => card_id), ...rest };
    },
  ],
  [
    'trajectories.list',
    async (cairn, page) => {
      const { trajectories, ...rest } = await cairn.trajectories.list({ name: 'n', ...page });
      return { ids: trajectories.map(({ name }) => name), ...rest };
    },
  ],
  [
    'trajectories.children',
    async (cairn, page) => {
      const { trajectories, ...rest } = await cairn.trajectories.children({ trajectory_id: TASK, ...page });
      return { ids: trajectories.map(({ name }) => name), ...rest };
    },
  ],
  [
    'packets.list',
    async (cairn, page) => {
      const { packets, ...rest } = await cairn.packets.list({ tag: 't', order: 'asc', ...page });
      return { ids: names(packets), ...rest };
    },
  ],
  [
    'packets.thread',
    async (cairn, page) => {
      const { packets, ...rest } = await cairn.packets.thread({ thread_id: THREAD, ...page });
      return { ids: names(packets), ...rest };
    },
  ],
];

/** What comes in parts without being a list. */
const inParts: readonly [string, (cairn: Api, page: PageInput) => Promise<Pick<Page, 'next_cursor'>>][] = [
  [
    'boxes.load',
    async (cairn, page) => {
      const { next_cursor } = await cairn.boxes.load({ box_id: ids[0]!, ...page });
      return { next_cursor: next_cursor ?? null };
    },
  ],
  ['search.query', (cairn, page) => cairn.search.query({ query: 'lighthouse', ...page })],
  ['memory.recall', (cairn, page) => cairn.memory.recall({ query: 'lighthouse', ...page })],
];

onEveryTarget('lists', (test) => {
  let filledOnce: Promise<Api> | undefined;
  /** For tests that only read. */
  const reader = () => (filledOnce ??= test().freshTenant().then(filled));
  let filledTwice: Promise<Api> | undefined;
  const filledElsewhere = () => (filledTwice ??= test().freshTenant().then(filled));

  it.each(lists)('LIST-2 a cursor of %s is refused by another tenant with the same content', async (_, list) => {
    const [cairn, other] = [await reader(), await filledElsewhere()];
    const { next_cursor } = await list(cairn, { limit: 5 });
    expect((await list(cairn, { limit: 5, cursor: next_cursor! })).ids).toHaveLength(5);
    expect(await refusalOf(list(other, { limit: 5, cursor: next_cursor! }))).toMatchObject({
      code: 'INVALID_CURSOR',
      status: 400,
    });
  });

  it.each(inParts)('LIST-2 a cursor of %s is refused by another tenant, too', async (_, read) => {
    const stores = [await reader(), await filledElsewhere()] as const;
    for (const cairn of stores)
      for (const i of [1, 2, 3])
        await cairn.notes.create({ note_type: 'Fact', title: `note ${i}`, content: `lighthouse number ${i}` });
    const { next_cursor } = await read(stores[0], { limit: 1 });
    await read(stores[0], { limit: 1, cursor: next_cursor! });
    expect(await refusalOf(read(stores[1], { limit: 1, cursor: next_cursor! }))).toMatchObject({
      code: 'INVALID_CURSOR',
    });
  });

  it.each(lists)('LIST-1 the cursors of %s lead to every item once, in order', async (_, list) => {
    const cairn = await reader();
    for (const limit of [1, 5, 22, 23, 24]) {
      const seen: string[] = [];
      let pages = 0;
      for (let page = await list(cairn, { limit }); ; page = await list(cairn, { limit, cursor: page.next_cursor! })) {
        pages++;
        expect(page.ids.length).toBeLessThanOrEqual(limit);
        seen.push(...page.ids);
        if (page.next_cursor === null) break;
      }
      expect(seen).toEqual(ids);
      expect(pages).toBe(Math.ceil(COUNT / limit));
    }
  });

  it.each(lists)('LIST-1 the size of the page of %s may change on the way', async (_, list) => {
    const cairn = await reader();
    const first = await list(cairn, { limit: 3 });
    const second = await list(cairn, { limit: 10, cursor: first.next_cursor! });
    const third = await list(cairn, { cursor: second.next_cursor! });
    expect([...first.ids, ...second.ids, ...third.ids]).toEqual(ids);
  });

  it.each(lists)('LIST-3 %s has a total on the first page only, also with an offset', async (_, list) => {
    const cairn = await reader();
    const first = await list(cairn, { limit: 1 });
    const second = await list(cairn, { limit: 1, cursor: first.next_cursor! });
    const offset = await list(cairn, { limit: 1, offset: 5 });
    expect([first.total, second.total, offset.total]).toEqual([COUNT, null, COUNT]);
  });

  it('LIST-2 a cursor is good for the list and the filters that made it', async () => {
    const cairn = await reader();
    const limit = 2;
    const card = (await cairn.cards.list({ subject_id: 's', limit })).next_cursor!;
    const box = (await cairn.boxes.list({ limit })).next_cursor!;
    const entry = (await cairn.boxes.cards({ box_id: ids[0]!, limit })).next_cursor!;
    const packet = (await cairn.packets.list({ tag: 't', limit })).next_cursor!;
    const thread = (await cairn.packets.thread({ thread_id: THREAD, limit })).next_cursor!;
    const misuses = [
      () => cairn.cards.list({ cursor: card }),
      () => cairn.cards.list({ subject_id: 'other', cursor: card }),
      () => cairn.cards.list({ cursor: box }),
      () => cairn.boxes.list({ cursor: card }),
      () => cairn.boxes.list({ agent_id: 'a', cursor: box }),
      () => cairn.boxes.cards({ box_id: ids[1]!, cursor: entry }),
      () => cairn.boxes.cards({ box_id: ids[0]!, revision: 1, cursor: entry }),
      () => cairn.packets.list({ cursor: packet }),
      () => cairn.packets.list({ tag: 't', source: 'x', cursor: packet }),
      () => cairn.packets.list({ tag: 't', order: 'asc', cursor: packet }),
      () => cairn.packets.list({ thread_id: THREAD, cursor: thread }),
      () => cairn.packets.thread({ thread_id: randomUUID(), cursor: thread }),
      () => cairn.packets.thread({ thread_id: THREAD, order: 'desc', cursor: thread }),
    ];
    for (const misuse of misuses) {
      expect(await refusalOf(misuse()), String(misuse)).toMatchObject({ code: 'INVALID_CURSOR', status: 400 });
    }
  });

  it.each(lists)('LIST-2 what is no cursor is refused by %s', async (_, list) => {
    const cairn = await reader();
    const real = (await list(cairn, { limit: 2 })).next_cursor!;
    const [mark] = JSON.parse(Buffer.from(real, 'base64url').toString()) as [string, unknown];
    const forged = [null, {}, true, 'a\u0000', 1.5].map((key) =>
      Buffer.from(JSON.stringify([mark, key])).toString('base64url'),
    );
    for (const cursor of ['x', '%', 'bnVsbA', `${real.slice(0, 4)}`, ...forged]) {
      const refusal = await refusalOf(list(cairn, { cursor }));
      expect(refusal, cursor).toMatchObject({ code: 'INVALID_CURSOR', status: 400 });
    }
    expect(await refusalOf(list(cairn, { cursor: 'x'.repeat(501) }))).toMatchObject({ code: 'INVALID_INPUT' });
  });

  it.each(lists)('LIST-4 offset skips in %s', async (_, list) => {
    const cairn = await reader();
    const page = await list(cairn, { offset: 20, limit: 2 });
    expect([page.ids, page.total]).toEqual([ids.slice(20, 22), COUNT]);
    expect((await list(cairn, { cursor: page.next_cursor! })).ids).toEqual(ids.slice(22));
    expect(await list(cairn, { offset: 23 })).toEqual({ ids: [], next_cursor: null, total: COUNT });
    expect((await list(cairn, { offset: 10_000 })).ids).toEqual([]);
    const { next_cursor } = await list(cairn, { limit: 2 });
    for (const bad of [{ offset: 1, cursor: next_cursor! }, { offset: -1 }, { offset: 10_001 }, { offset: 0.5 }]) {
      expect(await refusalOf(list(cairn, bad))).toMatchObject({ code: 'INVALID_INPUT', status: 400 });
    }
  });

  it.each(lists)('LIST-5 limit is within bounds in %s', async (name, list) => {
    const cairn = await reader();
    const most = name === 'packets.thread' ? 1000 : 500;
    expect((await list(cairn, { limit: most })).ids).toEqual(ids);
    for (const limit of [0, -1, most + 1, 1.5]) {
      expect(await refusalOf(list(cairn, { limit }))).toMatchObject({ code: 'INVALID_INPUT', status: 400 });
    }
  });

  it('LIST-5 a page has 100 items unless said otherwise', async () => {
    const cairn = await test().freshTenant();
    const cards = Array.from({ length: 101 }, (_, i) => ({ content: i }));
    await cairn.cards.add_batch({ cards, atomic: true });
    const page = await cairn.cards.list();
    expect([page.cards.length, page.total]).toEqual([100, 101]);
    expect((await cairn.cards.list({ cursor: page.next_cursor! })).cards).toHaveLength(1);
  });

  it('LIST-6 what is written meanwhile neither repeats nor hides what was there', async () => {
    const cairn = await filled(await test().freshTenant());
    const first = await cairn.cards.list({ subject_id: 's', limit: 10 });
    await cairn.cards.add({ card_id: 'a-before', subject_ids: ['s'] });
    await cairn.cards.delete({ card_id: ids[3]! });
    const rest = await cairn.cards.list({ subject_id: 's', cursor: first.next_cursor! });
    expect(rest.cards.map(({ card_id }) => card_id)).toEqual(ids.slice(10));
    const newest = await cairn.packets.list({ tag: 't', limit: 10 });
    await cairn.packets.write({ packet_type: 'event', payload: { name: 'new' }, tags: ['t'] });
    const older = await cairn.packets.list({ tag: 't', cursor: newest.next_cursor! });
    expect([...names(newest.packets), ...names(older.packets)]).toEqual([...ids].reverse());
  });
});

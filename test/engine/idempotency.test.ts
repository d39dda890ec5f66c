import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Api, CallOptions } from '#cairn/client/index.js';
import { followToNow, inFuture, latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const HOUR = 60 * 60_000;
const conflict = { code: 'IDEMPOTENCY_CONFLICT', status: 409 };
const packet = { packet_type: 'event', payload: { a: 1 } };

const TASK = randomUUID();
const EDGE = randomUUID();
const linked = {
  edge_type: 'Supports' as const,
  participants: ['a', 'b'].map((entity_id) => ({ entity_type: 'Card' as const, entity_id })),
};

/** A tenant with the cards a, b, an edge between them, the boxes x (with a) and y, and a trajectory. */
async function prepared(cairn: Api): Promise<Api> {
  await cairn.cards.add_batch({ cards: [{ card_id: 'a' }, { card_id: 'b' }], atomic: true });
  await cairn.boxes.create({ box_id: 'x', card_ids: ['a'] });
  await cairn.boxes.create({ box_id: 'y' });
  await cairn.boxes.grant({ box_id: 'x', agent_id: 'old' });
  await cairn.edges.create({ ...linked, edge_id: EDGE });
  await cairn.trajectories.create({ trajectory_id: TASK, name: 'task' });
  return cairn;
}

/** Every operation that changes something, as a call that changes something the first time. */
const changes: readonly [string, (cairn: Api, options: CallOptions) => Promise<unknown>][] = [
  ['cards.add', (cairn, options) => cairn.cards.add({ content: 'x' }, options)],
  ['cards.add_batch', (cairn, options) => cairn.cards.add_batch({ cards: [{}, { content: 1 }] }, options)],
  [
    'cards.add_batch, atomic',
    (cairn, options) => cairn.cards.add_batch({ cards: [{}, { content: 1 }], atomic: true }, options),
  ],
  ['cards.delete', (cairn, options) => cairn.cards.delete({ card_id: 'b' }, options)],
  ['boxes.create', (cairn, options) => cairn.boxes.create({ card_ids: ['a'] }, options)],
  ['boxes.append', (cairn, options) => cairn.boxes.append({ box_id: 'x', card_ids: ['b', 'a'] }, options)],
  ['boxes.save', (cairn, options) => cairn.boxes.save({ box_id: 'x', card_ids: ['b'], revision: 1 }, options)],
  ['boxes.fork', (cairn, options) => cairn.boxes.fork({ box_id: 'x' }, options)],
  ['boxes.seal', (cairn, options) => cairn.boxes.seal({ box_id: 'x' }, options)],
  ['boxes.grant', (cairn, options) => cairn.boxes.grant({ box_id: 'x', agent_id: 'new' }, options)],
  ['boxes.ungrant', (cairn, options) => cairn.boxes.ungrant({ box_id: 'x', agent_id: 'old' }, options)],
  ['trajectories.create', (cairn, options) => cairn.trajectories.create({ name: 'n' }, options)],
  ['trajectories.update', (cairn, options) => cairn.trajectories.update({ trajectory_id: TASK, name: 'n' }, options)],
  [
    'trajectories.update, finishing',
    (cairn, options) => cairn.trajectories.update({ trajectory_id: TASK, status: 'Failed' }, options),
  ],
  ['trajectories.delete', (cairn, options) => cairn.trajectories.delete({ trajectory_id: TASK }, options)],
  ...[false, true].map((atomic): (typeof changes)[number] => [
    `trajectories.batch, ${atomic ? '' : 'not '}atomic`,
    (cairn, options) =>
      cairn.trajectories.batch(
        {
          items: [
            { operation: 'create', create: { name: 'n' } },
            { operation: 'delete', trajectory_id: TASK },
          ],
          atomic,
        },
        options,
      ),
  ]),
  ['packets.write', (cairn, options) => cairn.packets.write({ ...packet, tags: ['t'] }, options)],
  ['packets.write_batch', (cairn, options) => cairn.packets.write_batch({ packets: [packet, packet] }, options)],
  ['edges.create', (cairn, options) => cairn.edges.create(linked, options)],
  ['edges.delete', (cairn, options) => cairn.edges.delete({ edge_id: EDGE }, options)],
  ...[false, true].map((atomic): [string, (cairn: Api, options: CallOptions) => Promise<unknown>] => [
    `edges.batch, ${atomic ? 'atomic' : 'each alone'}`,
    (cairn, options) =>
      cairn.edges.batch(
        {
          atomic,
          items: [
            { operation: 'create', create: linked },
            { operation: 'delete', edge_id: EDGE },
          ],
        },
        options,
      ),
  ]),
];

onEveryTarget('Idempotency-Key', (test) => {
  it.each(changes)('IDEM-1 %s again gives the same answer and writes nothing more', async (_, change) => {
    const cairn = await prepared(await test().freshTenant());
    const before = await latestToken(cairn);
    const options = { idempotency_key: randomUUID() };
    const first = await change(cairn, options);
    // Waits for the erasures that it started, which have events of their own.
    await cairn.lifetime.sweep();
    const after = await latestToken(cairn);
    expect(after).not.toBe(before);
    expect(await change(cairn, options)).toEqual(first);
    test().advance(HOUR);
    expect(await change(cairn, options)).toEqual(first);
    expect(await latestToken(cairn)).toBe(after);
  });

  it('IDEM-1 twenty at once are done once', async () => {
    const cairn = await prepared(await test().freshTenant());
    const before = await latestToken(cairn);
    const options = { idempotency_key: 'once' };
    const answers = await Promise.all(Array.from({ length: 20 }, () => cairn.packets.write(packet, options)));
    expect(new Set(answers.map(({ packet_id }) => packet_id)).size).toBe(1);
    expect(await followToNow(cairn, before)).toHaveLength(1);
  });

  it('IDEM-1 the order of members does not matter', async () => {
    const cairn = await test().freshTenant();
    const options = { idempotency_key: 'k' };
    const first = await cairn.cards.add({ content: { a: 1, b: 2 }, author_id: 'me' }, options);
    expect(await cairn.cards.add({ author_id: 'me', content: { b: 2, a: 1 } }, options)).toEqual(first);
  });

  it.each(changes)('IDEM-2 the key of %s cannot be used for another request', async (name, change) => {
    const cairn = await prepared(await test().freshTenant());
    const options = { idempotency_key: 'k' };
    await change(cairn, options);
    await cairn.lifetime.sweep();
    const before = await latestToken(cairn);
    expect(await refusalOf(cairn.cards.add({ content: 'another' }, options))).toMatchObject(conflict);
    expect(await refusalOf(cairn.packets.write({ ...packet, payload: {} }, options))).toMatchObject(conflict);
    if (name !== 'boxes.append') {
      expect(await refusalOf(cairn.boxes.append({ box_id: 'y', card_ids: ['a'] }, options))).toMatchObject(conflict);
    }
    expect(await latestToken(cairn)).toBe(before);
  });

  it('IDEM-2 another batch under the key of a batch is refused, whole', async () => {
    const cairn = await test().freshTenant();
    const options = { idempotency_key: 'k' };
    for (const atomic of [false, true]) {
      const key = { idempotency_key: `k-${atomic}` };
      await cairn.cards.add_batch({ cards: [{ content: 1 }, { content: 2 }], atomic }, key);
      const before = await latestToken(cairn);
      for (const cards of [[{ content: 1 }, { content: 3 }], [{ content: 1 }, { content: 2 }, {}], [{ content: 1 }]]) {
        expect(await refusalOf(cairn.cards.add_batch({ cards, atomic }, key))).toMatchObject(conflict);
      }
      expect(await latestToken(cairn)).toBe(before);
    }
    await cairn.packets.write_batch({ packets: [packet] }, options);
    expect(await refusalOf(cairn.packets.write_batch({ packets: [packet, packet] }, options))).toMatchObject(conflict);
  });

  it('IDEM-2 another operation with the same key and body is refused', async () => {
    const cairn = await prepared(await test().freshTenant());
    const entity = { trajectory_id: TASK, name: 'n' };
    const pairs: readonly (readonly [string, (options: CallOptions) => Promise<unknown>][])[] = [
      [
        ['boxes.fork', (options) => cairn.boxes.fork({ box_id: 'x' }, options)],
        ['boxes.seal', (options) => cairn.boxes.seal({ box_id: 'x' }, options)],
      ],
      [
        ['trajectories.update', (options) => cairn.trajectories.update(entity, options)],
        ['trajectories.create', (options) => cairn.trajectories.create(entity, options)],
        ['scopes.create', (options) => cairn.scopes.create(entity, options)],
      ],
    ];
    for (const calls of pairs) {
      for (const [used, first] of calls) {
        const options = { idempotency_key: used };
        if (used === 'trajectories.create') continue;
        await first(options);
        const before = await latestToken(cairn);
        for (const [name, other] of calls)
          if (name !== used) expect(await refusalOf(other(options)), `${used}, ${name}`).toMatchObject(conflict);
        expect(await latestToken(cairn)).toBe(before);
      }
    }
  });

  it('IDEM-2 another agent with the same key and body is refused', async () => {
    const { as, freshTenant } = test();
    const { tenant_id: tenant } = await (await freshTenant()).auth.whoami();
    const [ann, bob] = [await as({ tenant, agent: 'ann' }), await as({ tenant, agent: 'bob' })];
    const options = { idempotency_key: 'k' };
    await ann.boxes.create({ metadata: { note: 1 } }, options);
    expect(await refusalOf(bob.boxes.create({ metadata: { note: 1 } }, options))).toMatchObject(conflict);
  });

  it('IDEM-3 a key counts for 24 hours', async () => {
    const cairn = await test().freshTenant();
    const options = { idempotency_key: 'k' };
    const first = await cairn.packets.write(packet, options);
    test().advance(24 * HOUR - 60_000);
    expect(await cairn.packets.write(packet, options)).toEqual(first);
    test().advance(2 * 60_000);
    const second = await cairn.packets.write({ ...packet, payload: {} }, options);
    expect(second.packet_id).not.toBe(first.packet_id);
    expect(await cairn.packets.write({ ...packet, payload: {} }, options)).toEqual(second);
    expect(await refusalOf(cairn.packets.write(packet, options))).toMatchObject(conflict);
    expect(await cairn.lifetime.sweep()).toMatchObject({ requests_forgotten: 0 });
    test().advance(25 * HOUR);
    expect(await cairn.lifetime.sweep()).toMatchObject({ requests_forgotten: 1 });
    expect(await cairn.lifetime.sweep()).toMatchObject({ requests_forgotten: 0 });
  });

  it('IDEM-4 a request that changed nothing is remembered', async () => {
    const cairn = await prepared(await test().freshTenant());
    const options = { idempotency_key: 'k' };
    const noop = await cairn.boxes.append({ box_id: 'x', card_ids: ['a'] }, options);
    expect(noop).toMatchObject({ revision: 1, appended: [], already_present: ['a'] });
    await cairn.boxes.save({ box_id: 'x', card_ids: ['b'], revision: 1 });
    const before = await latestToken(cairn);
    expect(await cairn.boxes.append({ box_id: 'x', card_ids: ['a'] }, options)).toEqual(noop);
    expect(await refusalOf(cairn.boxes.append({ box_id: 'x', card_ids: ['b'] }, options))).toMatchObject(conflict);
    expect(await latestToken(cairn)).toBe(before);
  });

  it('IDEM-4 a request that was refused is not remembered', async () => {
    const cairn = await test().freshTenant();
    const options = { idempotency_key: 'k' };
    const append = () => cairn.boxes.append({ box_id: 'x', card_ids: ['a'] }, options);
    expect(await refusalOf(append())).toMatchObject({ code: 'BOX_NOT_FOUND' });
    await cairn.boxes.create({ box_id: 'x' });
    expect(await refusalOf(append())).toMatchObject({ code: 'UNKNOWN_CARD' });
    await cairn.cards.add({ card_id: 'a' });
    expect(await append()).toMatchObject({ appended: ['a'] });
    expect(await append()).toMatchObject({ appended: ['a'] });
  });

  it('IDEM-5 two tenants may use the same key', async () => {
    const [one, other] = [await test().freshTenant(), await test().freshTenant()];
    const options = { idempotency_key: 'shared' };
    const first = await one.packets.write(packet, options);
    const second = await other.packets.write({ ...packet, payload: { b: 2 } }, options);
    expect(second.packet_id).not.toBe(first.packet_id);
    expect(await one.packets.write(packet, options)).toEqual(first);
  });

  it('IDEM-6 an answer whose content was erased since is 410', async () => {
    const cairn = await test().freshTenant();
    const add = () => cairn.cards.add({ content: 'x', expires_at }, { idempotency_key: 'k' });
    const expires_at = inFuture(test(), 60_000);
    const { card_id } = await add();
    test().advance(2 * 60_000);
    const erased = { code: 'CONTENT_ERASED', status: 410, details: { card_ids: [card_id] } };
    expect(await refusalOf(add())).toMatchObject(erased);
    await cairn.lifetime.sweep();
    expect(await refusalOf(add())).toMatchObject(erased);
    expect((await cairn.cards.list()).total).toBe(0);
  });

  it('IDEM-6 an answer whose card was deleted since is as reading it', async () => {
    const cairn = await test().freshTenant();
    const add = () => cairn.cards.add({ content: 'x' }, { idempotency_key: 'k' });
    const { card_id } = await add();
    await cairn.cards.delete({ card_id });
    expect(await refusalOf(add())).toMatchObject({ code: 'CARD_NOT_FOUND', status: 404 });
    expect((await cairn.cards.list()).total).toBe(0);
  });

  it('IDEM-6 a batch of turns is answered again without those that are gone', async () => {
    const cairn = await test().freshTenant();
    const { trajectory_id } = await cairn.trajectories.create({ name: 't' });
    const open = await cairn.scopes.create({ trajectory_id, name: 'open' });
    const closed = await cairn.scopes.create({ trajectory_id, name: 'closed' });
    const items = [open, closed].map(({ scope_id }) => ({ create: { scope_id, role: 'User' as const, content: 'x' } }));
    const add = () => cairn.turns.batch({ items }, { idempotency_key: 'k' });
    const first = await add();
    expect(await add()).toEqual(first);
    await cairn.scopes.close({ scope_id: closed.scope_id, wait: true });
    const again = await add();
    expect(again).toMatchObject({ succeeded: 1, failed: 1 });
    expect(again.results).toEqual([
      first.results[0],
      { status: 'error', code: 'TURN_NOT_FOUND', message: expect.any(String) },
    ]);
  });

  it('IDEM-6 the secret of a key is shown once, also with an Idempotency-Key', async () => {
    const cairn = await test().freshTenant();
    const options = { idempotency_key: 'k' };
    const { key_id } = await cairn.keys.create({ name: 'one' }, options);
    expect(await refusalOf(cairn.keys.create({ name: 'one' }, options))).toMatchObject({
      code: 'CONTENT_ERASED',
      status: 410,
      details: { key_id },
    });
    const { keys } = await cairn.keys.list();
    expect(keys.filter(({ name }) => name === 'one').map((key) => key.key_id)).toEqual([key_id]);
    await cairn.keys.revoke({ key_id }, { idempotency_key: 'r' });
    const before = await latestToken(cairn);
    await cairn.keys.revoke({ key_id }, { idempotency_key: 'r' });
    expect(await latestToken(cairn)).toBe(before);
  });

  it('IDEM-7 in a batch that is not atomic what was refused is tried again, the rest is not', async () => {
    const cairn = await test().freshTenant();
    const add = () =>
      cairn.cards.add_batch(
        { cards: [{ content: 1 }, { derived_from: ['late'] }, { content: 3 }] },
        { idempotency_key: 'k'.repeat(200) },
      );
    const first = await add();
    expect(first).toMatchObject({ succeeded: 2, failed: 1, results: [{}, { code: 'UNKNOWN_CARD' }, {}] });
    await cairn.cards.add({ card_id: 'late' });
    const second = await add();
    expect(second).toMatchObject({ succeeded: 3, failed: 0 });
    expect([second.results[0], second.results[2]]).toEqual([first.results[0], first.results[2]]);
    expect(await add()).toEqual(second);
    expect((await cairn.cards.list()).total).toBe(4);
  });

  it.each(['', ' ', 'a b', 'ü', 'x'.repeat(201), 'a\tb'])('IDEM-8 "%s" is no key', async (idempotency_key) => {
    const { store, freshTenant } = test();
    const { tenant_id } = await (await freshTenant()).auth.whoami();
    const cairn = store.api({ tenant_id, agent_id: null, role: 'admin', key_id: null });
    const before = await latestToken(cairn);
    expect(await refusalOf(cairn.packets.write(packet, { idempotency_key }))).toMatchObject({
      code: 'INVALID_INPUT',
      status: 400,
    });
    expect(await latestToken(cairn)).toBe(before);
  });

  it('IDEM-8 a key has up to 200 visible characters', async () => {
    const cairn = await test().freshTenant();
    const options = { idempotency_key: '!~'.repeat(100) };
    expect(await cairn.packets.write(packet, options)).toEqual(await cairn.packets.write(packet, options));
  });
});

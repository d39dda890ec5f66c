import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { allOperations } from '#cairn/api/contract.js';
import type { ApiByName } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { createServer } from '#cairn/http/index.js';
import { followToNow, latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf, type TestStore } from '../support/targets.js';

const forbidden = { code: 'FORBIDDEN', status: 403 };

/** One tenant as its admin, and as two agents. */
async function people(test: TestStore): Promise<{ tenant: string; admin: Api; ann: Api; bob: Api }> {
  const admin = await test.freshTenant();
  const { tenant_id: tenant } = await admin.auth.whoami();
  await admin.cards.add_batch({ cards: ['a', 'b', 'c'].map((card_id) => ({ card_id, content: card_id })) });
  const [ann, bob] = [await test.as({ tenant, agent: 'ann' }), await test.as({ tenant, agent: 'bob' })];
  return { tenant, admin, ann, bob };
}

/** Every use of a box but granting it. */
const uses: Readonly<Record<'read' | 'write', readonly ((cairn: Api, box_id: string) => Promise<unknown>)[]>> = {
  read: [
    (cairn, box_id) => cairn.boxes.load({ box_id }),
    (cairn, box_id) => cairn.boxes.load({ box_id, revision: 1 }),
    (cairn, box_id) => cairn.boxes.cards({ box_id }),
    (cairn, box_id) => cairn.boxes.cards({ box_id, tail: 1 }),
    (cairn, box_id) => cairn.boxes.grants({ box_id }),
    (cairn, box_id) => cairn.boxes.fork({ box_id }),
  ],
  write: [
    (cairn, box_id) => cairn.boxes.append({ box_id, card_ids: ['b'] }),
    (cairn, box_id) => cairn.boxes.save({ box_id, card_ids: ['c'], revision: 2 }),
    (cairn, box_id) => cairn.boxes.seal({ box_id }),
  ],
};

onEveryTarget('access', (test) => {
  it('ACCESS-1 each role may do what is its own, and no more', async () => {
    const { as, freshTenant } = test();
    const { tenant_id: tenant } = await (await freshTenant()).auth.whoami();
    const admin = await as({ tenant });
    const rank = { open: 0, read: 1, write: 2, admin: 3 };
    for (const role of ['read', 'write'] as const) {
      const api = (await as({ tenant, role })) as unknown as ApiByName;
      const before = await latestToken(admin);
      const beyond = allOperations.filter(({ access }) => rank[access] > rank[role]);
      expect(beyond.length).toBeGreaterThan(3);
      for (const { group, verb, example, name, stream } of beyond) {
        const asked = api[group]![verb]!(example);
        const answer = stream ? (asked as AsyncIterable<unknown>)[Symbol.asyncIterator]().next() : asked;
        const refusal = await refusalOf(answer as Promise<unknown>);
        expect(refusal, name).toMatchObject(forbidden);
      }
      expect(await latestToken(admin)).toBe(before);
    }
    const [reader, writer] = [await as({ tenant, role: 'read' }), await as({ tenant, role: 'write' })];
    const { card_id } = await writer.cards.add({ content: 'x' });
    expect(await reader.cards.get({ card_id })).toMatchObject({ content: 'x' });
    expect((await reader.packets.list()).packets.length).toBeGreaterThan(0);
  });

  it('ACCESS-2 what another tenant has does not exist', async () => {
    const { admin: one } = await people(test());
    const other = await test().freshTenant();
    await one.boxes.create({ box_id: 'x', card_ids: ['a'] });
    const { packet_id } = await one.packets.write({ packet_type: 'p', payload: {}, tags: ['t'] });
    const missing = [
      [other.cards.get({ card_id: 'a' }), 'CARD_NOT_FOUND'],
      [other.cards.delete({ card_id: 'a' }), 'CARD_NOT_FOUND'],
      [other.cards.add({ derived_from: ['a'] }), 'UNKNOWN_CARD'],
      [other.boxes.load({ box_id: 'x' }), 'BOX_NOT_FOUND'],
      [other.boxes.append({ box_id: 'x', card_ids: ['a'] }), 'BOX_NOT_FOUND'],
      [other.boxes.create({ card_ids: ['a'] }), 'UNKNOWN_CARD'],
      [other.boxes.fork({ box_id: 'x' }), 'BOX_NOT_FOUND'],
      [other.packets.get({ packet_id }), 'PACKET_NOT_FOUND'],
      [other.packets.lineage({ packet_id }), 'PACKET_NOT_FOUND'],
      [other.packets.write({ packet_type: 'p', payload: {}, lineage: { parent_ids: [packet_id] } }), 'UNKNOWN_PARENT'],
    ] as const;
    const refusals = await Promise.all(missing.map(([call]) => refusalOf(call)));
    expect(refusals.map(({ code }) => code)).toEqual(missing.map(([, code]) => code));
    expect((await other.cards.get_batch({ card_ids: ['a'] })).missing_ids).toEqual(['a']);
    expect((await other.boxes.load_batch({ box_ids: ['x'] })).missing_box_ids).toEqual(['x']);
    expect((await other.cards.list()).total).toBe(0);
    expect((await other.boxes.list()).total).toBe(0);
    expect((await other.packets.list({ tag: 't' })).total).toBe(0);
  });

  it('ACCESS-2 two tenants may use the same ids', async () => {
    const [one, other] = [await test().freshTenant(), await test().freshTenant()];
    const packet_id = randomUUID();
    for (const [cairn, content] of [
      [one, 1],
      [other, 2],
    ] as const) {
      await cairn.cards.add({ card_id: 'a', content });
      await cairn.boxes.create({ box_id: 'x', card_ids: ['a'] });
      await cairn.packets.write({ packet_id, packet_type: 'p', payload: { content } });
    }
    await other.cards.delete({ card_id: 'a' });
    await other.boxes.seal({ box_id: 'x' });
    expect((await one.boxes.cards({ box_id: 'x' })).cards).toMatchObject([{ content: 1 }]);
    expect((await one.boxes.load({ box_id: 'x' })).sealed_at).toBeNull();
    expect((await one.packets.get({ packet_id })).payload).toEqual({ content: 1 });
  });

  it('ACCESS-2 packets are found by the tags, subjects and parents of their own tenant', async () => {
    const [one, other] = [await test().freshTenant(), await test().freshTenant()];
    const [first, second] = [randomUUID(), randomUUID()];
    // The same numbers in both streams: what one index says of a number must not count for the other's packet.
    for (const cairn of [one, other]) {
      const tagged = cairn === one ? { tags: ['t'], subject_ids: ['s'], lineage: { parent_ids: [first] } } : {};
      await cairn.packets.write({ packet_id: first, packet_type: 'p', payload: {} });
      await cairn.packets.write({ packet_id: second, packet_type: 'p', payload: {}, ...tagged });
    }
    const seqOf = async (cairn: Api) => (await cairn.packets.get({ packet_id: second })).seq;
    expect(await seqOf(one)).toBe(await seqOf(other));
    for (const filter of [{ tag: 't' }, { subject_id: 's' }]) {
      expect(await one.packets.list(filter)).toMatchObject({ packets: [{ packet_id: second }], total: 1 });
      expect(await other.packets.list(filter)).toMatchObject({ packets: [], total: 0 });
    }
    const childrenIn = async (cairn: Api) =>
      (await cairn.packets.lineage({ packet_id: first, direction: 'descendants' })).packets.length;
    expect([await childrenIn(one), await childrenIn(other)]).toEqual([1, 0]);
  });

  it('ACCESS-2 closing, finishing and deleting leave what has the same ids in another tenant alone', async () => {
    const [one, other] = [await test().freshTenant(), await test().freshTenant()];
    const [trajectory_id, kept, scope_id, nested, artifact_id] = Array.from({ length: 5 }, () => randomUUID());
    const seen = async (cairn: Api) => {
      const { turns } = await cairn.scopes.turns({ scope_id: nested! });
      return [
        (await cairn.trajectories.get({ trajectory_id: trajectory_id! })).status,
        (await cairn.scopes.get({ scope_id: scope_id! })).closed_at,
        (await cairn.scopes.get({ scope_id: nested! })).closed_at,
        turns.map(({ content }) => content),
        (await cairn.artifacts.get({ artifact_id: artifact_id! })).content,
        (await cairn.cards.get({ card_id: 'c' })).content,
      ];
    };
    for (const cairn of [one, other]) {
      await cairn.trajectories.create({ trajectory_id: trajectory_id!, name: 'task' });
      await cairn.trajectories.create({ trajectory_id: kept!, name: 'kept' });
      await cairn.scopes.create({ scope_id: scope_id!, trajectory_id: trajectory_id!, name: 'work' });
      const inside = { scope_id: nested!, trajectory_id: trajectory_id!, parent_scope_id: scope_id! };
      await cairn.scopes.create({ ...inside, name: 'nested' });
      await cairn.turns.add({ scope_id: nested!, role: 'User', content: 'said' });
      await cairn.artifacts.create({
        artifact_id: artifact_id!,
        trajectory_id: kept!,
        artifact_type: 'Fact',
        name: 'fact',
        content: 'known',
      });
      await cairn.cards.add({ card_id: 'c', content: 'card' });
    }
    const before = await seen(other);
    expect(before).toEqual(['Active', null, null, ['said'], 'known', 'card']);
    await one.scopes.close({ scope_id: scope_id!, wait: true });
    expect((await one.scopes.turns({ scope_id: nested! })).turns).toEqual([]);
    expect(await seen(other)).toEqual(before);
    await one.trajectories.update({ trajectory_id: trajectory_id!, status: 'Failed' });
    await one.artifacts.delete({ artifact_id: artifact_id! });
    await one.cards.delete({ card_id: 'c' });
    await one.trajectories.delete({ trajectory_id: trajectory_id! });
    await one.trajectories.delete({ trajectory_id: kept! });
    await one.lifetime.sweep();
    expect(await seen(other)).toEqual(before);
  });

  it('ACCESS-3 without a grant an agent neither reads nor changes the box of another', async () => {
    const { admin, ann, bob } = await people(test());
    expect(await ann.boxes.create({ box_id: 'x', card_ids: ['a'] })).toMatchObject({ agent_id: 'ann' });
    await admin.boxes.create({ box_id: 'tenant', card_ids: ['a'] });
    const before = await latestToken(admin);
    for (const use of [...uses.read, ...uses.write]) {
      expect(await refusalOf(use(bob, 'x')), String(use)).toMatchObject(forbidden);
      expect(await refusalOf(use(bob, 'tenant')), String(use)).toMatchObject(forbidden);
    }
    expect(await refusalOf(bob.boxes.grant({ box_id: 'x', agent_id: 'bob' }))).toMatchObject(forbidden);
    expect(await latestToken(admin)).toBe(before);
    for (const use of [...uses.read, ...uses.write]) await use(ann, 'x');
    for (const use of [...uses.read, ...uses.write]) await use(admin, 'tenant');
    expect(await admin.boxes.cards({ box_id: 'x' })).toMatchObject({ total: 1 });
  });

  it('ACCESS-3 a grant to read is not one to write, and neither is one to grant', async () => {
    const { ann, bob } = await people(test());
    await ann.boxes.create({ box_id: 'x', card_ids: ['a'] });
    await ann.boxes.grant({ box_id: 'x', agent_id: 'bob' });
    for (const use of uses.read) await use(bob, 'x');
    for (const use of uses.write) expect(await refusalOf(use(bob, 'x')), String(use)).toMatchObject(forbidden);
    await ann.boxes.grant({ box_id: 'x', agent_id: 'bob', access: 'write' });
    expect(await refusalOf(bob.boxes.grant({ box_id: 'x', agent_id: 'eve' }))).toMatchObject(forbidden);
    expect(await refusalOf(bob.boxes.ungrant({ box_id: 'x', agent_id: 'bob' }))).toMatchObject(forbidden);
    for (const use of [...uses.read, ...uses.write]) await use(bob, 'x');
    await ann.boxes.ungrant({ box_id: 'x', agent_id: 'bob' });
    expect(await refusalOf(bob.boxes.load({ box_id: 'x' }))).toMatchObject(forbidden);
  });

  it('ACCESS-3 a fork belongs to who made it', async () => {
    const { ann, bob } = await people(test());
    await ann.boxes.create({ box_id: 'x', card_ids: ['a'] });
    await ann.boxes.grant({ box_id: 'x', agent_id: 'bob' });
    expect(await bob.boxes.fork({ box_id: 'x', new_box_id: 'f' })).toMatchObject({ agent_id: 'bob' });
    expect(await refusalOf(ann.boxes.load({ box_id: 'f' }))).toMatchObject(forbidden);
    await ann.boxes.ungrant({ box_id: 'x', agent_id: 'bob' });
    expect((await bob.boxes.cards({ box_id: 'f' })).cards).toMatchObject([{ content: 'a' }]);
  });

  it('ACCESS-4 a box that an agent may not see is missing in batches and lists', async () => {
    const { admin, ann, bob } = await people(test());
    for (const box_id of ['x', 'y']) await ann.boxes.create({ box_id, card_ids: ['a'] });
    await bob.boxes.save({ box_id: 'z', card_ids: ['b'], revision: 0 });
    await ann.boxes.grant({ box_id: 'y', agent_id: 'bob' });
    const batch = await bob.boxes.load_batch({ box_ids: ['x', 'y', 'z'], hydrate: true });
    expect(batch.boxes.map(({ box_id }) => box_id)).toEqual(['y', 'z']);
    expect(batch.missing_box_ids).toEqual(['x']);
    const listed = async (cairn: Api, filter = {}) => {
      const { boxes, total } = await cairn.boxes.list(filter);
      return [boxes.map(({ box_id }) => box_id).join(''), total];
    };
    expect(await listed(bob)).toEqual(['yz', 2]);
    expect(await listed(bob, { agent_id: 'ann' })).toEqual(['y', 1]);
    expect(await listed(ann)).toEqual(['xy', 2]);
    expect(await listed(admin)).toEqual(['xyz', 3]);
  });

  it('ACCESS-5 events about a box reach only those who may see it', async () => {
    const { admin, ann, bob } = await people(test());
    const before = await latestToken(admin);
    await ann.boxes.create({ box_id: 'x', card_ids: ['a'] });
    await bob.boxes.create({ box_id: 'z' });
    await ann.cards.add({ card_id: 'open' });
    const about = async (cairn: Api) =>
      (await followToNow(cairn, before, admin))
        .filter(({ packet_type }) => packet_type !== 'marker')
        .map(({ payload }) => (payload?.entity as { id: string } | undefined)?.id);
    expect(await about(admin)).toEqual(['x', 'z', 'open']);
    expect(await about(ann)).toEqual(['x', 'open']);
    expect(await about(bob)).toEqual(['z', 'open']);
    const listed = async (cairn: Api) => await cairn.packets.list({ packet_type: 'cairn.box.created' });
    expect([(await listed(admin)).total, (await listed(ann)).total, (await listed(bob)).total]).toEqual([2, 1, 1]);
    const { packet_id } = (await listed(ann)).packets[0]!;
    expect(await ann.packets.get({ packet_id })).toMatchObject({ packet_type: 'cairn.box.created' });
    const { get, original, lineage } = bob.packets;
    for (const read of [get, original, lineage]) {
      expect(await refusalOf(read({ packet_id }))).toMatchObject({ code: 'PACKET_NOT_FOUND', status: 404 });
    }
    await ann.boxes.grant({ box_id: 'x', agent_id: 'bob' });
    expect(await about(bob)).toEqual(['x', 'z', 'open', 'x']);
    expect(await get({ packet_id })).toMatchObject({ packet_id });
  });

  it('ACCESS-5 lineage does not lead to events about a box that is not seen', async () => {
    const { ann, bob } = await people(test());
    await ann.boxes.create({ box_id: 'x' });
    const [created] = (await ann.packets.list({ packet_type: 'cairn.box.created' })).packets;
    const { packet_id } = await ann.packets.write({
      packet_type: 'p',
      payload: {},
      lineage: { parent_ids: [created!.packet_id] },
    });
    expect((await ann.packets.lineage({ packet_id })).packets).toHaveLength(1);
    expect((await bob.packets.lineage({ packet_id })).packets).toEqual([]);
  });

  it('ACCESS-6 a key with an agent cannot act for another, a key without one can', async () => {
    const { admin, ann } = await people(test());
    await ann.boxes.create({ box_id: 'x', agent_id: 'ann' });
    expect(await refusalOf(ann.boxes.create({ agent_id: 'bob' }))).toMatchObject(forbidden);
    expect(await refusalOf(ann.boxes.fork({ box_id: 'x', agent_id: 'bob' }))).toMatchObject(forbidden);
    expect(await admin.boxes.create({ agent_id: 'bob' })).toMatchObject({ agent_id: 'bob' });
    expect(await admin.boxes.fork({ box_id: 'x' })).toMatchObject({ agent_id: null });
  });

  it('ACCESS-7 header and path must name the tenant of the key', async (context) => {
    const { url, freshTenant } = test();
    if (url === undefined) return context.skip('about HTTP alone');
    const [cairn, other] = [await freshTenant(), await freshTenant()];
    const [{ tenant_id: own }, { tenant_id: foreign }] = [await cairn.auth.whoami(), await other.auth.whoami()];
    const { key } = await cairn.keys.create({ role: 'admin' });
    const ask = async (path: string, headers: Record<string, string> = {}) => {
      const response = await fetch(`${url}${path}`, { headers: { 'x-api-key': key, ...headers } });
      return [response.status, ((await response.json()) as { code?: string }).code];
    };
    const mismatch = [403, 'TENANT_MISMATCH'];
    expect(await ask(`/projects/${own}/cards`)).toEqual([200, undefined]);
    expect(await ask('/api/v1/whoami', { 'x-tenant-id': own })).toEqual([200, undefined]);
    expect(await ask(`/projects/${foreign}/cards`)).toEqual(mismatch);
    expect(await ask('/projects/nobody/boxes/x')).toEqual(mismatch);
    expect(await ask('/api/v1/memory/packets', { 'x-tenant-id': foreign })).toEqual(mismatch);
    expect(await ask(`/projects/${own}/cards`, { 'x-tenant-id': foreign })).toEqual(mismatch);
  });

  it('ACCESS-8 without keys only local clients are served', async (context) => {
    if (test().target !== 'sqlite') return context.skip('needs a store that never had a key');
    const { app } = createServer(test().store, { version: 'test', log: () => undefined });
    const ask = async (headers: Record<string, string>) => {
      const { statusCode, body } = await app.inject({ url: '/api/v1/whoami', headers });
      return [statusCode, (JSON.parse(body) as { code?: string }).code];
    };
    for (const host of ['localhost', 'localhost:8080', '127.0.0.1:8080', '[::1]:8080']) {
      expect(await ask({ host })).toEqual([200, undefined]);
    }
    expect(await ask({ host: 'localhost', origin: 'http://localhost:3000' })).toEqual([200, undefined]);
    const strangers: Record<string, string>[] = [
      { host: 'evil.example' },
      { host: 'localhost.evil.example' },
      { host: '10.0.0.1:8080' },
      { host: 'localhost', origin: 'https://evil.example' },
      { host: 'localhost', origin: 'null' },
      { host: 'localhost', 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of strangers) {
      expect(await ask(headers), JSON.stringify(headers)).toEqual([403, 'HOST_REFUSED']);
    }
    await app.close();
  });

  it('ACCESS-6 what an agent writes bears its name, and no other', async () => {
    const scout = await test().as({ tenant: 'access-6', agent: 'scout', role: 'write' });
    const { packet_id } = await scout.packets.write({ packet_type: 'p', payload: {} });
    expect((await scout.packets.get({ packet_id })).metadata).toMatchObject({ agent: 'scout' });
    expect((await scout.packets.list({ agent: 'scout', packet_type: 'p' })).total).toBe(1);
    expect((await scout.cards.add({ content: 1 })).author_id).toBe('scout');
    for (const refused of [
      scout.packets.write({ packet_type: 'p', payload: {}, metadata: { agent: 'boss' } }),
      scout.cards.add({ content: 1, author_id: 'boss' }),
    ]) {
      expect(await refusalOf(refused)).toMatchObject({ code: 'FORBIDDEN', status: 403 });
    }
  });
});

import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { sql } from '#cairn/driver/index.js';
import { checks } from '#cairn/maintenance/index.js';
import { tenantOf } from '../support/nouns/hierarchy.js';
import { contentsOf, eventsOf, say, someScope, wordsLeft } from '../support/nouns/scopes.js';
import { followToNow, latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const closed = { code: 'SCOPE_CLOSED', status: 409 };
const noTurn = { code: 'TURN_NOT_FOUND', status: 404 };
const noBox = { code: 'BOX_NOT_FOUND', status: 404 };

onEveryTarget('closing scopes', (test) => {
  it('CLOSE-1 from the answer on, nothing of a closed scope can be read', async () => {
    const cairn = await test().freshTenant();
    const scope = await someScope(cairn);
    const { scope_id, box_id } = scope;
    const turns = [await say(cairn, scope_id, 'one'), await say(cairn, scope_id, 'two')];
    const ids = turns.map(({ turn_id }) => turn_id);
    const { card_id } = await cairn.cards.add({ content: 'card' });
    const mine = await cairn.boxes.create({ card_ids: [ids[0]!, card_id] });
    const fork = await cairn.boxes.fork({ box_id });
    const answer = await cairn.scopes.close({ scope_id });
    expect(answer).toMatchObject({
      ...scope,
      tokens_used: 2,
      turns: 2,
      is_active: false,
      closed_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
      closed_scope_ids: [scope_id],
      kept_by: [],
      erasure: { state: expect.stringMatching(/^(pending|done)$/) },
    });
    for (const [i, turn_id] of ids.entries()) {
      expect(await refusalOf(cairn.turns.get({ turn_id })), `turn ${i}`).toMatchObject(noTurn);
      expect(await refusalOf(cairn.cards.get({ card_id: turn_id }))).toMatchObject({
        code: 'CONTENT_ERASED',
        status: 410,
      });
      expect(await refusalOf(cairn.boxes.create({ card_ids: [turn_id] }))).toMatchObject({ code: 'UNKNOWN_CARD' });
    }
    expect(await cairn.scopes.turns({ scope_id })).toEqual({ turns: [], next_cursor: null, total: 0 });
    expect((await cairn.scopes.turns({ scope_id, tail: 5 })).turns).toEqual([]);
    expect((await cairn.cards.list({})).cards.map(({ content }) => content)).toEqual(['card']);
    expect((await cairn.cards.get_batch({ card_ids: ids })).missing_ids).toEqual(ids);
    for (const call of [
      () => cairn.boxes.load({ box_id }),
      () => cairn.boxes.cards({ box_id }),
      () => cairn.boxes.fork({ box_id }),
      () => cairn.boxes.append({ box_id, card_ids: [card_id] }),
      () => cairn.boxes.save({ box_id, card_ids: [card_id], revision: 1 }),
      () => cairn.boxes.seal({ box_id }),
    ])
      expect(await refusalOf(call())).toMatchObject(noBox);
    expect((await cairn.boxes.load_batch({ box_ids: [box_id] })).missing_box_ids).toEqual([box_id]);
    const listed = (await cairn.boxes.list({})).boxes.map((box) => box.box_id);
    expect(listed.sort()).toEqual([mine.box_id, fork.box_id].sort());
    const { cards, missing_card_ids } = await cairn.boxes.cards({ box_id: mine.box_id });
    expect([cards.map(({ content }) => content), missing_card_ids]).toEqual([['card'], [ids[0]]]);
    expect((await cairn.boxes.cards({ box_id: fork.box_id })).missing_card_ids).toEqual(ids);
  });

  it('CLOSE-2 scopes nested in it are closed in the same transaction, at any depth', async () => {
    const cairn = await test().freshTenant();
    const top = await someScope(cairn);
    const { trajectory_id } = top;
    const child = await someScope(cairn, { trajectory_id, parent_scope_id: top.scope_id });
    const grandchild = await someScope(cairn, { trajectory_id, parent_scope_id: child.scope_id });
    const early = await someScope(cairn, { trajectory_id, parent_scope_id: top.scope_id });
    const beside = await someScope(cairn, { trajectory_id });
    const { turn_id } = await say(cairn, grandchild.scope_id, 'deep');
    await say(cairn, beside.scope_id, 'stays');
    const first = await cairn.scopes.close({ scope_id: early.scope_id });
    const answer = await cairn.scopes.close({ scope_id: top.scope_id, wait: true });
    const ids = [top, child, grandchild].map(({ scope_id }) => scope_id);
    expect([...answer.closed_scope_ids].sort()).toEqual([...ids].sort());
    for (const scope_id of ids) {
      expect(await cairn.scopes.get({ scope_id })).toMatchObject({
        is_active: false,
        closed_at: answer.closed_at,
        erasure: { state: 'done' },
      });
      expect(await eventsOf(cairn, 'cairn.scope.closed', scope_id)).toHaveLength(1);
    }
    expect(await cairn.scopes.get({ scope_id: early.scope_id })).toMatchObject({ closed_at: first.closed_at });
    expect(await refusalOf(cairn.turns.get({ turn_id }))).toMatchObject(noTurn);
    expect(await contentsOf(cairn, beside.scope_id)).toEqual(['stays']);
  });

  it('CLOSE-3 closing again changes nothing', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn);
    await say(cairn, scope_id, 'one');
    const first = await cairn.scopes.close({ scope_id, wait: true }, { idempotency_key: 'k' });
    const before = await latestToken(cairn);
    test().advance(1000);
    expect(await cairn.scopes.close({ scope_id, wait: true })).toEqual({ ...first, closed_scope_ids: [] });
    expect(await cairn.scopes.close({ scope_id }, { idempotency_key: 'k' })).toEqual(first);
    expect(await latestToken(cairn)).toBe(before);
    expect(await eventsOf(cairn, 'cairn.scope.closed', scope_id)).toHaveLength(1);
  });

  it('CLOSE-3 a closed scope takes no turn, change or checkpoint', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn);
    await cairn.scopes.close({ scope_id, wait: true });
    const before = await latestToken(cairn);
    expect(await refusalOf(say(cairn, scope_id, 'late'))).toMatchObject(closed);
    expect(await refusalOf(cairn.scopes.update({ scope_id, name: 'n' }))).toMatchObject(closed);
    expect(await refusalOf(cairn.scopes.checkpoint({ scope_id }))).toMatchObject(closed);
    const late = { create: { scope_id, role: 'User', content: 'late' } } as const;
    const { results } = await cairn.turns.batch({ items: [late] });
    expect(results).toMatchObject([{ status: 'error', code: 'SCOPE_CLOSED' }]);
    expect(await latestToken(cairn)).toBe(before);
  });

  it('CLOSE-4 what was said is erased right after, and the scope tells how far that is', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const { scope_id, trajectory_id } = await someScope(cairn, { purpose: 'why' });
    const words = ['quokka', 'wombat', 'numbat', 'bilby', 'dunnart'];
    const [content, called, result, meta, model_id] = words as [string, string, string, string, string];
    const more = { model_id, tool_calls: [{ called }], tool_results: [result], metadata: { meta } };
    const items = Array.from({ length: 250 }, (_, i) => ({
      create: { scope_id, role: 'User', content: `${content} ${i}`, token_count: 1, ...more },
    }));
    await cairn.turns.batch({ items });
    expect(await wordsLeft(test().store, tenant, 'cards', words)).toEqual(words);
    const start = await latestToken(cairn);
    const answer = await cairn.scopes.close({ scope_id, wait: true });
    expect(answer.erasure).toEqual({ state: 'done', erased: 250, kept: 0 });
    expect((await cairn.scopes.get({ scope_id })).erasure).toEqual(answer.erasure);
    expect((await cairn.scopes.list({ status: 'closed' })).scopes).toMatchObject([{ erasure: answer.erasure }]);
    expect(await wordsLeft(test().store, tenant, 'cards', words)).toEqual([]);
    expect(await wordsLeft(test().store, tenant, 'packets', words)).toEqual([]);
    const told = (await followToNow(cairn, start)).map(({ packet_type, payload, thread_id }) => ({
      packet_type,
      payload,
      thread_id,
    }));
    expect(told).toMatchObject([
      { packet_type: 'cairn.scope.closed', thread_id: trajectory_id, payload: { tokens_used: 250 } },
      {
        packet_type: 'cairn.lifetime.erased',
        thread_id: trajectory_id,
        payload: { cards_erased: 250, cards_kept: 0, entity: { type: 'Scope', id: scope_id } },
      },
    ]);
    const [left] = await test().store.driver.long<{ count: number }>(
      tenant,
      sql`SELECT COUNT(*) AS count FROM cards WHERE tenant_id = ${tenant} AND erased_at IS NOT NULL
            AND content_hash LIKE 'keyed:%' AND sent_hash IS NULL AND author_id IS NULL`,
    );
    expect(left!.count).toBe(250);
  });

  it('CLOSE-4 without wait it is erased as well, and a sweep finishes what was left', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn);
    await say(cairn, scope_id, 'quokka');
    await cairn.scopes.close({ scope_id });
    await cairn.lifetime.sweep();
    expect((await cairn.scopes.get({ scope_id })).erasure).toEqual({ state: 'done', erased: 1, kept: 0 });
    expect(await wordsLeft(test().store, await tenantOf(cairn), 'cards', ['quokka'])).toEqual([]);
    expect(await eventsOf(cairn, 'cairn.lifetime.erased', scope_id)).toHaveLength(1);
  });

  it('CLOSE-4 an empty scope has nothing to erase, and is done', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn);
    expect((await cairn.scopes.close({ scope_id, wait: true })).erasure).toEqual({ state: 'done', erased: 0, kept: 0 });
  });

  it('CLOSE-5 a box that was sealed before keeps the turns in it, and the answer says so', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const { scope_id, box_id } = await someScope(cairn);
    const ids: string[] = [];
    for (const word of ['quokka', 'wombat', 'numbat']) ids.push((await say(cairn, scope_id, word)).turn_id);
    const some = await cairn.boxes.create({ card_ids: [ids[1]!] });
    await cairn.boxes.seal({ box_id: some.box_id });
    // Not sealed, but what starts with it is.
    const loose = await cairn.boxes.create({ card_ids: [ids[1]!] });
    const onLoose = await cairn.boxes.fork({ box_id: loose.box_id });
    await cairn.boxes.seal({ box_id: onLoose.box_id });
    const open = await cairn.boxes.create({ card_ids: [ids[0]!] });
    const late = await cairn.boxes.fork({ box_id });
    const answer = await cairn.scopes.close({ scope_id, wait: true });
    expect(answer.erasure).toEqual({ state: 'done', erased: 2, kept: 1 });
    const keepers = [some, onLoose].map(({ box_id: id }) => ({ kind: 'sealed_box', id, turns: 1 }));
    expect(answer.kept_by).toEqual(keepers.sort((a, b) => (a.id < b.id ? -1 : 1)));
    expect(await wordsLeft(test().store, tenant, 'cards', ['quokka', 'wombat', 'numbat'])).toEqual(['wombat']);
    const { cards } = await cairn.boxes.cards({ box_id: some.box_id });
    expect(cards.map(({ content }) => content)).toEqual(['wombat']);
    expect(await refusalOf(cairn.turns.get({ turn_id: ids[1]! }))).toMatchObject(noTurn);
    expect(await refusalOf(cairn.cards.get({ card_id: ids[1]! }))).toMatchObject({ status: 410 });
    expect((await cairn.boxes.cards({ box_id: open.box_id })).missing_card_ids).toEqual([ids[0]]);
    // Sealed behind the closing, it keeps nothing.
    await cairn.boxes.seal({ box_id: late.box_id });
    expect((await cairn.scopes.close({ scope_id })).kept_by).toEqual(answer.kept_by);
    expect((await cairn.boxes.cards({ box_id: late.box_id })).missing_card_ids).toEqual(ids);
  });

  it('CLOSE-5 a sealed fork of the box keeps what it started with', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, box_id } = await someScope(cairn);
    for (const word of ['one', 'two']) await say(cairn, scope_id, word);
    const fork = await cairn.boxes.fork({ box_id });
    const onFork = await cairn.boxes.fork({ box_id: fork.box_id });
    await cairn.boxes.seal({ box_id: onFork.box_id });
    await say(cairn, scope_id, 'three');
    const answer = await cairn.scopes.close({ scope_id, wait: true });
    expect(answer).toMatchObject({
      erasure: { erased: 1, kept: 2 },
      kept_by: [{ kind: 'sealed_box', id: onFork.box_id, turns: 2 }],
    });
    const { cards } = await cairn.boxes.cards({ box_id: onFork.box_id });
    expect(cards.map(({ content }) => content)).toEqual(['one', 'two']);
    expect((await cairn.boxes.cards({ box_id: fork.box_id })).cards).toEqual([]);
  });

  it('CLOSE-5 the ids of what is gone are never used again', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, trajectory_id } = await someScope(cairn);
    const other = await someScope(cairn);
    const turn_id = randomUUID();
    await say(cairn, scope_id, 'x', { turn_id });
    for (const wait of [false, true]) {
      await cairn.scopes.close({ scope_id, wait });
      const gone = { code: 'ENTITY_GONE', status: 410 };
      expect(await refusalOf(say(cairn, other.scope_id, 'x', { turn_id }))).toMatchObject(gone);
      expect(await refusalOf(cairn.cards.add({ card_id: turn_id, content: 'x' }))).toMatchObject(gone);
      const { results } = await cairn.turns.batch({
        items: [{ create: { turn_id, scope_id: other.scope_id, role: 'User' } }],
      });
      expect(results).toMatchObject([{ code: 'ENTITY_GONE' }]);
    }
    expect(await refusalOf(someScope(cairn, { scope_id, trajectory_id }))).toMatchObject({
      code: 'ENTITY_ALREADY_EXISTS',
    });
  });

  it('CLOSE-4 the doctor finds what an erasure left, and budgets that do not add up', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const { driver } = test().store;
    const gone = await someScope(cairn);
    const open = await someScope(cairn);
    const { turn_id } = await say(cairn, gone.scope_id, 'x');
    await say(cairn, open.scope_id, 'y', { token_count: 7 });
    await say(cairn, open.scope_id, 'z', { token_count: 5 });
    await cairn.scopes.checkpoint({ scope_id: open.scope_id });
    await cairn.scopes.restore({ scope_id: open.scope_id });
    await cairn.scopes.close({ scope_id: gone.scope_id, wait: true });
    const broken = async () => {
      const names: string[] = [];
      for (const check of checks)
        for (const { what } of await driver.long<{ what: string }>(tenant, check.broken()))
          names.push(`${check.name}: ${what}`);
      return names.sort();
    };
    expect(await broken()).toEqual([]);
    await driver.write(tenant, async (tx) => {
      await tx.run(sql`UPDATE scopes SET tokens_used = 13 WHERE tenant_id = ${tenant} AND scope_id = ${open.scope_id}`);
      await tx.run(
        sql`UPDATE cards SET content = '"x"', metadata = '{}', erased_at = NULL WHERE tenant_id = ${tenant} AND card_id = ${turn_id}`,
      );
    });
    expect(await broken()).toEqual([
      `ended content is erased, unless a pin keeps it: card ${turn_id} of scope:${gone.scope_id}`,
      `tokens_used of an open scope is the sum of its turns: scope ${open.scope_id} says 13, its turns have 12`,
    ]);
    await driver.write(tenant, async (tx) => {
      await tx.run(sql`UPDATE scopes SET tokens_used = 12 WHERE tenant_id = ${tenant} AND scope_id = ${open.scope_id}`);
      await tx.run(sql`UPDATE boxes SET held_by = NULL WHERE tenant_id = ${tenant} AND box_id = ${open.box_id}`);
      await tx.run(sql`DELETE FROM endings WHERE tenant_id = ${tenant} AND holder = ${`scope:${gone.scope_id}`}`);
    });
    expect(await broken()).toEqual([
      `a scope holds its box and cards, and has ended if and only if it is closed: scope ${gone.scope_id} is closed and has not ended`,
      `a scope holds its box and cards, and has ended if and only if it is closed: scope ${open.scope_id} does not hold box ${open.box_id}`,
    ]);
    await driver.write(tenant, async (tx) => {
      await tx.run(
        sql`UPDATE boxes SET held_by = ${`scope:${open.scope_id}`} WHERE tenant_id = ${tenant} AND box_id = ${open.box_id}`,
      );
      await tx.run(sql`UPDATE cards SET held_by = NULL WHERE tenant_id = ${tenant} AND card_id IN (
        SELECT card_id FROM box_entries WHERE tenant_id = ${tenant} AND box_id = ${open.box_id} AND position = 1)`);
    });
    expect((await broken()).filter((one) => one.includes('does not hold card'))).toHaveLength(1);
  });
});

/** How long artifacts and notes live, and what is left of them. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { sql } from '#cairn/driver/index.js';
import type { Ttl } from '#cairn/engine/contract.js';
import { checks } from '#cairn/maintenance/index.js';
import { closeScope, finishTrajectory, newScope, newTrajectory } from '../support/nouns/memory.js';
import { followToNow, latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const HOUR = 3_600_000;
const gone = { code: 'CONTENT_ERASED', status: 410 };
const fact = { artifact_type: 'Fact', name: 'a name', content: 'a content' };

onEveryTarget('lifetimes of artifacts and notes', (test) => {
  const start = async (): Promise<{ cairn: Api; trajectory_id: string; tenant: string }> => {
    const cairn = await test().freshTenant();
    const { tenant_id } = await cairn.auth.whoami();
    return { cairn, trajectory_id: await newTrajectory(cairn), tenant: tenant_id };
  };

  /** What the doctor finds wrong with a tenant. */
  const problems = async (tenant: string): Promise<string[]> => {
    const found: string[] = [];
    for (const { name, broken } of checks) {
      const rows = await test().store.driver.long<{ what: string }>(tenant, broken());
      found.push(...rows.map(({ what }) => `${name}: ${what}`));
    }
    return found;
  };

  it.each<[Ttl, string, number | null]>([
    ['Persistent', 'Persistent', null],
    ['Permanent', 'Persistent', null],
    ['Session', 'Session', null],
    ['Scope', 'Scope', null],
    ['Ephemeral', 'Scope', null],
    ['ShortTerm', 'Duration', HOUR],
    ['MediumTerm', 'Duration', 24 * HOUR],
    ['LongTerm', 'Duration', 168 * HOUR],
    ['Duration(90000)', 'Duration', 90_000],
    [{ Duration: 90_000 }, 'Duration', 90_000],
  ])('TTL-1 %j lives that long', async (ttl, lifetime, ms) => {
    const { cairn, trajectory_id } = await start();
    const { scope_id } = await newScope(cairn, trajectory_id);
    const made = await cairn.artifacts.create({ ...fact, trajectory_id, scope_id, ttl });
    expect([made.ttl, made.lifetime]).toEqual([ttl, lifetime]);
    const { artifact_id } = made;
    if (ms === null) {
      expect(made.expires_at).toBe(null);
      test().advance(400 * 24 * HOUR);
    } else {
      test().advance(ms - 5000);
      expect(await cairn.artifacts.get({ artifact_id })).toMatchObject({ content: 'a content' });
      test().advance(6000);
    }
    const read = cairn.artifacts.get({ artifact_id });
    if (ms === null) expect(await read).toMatchObject({ artifact_id });
    else expect(await refusalOf(read)).toMatchObject(gone);
  });

  it('TTL-1 a scope that is not there, and forms that are none, are refused', async () => {
    const { cairn, trajectory_id } = await start();
    for (const ttl of ['Scope', 'Ephemeral', 'Duration(0)', 'Forever', { Duration: -1 }] as Ttl[]) {
      expect(await refusalOf(cairn.artifacts.create({ ...fact, trajectory_id, ttl }))).toMatchObject({
        code: 'INVALID_INPUT',
      });
    }
    const { artifact_id } = await cairn.artifacts.create({ ...fact, trajectory_id });
    expect(await refusalOf(cairn.artifacts.update({ artifact_id, ttl: 'Scope' }))).toMatchObject({
      code: 'INVALID_INPUT',
    });
  });

  it('TTL-1 a lifetime that was read is taken back with its ttl, and refused with one that it does not follow from', async () => {
    const { cairn, trajectory_id } = await start();
    const made = await cairn.artifacts.create({ ...fact, trajectory_id, ttl: 'Session' });
    expect(made).toMatchObject({ lifetime: 'Session', expires_at: null });
    const again = { ...fact, trajectory_id, ttl: made.ttl, lifetime: made.lifetime };
    expect(await cairn.artifacts.create(again)).toMatchObject({ lifetime: 'Session' });
    const note = { note_type: 'Fact', title: 'n', content: 'x' };
    for (const [ttl, lifetime] of [
      ['Session', 'Persistent'],
      ['Persistent', 'Session'],
      ['ShortTerm', 'Persistent'],
      ['LongTerm', 'Session'],
      [undefined, 'Duration'],
    ] as const) {
      const given = { lifetime, ...(ttl === undefined ? {} : { ttl }) };
      for (const call of [
        () => cairn.artifacts.create({ ...fact, trajectory_id, ...given }),
        () => cairn.notes.create({ ...note, ...given }),
      ])
        expect(await refusalOf(call()), JSON.stringify(given)).toMatchObject({
          code: 'INVALID_INPUT',
          message: expect.stringContaining('lifetime'),
        });
    }
    expect((await cairn.notes.list({})).total).toBe(0);
  });

  it.each(['Forever', 'Duration(0)', 'Duration(3153600000001)', 5, { Days: 1 }])(
    'TTL-1 the refusal of %j says what a lifetime can be',
    async (ttl) => {
      const { cairn, trajectory_id } = await start();
      const { message } = await refusalOf(
        cairn.artifacts.create({ ...fact, trajectory_id, ttl: ttl as unknown as Ttl }),
      );
      expect(message).toBe(
        'artifacts.create: ttl: must be Persistent, Permanent, Session, Scope, Ephemeral, ShortTerm, MediumTerm, ' +
          'LongTerm, Duration(ms) or {"Duration": ms}, with ms from 1 to 3153600000000',
      );
    },
  );

  it.each(['expired', 'closed', 'finished'])('TTL-2 what has %s is gone from every read', async (how) => {
    const { cairn, trajectory_id, tenant } = await start();
    const { scope_id } = await newScope(cairn, trajectory_id);
    const ttl: Ttl = how === 'expired' ? 'ShortTerm' : how === 'closed' ? 'Scope' : 'Session';
    const input = { ...fact, trajectory_id, scope_id, ttl, artifact_id: randomUUID() };
    const { artifact_id, card_id } = await cairn.artifacts.create(input);
    const other = await cairn.artifacts.create({ ...fact, trajectory_id });
    test().advance(1000);
    const as_of = new Date(test().store.driver.now()).toISOString();
    test().advance(1000);
    await cairn.artifacts.update({ artifact_id, content: 'another' });
    if (how === 'expired') test().advance(2 * HOUR);
    else if (how === 'closed') await closeScope(cairn, scope_id);
    else await finishTrajectory(cairn, trajectory_id);
    const told = { ...gone, details: { artifact_ids: [artifact_id] } };
    expect(await refusalOf(cairn.artifacts.get({ artifact_id }))).toMatchObject(told);
    expect(await refusalOf(cairn.artifacts.get({ artifact_id, as_of }))).toMatchObject(told);
    expect(await refusalOf(cairn.artifacts.history({ artifact_id }))).toMatchObject(told);
    expect(await refusalOf(cairn.artifacts.update({ artifact_id, name: 'm' }))).toMatchObject(told);
    expect(await refusalOf(cairn.artifacts.delete({ artifact_id }))).toMatchObject(told);
    expect(await refusalOf(cairn.artifacts.create(input))).toMatchObject({ code: 'ENTITY_GONE' });
    expect(await refusalOf(cairn.cards.get({ card_id }))).toMatchObject(gone);
    for (const filter of [{}, { as_of }, { include_superseded: true }]) {
      const { artifacts, total } = await cairn.artifacts.list(filter);
      expect([artifacts.map((one) => one.artifact_id), total]).toEqual([[other.artifact_id], 1]);
    }
    const note = { note_type: 'Fact', title: 't', content: 'c', source_artifact_ids: [artifact_id] };
    expect(await refusalOf(cairn.notes.create(note))).toMatchObject({ code: 'UNKNOWN_ENTITY' });
    expect(await problems(tenant)).toEqual([]);
  });

  it('TTL-3 a change of ttl counts from the change, for all versions and their cards', async () => {
    const { cairn, trajectory_id, tenant } = await start();
    const made = await cairn.artifacts.create({ ...fact, trajectory_id, ttl: 'ShortTerm' });
    const { artifact_id } = made;
    test().advance(HOUR / 2);
    const longer = await cairn.artifacts.update({ artifact_id, ttl: 'MediumTerm' });
    expect([longer.version, longer.lifetime]).toEqual([2, 'Duration']);
    expect(await problems(tenant)).toEqual([]);
    test().advance(23 * HOUR);
    expect(await cairn.cards.get({ card_id: made.card_id })).toMatchObject({ expires_at: longer.expires_at });
    const { versions } = await cairn.artifacts.history({ artifact_id });
    expect(versions.map(({ ttl }) => ttl)).toEqual(['MediumTerm', 'MediumTerm']);
    const same = await cairn.artifacts.update({ artifact_id, ttl: 'MediumTerm', name: 'other' });
    expect(same.expires_at).toBe(longer.expires_at);
    await cairn.artifacts.update({ artifact_id, ttl: 'Session' });
    expect(await problems(tenant)).toEqual([]);
    test().advance(48 * HOUR);
    expect(await cairn.artifacts.get({ artifact_id })).toMatchObject({ version: 4, expires_at: null });
    await finishTrajectory(cairn, trajectory_id);
    expect(await refusalOf(cairn.artifacts.get({ artifact_id }))).toMatchObject(gone);
    expect(await refusalOf(cairn.cards.get({ card_id: made.card_id }))).toMatchObject(gone);
  });

  it('TTL-4 a sweep erases what versions say of themselves, and their cards', async () => {
    const { cairn, trajectory_id, tenant } = await start();
    const { driver } = test().store;
    const made = await cairn.artifacts.create({
      ...fact,
      artifact_id: randomUUID(),
      trajectory_id,
      ttl: 'ShortTerm',
      metadata: { a: 1 },
    });
    const { artifact_id } = made;
    const pinned = await cairn.artifacts.update({ artifact_id, content: 'kept' });
    await cairn.boxes.create({ box_id: 'x', card_ids: [pinned.card_id] });
    await cairn.boxes.seal({ box_id: 'x' });
    const deleted = await cairn.artifacts.create({ ...fact, trajectory_id, ttl: 'ShortTerm' });
    await cairn.artifacts.delete({ artifact_id: deleted.artifact_id });
    await cairn.artifacts.create({ ...fact, trajectory_id });
    const before = await latestToken(cairn);
    expect(await cairn.lifetime.sweep()).toMatchObject({ memories_erased: 0, cards_erased: 0 });
    test().advance(2 * HOUR);
    expect(await cairn.lifetime.sweep()).toMatchObject({ memories_erased: 3, cards_erased: 2, cards_kept: 1 });
    expect(await cairn.lifetime.sweep()).toMatchObject({ memories_erased: 0, cards_erased: 0 });
    const events = await followToNow(cairn, before);
    const sum = events.reduce((total, { payload }) => total + Number(payload!.memories_erased), 0);
    expect(sum).toBe(3);
    const rows = await driver.at(tenant).all<Record<string, unknown>>(
      sql`SELECT v.name, v.metadata, v.provenance, v.sent_hash FROM memory_versions v
          WHERE v.tenant_id = ${tenant} AND v.erased_at IS NOT NULL`,
    );
    expect(rows.length).toBe(3);
    for (const row of rows) expect(Object.values(row).every((value) => value === null)).toBe(true);
    const { cards } = await cairn.boxes.cards({ box_id: 'x' });
    expect(cards.map(({ content }) => content)).toEqual(['kept']);
    expect(await refusalOf(cairn.artifacts.get({ artifact_id }))).toMatchObject(gone);
    expect(await refusalOf(cairn.artifacts.history({ artifact_id }))).toMatchObject(gone);
    expect(await problems(tenant)).toEqual([]);
  });

  it('TTL-4 what an ended holder held is erased, but for what is pinned', async () => {
    const { cairn, trajectory_id, tenant } = await start();
    const { driver } = test().store;
    const { scope_id } = await newScope(cairn, trajectory_id);
    const input = { ...fact, trajectory_id, scope_id, ttl: 'Scope' as const };
    const { artifact_id } = await cairn.artifacts.create(input);
    for (const content of ['b', 'c']) await cairn.artifacts.update({ artifact_id, content });
    const pinned = await cairn.artifacts.create(input);
    await cairn.boxes.create({ box_id: 'x', card_ids: [pinned.card_id] });
    await cairn.boxes.seal({ box_id: 'x' });
    test().advance(1000);
    await closeScope(cairn, scope_id);
    const left = await driver.at(tenant).all<{ content: string }>(
      sql`SELECT c.content FROM cards c JOIN memory_versions v ON v.tenant_id = c.tenant_id AND v.card_id = c.card_id
          WHERE c.tenant_id = ${tenant} AND c.content IS NOT NULL`,
    );
    expect(left.map(({ content }) => content)).toEqual(['"a content"']);
    expect(await problems(tenant)).toEqual([]);
  });

  it('TTL-4 the doctor finds what is wrong with versions', async () => {
    const { cairn, trajectory_id, tenant } = await start();
    const { driver } = test().store;
    const { artifact_id } = await cairn.artifacts.create({ ...fact, trajectory_id });
    for (const content of ['b', 'c']) await cairn.artifacts.update({ artifact_id, content });
    expect(await problems(tenant)).toEqual([]);
    const broken = async (change: ReturnType<typeof sql>) => {
      const undo = new Error('undone');
      let found = 0;
      const work = driver.write(tenant, async (tx) => {
        await tx.run(change);
        for (const check of checks) found += (await tx.all(check.broken())).length;
        throw undo;
      });
      await expect(work).rejects.toBe(undo);
      return found > 0;
    };
    const at = sql`WHERE tenant_id = ${tenant} AND memory_id = ${artifact_id}`;
    const changes = [
      sql`DELETE FROM memory_versions ${at} AND version = 2`,
      sql`DELETE FROM memory_versions ${at} AND version = 1`,
      sql`UPDATE memory_versions SET superseded_at = NULL ${at} AND version = 2`,
      sql`UPDATE memory_versions SET superseded_at = superseded_at + 1 ${at} AND version = 1`,
      sql`UPDATE memory_versions SET recorded_at = 8640000000000000 ${at} AND version = 3`,
      sql`UPDATE memory_versions SET card_id = 'none' ${at} AND version = 1`,
      sql`UPDATE memory_versions SET expires_at = 5 ${at} AND version = 2`,
      sql`UPDATE memory_versions SET ttl = '"Session"' ${at} AND version = 2`,
      sql`UPDATE cards SET held_by = NULL WHERE tenant_id = ${tenant} AND held_by IS NOT NULL`,
      sql`UPDATE memory_versions SET erased_at = 5 ${at} AND version = 2`,
    ];
    for (const [i, change] of changes.entries()) expect([i, await broken(change)]).toEqual([i, true]);
    expect(await problems(tenant)).toEqual([]);
  });
});

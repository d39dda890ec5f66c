import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { type Sql, sql } from '#cairn/driver/index.js';
import { uuid } from '#cairn/kernel/contract.js';
import { checks } from '#cairn/maintenance/index.js';
import { addArtifact, addCheckpoint, addEdge, addNote, addScope, hold, tenantOf } from '../support/nouns/hierarchy.js';
import { latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const HOUR = 60 * 60_000;
const conflict = { code: 'STATE_CONFLICT', status: 409 };
const unknown = { code: 'UNKNOWN_ENTITY', status: 400 };
const notFound = { code: 'TRAJECTORY_NOT_FOUND', status: 404 };

const start = async (cairn: Api, more: object = {}): Promise<string> =>
  (await cairn.trajectories.create({ name: 'task', ...more })).trajectory_id;

const move = (cairn: Api, trajectory_id: string, status: 'Active' | 'Completed' | 'Failed' | 'Suspended') =>
  cairn.trajectories.update({ trajectory_id, status });

/** The types of the events of a trajectory, in order, and their facts; not those of the erasures that follow. */
async function eventsOf(cairn: Api, thread_id: string) {
  const { packets } = await cairn.packets.thread({ thread_id });
  return packets
    .filter(({ packet_type }) => !packet_type.startsWith('cairn.lifetime.'))
    .map(({ packet_type, payload }) => ({ packet_type, payload }));
}

onEveryTarget('trajectories', (test) => {
  it('TRAJ-1 a trajectory is Active and read back as it was written', async () => {
    const cairn = await test().freshTenant();
    const sent = {
      name: 'Fix bug #123',
      description: 'long names',
      metadata: { a: [1, { b: null }] },
      subject_ids: ['x'],
    };
    const made = await cairn.trajectories.create(sent);
    expect(made).toMatchObject({
      ...sent,
      status: 'Active',
      parent_trajectory_id: null,
      agent_id: null,
      outcome: null,
      finished_at: null,
      tenant_id: await tenantOf(cairn),
    });
    expect(uuid.safeParse(made.trajectory_id).success).toBe(true);
    expect(made.created_at).toBe(made.updated_at);
    expect(await cairn.trajectories.get({ trajectory_id: made.trajectory_id })).toEqual(made);
    const least = await cairn.trajectories.create({ name: 'n' });
    expect(least).toMatchObject({ description: null, metadata: {} });
    expect(await eventsOf(cairn, made.trajectory_id)).toMatchObject([
      { packet_type: 'cairn.trajectory.created', payload: { entity: { type: 'Trajectory', id: made.trajectory_id } } },
    ]);
    expect(JSON.stringify(await eventsOf(cairn, made.trajectory_id))).not.toContain('bug');
  });

  it("TRAJ-1 a trajectory is the key's agent's, or that of the body", async () => {
    const admin = await test().freshTenant();
    const ann = await test().as({ tenant: await tenantOf(admin), agent: 'ann' });
    expect(await ann.trajectories.create({ name: 'a' })).toMatchObject({ agent_id: 'ann' });
    expect(await admin.trajectories.create({ name: 'a', agent_id: 'bob' })).toMatchObject({ agent_id: 'bob' });
    expect(await refusalOf(ann.trajectories.create({ name: 'a', agent_id: 'bob' }))).toMatchObject({
      code: 'FORBIDDEN',
      status: 403,
    });
    expect((await admin.trajectories.list()).total).toBe(2);
  });

  it('TRAJ-2 the same trajectory_id with the same body gives the trajectory that is there', async () => {
    const cairn = await test().freshTenant();
    const sent = { trajectory_id: randomUUID(), name: 'task', metadata: { a: 1 } };
    await cairn.trajectories.create(sent);
    await cairn.trajectories.update({ trajectory_id: sent.trajectory_id, name: 'renamed' });
    const before = await latestToken(cairn);
    expect(await cairn.trajectories.create(sent)).toMatchObject({ name: 'renamed', metadata: { a: 1 } });
    expect(await latestToken(cairn)).toBe(before);
  });

  it('TRAJ-2 the same trajectory_id with another body, or from another agent, is refused', async () => {
    const admin = await test().freshTenant();
    const tenant = await tenantOf(admin);
    const [ann, bob] = [await test().as({ tenant, agent: 'ann' }), await test().as({ tenant, agent: 'bob' })];
    const sent = { trajectory_id: randomUUID(), name: 'task' };
    await ann.trajectories.create(sent);
    const taken = { code: 'ENTITY_ALREADY_EXISTS', status: 409 };
    expect(await refusalOf(ann.trajectories.create({ ...sent, name: 'other' }))).toMatchObject(taken);
    expect(await refusalOf(ann.trajectories.create({ ...sent, description: 'd' }))).toMatchObject(taken);
    expect(await refusalOf(bob.trajectories.create(sent))).toMatchObject(taken);
  });

  it('TRAJ-3 the parent must exist and not be finished', async () => {
    const cairn = await test().freshTenant();
    const missing = randomUUID();
    expect(await refusalOf(cairn.trajectories.create({ name: 'c', parent_trajectory_id: missing }))).toMatchObject({
      ...unknown,
      details: { missing_ids: [missing] },
    });
    const parent = await start(cairn);
    const child = await cairn.trajectories.create({ name: 'c', parent_trajectory_id: parent });
    expect(child.parent_trajectory_id).toBe(parent);
    await move(cairn, parent, 'Suspended');
    await start(cairn, { parent_trajectory_id: parent });
    await move(cairn, parent, 'Failed');
    expect(await refusalOf(cairn.trajectories.create({ name: 'c', parent_trajectory_id: parent }))).toMatchObject({
      ...conflict,
      details: { status: 'Failed' },
    });
    expect((await cairn.trajectories.list({ parent_id: parent })).total).toBe(2);
  });

  it('TRAJ-4 what does not exist here is not found', async () => {
    const [cairn, other] = [await test().freshTenant(), await test().freshTenant()];
    for (const trajectory_id of [randomUUID(), await start(other)]) {
      expect(await refusalOf(cairn.trajectories.get({ trajectory_id }))).toMatchObject(notFound);
      expect(await refusalOf(cairn.trajectories.update({ trajectory_id, name: 'n' }))).toMatchObject(notFound);
      expect(await refusalOf(cairn.trajectories.children({ trajectory_id }))).toMatchObject(notFound);
      expect(
        await refusalOf(cairn.trajectories.create({ name: 'c', parent_trajectory_id: trajectory_id })),
      ).toMatchObject(unknown);
    }
  });

  it('TRAJ-5 trajectories are listed by status, agent, parent and name', async () => {
    const cairn = await test().freshTenant();
    const parent = await start(cairn, { name: 'Übung', agent_id: 'ann' });
    const one = await start(cairn, { name: 'Über 1', parent_trajectory_id: parent });
    const two = await start(cairn, { name: 'über', parent_trajectory_id: parent, agent_id: 'ann' });
    await move(cairn, two, 'Suspended');
    const listed = async (filter: object) => {
      const { trajectories, total } = await cairn.trajectories.list(filter);
      expect(total).toBe(trajectories.length);
      return trajectories.map(({ trajectory_id }) => trajectory_id);
    };
    expect(await listed({})).toEqual([parent, one, two].sort());
    expect(await listed({ status: 'Suspended' })).toEqual([two]);
    expect(await listed({ agent_id: 'ann' })).toEqual([parent, two].sort());
    expect(await listed({ parent_id: parent, status: 'Active' })).toEqual([one]);
    expect(await listed({ name: 'Üb' })).toEqual([parent, one].sort());
    expect(await listed({ name: 'Über 1' })).toEqual([one]);
    expect(await listed({ name: 'Üb_' })).toEqual([]);
    const { trajectories } = await cairn.trajectories.children({ trajectory_id: parent });
    expect(trajectories.map(({ trajectory_id }) => trajectory_id)).toEqual([one, two].sort());
  });

  it('TRAJ-5 trajectories are listed by when they were created and changed', async () => {
    const cairn = await test().freshTenant();
    const first = await cairn.trajectories.create({ name: 'first' });
    test().advance(HOUR);
    const second = await cairn.trajectories.create({ name: 'second' });
    test().advance(HOUR);
    const { updated_at } = await cairn.trajectories.update({ trajectory_id: first.trajectory_id, description: 'd' });
    const names = async (filter: object) =>
      (await cairn.trajectories.list(filter)).trajectories.map(({ name }) => name);
    expect(await names({ created_after: second.created_at })).toEqual(['second']);
    expect(await names({ created_before: second.created_at })).toEqual(['first']);
    expect(await names({ updated_after: updated_at })).toEqual(['first']);
    expect(await names({ updated_before: updated_at })).toEqual(['second']);
    expect(await names({ created_after: updated_at })).toEqual([]);
  });

  it('TRAJ-5 a list is walked page by page, and a cursor is good for its filters only', async () => {
    const cairn = await test().freshTenant();
    const parent = await start(cairn);
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push(await start(cairn, { parent_trajectory_id: parent }));
    for (const walk of ['list', 'children'] as const) {
      const ask = (page: object) =>
        walk === 'list'
          ? cairn.trajectories.list({ parent_id: parent, limit: 2, ...page })
          : cairn.trajectories.children({ trajectory_id: parent, limit: 2, ...page });
      const found: string[] = [];
      let cursor: string | null | undefined;
      do {
        const answer = await ask(cursor ? { cursor } : {});
        found.push(...answer.trajectories.map(({ trajectory_id }) => trajectory_id));
        cursor = answer.next_cursor;
      } while (cursor);
      expect(found).toEqual([...ids].sort());
    }
    const { next_cursor } = await cairn.trajectories.list({ parent_id: parent, limit: 1 });
    expect(await refusalOf(cairn.trajectories.list({ limit: 1, cursor: next_cursor! }))).toMatchObject({
      code: 'INVALID_CURSOR',
    });
  });

  it('TRAJ-6 a change sets what is given and leaves the rest', async () => {
    const cairn = await test().freshTenant();
    const made = await cairn.trajectories.create({ name: 'n', description: 'd', metadata: { a: 1 } });
    const { trajectory_id } = made;
    test().advance(HOUR);
    const changed = await cairn.trajectories.update({ trajectory_id, description: null, metadata: { b: 2 } });
    expect(changed).toEqual({ ...made, description: null, metadata: { b: 2 }, updated_at: changed.updated_at });
    expect(changed.updated_at > made.updated_at).toBe(true);
    expect(await cairn.trajectories.get({ trajectory_id })).toEqual(changed);
    const { name } = await cairn.trajectories.update({ trajectory_id, name: 'm', status: 'Suspended' });
    expect(name).toBe('m');
    expect((await eventsOf(cairn, trajectory_id)).slice(1)).toMatchObject([
      { packet_type: 'cairn.trajectory.updated', payload: { fields: ['description', 'metadata'] } },
      { packet_type: 'cairn.trajectory.updated', payload: { status: 'Suspended', fields: ['name', 'status'] } },
    ]);
  });

  it('TRAJ-6 without a field it is refused, and what changes nothing changes nothing', async () => {
    const cairn = await test().freshTenant();
    const made = await cairn.trajectories.create({ name: 'n', metadata: { a: 1, b: 2 } });
    const { trajectory_id } = made;
    expect(await refusalOf(cairn.trajectories.update({ trajectory_id }))).toMatchObject({
      code: 'INVALID_INPUT',
      status: 400,
    });
    const before = await latestToken(cairn);
    test().advance(HOUR);
    const same = { name: 'n', description: null, status: 'Active', metadata: { b: 2, a: 1 } } as const;
    expect(await cairn.trajectories.update({ trajectory_id, ...same })).toEqual(made);
    expect(await latestToken(cairn)).toBe(before);
  });

  it.each([
    ['Active', ['Completed', 'Failed', 'Suspended']],
    ['Suspended', ['Active', 'Failed']],
    ['Completed', []],
    ['Failed', []],
  ] as const)('TRAJ-7 %s goes to %j, and nowhere else', async (from, allowed) => {
    const cairn = await test().freshTenant();
    for (const to of ['Active', 'Completed', 'Failed', 'Suspended'] as const) {
      const id = await start(cairn);
      const at = await move(cairn, id, from);
      if (to === from) expect(await move(cairn, id, to)).toEqual(at);
      else if ((allowed as readonly string[]).includes(to))
        expect(await move(cairn, id, to)).toMatchObject({ status: to });
      else {
        expect(await refusalOf(move(cairn, id, to))).toMatchObject({ ...conflict, details: { status: from } });
        expect(await cairn.trajectories.get({ trajectory_id: id })).toEqual(at);
      }
    }
  });

  it('TRAJ-7 one whose parent is finished does not become Active again', async () => {
    const cairn = await test().freshTenant();
    const parent = await start(cairn);
    const child = await start(cairn, { parent_trajectory_id: parent });
    await move(cairn, child, 'Suspended');
    await move(cairn, parent, 'Completed');
    expect(await refusalOf(move(cairn, child, 'Active'))).toMatchObject(conflict);
    expect(await move(cairn, child, 'Failed')).toMatchObject({ status: 'Failed' });
  });

  it('TRAJ-8 an Active child keeps its parent from completing, not from failing', async () => {
    const cairn = await test().freshTenant();
    const parent = await start(cairn);
    const [one, two, three] = [
      await start(cairn, { parent_trajectory_id: parent }),
      await start(cairn, { parent_trajectory_id: parent }),
      await start(cairn, { parent_trajectory_id: parent }),
    ];
    await move(cairn, two, 'Suspended');
    expect(await refusalOf(move(cairn, parent, 'Completed'))).toMatchObject({
      ...conflict,
      details: { active_child_ids: [one, three].sort() },
    });
    expect(await cairn.trajectories.get({ trajectory_id: parent })).toMatchObject({ status: 'Active', outcome: null });
    await move(cairn, one, 'Failed');
    await move(cairn, three, 'Completed');
    expect(await move(cairn, parent, 'Completed')).toMatchObject({ status: 'Completed' });
    const other = await start(cairn);
    await start(cairn, { parent_trajectory_id: other });
    expect(await move(cairn, other, 'Failed')).toMatchObject({ status: 'Failed' });
  });

  it.each(['Completed', 'Failed'] as const)(
    'TRAJ-9 %s closes the open scopes and ends what lives as long as the session',
    async (status) => {
      const { store } = test();
      const cairn = await test().freshTenant();
      const tenant = await tenantOf(cairn);
      const [id, other] = [await start(cairn), await start(cairn)];
      const scopes = [await addScope(store, tenant, id), await addScope(store, tenant, id)];
      const elsewhere = await addScope(store, tenant, other);
      for (const { box_id } of scopes) await cairn.boxes.load({ box_id });
      const { finished_at, updated_at } = await move(cairn, id, status);
      expect(finished_at).toBe(updated_at);
      for (const { box_id } of scopes)
        expect(await refusalOf(cairn.boxes.load({ box_id }))).toMatchObject({ code: 'BOX_NOT_FOUND' });
      expect(await cairn.boxes.load({ box_id: elsewhere.box_id })).toMatchObject({ length: 0 });
      const closed = scopes.map(({ scope_id }) => scope_id).sort();
      const events = (await eventsOf(cairn, id)).slice(1);
      expect(events.filter(({ packet_type }) => packet_type === 'cairn.scope.closed')).toMatchObject(
        closed.map((scope_id) => ({ payload: { entity: { type: 'Scope', id: scope_id } } })),
      );
      expect(events.filter(({ packet_type }) => packet_type !== 'cairn.scope.closed')).toMatchObject([
        { packet_type: `cairn.trajectory.${status.toLowerCase()}`, payload: { status, closed_scope_ids: closed } },
      ]);
    },
  );

  it('TRAJ-10 an outcome is Success or Failure with what is there, unless given', async () => {
    const { store } = test();
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const [id, other] = [await start(cairn), await start(cairn)];
    const { scope_id } = await addScope(store, tenant, id);
    const kept = await addArtifact(store, tenant, id);
    await addArtifact(store, tenant, id, { held_by: `session:${id}` });
    await addArtifact(store, tenant, id, { held_by: `scope:${scope_id}` });
    await addArtifact(store, tenant, other);
    const note = await addNote(store, tenant, [id, other]);
    const { outcome } = await move(cairn, id, 'Completed');
    expect(outcome).toEqual({ status: 'Success', summary: '', produced_artifacts: [kept], produced_notes: [note] });
    expect((await move(cairn, await start(cairn), 'Failed')).outcome).toEqual({
      status: 'Failure',
      summary: '',
      produced_artifacts: [],
      produced_notes: [],
    });
    const given = { status: 'Partial', summary: 's', produced_artifacts: [kept], produced_notes: [] } as const;
    const trajectory = { trajectory_id: other, status: 'Completed' } as const;
    expect(
      await cairn.trajectories.update({
        ...trajectory,
        outcome: { ...given, produced_artifacts: [kept, kept], produced_notes: [] },
      }),
    ).toMatchObject({ outcome: given });
    expect(await cairn.trajectories.get({ trajectory_id: other })).toMatchObject({ outcome: given });
  });

  it('TRAJ-10 an outcome goes with a status that finishes, and names what is there', async () => {
    const { store } = test();
    const cairn = await test().freshTenant();
    const trajectory_id = await start(cairn);
    const note = await addNote(store, await tenantOf(cairn), [trajectory_id]);
    const outcome = { summary: 's' };
    for (const wrong of [{ outcome }, { outcome, status: 'Suspended' as const }]) {
      expect(await refusalOf(cairn.trajectories.update({ trajectory_id, ...wrong }))).toMatchObject({
        code: 'INVALID_INPUT',
        status: 400,
      });
    }
    const completed = { trajectory_id, status: 'Completed' } as const;
    // A note is no artifact.
    for (const produced of [{ produced_artifacts: [note] }, { produced_notes: [note, randomUUID()] }]) {
      expect(await refusalOf(cairn.trajectories.update({ ...completed, outcome: produced }))).toMatchObject(unknown);
    }
    expect(await cairn.trajectories.get({ trajectory_id })).toMatchObject({ status: 'Active', outcome: null });
  });

  it('TRAJ-11 what is finished is read only, and the same again changes nothing', async () => {
    const cairn = await test().freshTenant();
    const trajectory_id = await start(cairn);
    const finish = { trajectory_id, status: 'Completed', outcome: { summary: 'done' } } as const;
    const done = await cairn.trajectories.update(finish);
    // Waits for the erasures under way, which have events of their own.
    await cairn.lifetime.sweep();
    const before = await latestToken(cairn);
    for (const change of [
      { name: 'other' },
      { description: 'd' },
      { metadata: { a: 1 } },
      { status: 'Completed' as const, outcome: { summary: 'other' } },
      { status: 'Completed' as const, name: 'other' },
    ]) {
      expect(await refusalOf(cairn.trajectories.update({ trajectory_id, ...change }))).toMatchObject(conflict);
    }
    expect(await cairn.trajectories.update(finish)).toEqual(done);
    expect(await cairn.trajectories.update({ trajectory_id, status: 'Completed' })).toEqual(done);
    expect(await latestToken(cairn)).toBe(before);
  });

  it('TRAJ-12 a trajectory goes with all below it, finished or not', async () => {
    const { store } = test();
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const [root, other] = [await start(cairn), await start(cairn)];
    const child = await start(cairn, { parent_trajectory_id: root });
    const grandchild = await start(cairn, { parent_trajectory_id: child });
    const [open, closed, elsewhere] = [
      await addScope(store, tenant, grandchild),
      await addScope(store, tenant, child),
      await addScope(store, tenant, other),
    ];
    await move(cairn, grandchild, 'Suspended');
    await move(cairn, child, 'Failed');
    const checkpoint = await addCheckpoint(store, tenant, open);
    const cards = ['by-trajectory', 'by-session', 'by-scope'];
    await hold(cairn, store, cards[0]!, `trajectory:${grandchild}`);
    await hold(cairn, store, cards[1]!, `session:${grandchild}`);
    await hold(cairn, store, cards[2]!, `scope:${open.scope_id}`);
    await hold(cairn, store, 'elsewhere', `trajectory:${other}`);
    expect(await cairn.trajectories.delete({ trajectory_id: root })).toBeUndefined();
    for (const trajectory_id of [root, child, grandchild]) {
      expect(await refusalOf(cairn.trajectories.get({ trajectory_id }))).toMatchObject(notFound);
      expect(await refusalOf(cairn.trajectories.update({ trajectory_id, name: 'n' }))).toMatchObject(notFound);
    }
    for (const { box_id } of [open, closed, checkpoint])
      expect(await refusalOf(cairn.boxes.load({ box_id }))).toMatchObject({ code: 'BOX_NOT_FOUND' });
    const { missing_ids } = await cairn.cards.get_batch({ card_ids: [...cards, 'elsewhere'] });
    expect(missing_ids).toEqual(cards);
    expect((await cairn.trajectories.list()).trajectories.map((one) => one.trajectory_id)).toEqual([other]);
    expect(await cairn.boxes.load({ box_id: elsewhere.box_id })).toMatchObject({ length: 0 });
  });

  it('TRAJ-12 what was deleted leaves no text behind, and its id is not used again', async () => {
    const { store } = test();
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const sent = { trajectory_id: randomUUID(), name: 'secret', description: 'secret', metadata: { secret: 1 } };
    await cairn.trajectories.create(sent);
    const { trajectory_id } = sent;
    const scope = await addScope(store, tenant, trajectory_id, { name: 'secret' });
    await addCheckpoint(store, tenant, scope, 'secret');
    await cairn.trajectories.update({ trajectory_id, status: 'Completed', outcome: { summary: 'secret' } });
    await cairn.trajectories.delete({ trajectory_id, wait: true });
    for (const table of [
      sql`SELECT * FROM trajectories WHERE tenant_id = ${tenant}`,
      sql`SELECT * FROM scopes WHERE tenant_id = ${tenant}`,
      sql`SELECT * FROM scope_checkpoints WHERE tenant_id = ${tenant}`,
      sql`SELECT 'secret' AS hash FROM trajectories WHERE tenant_id = ${tenant} AND sent_hash IS NOT NULL`,
      sql`SELECT 'secret' AS hash FROM scopes WHERE tenant_id = ${tenant} AND sent_hash IS NOT NULL`,
      sql`SELECT * FROM packet_store WHERE tenant_id = ${tenant}`,
    ])
      expect(JSON.stringify(await store.driver.at(tenant).all(table))).not.toContain('secret');
    expect(await refusalOf(cairn.trajectories.create(sent))).toMatchObject({ code: 'ENTITY_GONE', status: 410 });
    const child = { name: 'c', parent_trajectory_id: trajectory_id };
    expect(await refusalOf(cairn.trajectories.create(child))).toMatchObject(unknown);
  });

  it('TRAJ-12 deleting again changes nothing, and what is unknown is not found', async () => {
    const cairn = await test().freshTenant();
    const other = await test().freshTenant();
    const trajectory_id = await start(cairn);
    expect(await refusalOf(other.trajectories.delete({ trajectory_id }))).toMatchObject(notFound);
    await cairn.trajectories.delete({ trajectory_id, wait: true });
    const before = await latestToken(cairn);
    await cairn.trajectories.delete({ trajectory_id });
    await cairn.trajectories.delete({ trajectory_id, wait: true });
    expect(await latestToken(cairn)).toBe(before);
    const missing = { trajectory_id: randomUUID() };
    expect(await refusalOf(cairn.trajectories.delete(missing))).toMatchObject(notFound);
  });

  it('TRAJ-12 a part of a task can go alone, and its parent can then complete', async () => {
    const cairn = await test().freshTenant();
    const root = await start(cairn);
    const [one, two] = [
      await start(cairn, { parent_trajectory_id: root }),
      await start(cairn, { parent_trajectory_id: root }),
    ];
    await cairn.trajectories.delete({ trajectory_id: one });
    await move(cairn, two, 'Completed');
    const { trajectories, total } = await cairn.trajectories.children({ trajectory_id: root });
    expect([trajectories.map(({ trajectory_id }) => trajectory_id), total]).toEqual([[two], 1]);
    expect(await move(cairn, root, 'Completed')).toMatchObject({ status: 'Completed' });
    await cairn.trajectories.delete({ trajectory_id: root });
    expect((await cairn.trajectories.list()).total).toBe(0);
  });

  it('TRAJ-13 the edges of what is removed go, all others and the notes stay', async () => {
    const { store } = test();
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const [root, other] = [await start(cairn), await start(cairn)];
    const child = await start(cairn, { parent_trajectory_id: root });
    const [gone, kept] = [await addArtifact(store, tenant, child), await addArtifact(store, tenant, other)];
    const note = await addNote(store, tenant, [child, other]);
    await addEdge(store, tenant, 'RelatesTo', ['Artifact', kept], ['Artifact', gone]);
    await addEdge(store, tenant, 'DerivedFrom', ['Note', note], ['Artifact', gone]);
    const stays = await addEdge(store, tenant, 'DerivedFrom', ['Note', note], ['Artifact', kept]);
    await cairn.trajectories.delete({ trajectory_id: root });
    const read = <R>(query: Sql) => store.driver.at(tenant).all<R>(query);
    const edges = await read<{ edge_id: string; entity_id: string }>(
      sql`SELECT e.edge_id, p.entity_id FROM edges e JOIN edge_participants p ON p.tenant_id = e.tenant_id AND p.edge_id = e.edge_id
          WHERE e.tenant_id = ${tenant} AND e.deleted_at IS NULL AND p.deleted_at IS NULL ORDER BY e.edge_id, p.position`,
    );
    expect(edges.map(({ entity_id }) => entity_id)).toEqual([note, other, note, kept]);
    expect(edges.at(-1)!.edge_id).toBe(stays);
    const [{ recorded_at }] = (await read<{ recorded_at: number }>(
      sql`SELECT recorded_at FROM packet_store WHERE tenant_id = ${tenant} ORDER BY seq DESC LIMIT 1`,
    )) as [{ recorded_at: number }];
    const removed = await read<{ deleted_at: number }>(
      sql`SELECT deleted_at FROM edge_participants WHERE tenant_id = ${tenant} AND deleted_at IS NOT NULL`,
    );
    expect(removed.map(({ deleted_at }) => deleted_at)).toEqual(Array(6).fill(recorded_at));
    const { outcome } = await move(cairn, other, 'Completed');
    expect(outcome).toMatchObject({ produced_artifacts: [kept], produced_notes: [note] });
  });

  it('TRAJ-14 the items of a batch are done in order, each alone', async () => {
    const cairn = await test().freshTenant();
    const [parent, child] = [randomUUID(), randomUUID()];
    const { results, succeeded, failed } = await cairn.trajectories.batch({
      items: [
        { operation: 'create', create: { trajectory_id: parent, name: 'parent' } },
        { operation: 'create', create: { trajectory_id: child, name: 'child', parent_trajectory_id: parent } },
        { operation: 'update', trajectory_id: parent, update: { status: 'Completed' } },
        { operation: 'update', trajectory_id: child, update: { status: 'Completed' } },
        { operation: 'update', trajectory_id: child, update: {} },
        { operation: 'delete', trajectory_id: child },
      ],
    });
    expect(results).toMatchObject([
      { status: 'success', data: { trajectory_id: parent, status: 'Active' } },
      { status: 'success', data: { trajectory_id: child, parent_trajectory_id: parent } },
      { status: 'error', code: 'STATE_CONFLICT' },
      { status: 'success', data: { status: 'Completed' } },
      { status: 'error', code: 'INVALID_INPUT' },
      { status: 'success', data: null },
    ]);
    expect([succeeded, failed]).toEqual([4, 2]);
    expect((await cairn.trajectories.list()).trajectories).toMatchObject([{ trajectory_id: parent }]);
  });

  it('TRAJ-14 stop_on_error leaves out what comes after the first failure', async () => {
    const cairn = await test().freshTenant();
    const answer = await cairn.trajectories.batch({
      items: [
        { operation: 'create', create: { name: 'one' } },
        { operation: 'delete', trajectory_id: randomUUID() },
        { operation: 'create', create: { name: 'two' } },
      ],
      stop_on_error: true,
    });
    expect(answer).toMatchObject({
      results: [
        { status: 'success' },
        { status: 'error', code: 'TRAJECTORY_NOT_FOUND' },
        { status: 'error', code: 'NOT_ATTEMPTED' },
      ],
      succeeded: 1,
      failed: 2,
    });
    expect((await cairn.trajectories.list()).trajectories).toMatchObject([{ name: 'one' }]);
  });

  it('TRAJ-14 an atomic batch is all or nothing, and says which item was refused', async () => {
    const cairn = await test().freshTenant();
    const [parent, child, old] = [randomUUID(), randomUUID(), await start(cairn)];
    const items = [
      { operation: 'create', create: { trajectory_id: parent, name: 'parent' } },
      { operation: 'create', create: { trajectory_id: child, name: 'child', parent_trajectory_id: parent } },
      { operation: 'update', trajectory_id: child, update: { status: 'Completed' } },
      { operation: 'delete', trajectory_id: old },
    ] as const;
    const before = await latestToken(cairn);
    const wrong = { operation: 'delete', trajectory_id: randomUUID() } as const;
    const refused = await refusalOf(cairn.trajectories.batch({ items: [...items, wrong], atomic: true }));
    expect(refused).toMatchObject(notFound);
    expect(refused.message).toMatch(/^items\[4\]: /);
    expect(await latestToken(cairn)).toBe(before);
    expect((await cairn.trajectories.list()).total).toBe(1);
    const key = { idempotency_key: randomUUID() };
    const answer = await cairn.trajectories.batch({ items: [...items], atomic: true }, key);
    await cairn.lifetime.sweep();
    expect(answer).toMatchObject({
      results: [
        { data: { trajectory_id: parent } },
        { data: { trajectory_id: child, status: 'Active' } },
        { data: { trajectory_id: child, status: 'Completed' } },
        { data: null },
      ],
      succeeded: 4,
      failed: 0,
    });
    const after = await latestToken(cairn);
    expect(await cairn.trajectories.batch({ items: [...items], atomic: true }, key)).toMatchObject({
      results: [{ data: { trajectory_id: parent } }, {}, {}, { data: null }],
    });
    expect(await latestToken(cairn)).toBe(after);
    expect((await cairn.trajectories.list()).total).toBe(2);
  });

  it('TRAJ-15 every change is an event in the thread of the trajectory, without what was said', async () => {
    const cairn = await test().freshTenant();
    const secret = { name: 'secret', description: 'secret', metadata: { secret: 'secret' } };
    const root = await start(cairn);
    const trajectory_id = await start(cairn, { ...secret, parent_trajectory_id: root });
    await cairn.trajectories.update({ trajectory_id, name: 'secret 2' });
    await move(cairn, trajectory_id, 'Suspended');
    await cairn.trajectories.update({ trajectory_id, status: 'Failed', outcome: { summary: 'secret' } });
    await move(cairn, root, 'Completed');
    await cairn.trajectories.delete({ trajectory_id: root });
    const types = async (id: string) => (await eventsOf(cairn, id)).map(({ packet_type }) => packet_type);
    const of = (...names: string[]) => names.map((name) => `cairn.trajectory.${name}`);
    expect(await types(trajectory_id)).toEqual(of('created', 'updated', 'updated', 'failed'));
    expect(await types(root)).toEqual(of('created', 'completed', 'deleted'));
    const [created] = await eventsOf(cairn, trajectory_id);
    expect(created!.payload).toMatchObject({ parent_trajectory_id: root });
    expect((await eventsOf(cairn, root)).at(-1)!.payload).toMatchObject({
      entity: { type: 'Trajectory', id: root },
      trajectory_ids: [root, trajectory_id].sort(),
      trajectories: 2,
    });
    expect(JSON.stringify(await cairn.packets.list({ limit: 500 }))).not.toContain('secret');
  });

  it('TRAJ-16 a tree is shown depth first, with what each trajectory has', async () => {
    const { store } = test();
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const above = await start(cairn);
    const root = await start(cairn, { name: 'root', parent_trajectory_id: above });
    const one = await start(cairn, { name: 'one', parent_trajectory_id: root });
    const two = await start(cairn, { name: 'two', parent_trajectory_id: root });
    const below = await start(cairn, { name: 'below', parent_trajectory_id: one });
    const gone = await start(cairn, { name: 'gone', parent_trajectory_id: root });
    const outer = await addScope(store, tenant, one, { name: 'outer', tokens_used: 7 });
    const beside = await addScope(store, tenant, one, { name: 'beside' });
    const inner = await addScope(store, tenant, one, { name: 'inner', parent_scope_id: outer.scope_id });
    const artifact = await addArtifact(store, tenant, one, { name: 'code' });
    await addArtifact(store, tenant, one, { held_by: `session:${below}` });
    const note = await addNote(store, tenant, [root, one], 'why');
    await move(cairn, below, 'Failed');
    await cairn.trajectories.delete({ trajectory_id: gone });
    const answer = await cairn.trajectories.tree({ trajectory_id: root });
    expect(answer).toMatchObject({ trajectory: { trajectory_id: root }, truncated: false });
    const none = { token_budget: null, tokens_used: null, turns: null };
    const scope = (id: string, depth: number, name: string, tokens_used = 0) =>
      ({ kind: 'scope', id, depth, name, status: 'active', token_budget: 8000, tokens_used, turns: 0 }) as const;
    const nodes = [
      { kind: 'trajectory', id: root, depth: 0, name: 'root', status: 'Active', ...none },
      { kind: 'note', id: note, depth: 1, name: 'why', status: 'Insight', ...none },
      { kind: 'trajectory', id: one, depth: 1, name: 'one', status: 'Active', ...none },
      scope(outer.scope_id, 2, 'outer', 7),
      scope(inner.scope_id, 3, 'inner'),
      scope(beside.scope_id, 2, 'beside'),
      { kind: 'artifact', id: artifact, depth: 2, name: 'code', status: 'Code', ...none },
      { kind: 'note', id: note, depth: 2, name: 'why', status: 'Insight', ...none },
      { kind: 'trajectory', id: below, depth: 2, name: 'below', status: 'Failed', ...none },
      { kind: 'trajectory', id: two, depth: 1, name: 'two', status: 'Active', ...none },
    ];
    expect(answer.nodes).toEqual(nodes);
    for (const limit of [1, 2, 3, 4, 6, 7, 8, 9]) {
      expect(await cairn.trajectories.tree({ trajectory_id: root, limit })).toMatchObject({
        nodes: nodes.slice(0, limit),
        truncated: true,
      });
    }
    expect(await cairn.trajectories.tree({ trajectory_id: root, limit: 10 })).toEqual(answer);
    await move(cairn, one, 'Completed');
    const closed = await cairn.trajectories.tree({ trajectory_id: one });
    expect(closed.nodes.filter(({ kind }) => kind === 'scope').map(({ status }) => status)).toEqual(
      Array(3).fill('closed'),
    );
    const elsewhere = await test().freshTenant();
    expect(await refusalOf(elsewhere.trajectories.tree({ trajectory_id: root }))).toMatchObject(notFound);
    expect(await refusalOf(cairn.trajectories.tree({ trajectory_id: gone }))).toMatchObject(notFound);
  });

  it('TRAJ-16 a deep and a wide tree are shown as far as the limit goes', async () => {
    const cairn = await test().freshTenant();
    /** Tasks of which each but the first is part of the one that is named by its place. */
    const made = (parentOf: (i: number) => number) => {
      const ids = Array.from({ length: 300 }, () => randomUUID()).sort();
      return ids.map((trajectory_id, i) => ({
        operation: 'create' as const,
        create: { trajectory_id, name: 'n', parent_trajectory_id: i === 0 ? null : ids[parentOf(i)]! },
      }));
    };
    for (const [items, depths] of [
      [made((i) => i - 1), (i: number) => i],
      [made(() => 0), (i: number) => Math.min(i, 1)],
    ] as const) {
      await cairn.trajectories.batch({ items, atomic: true });
      const { trajectory_id } = items[0]!.create;
      const whole = await cairn.trajectories.tree({ trajectory_id });
      expect(whole.nodes.map(({ id }) => id)).toEqual(items.map(({ create }) => create.trajectory_id));
      expect(whole.nodes.map(({ depth }) => depth)).toEqual(items.map((_, i) => depths(i)));
      expect(whole.truncated).toBe(false);
      const part = await cairn.trajectories.tree({ trajectory_id, limit: 299 });
      expect([part.nodes, part.truncated]).toEqual([whole.nodes.slice(0, 299), true]);
      await cairn.trajectories.delete({ trajectory_id });
      expect((await cairn.trajectories.list()).total).toBe(0);
    }
  });

  it('TRAJ-17 of a completion and a part that starts or resumes, one comes first', async () => {
    const cairn = await test().freshTenant();
    for (let round = 0; round < 6; round++) {
      const parent = await start(cairn);
      const child = await start(cairn, { parent_trajectory_id: parent });
      await move(cairn, child, 'Suspended');
      const calls = [
        () => move(cairn, parent, 'Completed'),
        () => cairn.trajectories.create({ name: 'c', parent_trajectory_id: parent }),
        () => move(cairn, child, 'Active'),
      ];
      const settled = await Promise.allSettled(calls.map((_, i) => calls[(i + round) % 3]!()));
      const refused = settled.flatMap((one) =>
        one.status === 'rejected' ? [(one.reason as { code: string }).code] : [],
      );
      expect(new Set(refused)).toEqual(new Set(['STATE_CONFLICT']));
      const { status } = await cairn.trajectories.get({ trajectory_id: parent });
      const { total } = await cairn.trajectories.list({ parent_id: parent, status: 'Active' });
      if (status === 'Completed') expect(total).toBe(0);
      else expect(total).toBeGreaterThan(0);
    }
  });

  it('TRAJ-9, TRAJ-12 the doctor finds an open scope, text and a part that were left over', async () => {
    const { store } = test();
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const [finished, deleted] = [await start(cairn), await start(cairn)];
    const part = await start(cairn, { parent_trajectory_id: deleted });
    const left = await addScope(store, tenant, deleted);
    await move(cairn, finished, 'Completed');
    await cairn.trajectories.delete({ trajectory_id: deleted });
    const found = async () =>
      (await Promise.all(checks.map(({ broken }) => store.driver.long<{ what: string }>(tenant, broken()))))
        .flat()
        .map(({ what }) => what);
    expect(await found()).toEqual([]);
    const { scope_id } = await addScope(store, tenant, finished);
    await store.driver.write(tenant, async (tx) => {
      await tx.run(
        sql`UPDATE trajectories SET deleted_at = NULL WHERE tenant_id = ${tenant} AND trajectory_id = ${part}`,
      );
      await tx.run(
        sql`UPDATE trajectories SET description = 'x' WHERE tenant_id = ${tenant} AND trajectory_id = ${deleted}`,
      );
      await tx.run(sql`UPDATE scopes SET purpose = 'x' WHERE tenant_id = ${tenant} AND scope_id = ${left.scope_id}`);
    });
    expect((await found()).sort()).toEqual(
      [
        `trajectory ${part} is part of ${deleted}`,
        `scope ${scope_id} of trajectory ${finished}`,
        `trajectory ${deleted}`,
        `scope ${left.scope_id}`,
      ].sort(),
    );
  });
});

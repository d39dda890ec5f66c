import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { uuid } from '#cairn/model/ids.js';
import { addArtifact, addNote, addScope, tenantOf } from '../support/hierarchy.js';
import { latestToken } from '../support/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const HOUR = 60 * 60_000;
const conflict = { code: 'STATE_CONFLICT', status: 409 };
const unknown = { code: 'UNKNOWN_ENTITY', status: 400 };
const notFound = { code: 'TRAJECTORY_NOT_FOUND', status: 404 };

const start = async (cairn: Api, more: object = {}): Promise<string> =>
  (await cairn.trajectories.create({ name: 'task', ...more })).trajectory_id;

const move = (cairn: Api, trajectory_id: string, status: 'Active' | 'Completed' | 'Failed' | 'Suspended') =>
  cairn.trajectories.update({ trajectory_id, status });

/** The types of the events about an entity, in order, and their facts. */
async function eventsOf(cairn: Api, thread_id: string) {
  const { packets } = await cairn.packets.thread({ thread_id });
  return packets.map(({ packet_type, payload }) => ({ packet_type, payload }));
}

onEveryTarget('trajectories', (test) => {
  it('TRAJ-1 a trajectory is Active and read back as it was written', async () => {
    const cairn = await test().freshTenant();
    const sent = { name: 'Fix bug #123', description: 'long names', metadata: { a: [1, { b: null }] } };
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
      {
        packet_type: 'cairn.trajectory.created',
        payload: { entity: { type: 'trajectory', id: made.trajectory_id } },
      },
    ]);
    expect(JSON.stringify(await eventsOf(cairn, made.trajectory_id))).not.toContain('bug');
  });

  it("TRAJ-1 a trajectory is the key's agent's, or that of the body", async () => {
    const admin = await test().freshTenant();
    const ann = await test().as({ tenant: await tenantOf(admin), agent: 'ann' });
    expect(await ann.trajectories.create({ name: 'a' })).toMatchObject({ agent_id: 'ann' });
    expect(await admin.trajectories.create({ name: 'a', agent_id: 'bob' })).toMatchObject({
      agent_id: 'bob',
    });
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
    expect(
      await refusalOf(cairn.trajectories.create({ name: 'c', parent_trajectory_id: missing })),
    ).toMatchObject({ ...unknown, details: { missing_ids: [missing] } });
    const parent = await start(cairn);
    const child = await cairn.trajectories.create({ name: 'c', parent_trajectory_id: parent });
    expect(child.parent_trajectory_id).toBe(parent);
    await move(cairn, parent, 'Suspended');
    await start(cairn, { parent_trajectory_id: parent });
    await move(cairn, parent, 'Failed');
    expect(
      await refusalOf(cairn.trajectories.create({ name: 'c', parent_trajectory_id: parent })),
    ).toMatchObject({ ...conflict, details: { status: 'Failed' } });
    expect((await cairn.trajectories.list({ parent_id: parent })).total).toBe(2);
  });

  it('TRAJ-4 what does not exist here is not found', async () => {
    const [cairn, other] = [await test().freshTenant(), await test().freshTenant()];
    for (const trajectory_id of [randomUUID(), await start(other)]) {
      expect(await refusalOf(cairn.trajectories.get({ trajectory_id }))).toMatchObject(notFound);
      expect(await refusalOf(cairn.trajectories.update({ trajectory_id, name: 'n' }))).toMatchObject(
        notFound,
      );
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
    const { updated_at } = await cairn.trajectories.update({
      trajectory_id: first.trajectory_id,
      description: 'd',
    });
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
    expect(changed).toEqual({
      ...made,
      description: null,
      metadata: { b: 2 },
      updated_at: changed.updated_at,
    });
    expect(changed.updated_at > made.updated_at).toBe(true);
    expect(await cairn.trajectories.get({ trajectory_id })).toEqual(changed);
    const { name } = await cairn.trajectories.update({ trajectory_id, name: 'm', status: 'Suspended' });
    expect(name).toBe('m');
    expect((await eventsOf(cairn, trajectory_id)).slice(1)).toMatchObject([
      { packet_type: 'cairn.trajectory.updated', payload: { fields: ['description', 'metadata'] } },
      {
        packet_type: 'cairn.trajectory.updated',
        payload: { status: 'Suspended', fields: ['name', 'status'] },
      },
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
        expect(await refusalOf(move(cairn, id, to))).toMatchObject({
          ...conflict,
          details: { status: from },
        });
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
    expect(await cairn.trajectories.get({ trajectory_id: parent })).toMatchObject({
      status: 'Active',
      outcome: null,
    });
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
      expect((await eventsOf(cairn, id)).slice(1)).toMatchObject([
        {
          packet_type: `cairn.trajectory.${status.toLowerCase()}`,
          payload: { status, closed_scope_ids: scopes.map(({ scope_id }) => scope_id).sort() },
        },
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
    expect(outcome).toEqual({
      status: 'Success',
      summary: '',
      produced_artifacts: [kept],
      produced_notes: [note],
    });
    expect((await move(cairn, await start(cairn), 'Failed')).outcome).toEqual({
      status: 'Failure',
      summary: '',
      produced_artifacts: [],
      produced_notes: [],
    });
    const given = {
      status: 'Partial',
      summary: 's',
      produced_artifacts: [kept],
      produced_notes: [],
    } as const;
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
      expect(await refusalOf(cairn.trajectories.update({ ...completed, outcome: produced }))).toMatchObject(
        unknown,
      );
    }
    expect(await cairn.trajectories.get({ trajectory_id })).toMatchObject({
      status: 'Active',
      outcome: null,
    });
  });

  it('TRAJ-11 what is finished is read only, and the same again changes nothing', async () => {
    const cairn = await test().freshTenant();
    const trajectory_id = await start(cairn);
    const finish = { trajectory_id, status: 'Completed', outcome: { summary: 'done' } } as const;
    const done = await cairn.trajectories.update(finish);
    const before = await latestToken(cairn);
    for (const change of [
      { name: 'other' },
      { description: 'd' },
      { metadata: { a: 1 } },
      { status: 'Completed' as const, outcome: { summary: 'other' } },
      { status: 'Completed' as const, name: 'other' },
    ]) {
      expect(await refusalOf(cairn.trajectories.update({ trajectory_id, ...change }))).toMatchObject(
        conflict,
      );
    }
    expect(await cairn.trajectories.update(finish)).toEqual(done);
    expect(await cairn.trajectories.update({ trajectory_id, status: 'Completed' })).toEqual(done);
    expect(await latestToken(cairn)).toBe(before);
  });
});

/** Handoffs that nobody answers in time, that can no longer be taken, or whose trajectory goes. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { HANDOFF_EXPIRES_MS } from '#cairn/coordination/handoffs/model.js';
import { checks } from '#cairn/maintenance/index.js';
import { expire } from '../support/expiry.js';
import { formerOwners, someHandoff, someTeam } from '../support/nouns/handoffs.js';
import { contentsOf, eventsOf, say, someScope, wordsLeft } from '../support/nouns/scopes.js';
import { latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const conflict = { code: 'STATE_CONFLICT', status: 409 };

onEveryTarget('the ends of handoffs', (test) => {
  it('HAND-8 an offer that nobody takes shows as Expired at once, and is noted once', async () => {
    const team = await someTeam(test());
    const { cairn, tenant } = team;
    const made = await someHandoff(team);
    const { handoff_id } = made;
    test().advance(HANDOFF_EXPIRES_MS - 60_000);
    expect(await expire(test(), tenant)).toBe(0);
    expect(await cairn.handoffs.get({ handoff_id })).toEqual(made);
    test().advance(60_000);
    const listed = async (status: 'Initiated' | 'Expired') => (await cairn.handoffs.list({ status })).handoffs;
    const before = await latestToken(cairn);
    expect(await listed('Initiated')).toEqual([]);
    const [over] = await listed('Expired');
    // It ended when its time was over, whenever somebody looks.
    const ended_at = made.expires_at;
    expect(over).toEqual({ ...made, status: 'Expired', expires_at: null, updated_at: ended_at, ended_at });
    expect(await latestToken(cairn)).toBe(before);
    expect(await expire(test(), tenant)).toBe(1);
    expect(await expire(test(), tenant)).toBe(0);
    expect(await cairn.handoffs.get({ handoff_id })).toEqual(over);
    expect(await listed('Expired')).toEqual([over]);
    const told = await eventsOf(cairn, 'cairn.handoff.expired', handoff_id);
    expect(told).toMatchObject([{ from_agent_id: 'ann', actor: { agent_id: null, key_id: null } }]);
  });

  it.each(['get', 'accept', 'reject', 'complete'] as const)(
    'HAND-8 whoever asks by %s after its time notices, and no answer counts any more',
    async (verb) => {
      const team = await someTeam(test());
      const { cairn, bob, tenant } = team;
      const { handoff_id, trajectory_id } = await someHandoff(team);
      test().advance(HANDOFF_EXPIRES_MS);
      if (verb === 'get') expect(await bob.handoffs.get({ handoff_id })).toMatchObject({ status: 'Expired' });
      else {
        const refused = await refusalOf(bob.handoffs[verb]({ handoff_id }));
        expect(refused).toMatchObject({ ...conflict, details: { status: 'Expired' } });
      }
      const told = await eventsOf(cairn, 'cairn.handoff.expired', handoff_id);
      expect(told).toMatchObject([{ actor: { agent_id: null } }]);
      expect(await cairn.trajectories.get({ trajectory_id })).toMatchObject({ agent_id: 'ann' });
      expect(await expire(test(), tenant)).toBe(0);
    },
  );

  it('HAND-8 what was answered in time does not expire', async () => {
    const team = await someTeam(test());
    const { cairn, tenant } = team;
    const [first, second] = [await someHandoff(team), await someHandoff(team)];
    const accepted = await cairn.handoffs.accept({ handoff_id: first.handoff_id });
    const rejected = await cairn.handoffs.reject({ handoff_id: second.handoff_id });
    test().advance(2 * HANDOFF_EXPIRES_MS);
    expect(await expire(test(), tenant)).toBe(0);
    expect(await cairn.handoffs.get({ handoff_id: first.handoff_id })).toEqual(accepted);
    expect(await cairn.handoffs.get({ handoff_id: second.handoff_id })).toEqual(rejected);
    expect(await cairn.handoffs.complete({ handoff_id: first.handoff_id })).toMatchObject({ status: 'Completed' });
  });

  it('HAND-9 refuses to take over what is finished, deleted or closed, and moves nothing', async () => {
    const team = await someTeam(test());
    const { cairn, bob, tenant } = team;
    const own = async () => someScope(cairn, { agent_id: 'ann' });
    const offer = ({ trajectory_id, scope_id }: { trajectory_id: string; scope_id: string }) =>
      someHandoff(team, { trajectory_id, scope_id });
    const finished = await offer(await own());
    await cairn.trajectories.update({ trajectory_id: finished.trajectory_id, status: 'Failed' });
    const deleted = await offer(await own());
    await cairn.trajectories.delete({ trajectory_id: deleted.trajectory_id, wait: true });
    const closed = await offer(await own());
    await cairn.scopes.close({ scope_id: closed.scope_id!, wait: true });
    const before = await latestToken(cairn);
    for (const [{ handoff_id }, refusal, named] of [
      [finished, conflict, 'Failed'],
      [deleted, conflict, 'deleted'],
      [closed, { code: 'SCOPE_CLOSED', status: 409 }, closed.scope_id!],
    ] as const) {
      const refused = await refusalOf(bob.handoffs.accept({ handoff_id }));
      expect(refused).toMatchObject(refusal);
      expect(refused.message).toContain(named);
      expect(await bob.handoffs.get({ handoff_id })).toMatchObject({ status: 'Initiated', new_scope_id: null });
    }
    expect(await latestToken(cairn)).toBe(before);
    expect(await formerOwners(test().store, tenant, closed.trajectory_id)).toEqual([]);
    // It can still be refused, and made anew without the scope.
    await bob.handoffs.reject({ handoff_id: closed.handoff_id });
    const { handoff_id } = await someHandoff(team, { trajectory_id: closed.trajectory_id });
    await cairn.agents.unregister({ agent_id: 'bob' });
    const refused = await refusalOf(cairn.handoffs.accept({ handoff_id }));
    expect(refused).toMatchObject({ code: 'UNKNOWN_ENTITY', details: { missing_ids: ['bob'] } });
    expect(await cairn.handoffs.get({ handoff_id })).toMatchObject({ status: 'Initiated' });
  });

  it('HAND-9 a suspended trajectory can be taken over', async () => {
    const team = await someTeam(test());
    const { cairn } = team;
    const { handoff_id, trajectory_id } = await someHandoff(team);
    await cairn.trajectories.update({ trajectory_id, status: 'Suspended' });
    await cairn.handoffs.accept({ handoff_id });
    expect(await cairn.trajectories.get({ trajectory_id })).toMatchObject({ agent_id: 'bob', status: 'Suspended' });
  });

  it('HAND-12 deleting the trajectory clears its handoffs and erases what was packed', async () => {
    const team = await someTeam(test());
    const { cairn, tenant } = team;
    const root = await cairn.trajectories.create({ name: 'root' });
    const { trajectory_id } = await cairn.trajectories.create({
      name: 'part',
      parent_trajectory_id: root.trajectory_id,
    });
    const { scope_id } = await someScope(cairn, { trajectory_id });
    await say(cairn, scope_id, 'turn-of-ann');
    const state = Buffer.from('state-of-ann').toString('base64');
    const { handoff_id } = await someHandoff(team, {
      trajectory_id,
      scope_id,
      reason: 'reason-of-ann',
      next_steps: ['step-of-ann'],
      context_snapshot: state,
    });
    const { new_scope_id, context_box_id } = await cairn.handoffs.accept({ handoff_id });
    await cairn.scopes.close({ scope_id, wait: true });
    await cairn.scopes.close({ scope_id: new_scope_id!, wait: true });
    // The box alone keeps it by now.
    const box_id = context_box_id!;
    expect((await cairn.boxes.cards({ box_id })).cards).toMatchObject([{ content: 'turn-of-ann' }]);
    const back = await someHandoff(team, { trajectory_id, from_agent_id: 'bob', to_agent_id: 'ann' });
    await cairn.handoffs.reject({ handoff_id: back.handoff_id, reason: 'answer-of-ann' });

    await cairn.trajectories.delete({ trajectory_id: root.trajectory_id, wait: true });
    expect(await cairn.handoffs.get({ handoff_id })).toMatchObject({
      status: 'Accepted',
      reason: null,
      next_steps: [],
      context_snapshot: null,
    });
    expect(await cairn.handoffs.get({ handoff_id: back.handoff_id })).toMatchObject({ rejection: null });
    expect(await refusalOf(cairn.boxes.load({ box_id }))).toMatchObject({ code: 'BOX_NOT_FOUND' });
    const words = ['turn', 'reason', 'step', 'answer'].map((what) => `${what}-of-ann`);
    expect(await wordsLeft(test().store, tenant, 'cards', words)).toEqual([]);
    expect(await wordsLeft(test().store, tenant, 'packets', words)).toEqual([]);
    if (test().target !== 'postgres') {
      const { location } = test().store;
      const files = [location, `${location}-wal`].filter((file) => existsSync(file));
      const bytes = files.map((file) => readFileSync(file));
      expect(bytes[0]!.length).toBeGreaterThan(0);
      expect([...words, state].filter((word) => bytes.some((one) => one.includes(word)))).toEqual([]);
    }
  });

  it('HAND-12 what was packed lives as long as the trajectory, also when that is finished', async () => {
    const team = await someTeam(test());
    const { cairn, tenant } = team;
    const { trajectory_id, scope_id } = await someScope(cairn);
    await say(cairn, scope_id, 'kept');
    const { handoff_id } = await someHandoff(team, { trajectory_id, scope_id });
    const { context_box_id, new_scope_id } = await cairn.handoffs.accept({ handoff_id });
    expect(await contentsOf(cairn, new_scope_id!)).toEqual(['kept']);
    await cairn.trajectories.update({ trajectory_id, status: 'Completed' });
    const closed = await cairn.scopes.close({ scope_id: new_scope_id!, wait: true });
    expect(closed.kept_by).toEqual([{ kind: 'sealed_box', id: context_box_id, turns: 1 }]);
    await cairn.lifetime.sweep();
    const { cards } = await cairn.boxes.cards({ box_id: context_box_id! });
    expect(cards.map(({ content }) => content)).toEqual(['kept']);
    for (const check of checks) expect(await test().store.driver.long(tenant, check.broken()), check.name).toEqual([]);
  });
});

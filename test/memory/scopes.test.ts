import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { uuid } from '#cairn/kernel/contract.js';
import { tenantOf } from '../support/nouns/hierarchy.js';
import { contentsOf, eventsOf, say, someScope, someTrajectory } from '../support/nouns/scopes.js';
import { inFuture, latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const HOUR = 60 * 60_000;
const notFound = { code: 'SCOPE_NOT_FOUND', status: 404 };
const invalid = { code: 'INVALID_INPUT', status: 400 };
const closed = { code: 'SCOPE_CLOSED', status: 409 };

onEveryTarget('scopes', (test) => {
  it('SCOPE-1 a scope is read back with every field as it was written', async () => {
    const cairn = await test().freshTenant();
    const trajectory_id = await someTrajectory(cairn);
    const parent = await someScope(cairn, { trajectory_id });
    const sent = {
      scope_id: randomUUID(),
      trajectory_id,
      parent_scope_id: parent.scope_id,
      name: 'Implementation',
      purpose: 'write the code',
      token_budget: 1234,
      threshold_percent: 55,
      enforce: true,
      retain: 'digest' as const,
      subject_ids: ['user-7'],
      agent_id: 'ann',
      metadata: { a: [1, { b: null }] },
    };
    const made = await cairn.scopes.create(sent);
    expect(made).toEqual({
      ...sent,
      box_id: expect.any(String),
      tokens_used: 0,
      turns: 0,
      threshold_reached_at: null,
      is_active: true,
      checkpoint: null,
      restored_from: null,
      erasure: null,
      created_at: made.updated_at,
      updated_at: expect.stringMatching(/Z$/),
      closed_at: null,
    });
    expect(await cairn.scopes.get({ scope_id: sent.scope_id })).toEqual(made);
    const [told] = await eventsOf(cairn, 'cairn.scope.created', sent.scope_id);
    expect(told).toMatchObject({ box_id: made.box_id, parent_scope_id: parent.scope_id });
    const { packets } = await cairn.packets.thread({ thread_id: trajectory_id });
    expect(packets.map(({ packet_type }) => packet_type)).toEqual([
      'cairn.trajectory.created',
      'cairn.scope.created',
      'cairn.scope.created',
    ]);
    expect(JSON.stringify(packets)).not.toMatch(/Implementation|write the code/);
  });

  it('SCOPE-1 only a trajectory and a name are needed', async () => {
    const cairn = await test().freshTenant();
    const made = await someScope(cairn, { name: 'n' });
    expect(made).toMatchObject({
      name: 'n',
      purpose: null,
      parent_scope_id: null,
      agent_id: null,
      token_budget: 8000,
      threshold_percent: 80,
      enforce: false,
      metadata: {},
    });
    expect(uuid.safeParse(made.scope_id).success).toBe(true);
  });

  it("SCOPE-1 a scope is the key's agent's", async () => {
    const admin = await test().freshTenant();
    const ann = await test().as({ tenant: await tenantOf(admin), agent: 'ann' });
    const made = await someScope(ann);
    expect(made.agent_id).toBe('ann');
    expect((await admin.boxes.load({ box_id: made.box_id })).agent_id).toBe('ann');
    expect(await refusalOf(someScope(ann, { agent_id: 'bob' }))).toMatchObject({ code: 'FORBIDDEN' });
  });

  it('SCOPE-2 the same scope_id with the same body gives the scope that is there, as it is now', async () => {
    const cairn = await test().freshTenant();
    const sent = { scope_id: randomUUID(), trajectory_id: await someTrajectory(cairn), name: 'n' };
    await cairn.scopes.create(sent);
    await say(cairn, sent.scope_id, 'x', { token_count: 5 });
    const before = await latestToken(cairn);
    expect(await cairn.scopes.create(sent)).toMatchObject({ tokens_used: 5, turns: 1, is_active: true });
    expect(await latestToken(cairn)).toBe(before);
    await cairn.scopes.close({ scope_id: sent.scope_id });
    expect(await cairn.scopes.create(sent)).toMatchObject({ is_active: false });
  });

  it('SCOPE-2 the same scope_id with another body or from another agent is refused', async () => {
    const cairn = await test().freshTenant();
    const ann = await test().as({ tenant: await tenantOf(cairn), agent: 'ann' });
    const sent = { scope_id: randomUUID(), trajectory_id: await someTrajectory(cairn), name: 'n' };
    await cairn.scopes.create(sent);
    const refused = { code: 'ENTITY_ALREADY_EXISTS', status: 409 };
    expect(await refusalOf(cairn.scopes.create({ ...sent, name: 'm' }))).toMatchObject(refused);
    expect(await refusalOf(cairn.scopes.create({ ...sent, token_budget: 9 }))).toMatchObject(refused);
    expect(await refusalOf(ann.scopes.create(sent))).toMatchObject(refused);
  });

  it('SCOPE-2 the same Idempotency-Key opens one scope, and answers as it is now', async () => {
    const cairn = await test().freshTenant();
    const sent = { trajectory_id: await someTrajectory(cairn), name: 'n' };
    const key = { idempotency_key: randomUUID() };
    const made = await cairn.scopes.create(sent, key);
    await say(cairn, made.scope_id, 'x');
    expect(await cairn.scopes.create(sent, key)).toMatchObject({ scope_id: made.scope_id, turns: 1 });
    expect((await cairn.scopes.list({})).total).toBe(1);
    const changed = await cairn.scopes.update({ scope_id: made.scope_id, name: 'm' }, { idempotency_key: 'u' });
    const before = await latestToken(cairn);
    expect(await cairn.scopes.update({ scope_id: made.scope_id, name: 'm' }, { idempotency_key: 'u' })).toEqual(
      changed,
    );
    expect(await latestToken(cairn)).toBe(before);
  });

  it('SCOPE-3 a scope needs a trajectory of the tenant that is not finished', async () => {
    const cairn = await test().freshTenant();
    const foreign = await someTrajectory(await test().freshTenant());
    const trajectory_id = await someTrajectory(cairn);
    await cairn.trajectories.update({ trajectory_id, status: 'Completed' });
    for (const id of [randomUUID(), foreign])
      expect(await refusalOf(someScope(cairn, { trajectory_id: id }))).toMatchObject({
        code: 'UNKNOWN_ENTITY',
        status: 400,
      });
    expect(await refusalOf(someScope(cairn, { trajectory_id }))).toMatchObject({ code: 'STATE_CONFLICT', status: 409 });
    expect((await cairn.scopes.list({})).scopes).toEqual([]);
  });

  it('SCOPE-3 a scope that does not exist or is of another tenant is not found', async () => {
    const cairn = await test().freshTenant();
    const foreign = await someScope(await test().freshTenant());
    for (const scope_id of [randomUUID(), foreign.scope_id]) {
      for (const call of [
        () => cairn.scopes.get({ scope_id }),
        () => cairn.scopes.update({ scope_id, name: 'n' }),
        () => cairn.scopes.checkpoint({ scope_id }),
        () => cairn.scopes.restore({ scope_id }),
        () => cairn.scopes.close({ scope_id }),
        () => cairn.scopes.turns({ scope_id }),
        () => say(cairn, scope_id, 'x'),
      ])
        expect(await refusalOf(call())).toMatchObject(notFound);
    }
    expect((await cairn.scopes.list({})).scopes).toEqual([]);
    expect(await refusalOf(cairn.boxes.load({ box_id: foreign.box_id }))).toMatchObject({ status: 404 });
  });

  it('SCOPE-4 a scope is nested in an open scope of its trajectory, and not in itself', async () => {
    const cairn = await test().freshTenant();
    const trajectory_id = await someTrajectory(cairn);
    const parent = await someScope(cairn, { trajectory_id });
    const other = await someScope(cairn);
    const scope_id = randomUUID();
    for (const parent_scope_id of [randomUUID(), other.scope_id, scope_id])
      expect(await refusalOf(someScope(cairn, { scope_id, trajectory_id, parent_scope_id }))).toMatchObject({
        code: 'UNKNOWN_ENTITY',
        status: 400,
      });
    const nested = { trajectory_id, parent_scope_id: parent.scope_id };
    expect(await someScope(cairn, nested)).toMatchObject(nested);
    await cairn.scopes.close({ scope_id: parent.scope_id });
    expect(await refusalOf(someScope(cairn, nested))).toMatchObject(closed);
  });

  it('SCOPE-5 scopes are listed in the order of their ids, page by page', async () => {
    const cairn = await test().freshTenant();
    const trajectory_id = await someTrajectory(cairn);
    const made: string[] = [];
    for (let i = 0; i < 5; i++) made.push((await someScope(cairn, { scope_id: randomUUID(), trajectory_id })).scope_id);
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await cairn.scopes.list({ limit: 2, ...(cursor ? { cursor } : {}) });
      expect(page.total).toBe(cursor ? null : 5);
      found.push(...page.scopes.map(({ scope_id }) => scope_id));
      cursor = page.next_cursor ?? undefined;
    } while (cursor);
    expect(found).toEqual(made.sort());
    const { next_cursor } = await cairn.scopes.list({ limit: 2 });
    expect(await refusalOf(cairn.scopes.list({ status: 'active', cursor: next_cursor! }))).toMatchObject({
      code: 'INVALID_CURSOR',
    });
  });

  it('SCOPE-5 scopes are listed by trajectory, parent, status, agent, first letters of the name and times', async () => {
    const cairn = await test().freshTenant();
    const trajectory_id = await someTrajectory(cairn);
    const a = await someScope(cairn, { trajectory_id, name: 'plan', agent_id: 'ann' });
    const b = await someScope(cairn, { trajectory_id, name: 'plan b', parent_scope_id: a.scope_id });
    const c = await someScope(cairn, { name: 'Plan' });
    const middle = inFuture(test(), HOUR / 2);
    test().advance(HOUR);
    const d = await someScope(cairn, { name: 'code' });
    await cairn.scopes.close({ scope_id: c.scope_id });
    const listed = async (filter: object) => {
      const { scopes, total } = await cairn.scopes.list(filter);
      expect(total).toBe(scopes.length);
      return scopes.map(({ name }) => name);
    };
    expect(await listed({ trajectory_id })).toEqual(['plan', 'plan b']);
    expect(await listed({ parent_scope_id: a.scope_id })).toEqual(['plan b']);
    expect(await listed({ status: 'active' })).toEqual(['plan', 'plan b', 'code']);
    expect(await listed({ status: 'closed' })).toEqual(['Plan']);
    expect(await listed({ agent_id: 'ann' })).toEqual(['plan']);
    expect(await listed({ name: 'plan' })).toEqual(['plan', 'plan b']);
    expect(await listed({ name: 'plan', agent_id: 'ann' })).toEqual(['plan']);
    expect(await listed({ created_after: middle })).toEqual(['code']);
    expect(await listed({ created_before: middle })).toEqual(['plan', 'plan b', 'Plan']);
    expect(await listed({ updated_after: middle })).toEqual(['Plan', 'code']);
    expect(await listed({ created_after: d.created_at })).toEqual(['code']);
    expect(b.parent_scope_id).toBe(a.scope_id);
  });

  it('SCOPE-6 a change sets the fields that are given and leaves the others', async () => {
    const cairn = await test().freshTenant();
    const made = await someScope(cairn, { purpose: 'why', metadata: { a: 1 } });
    test().advance(1000);
    const { scope_id } = made;
    const changed = await cairn.scopes.update({
      scope_id,
      name: 'other',
      token_budget: 5,
      threshold_percent: 10,
      enforce: true,
    });
    const after = { name: 'other', token_budget: 5, threshold_percent: 10, enforce: true };
    expect(changed).toEqual({ ...made, ...after, updated_at: changed.updated_at });
    expect(changed.updated_at > made.updated_at).toBe(true);
    expect(await cairn.scopes.get({ scope_id })).toEqual(changed);
    const cleared = await cairn.scopes.update({ scope_id, purpose: null, metadata: {} });
    expect(cleared).toMatchObject({ ...after, purpose: null, metadata: {} });
    const told = await eventsOf(cairn, 'cairn.scope.updated', scope_id);
    expect(told.map(({ fields }) => fields)).toEqual([
      ['name', 'token_budget', 'threshold_percent', 'enforce'],
      ['purpose', 'metadata'],
    ]);
  });

  it('SCOPE-6 a change that changes nothing appends no event; one of no field or of a closed scope is refused', async () => {
    const cairn = await test().freshTenant();
    const made = await someScope(cairn, { metadata: { b: 1, a: 2 } });
    const { scope_id } = made;
    const before = await latestToken(cairn);
    test().advance(1000);
    const same = { name: 'scope', metadata: { a: 2, b: 1 }, enforce: false, purpose: null };
    expect(await cairn.scopes.update({ scope_id, ...same })).toEqual(made);
    expect(await refusalOf(cairn.scopes.update({ scope_id }))).toMatchObject(invalid);
    expect(await latestToken(cairn)).toBe(before);
    await cairn.scopes.close({ scope_id });
    expect(await refusalOf(cairn.scopes.update({ scope_id, name: 'n' }))).toMatchObject(closed);
  });

  it('SCOPE-7 the threshold is told once, by the turn that reaches it', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, trajectory_id } = await someScope(cairn, { token_budget: 100 });
    const add = (token_count: number) => say(cairn, scope_id, 'x', { token_count });
    expect((await add(79)).budget).toMatchObject({ tokens_used: 79, threshold_reached: false });
    expect((await cairn.scopes.get({ scope_id })).threshold_reached_at).toBeNull();
    expect((await add(1)).budget).toMatchObject({ tokens_used: 80, threshold_reached: true });
    const { threshold_reached_at } = await cairn.scopes.get({ scope_id });
    test().advance(1000);
    expect((await add(50)).budget).toMatchObject({ threshold_reached: true, over_budget: true });
    expect((await cairn.scopes.get({ scope_id })).threshold_reached_at).toBe(threshold_reached_at);
    const told = await eventsOf(cairn, 'cairn.scope.threshold', scope_id);
    expect(told).toMatchObject([{ tokens_used: 80, token_budget: 100, threshold_percent: 80 }]);
    const { packets } = await cairn.packets.thread({ thread_id: trajectory_id });
    expect(packets.filter(({ packet_type }) => packet_type === 'cairn.scope.threshold')).toHaveLength(1);
  });

  it('SCOPE-7 a budget or threshold below what is used is told once; above it, it can be reached anew', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn, { token_budget: 1000 });
    await say(cairn, scope_id, 'x', { token_count: 100 });
    const told = async () => (await eventsOf(cairn, 'cairn.scope.threshold', scope_id)).length;
    const change = (fields: object) => cairn.scopes.update({ scope_id, ...fields });
    expect((await change({ token_budget: 125 })).threshold_reached_at).not.toBeNull();
    expect(await told()).toBe(1);
    await change({ token_budget: 50 });
    expect(await told()).toBe(1);
    expect((await change({ token_budget: 126 })).threshold_reached_at).toBeNull();
    expect(await told()).toBe(1);
    await say(cairn, scope_id, 'x', { token_count: 1 });
    expect(await told()).toBe(2);
    await change({ threshold_percent: 100 });
    expect((await change({ threshold_percent: 1 })).threshold_reached_at).not.toBeNull();
    expect(await told()).toBe(3);
  });

  it('SCOPE-8 the box of a scope shows its turns as cards', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, box_id } = await someScope(cairn);
    const one = await say(cairn, scope_id, 'one', { role: 'assistant' });
    const two = await say(cairn, scope_id, 'two');
    const ids = [one.turn_id, two.turn_id];
    expect(await cairn.boxes.load({ box_id })).toMatchObject({ card_ids: ids, length: 2, revision: 3 });
    const { cards } = await cairn.boxes.cards({ box_id });
    expect(cards.map(({ content }) => content)).toEqual(['one', 'two']);
    expect(await cairn.cards.get({ card_id: one.turn_id })).toMatchObject({
      content: 'one',
      metadata: { type: 'turn', role: 'assistant', token_count: 1 },
    });
    const fork = await cairn.boxes.fork({ box_id });
    await say(cairn, scope_id, 'three');
    expect((await cairn.boxes.load({ box_id: fork.box_id })).card_ids).toEqual(ids);
  });

  it('SCOPE-8 the box of a scope and the cards of its turns are changed by the scope alone', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, box_id } = await someScope(cairn);
    const { turn_id } = await say(cairn, scope_id, 'one');
    const { card_id } = await cairn.cards.add({ content: 1 });
    const before = await latestToken(cairn);
    const held = { code: 'BOX_HELD', status: 409 };
    expect(await refusalOf(cairn.boxes.append({ box_id, card_ids: [card_id] }))).toMatchObject(held);
    expect(await refusalOf(cairn.boxes.save({ box_id, card_ids: [], revision: 1 }))).toMatchObject(held);
    expect(await refusalOf(cairn.boxes.seal({ box_id }))).toMatchObject(held);
    expect(await refusalOf(cairn.cards.delete({ card_id: turn_id }))).toMatchObject({ code: 'CARD_HELD', status: 409 });
    expect(await latestToken(cairn)).toBe(before);
    expect(await contentsOf(cairn, scope_id)).toEqual(['one']);
  });

  it('SCOPE-8 finishing the trajectory closes its scopes', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, trajectory_id } = await someScope(cairn);
    const { turn_id } = await say(cairn, scope_id, 'one');
    await cairn.trajectories.update({ trajectory_id, status: 'Completed' });
    expect(await cairn.scopes.get({ scope_id })).toMatchObject({ is_active: false });
    expect(await refusalOf(cairn.turns.get({ turn_id }))).toMatchObject({ code: 'TURN_NOT_FOUND' });
    expect(await refusalOf(say(cairn, scope_id, 'two'))).toMatchObject(closed);
  });
});

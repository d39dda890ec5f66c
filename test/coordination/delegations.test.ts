import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { MAX_DEPTH_OF_DELEGATION } from '#cairn/coordination/agent-turns/model.js';
import { STUCK_AFTER_MS } from '#cairn/coordination/delegations/model.js';
import { sql } from '#cairn/driver/index.js';
import { expire } from '../support/expiry.js';
import { addWorkers, newsOf, someAccepted, someDelegators, someOffer, standing } from '../support/nouns/delegations.js';
import { eventsOf, say, someScope } from '../support/nouns/scopes.js';
import { latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const HOUR = 3_600_000;
const byParty = { code: 'FORBIDDEN', status: 403, details: { rule: 'delegation_party' } };
const conflict = (status: string) => ({ code: 'STATE_CONFLICT', status: 409, details: { status } });
const from = (cards: { content: unknown; metadata: Record<string, unknown> }[]) =>
  cards.map(({ content, metadata }) => [metadata.type ?? null, content]);

onEveryTarget('delegations', (test) => {
  it('DELEG-1 an offer is Pending, with every field as it was sent', async () => {
    const { cairn, ann } = await someDelegators(test());
    const scope = await someScope(cairn, {
      trajectory_id: (await ann.trajectories.create({ name: 'task' })).trajectory_id,
    });
    const sent = {
      delegation_id: randomUUID(),
      to_agent_id: 'bob',
      trajectory_id: scope.trajectory_id,
      scope_id: scope.scope_id,
      task_description: 'Review the patch.',
      context: { branch: 'main', files: [1, null] },
      expected_completion: '2199-01-01T00:00:00.000Z',
      channel_id: 'chat-7',
    };
    const made = await ann.delegations.create(sent);
    expect(made).toEqual({
      ...sent,
      from_agent_id: 'ann',
      child_trajectory_id: null,
      child_scope_id: null,
      agent_turn_id: null,
      status: 'Pending',
      result: null,
      reason: null,
      created_at: expect.stringMatching(/Z$/),
      updated_at: made.created_at,
      accepted_at: null,
      ended_at: null,
    });
    expect(await cairn.delegations.get({ delegation_id: sent.delegation_id })).toEqual(made);
    const [told] = await eventsOf(cairn, 'cairn.delegation.created', sent.delegation_id);
    expect(told).toMatchObject({ from_agent_id: 'ann', to_agent_id: 'bob', status: 'Pending' });
    expect(JSON.stringify(told)).not.toContain('Review');
  });

  it('DELEG-1 the same id with the same body gives what is there, another body is a conflict', async () => {
    const { cairn } = await someDelegators(test());
    const { trajectory_id } = await cairn.trajectories.create({ name: 'task' });
    const sent = { delegation_id: randomUUID(), trajectory_id };
    const made = await someOffer(cairn, sent);
    const before = await latestToken(cairn);
    expect(await someOffer(cairn, sent)).toEqual(made);
    expect(await latestToken(cairn)).toBe(before);
    const exists = { code: 'ENTITY_ALREADY_EXISTS', status: 409 };
    const other = { ...sent, task_description: 'Something else.' };
    expect(await refusalOf(someOffer(cairn, other))).toMatchObject(exists);
    await cairn.trajectories.delete({ trajectory_id });
    expect(await refusalOf(someOffer(cairn, sent))).toMatchObject({ code: 'ENTITY_GONE' });
  });

  it('DELEG-2 it goes from an agent to another that is registered, if it may', async () => {
    const { cairn, ann } = await someDelegators(test());
    const { trajectory_id } = await ann.trajectories.create({ name: 'task' });
    const offer = { to_agent_id: 'bob', trajectory_id, task_description: 'Do it.' };
    expect(await refusalOf(cairn.delegations.create(offer))).toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('from_agent_id'),
    });
    expect(await refusalOf(ann.delegations.create({ ...offer, to_agent_id: 'ann' }))).toMatchObject({
      code: 'INVALID_INPUT',
    });
    expect(await refusalOf(ann.delegations.create({ ...offer, to_agent_id: 'nobody' }))).toMatchObject({
      code: 'UNKNOWN_ENTITY',
      details: { missing_ids: ['nobody'] },
    });
    expect(await refusalOf(ann.delegations.create({ ...offer, from_agent_id: 'bob' }))).toMatchObject({
      code: 'FORBIDDEN',
      details: { rule: 'key_agent' },
    });
    await cairn.agents.update({ agent_id: 'ann', can_delegate_to: ['reviewer'] });
    expect(await refusalOf(ann.delegations.create(offer))).toMatchObject({
      code: 'FORBIDDEN',
      details: { rule: 'can_delegate_to' },
    });
    expect((await cairn.delegations.list({})).total).toBe(0);
  });

  it('DELEG-3 its trajectory is open and the delegator’s, its scope an open one of it', async () => {
    const { cairn, ann, bob } = await someDelegators(test());
    const of = (trajectory_id: string, more = {}) => someOffer(ann, { trajectory_id, ...more });
    const { trajectory_id } = await ann.trajectories.create({ name: 'task' });
    const theirs = await bob.trajectories.create({ name: 'task' });
    expect(await refusalOf(of(theirs.trajectory_id))).toMatchObject(byParty);
    expect(await refusalOf(of(randomUUID()))).toMatchObject({ code: 'UNKNOWN_ENTITY' });
    const done = await ann.trajectories.create({ name: 'task' });
    await ann.trajectories.update({ trajectory_id: done.trajectory_id, status: 'Completed' });
    expect(await refusalOf(of(done.trajectory_id))).toMatchObject(conflict('Completed'));
    const elsewhere = await someScope(cairn);
    expect(await refusalOf(of(trajectory_id, { scope_id: elsewhere.scope_id }))).toMatchObject({
      code: 'UNKNOWN_ENTITY',
    });
    const closed = await someScope(ann, { trajectory_id });
    await ann.scopes.close({ scope_id: closed.scope_id });
    expect(await refusalOf(of(trajectory_id, { scope_id: closed.scope_id }))).toMatchObject({ code: 'SCOPE_CLOSED' });
    const nobodys = await cairn.trajectories.create({ name: 'task' });
    expect(await refusalOf(of(nobodys.trajectory_id))).toMatchObject(byParty);
    const asked = { trajectory_id: nobodys.trajectory_id };
    expect(await someOffer(cairn, asked)).toMatchObject({ from_agent_id: 'ann', status: 'Pending' });
    const his = await someScope(bob, asked);
    expect(await refusalOf(someOffer(cairn, { ...asked, scope_id: his.scope_id }))).toMatchObject({
      code: 'FORBIDDEN',
      details: { rule: 'box_owner_or_grant' },
    });
    await cairn.agents.update({ agent_id: 'ann', memory_access: { read: [], write: [] } });
    const { scope_id } = await someScope(cairn, { trajectory_id });
    expect(await refusalOf(of(trajectory_id, { scope_id }))).toMatchObject({ details: { rule: 'memory_access' } });
    expect(await of(trajectory_id)).toMatchObject({ status: 'Pending' });
  });

  it('DELEG-4 boxes must be visible to the delegator, when it is offered and when it is accepted', async () => {
    const { cairn, ann, bob } = await someDelegators(test());
    const { box_id } = await bob.boxes.create({});
    const refused = { code: 'FORBIDDEN', details: { rule: 'box_owner_or_grant', box_id } };
    expect(await refusalOf(someOffer(ann, { input_box_ids: [box_id] }))).toMatchObject(refused);
    await bob.boxes.grant({ box_id, agent_id: 'ann' });
    const { delegation_id } = await someOffer(ann, { input_box_ids: [box_id] });
    await bob.boxes.ungrant({ box_id, agent_id: 'ann' });
    expect(await refusalOf(bob.delegations.accept({ delegation_id }))).toMatchObject(refused);
    expect((await standing(cairn, delegation_id)).delegation.status).toBe('Pending');
    const handover = { context_packing_config: { pack_arguments: [{ arg_key: 'instruction' }] } };
    const left_out = someOffer(ann, { input_box_ids: [(await ann.boxes.create({})).box_id], handover });
    expect(await refusalOf(left_out)).toMatchObject({ code: 'INVALID_INPUT' });
  });

  it('DELEG-5 accepting makes trajectory, scope, sealed context and agent_turn at once', async () => {
    const { cairn, ann, bob } = await someDelegators(test());
    const { trajectory_id, scope_id } = await someScope(ann, {
      trajectory_id: (await ann.trajectories.create({ name: 'task' })).trajectory_id,
    });
    await say(ann, scope_id, 'said before');
    const { card_id } = await ann.cards.add({ content: 'in a box' });
    const { box_id } = await ann.boxes.create({ card_ids: [card_id] });
    const context = { branch: 'main' };
    const offer = { trajectory_id, scope_id, context, input_box_ids: [box_id], channel_id: 'chat-7' };
    const { delegation_id } = await someOffer(ann, offer);
    const accepted = await bob.delegations.accept({ delegation_id });
    expect(accepted).toMatchObject({ status: 'Accepted', accepted_at: accepted.updated_at });
    const { turn, child } = await standing(cairn, delegation_id);
    expect(child).toMatchObject({ parent_trajectory_id: trajectory_id, agent_id: 'bob', status: 'Active' });
    expect(turn).toMatchObject({
      agent_id: 'bob',
      source_agent_id: 'ann',
      status: 'dispatched',
      profile_name: null,
      trajectory_id: accepted.child_trajectory_id,
      scope_id: accepted.child_scope_id,
      delegation_id,
      channel_id: 'chat-7',
      depth: 0,
    });
    const scope = await bob.scopes.get({ scope_id: accepted.child_scope_id! });
    expect(scope).toMatchObject({ trajectory_id: child!.trajectory_id, agent_id: 'bob', is_active: true });
    expect(scope.metadata).toEqual({ delegation_id, context_box_id: turn!.context_box_id });
    for (const api of [ann, bob]) {
      const box_id = turn!.context_box_id;
      expect((await api.boxes.load({ box_id })).sealed_at).not.toBeNull();
      expect(from((await api.boxes.cards({ box_id })).cards)).toEqual([
        ['task.instruction', 'Review the patch.'],
        ['task.context', context],
        ['turn', 'said before'],
        [null, 'in a box'],
        ['meta.parent_pointer', { parent_agent_id: 'ann' }],
      ]);
    }
    const before = await latestToken(cairn);
    expect(await bob.delegations.accept({ delegation_id })).toEqual(accepted);
    expect(await latestToken(cairn)).toBe(before);
  });

  it('DELEG-5 with the profile of the agent, and a handover that was stored', async () => {
    const { cairn } = await someDelegators(test());
    await cairn.profiles.create({ name: 'reviewing', system_prompt: 'You review.' });
    const agent = { agent_id: 'dan', agent_type: 'worker', capabilities: ['work'] };
    await cairn.agents.register({ ...agent, profile_name: 'reviewing' });
    const pack_arguments = [
      { arg_key: 'context', as_card_type: 'task.result_fields' },
      { arg_key: 'instruction', as_card_type: 'task.order' },
    ];
    await cairn.handovers.save({ name: 'mine', handover: { context_packing_config: { pack_arguments } } });
    const asked = { to_agent_id: 'dan', handover: 'mine' };
    // What the recipe cannot make a card of is not offered.
    expect(await refusalOf(someOffer(cairn, { ...asked, context: {} }))).toMatchObject({ code: 'INVALID_INPUT' });
    const { delegation_id } = await someOffer(cairn, asked);
    await cairn.handovers.delete({ name: 'mine' });
    await cairn.delegations.accept({ delegation_id });
    const { turn } = await standing(cairn, delegation_id);
    expect(turn!.profile_name).toBe('reviewing');
    const { cards } = await cairn.boxes.cards({ box_id: turn!.context_box_id });
    expect(from(cards)).toEqual([['task.order', 'Review the patch.']]);
  });

  it('DELEG-6 an agent that is busy accepts nothing, one that is unregistered neither', async () => {
    const { cairn } = await someDelegators(test());
    const first = await someAccepted(cairn);
    const { delegation_id } = await someOffer(cairn);
    expect(await refusalOf(cairn.delegations.accept({ delegation_id }))).toMatchObject({
      code: 'AGENT_BUSY',
      status: 409,
      message: expect.stringContaining(first.agent_turn_id),
    });
    expect((await standing(cairn, delegation_id)).child).toBeNull();
    await cairn.delegations.cancel({ delegation_id: first.delegation_id });
    expect((await cairn.delegations.accept({ delegation_id })).status).toBe('Accepted');
    const late = await someOffer(cairn, { to_agent_id: 'cyd' });
    await cairn.agents.unregister({ agent_id: 'cyd' });
    const refused = await refusalOf(cairn.delegations.accept({ delegation_id: late.delegation_id }));
    expect(refused).toMatchObject({ code: 'AGENT_NOT_FOUND' });
  });

  it('DELEG-7 only its parties see it, and each does its own part', async () => {
    const { cairn, ann, bob, cyd } = await someDelegators(test());
    const { delegation_id } = await someOffer(ann);
    const notFound = { code: 'DELEGATION_NOT_FOUND', status: 404 };
    for (const call of ['get', 'accept', 'reject', 'start', 'cancel'] as const)
      expect(await refusalOf(cyd.delegations[call]({ delegation_id }))).toMatchObject(notFound);
    for (const call of ['accept', 'reject', 'start'] as const) {
      expect(await refusalOf(ann.delegations[call]({ delegation_id }))).toMatchObject(byParty);
      expect(await refusalOf(cairn.delegations[call]({ delegation_id, agent_id: 'cyd' }))).toMatchObject(byParty);
    }
    const result = { status: 'Success' as const };
    expect(await refusalOf(ann.delegations.complete({ delegation_id, result }))).toMatchObject(byParty);
    expect(await refusalOf(bob.delegations.cancel({ delegation_id }))).toMatchObject(byParty);
    expect(await refusalOf(bob.delegations.accept({ delegation_id, agent_id: 'ann' }))).toMatchObject({
      details: { rule: 'key_agent' },
    });
    expect((await cyd.delegations.list({})).delegations).toEqual([]);
    expect((await bob.delegations.list({})).delegations).toHaveLength(1);
    expect(await cairn.delegations.accept({ delegation_id, agent_id: 'bob' })).toMatchObject({ status: 'Accepted' });
  });

  it('DELEG-8 it is rejected with a reason, once and for all', async () => {
    const { cairn, bob } = await someDelegators(test());
    const { delegation_id } = await someOffer(cairn);
    const rejected = await bob.delegations.reject({ delegation_id, reason: 'Not my field.' });
    expect(rejected).toMatchObject({ status: 'Rejected', reason: 'Not my field.', agent_turn_id: null });
    expect(rejected.ended_at).toBe(rejected.updated_at);
    expect(await bob.delegations.reject({ delegation_id, reason: 'Other.' })).toEqual(rejected);
    const result = { status: 'Success' as const };
    for (const refused of [
      () => bob.delegations.accept({ delegation_id }),
      () => bob.delegations.start({ delegation_id }),
      () => bob.delegations.complete({ delegation_id, result }),
      () => cairn.delegations.cancel({ delegation_id }),
    ])
      expect(await refusalOf(refused())).toMatchObject(conflict('Rejected'));
    const accepted = await someAccepted(cairn);
    const late = bob.delegations.reject({ delegation_id: accepted.delegation_id });
    expect(await refusalOf(late)).toMatchObject(conflict('Accepted'));
  });

  it('DELEG-9 who starts holds the agent_turn itself: no worker takes it', async () => {
    const { cairn, bob } = await someDelegators(test());
    const offered = await someOffer(cairn);
    const early = bob.delegations.start({ delegation_id: offered.delegation_id });
    expect(await refusalOf(early)).toMatchObject(conflict('Pending'));
    const { delegation_id, agent_turn_id, child_trajectory_id } = await someAccepted(cairn);
    const started = await bob.delegations.start({ delegation_id });
    expect(started.status).toBe('InProgress');
    const { turn, agree } = await standing(cairn, delegation_id);
    expect(agree).toBe(true);
    expect(turn).toMatchObject({ status: 'running', worker_id: 'bob', attempts: 1 });
    const due = Date.parse(started.created_at) + STUCK_AFTER_MS;
    expect(Math.abs(Date.parse(turn!.lease_expires_at!) - due)).toBeLessThan(5000);
    expect(await cairn.agent_turns.claim({ worker_id: 'w', agent_turn_id })).toEqual({ agent_turn: null });
    expect(await cairn.agents.get({ agent_id: 'bob' })).toMatchObject({
      status: 'busy',
      current_trajectory_id: child_trajectory_id,
    });
    const before = await latestToken(cairn);
    expect(await bob.delegations.start({ delegation_id })).toEqual(started);
    expect(await latestToken(cairn)).toBe(before);
    await bob.delegations.complete({ delegation_id, result: { status: 'Success', output: 'ok' } });
    expect((await standing(cairn, delegation_id)).agree).toBe(true);
  });

  it('DELEG-10 completing carries result and artifacts back, to the agent_turn and the trajectory', async () => {
    const { cairn, ann, bob } = await someDelegators(test());
    const { delegation_id, child_trajectory_id, child_scope_id } = await someAccepted(cairn);
    const trajectory_id = child_trajectory_id;
    const { artifact_id } = await bob.artifacts.create({
      trajectory_id,
      artifact_type: 'Fact',
      name: 'finding',
      content: 'It leaks.',
    });
    const missing = randomUUID();
    const unknown = { status: 'Success' as const, artifacts: [artifact_id, missing] };
    expect(await refusalOf(bob.delegations.complete({ delegation_id, result: unknown }))).toMatchObject({
      code: 'UNKNOWN_ENTITY',
      details: { missing_ids: [missing] },
    });
    expect((await standing(cairn, delegation_id)).delegation.status).toBe('Accepted');
    const result = { status: 'Partial' as const, output: { summary: 'Half.', n: 1 }, artifacts: [artifact_id] };
    const completed = await bob.delegations.complete({ delegation_id, result });
    expect(completed).toMatchObject({ status: 'Completed', result, reason: null });
    const { turn, child } = await standing(ann, delegation_id);
    expect(turn).toMatchObject({ status: 'completed', result_status: 'partial', summary: 'Half.' });
    const { cards } = await ann.boxes.cards({ box_id: turn!.output_box_id });
    expect(cards.map(({ card_id }) => card_id)).toEqual([turn!.deliverable_card_id]);
    expect(from(cards)).toEqual([['task.deliverable', result.output]]);
    expect(child).toMatchObject({
      status: 'Completed',
      outcome: { status: 'Partial', summary: 'Half.', produced_artifacts: [artifact_id] },
    });
    expect((await cairn.scopes.get({ scope_id: child_scope_id })).is_active).toBe(false);
    const before = await latestToken(cairn);
    const other = { status: 'Success' as const };
    expect(await bob.delegations.complete({ delegation_id, result: other })).toEqual(completed);
    expect(await latestToken(cairn)).toBe(before);
    expect(await refusalOf(ann.delegations.cancel({ delegation_id }))).toMatchObject(conflict('Completed'));
  });

  it('DELEG-10 a Failure makes it Failed, whether or not it was started', async () => {
    const { cairn, bob } = await someDelegators(test());
    const pending = await someOffer(cairn);
    const result = { status: 'Failure' as const, error: 'The tests do not run.' };
    const early = bob.delegations.complete({ delegation_id: pending.delegation_id, result });
    expect(await refusalOf(early)).toMatchObject(conflict('Pending'));
    for (const start of [false, true]) {
      const { delegation_id } = await someAccepted(cairn);
      if (start) await bob.delegations.start({ delegation_id });
      const failed = await bob.delegations.complete({ delegation_id, result });
      expect(failed).toMatchObject({ status: 'Failed', result, reason: 'The tests do not run.' });
      const { turn, child } = await standing(cairn, delegation_id);
      expect(turn).toMatchObject({ status: 'failed', error: { message: 'The tests do not run.' } });
      expect(child).toMatchObject({ status: 'Failed', outcome: { status: 'Failure' } });
    }
  });

  it('DELEG-11 while a worker holds the agent_turn, completing needs its turn_epoch', async () => {
    const { cairn, bob } = await someDelegators(test());
    const { delegation_id, agent_turn_id } = await someAccepted(cairn);
    const { agent_turn } = await cairn.agent_turns.claim({ worker_id: 'w', agent_turn_id });
    expect((await standing(cairn, delegation_id)).delegation.status).toBe('InProgress');
    const result = { status: 'Success' as const, output: 'done' };
    expect(await refusalOf(bob.delegations.complete({ delegation_id, result }))).toMatchObject(conflict('running'));
    const { turn_epoch } = agent_turn!;
    const stale = { delegation_id, result, turn_epoch: turn_epoch + 1 };
    expect(await refusalOf(bob.delegations.complete(stale))).toMatchObject({ code: 'STALE_TURN' });
    const done = await bob.delegations.complete({ delegation_id, result, turn_epoch });
    expect(done.status).toBe('Completed');
    const late = cairn.agent_turns.complete({ agent_turn_id, turn_epoch, deliverable: 'late' });
    expect(await refusalOf(late)).toMatchObject(conflict('completed'));
  });

  it('DELEG-11 a worker that completes the agent_turn completes the delegation', async () => {
    const { cairn } = await someDelegators(test());
    const { delegation_id, agent_turn_id } = await someAccepted(cairn);
    const { agent_turn } = await cairn.agent_turns.claim({ worker_id: 'w', agent_id: 'bob' });
    const { turn_epoch } = agent_turn!;
    await cairn.agent_turns.complete({ agent_turn_id, turn_epoch, deliverable: 'done' });
    const { delegation, agree } = await standing(cairn, delegation_id);
    expect(agree).toBe(true);
    expect(delegation).toMatchObject({ status: 'Completed', result: { status: 'Success', output: 'done' } });
  });

  it('DELEG-12 the delegator cancels it, and whoever works on it is late from then on', async () => {
    const { cairn, ann } = await someDelegators(test());
    const pending = await someOffer(ann);
    const cancelled = await ann.delegations.cancel({
      delegation_id: pending.delegation_id,
      reason: 'No longer needed.',
    });
    expect(cancelled).toMatchObject({ status: 'Cancelled', reason: 'No longer needed.' });
    const { delegation_id, agent_turn_id } = await someAccepted(cairn);
    const { agent_turn } = await cairn.agent_turns.claim({ worker_id: 'w', agent_turn_id });
    const { turn_epoch } = agent_turn!;
    const done = await cairn.delegations.cancel({ delegation_id, reason: 'Enough.' });
    expect(done).toMatchObject({ status: 'Cancelled', reason: 'Enough.', result: null });
    const { turn, child } = await standing(cairn, delegation_id);
    expect(turn!.status).toBe('stopped');
    expect(child!.status).toBe('Failed');
    const late = cairn.agent_turns.append({ agent_turn_id, turn_epoch, cards: [{ content: 'late' }] });
    expect(await refusalOf(late)).toMatchObject({ code: 'STALE_TURN' });
    const before = await latestToken(cairn);
    expect(await ann.delegations.cancel({ delegation_id })).toEqual(done);
    expect(await latestToken(cairn)).toBe(before);
  });

  it('DELEG-13 what is overdue has failed, in every read at once, and its agent_turn with it', async () => {
    const { cairn, tenant, bob } = await someDelegators(test());
    await addWorkers(cairn, ['dan']);
    const over = someOffer(cairn, { expected_completion: '2001-01-01T00:00:00.000Z' });
    expect(await refusalOf(over)).toMatchObject({ code: 'INVALID_INPUT' });
    const pending = await someOffer(cairn);
    const accepted = await someAccepted(cairn);
    const started = await someAccepted(cairn, { to_agent_id: 'cyd' });
    await cairn.delegations.start({ delegation_id: started.delegation_id });
    const later = new Date(Date.parse(pending.created_at) + 2 * HOUR).toISOString();
    const longer = await someAccepted(cairn, { to_agent_id: 'dan', expected_completion: later });
    test().advance(HOUR + 5000);
    expect(await refusalOf(bob.delegations.accept({ delegation_id: pending.delegation_id }))).toMatchObject(
      conflict('Failed'),
    );
    expect((await cairn.delegations.list({ status: 'Failed' })).total).toBe(3);
    const unanswered = await standing(cairn, pending.delegation_id);
    expect(unanswered).toMatchObject({ agree: true, turn: null, child: null });
    expect(unanswered.delegation.reason).toContain('not accepted');
    for (const { delegation_id } of [accepted, started]) {
      const { delegation, turn, child } = await standing(cairn, delegation_id);
      expect(delegation).toMatchObject({ status: 'Failed', result: { status: 'Failure' } });
      expect(delegation.reason).toContain('deadline');
      expect([turn!.status, child!.status]).toEqual(['timed_out', 'Failed']);
    }
    expect((await standing(cairn, longer.delegation_id)).delegation.status).toBe('Accepted');
    expect(await eventsOf(cairn, 'cairn.delegation.failed', pending.delegation_id)).toHaveLength(1);
    test().advance(HOUR);
    // Also when nobody asks.
    await expire(test(), tenant);
    const [told] = await eventsOf(cairn, 'cairn.delegation.failed', longer.delegation_id);
    expect(told).toMatchObject({ status: 'Failed', result: 'Failure' });
  });

  it('DELEG-14 the other party is told of every move by a message', async () => {
    const { cairn, ann, bob } = await someDelegators(test());
    const { delegation_id: a } = await someOffer(ann);
    await bob.delegations.accept({ delegation_id: a });
    await bob.delegations.complete({ delegation_id: a, result: { status: 'Success' } });
    const { delegation_id: b } = await someOffer(ann);
    await bob.delegations.reject({ delegation_id: b });
    const { delegation_id: c } = await someOffer(ann);
    await ann.delegations.cancel({ delegation_id: c });
    const { delegation_id: d } = await someOffer(ann);
    test().advance(HOUR + 1);
    await cairn.delegations.get({ delegation_id: d });
    expect(await newsOf(cairn, 'ann')).toEqual([
      ['delegation.accepted', a],
      ['delegation.completed', a],
      ['delegation.rejected', b],
      ['delegation.failed', d],
    ]);
    expect(await newsOf(cairn, 'bob')).toEqual([
      ['delegation.offered', a],
      ['delegation.offered', b],
      ['delegation.offered', c],
      ['delegation.cancelled', c],
      ['delegation.offered', d],
      ['delegation.failed', d],
    ]);
  });

  it('DELEG-15 reading waits for its end', async () => {
    const { cairn, bob } = await someDelegators(test());
    const { delegation_id } = await someAccepted(cairn);
    expect((await cairn.delegations.get({ delegation_id, wait_ms: 20 })).status).toBe('Accepted');
    const waiting = cairn.delegations.get({ delegation_id, wait_ms: 30_000 });
    await bob.delegations.complete({ delegation_id, result: { status: 'Success', output: 7 } });
    expect(await waiting).toMatchObject({ status: 'Completed', result: { output: 7 } });
    const { turn } = await standing(cairn, delegation_id);
    const { cards } = await cairn.boxes.cards({ box_id: turn!.output_box_id });
    expect(from(cards)).toEqual([['task.deliverable', '7']]);
  });

  it('DELEG-16 an agent sees those that it gave and those that it got as one list, page by page', async () => {
    const { cairn, ann } = await someDelegators(test());
    const { trajectory_id } = await cairn.trajectories.create({ name: 'task' });
    const parties = ['ann bob', 'bob ann', 'bob cyd', 'ann cyd', 'cyd ann', 'cyd bob', 'ann bob'];
    const mine: string[] = [];
    for (const [i, both] of parties.entries()) {
      const [from_agent_id, to_agent_id] = both.split(' ') as [string, string];
      const { delegation_id } = await cairn.delegations.create({
        from_agent_id,
        to_agent_id,
        task_description: `${i}`,
        trajectory_id,
      });
      if (both.includes('ann')) mine.push(delegation_id);
    }
    mine.sort();
    const idsOf = ({ delegations }: Awaited<ReturnType<typeof ann.delegations.list>>) =>
      delegations.map(({ delegation_id }) => delegation_id);
    const seen: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await ann.delegations.list({ limit: 2, cursor });
      seen.push(...idsOf(page));
      if (cursor === undefined) expect(page.total).toBe(mine.length);
      if (page.next_cursor === null) break;
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(mine);
    expect(idsOf(await ann.delegations.list({ limit: 2, offset: 3 }))).toEqual(mine.slice(3, 5));
    const given = await ann.delegations.list({ from_agent_id: 'bob', status: 'Pending' });
    expect([given.total, idsOf(given).length]).toEqual([1, 1]);
  });

  it('DELEG-16 they are listed by their parties, trajectory and state', async () => {
    const { cairn, ann } = await someDelegators(test());
    const one = await someOffer(ann);
    const two = await someAccepted(cairn, { to_agent_id: 'cyd' });
    const three = await someOffer(cairn, {
      from_agent_id: 'bob',
      to_agent_id: 'cyd',
      trajectory_id: (await cairn.trajectories.create({ name: 't' })).trajectory_id,
    });
    const ids = async (filter: Parameters<typeof cairn.delegations.list>[0]) =>
      (await cairn.delegations.list(filter)).delegations.map(({ delegation_id }) => delegation_id).sort();
    const sorted = (...of: { delegation_id: string }[]) => of.map((each) => each.delegation_id).sort();
    expect(await ids({})).toEqual(sorted(one, two, three));
    expect(await ids({ from_agent_id: 'ann' })).toEqual(sorted(one, two));
    expect(await ids({ to_agent_id: 'cyd' })).toEqual(sorted(two, three));
    expect(await ids({ to_agent_id: 'cyd', status: 'Pending' })).toEqual(sorted(three));
    expect(await ids({ trajectory_id: one.trajectory_id! })).toEqual(sorted(one));
    const first = await cairn.delegations.list({ limit: 2 });
    const rest = await cairn.delegations.list({ limit: 2, cursor: first.next_cursor! });
    expect([first.delegations.length, first.total, rest.delegations.length]).toEqual([2, 3, 1]);
    expect((await ann.delegations.list({})).total).toBe(2);
  });

  it('DELEG-17 what is dispatched at once is a delegation too, that the same moves end', async () => {
    const { cairn, ann } = await someDelegators(test());
    await cairn.profiles.create({ name: 'researcher', system_prompt: 'You look things up.' });
    const { trajectory_id } = await ann.trajectories.create({ name: 'task' });
    const task = { target_strategy: 'new', target_ref: 'researcher', instruction: 'Look it up.' } as const;
    const give = async () => {
      const answer = await ann.pmo.delegate_async({ ...task, trajectory_id });
      if (answer.status !== 'accepted') throw new Error(answer.message);
      return answer;
    };
    const { delegation_id, agent_turn_id, agent_id } = await give();
    const shown = await ann.delegations.get({ delegation_id });
    expect(shown).toMatchObject({
      from_agent_id: 'ann',
      to_agent_id: agent_id,
      trajectory_id,
      agent_turn_id,
      status: 'Accepted',
      task_description: 'Look it up.',
    });
    expect((await ann.delegations.list({})).delegations).toEqual([shown]);
    const result = { status: 'Success' as const, output: 'found' };
    const done = await cairn.delegations.complete({ delegation_id, result });
    expect(done).toMatchObject({ status: 'Completed', result });
    const other = await give();
    await ann.delegations.cancel({ delegation_id: other.delegation_id });
    for (const id of [delegation_id, other.delegation_id]) expect((await standing(cairn, id)).agree).toBe(true);
    // Whoever dispatches waits for the agent_turn: nobody is told by a message.
    expect(await newsOf(cairn, 'ann')).toEqual([]);
  });

  it('DELEG-18 delegation is bounded in depth, and what is delegated ends with what delegated it', async () => {
    const { cairn, tenant } = await someDelegators(test());
    const { agent_turn_id } = await someAccepted(cairn);
    await cairn.agent_turns.claim({ worker_id: 'w', agent_turn_id });
    const { trajectory_id } = await cairn.agent_turns.get({ agent_turn_id });
    const below = await someAccepted(cairn, { from_agent_id: 'bob', to_agent_id: 'cyd', trajectory_id });
    const { turn } = await standing(cairn, below.delegation_id);
    expect(turn).toMatchObject({ depth: 1, parent_agent_turn_id: agent_turn_id });
    await cairn.agent_turns.stop({ agent_turn_id });
    const ended = await standing(cairn, below.delegation_id);
    expect(ended).toMatchObject({ agree: true, delegation: { status: 'Cancelled' } });
    const deep = await someAccepted(cairn);
    await test().store.driver.write(tenant, (tx) =>
      tx.run(sql`UPDATE agent_turns SET depth = ${MAX_DEPTH_OF_DELEGATION}
                 WHERE tenant_id = ${tenant} AND agent_turn_id = ${deep.agent_turn_id}`),
    );
    const offer = { from_agent_id: 'bob', to_agent_id: 'cyd', trajectory_id: deep.child_trajectory_id };
    expect(await refusalOf(someOffer(cairn, offer))).toMatchObject({ code: 'DELEGATION_TOO_DEEP', status: 409 });
  });

  it('DELEG-20 deleting its trajectory ends what is under way and leaves no text of it', async () => {
    const { cairn, ann } = await someDelegators(test());
    const { delegation_id, trajectory_id, agent_turn_id } = await someAccepted(cairn, { context: { a: 1 } });
    const pending = await someOffer(cairn, { trajectory_id: trajectory_id!, to_agent_id: 'cyd' });
    const { agent_turn } = await cairn.agent_turns.claim({ worker_id: 'w', agent_turn_id });
    const { turn_epoch, context_box_id, output_box_id } = agent_turn!;
    const replaced = await cairn.agent_turns.replace_box({ agent_turn_id, turn_epoch, box: 'output', card_ids: [] });
    await cairn.trajectories.delete({ trajectory_id: trajectory_id!, wait: true });
    for (const id of [delegation_id, pending.delegation_id]) {
      const { delegation, agree, turn } = await standing(ann, id);
      expect(agree).toBe(true);
      const empty = { task_description: null, context: null, result: null, reason: null };
      expect(delegation).toMatchObject({ status: 'Cancelled', ...empty });
      expect(turn?.error ?? null).toBeNull();
    }
    const late = cairn.agent_turns.append({ agent_turn_id, turn_epoch, cards: [{ content: 'late' }] });
    expect(await refusalOf(late)).toMatchObject({ code: 'STALE_TURN' });
    for (const box_id of [context_box_id, output_box_id, replaced.output_box_id])
      expect(await refusalOf(cairn.boxes.load({ box_id }))).toMatchObject({ code: 'BOX_NOT_FOUND' });
    expect(await newsOf(cairn, 'cyd')).toEqual([
      ['delegation.offered', pending.delegation_id],
      ['delegation.cancelled', pending.delegation_id],
    ]);
    expect((await someAccepted(cairn)).status).toBe('Accepted');
  });

  it('DELEG-20 deleting the trajectory of a task lets that above it finish', async () => {
    const { cairn } = await someDelegators(test());
    const above = await someAccepted(cairn);
    const { delegation_id, child_trajectory_id: trajectory_id } = above;
    const below = await someAccepted(cairn, { from_agent_id: 'bob', to_agent_id: 'cyd', trajectory_id });
    await cairn.delegations.complete({ delegation_id, result: { status: 'Success', output: 'done' } });
    expect((await standing(cairn, delegation_id)).child!.status).toBe('Active');
    await cairn.trajectories.delete({ trajectory_id: below.child_trajectory_id });
    expect((await standing(cairn, delegation_id)).child!.status).toBe('Completed');
    expect((await standing(cairn, below.delegation_id)).delegation.status).toBe('Cancelled');
  });
});

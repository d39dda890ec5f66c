/** What agents could learn or place beyond their rights by what an operation names, answers or refuses. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { accessTo, type MemoryAccess } from '#cairn/engine/contract.js';
import { tenantOf } from '../support/nouns/hierarchy.js';
import { makeWorld, type World } from '../support/nouns/memory-world.js';
import { latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const coder = { agent_type: 'coder', capabilities: ['code'] };
const NONE: MemoryAccess = { read: [], write: [] };
const SECRET = 'patient-4711';

onEveryTarget('what an agent learns by naming', (test) => {
  let cairn: Api;
  let ann: Api;
  let bob: Api;
  let world: World;
  const allow = (memory_access: MemoryAccess) => cairn.agents.update({ agent_id: 'ann', memory_access });
  /** The call is refused for a foreign id exactly as for one that does not exist, and changes nothing. */
  const probes = async (
    foreign: string,
    call: (id: string) => Promise<unknown>,
    refusal: { code: string; status: number },
  ) => {
    const before = await latestToken(cairn);
    const missing = randomUUID();
    const [real, none] = [await refusalOf(call(foreign)), await refusalOf(call(missing))];
    expect(real).toMatchObject(refusal);
    const told = ({ code, status, message, details }: typeof real) =>
      JSON.stringify({ code, status, message, details });
    expect(told(real).replaceAll(foreign, 'ID')).toBe(told(none).replaceAll(missing, 'ID'));
    expect(await latestToken(cairn)).toBe(before);
  };

  beforeAll(async () => {
    cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    for (const agent_id of ['ann', 'bob']) await cairn.agents.register({ ...coder, agent_id });
    ann = await test().as({ tenant, agent: 'ann', role: 'write' });
    bob = await test().as({ tenant, agent: 'bob', role: 'write' });
    world = await makeWorld(cairn);
  });

  describe('what something is derived from', () => {
    const derived = (parent_id: string) => ({ packet_type: 'x', payload: {}, lineage: { parent_ids: [parent_id] } });

    it('ACCESS-25 a packet has parents that its writer can read, or wrote', async () => {
      const { packet_id } = await bob.packets.write({ packet_type: 'x', payload: {}, subject_ids: [SECRET] });
      const unknown = { code: 'UNKNOWN_PARENT', status: 400 };
      for (const access of [accessTo('own'), accessTo('own_trajectory'), { ...accessTo('own'), read: [] }]) {
        await allow(access);
        await probes(packet_id, (id) => ann.packets.write(derived(id)), unknown);
        await probes(packet_id, (id) => ann.packets.write_batch({ packets: [derived(id)] }), unknown);
        const provenance = (parent_packet: string) => ({
          packet_type: 'x',
          payload: {},
          provenance: { parent_packet },
        });
        await probes(packet_id, (id) => ann.packets.write(provenance(id)), unknown);
        const own = await ann.packets.write({ packet_type: 'x', payload: {}, subject_ids: ['hers'] });
        const child = await ann.packets.write(derived(own.packet_id));
        expect(await cairn.packets.get({ packet_id: child.packet_id })).toMatchObject({ subject_ids: ['hers'] });
        const first = { packet_id: randomUUID(), packet_type: 'x', payload: {} };
        await ann.packets.write_batch({ packets: [first, derived(first.packet_id)] });
      }
      await allow(accessTo('own_trajectory'));
      await ann.packets.write(derived(world.ids.Packet.in_hers));
      await allow(accessTo('all'));
      const child = await ann.packets.write(derived(packet_id));
      expect(await ann.packets.get({ packet_id: child.packet_id })).toMatchObject({ subject_ids: [SECRET] });
    });

    it('ACCESS-25 a card is derived from cards that its author can read, or wrote', async () => {
      const { card_id } = await bob.cards.add({ content: 'x', subject_ids: [SECRET] });
      const unknown = { code: 'UNKNOWN_CARD', status: 400 };
      const from = (id: string) => ({ content: 'y', derived_from: [id] });
      for (const access of [accessTo('own'), { ...accessTo('own'), read: [] }]) {
        await allow(access);
        await probes(card_id, (id) => ann.cards.add(from(id)), unknown);
        await probes(card_id, (id) => ann.cards.add_batch({ cards: [from(id)], atomic: true }), unknown);
        expect((await ann.cards.add_batch({ cards: [from(card_id)] })).results).toMatchObject([
          { status: 'error', code: 'UNKNOWN_CARD' },
        ]);
        const own = await ann.cards.add({ content: 'x', subject_ids: ['hers'] });
        expect(await ann.cards.add(from(own.card_id))).toMatchObject({ subject_ids: ['hers'] });
      }
      await allow(accessTo('all'));
      expect(await ann.cards.add(from(card_id))).toMatchObject({ subject_ids: [SECRET] });
    });

    it('ACCESS-25 what an agent puts out is derived from what it was given', async () => {
      const foreign = await bob.cards.add({ content: 'x', subject_ids: [SECRET] });
      const shared = await bob.cards.add({ content: 'given', subject_ids: ['given'] });
      const { box_id } = await bob.boxes.create({ card_ids: [shared.card_id] });
      await cairn.profiles.create({ name: 'worker' });
      const { agent_turn_id } = (await bob.pmo.delegate_async({
        target_strategy: 'new',
        target_ref: 'worker',
        instruction: 'work',
        input_box_ids: [box_id],
      })) as { agent_turn_id: string };
      const { agent_id } = await cairn.agent_turns.get({ agent_turn_id });
      await cairn.agents.update({ agent_id, memory_access: NONE });
      const worker = await test().as({ tenant: await tenantOf(cairn), agent: agent_id, role: 'write' });
      const { agent_turn } = await worker.agent_turns.claim({ worker_id: 'w', agent_turn_id });
      const held = { agent_turn_id, turn_epoch: agent_turn!.turn_epoch };
      const metadata = { type: 'agent.thought', role: 'assistant' };
      const put = (id: string) =>
        worker.agent_turns.append({ ...held, cards: [{ content: 'y', metadata, derived_from: [id] }] });
      await probes(foreign.card_id, put, { code: 'UNKNOWN_CARD', status: 400 });
      expect((await put(shared.card_id)).cards).toMatchObject([{ subject_ids: ['given'] }]);
    });
  });

  describe('what a message names', () => {
    const text = { to_agent_id: 'bob', message_type: 'note', payload: 'x' };
    const unknown = { code: 'UNKNOWN_ENTITY', status: 400 };

    it('ACCESS-26 a message names a trajectory, a scope and artifacts that its sender can read', async () => {
      const { trajectory_id } = await bob.trajectories.create({ name: 'his' });
      const { scope_id } = await bob.scopes.create({ trajectory_id, name: 'his' });
      const made = { trajectory_id, artifact_type: 'Fact', name: 'n', content: 'c' };
      const { artifact_id } = await bob.artifacts.create(made);
      for (const access of [NONE, accessTo('own'), accessTo('own_trajectory')]) {
        await allow(access);
        const mine = await ann.trajectories.create({ name: 'hers' });
        const within = await ann.scopes.create({ trajectory_id: mine.trajectory_id, name: 'hers' });
        await probes(artifact_id, (id) => ann.messages.send({ ...text, artifact_ids: [id] }), unknown);
        await probes(trajectory_id, (id) => ann.messages.send({ ...text, trajectory_id: id }), unknown);
        await probes(scope_id, (id) => ann.messages.send({ ...text, scope_id: id }), unknown);
        const misplaced = (id: string) =>
          ann.messages.send({ ...text, trajectory_id: mine.trajectory_id, scope_id: id });
        await probes(scope_id, misplaced, unknown);
        expect(await ann.messages.send({ ...text, scope_id: within.scope_id })).toMatchObject({
          trajectory_id: mine.trajectory_id,
        });
      }
      await allow(accessTo('all'));
      const sent = await ann.messages.send({ ...text, scope_id, artifact_ids: [artifact_id] });
      expect(sent).toMatchObject({ trajectory_id });
    });

    it('ACCESS-26 no refusal names the trajectory that a scope is in', async () => {
      await allow(accessTo('own'));
      const { trajectory_id } = await bob.trajectories.create({ name: 'his' });
      // Her scope in his trajectory: she may know the scope, and names the wrong trajectory.
      const { scope_id } = await cairn.scopes.create({ trajectory_id, name: 's', agent_id: 'ann' });
      const mine = (await ann.trajectories.create({ name: 'hers' })).trajectory_id;
      const place = { trajectory_id: mine, scope_id };
      const artifact = { ...place, artifact_type: 'Fact', name: 'n', content: 'c' };
      for (const call of [() => ann.messages.send({ ...text, ...place }), () => cairn.artifacts.create(artifact)]) {
        const { code, message, details } = await refusalOf(call());
        expect(code).toBe('UNKNOWN_ENTITY');
        expect(JSON.stringify([message, details])).not.toContain(trajectory_id);
      }
    });
  });

  describe('what a trajectory produced', () => {
    const foreign = async (trajectory_id: string) => {
      const made = { trajectory_id, agent_id: 'bob', artifact_type: 'Fact', name: 'n', content: 'c' };
      const { artifact_id } = await cairn.artifacts.create(made);
      const note = { agent_id: 'bob', note_type: 'Fact', title: 't', content: 'c' };
      const { note_id } = await cairn.notes.create({ ...note, source_trajectory_ids: [trajectory_id] });
      return { artifact_id, note_id };
    };

    it('ACCESS-27 an outcome is shown with what its reader can read', async () => {
      await allow(accessTo('own'));
      const { trajectory_id } = await ann.trajectories.create({ name: 'hers' });
      const own = await ann.artifacts.create({ trajectory_id, artifact_type: 'Fact', name: 'n', content: 'c' });
      const { artifact_id, note_id } = await foreign(trajectory_id);
      const part = { produced_artifacts: [own.artifact_id], produced_notes: [] };
      const update = { trajectory_id, status: 'Completed' as const };
      expect((await ann.trajectories.update(update)).outcome).toMatchObject(part);
      // Nothing is lost: the rest is for those who can read it.
      const whole = { produced_artifacts: [own.artifact_id, artifact_id].sort(), produced_notes: [note_id] };
      const kept = (await cairn.trajectories.get({ trajectory_id })).outcome!;
      expect({ ...kept, produced_artifacts: [...kept.produced_artifacts].sort() }).toMatchObject(whole);
      const again = await ann.trajectories.update(update);
      const listed = (await ann.trajectories.list({ limit: 500 })).trajectories;
      const shown = [
        again,
        await ann.trajectories.get({ trajectory_id }),
        listed.find((one) => one.trajectory_id === trajectory_id)!,
        (await ann.trajectories.tree({ trajectory_id })).trajectory,
      ];
      for (const { outcome } of shown) expect(outcome).toMatchObject(part);
      await allow(NONE);
      expect((await ann.trajectories.get({ trajectory_id })).outcome).toMatchObject({
        produced_artifacts: [],
        produced_notes: [],
      });
      await allow(accessTo('all'));
      expect((await ann.trajectories.get({ trajectory_id })).outcome).toEqual(kept);
    });

    it('ACCESS-27 batches, children and keys that come again show no more', async () => {
      await allow(accessTo('own'));
      const parent = await ann.trajectories.create({ name: 'above' });
      const { trajectory_id } = await ann.trajectories.create({
        name: 'hers',
        parent_trajectory_id: parent.trajectory_id,
      });
      const { artifact_id, note_id } = await foreign(trajectory_id);
      const item = { operation: 'update' as const, trajectory_id, update: { status: 'Completed' as const } };
      const key = { idempotency_key: randomUUID() };
      const answers = [
        await ann.trajectories.batch({ items: [item] }, key),
        await ann.trajectories.batch({ items: [item] }, key),
        await ann.trajectories.batch({ items: [item], atomic: true }),
        await ann.trajectories.children({ trajectory_id: parent.trajectory_id }),
      ];
      for (const answer of answers) {
        expect(JSON.stringify(answer)).toContain('produced_notes');
        expect(JSON.stringify(answer)).not.toContain(artifact_id);
        expect(JSON.stringify(answer)).not.toContain(note_id);
      }
    });

    it('ACCESS-27 an outcome names what its writer can read', async () => {
      const { artifact_id, note_id } = await foreign(world.trajectories.his);
      const unknown = { code: 'UNKNOWN_ENTITY', status: 400 };
      for (const access of [NONE, accessTo('own')]) {
        await allow(access);
        const { trajectory_id } = await ann.trajectories.create({ name: 'hers' });
        const finish = (outcome: object) => ann.trajectories.update({ trajectory_id, status: 'Completed', outcome });
        await probes(artifact_id, (id) => finish({ produced_artifacts: [id] }), unknown);
        await probes(note_id, (id) => finish({ produced_notes: [id] }), unknown);
      }
      await allow(accessTo('all'));
      const { trajectory_id } = await ann.trajectories.create({ name: 'hers' });
      const outcome = { produced_notes: [note_id], produced_artifacts: [artifact_id] };
      const finished = await ann.trajectories.update({ trajectory_id, status: 'Completed', outcome });
      expect(finished.outcome).toMatchObject(outcome);
    });
  });

  describe('threads and ids of others', () => {
    it('ACCESS-28 a packet goes into the thread of a trajectory where its writer works, or may write', async () => {
      const { trajectory_id } = await bob.trajectories.create({ name: 'his' });
      const into = (thread_id: string) => ({ packet_type: 'x', payload: {}, thread_id });
      for (const access of [accessTo('own'), accessTo('own_trajectory')]) {
        await allow(access);
        const before = await latestToken(cairn);
        const refusal = { code: 'FORBIDDEN', details: { rule: 'memory_access', memory_type: 'Packet' } };
        expect(await refusalOf(ann.packets.write(into(trajectory_id)))).toMatchObject(refusal);
        const packets = [into(randomUUID()), into(trajectory_id)];
        expect(await refusalOf(ann.packets.write_batch({ packets }))).toMatchObject(refusal);
        expect(await latestToken(cairn)).toBe(before);
        const { hers, current } = world.trajectories;
        for (const thread_id of [hers, current, randomUUID()]) await ann.packets.write(into(thread_id));
      }
      await allow(accessTo('all'));
      await ann.packets.write(into(trajectory_id));
      expect((await cairn.packets.thread({ thread_id: trajectory_id })).packets.at(-1)).toMatchObject({
        metadata: { agent: 'ann' },
      });
    });

    it('ACCESS-29 the id of what another made is taken, whatever is sent with it', async () => {
      await allow(accessTo('own'));
      const taken = { code: 'ENTITY_ALREADY_EXISTS', status: 409 };
      const packet = { packet_id: randomUUID(), packet_type: 'x', payload: { guess: 1 } };
      const card = { card_id: randomUUID(), content: 'guess' };
      await bob.packets.write(packet);
      await bob.cards.add(card);
      const unnamed = { packet: { ...packet, packet_id: randomUUID() }, card: { ...card, card_id: randomUUID() } };
      await cairn.packets.write(unnamed.packet);
      await cairn.cards.add(unnamed.card);
      const told = async (call: Promise<unknown>) => {
        const { code, status, message } = await refusalOf(call);
        return { code, status, message };
      };
      for (const one of [packet, unnamed.packet]) {
        const right = await told(ann.packets.write(one));
        expect(right).toMatchObject(taken);
        expect(await told(ann.packets.write({ ...one, payload: { guess: 2 } }))).toEqual(right);
        expect(await told(ann.packets.write_batch({ packets: [one] }))).toMatchObject(taken);
      }
      for (const one of [card, unnamed.card]) {
        const right = await told(ann.cards.add(one));
        expect(right).toMatchObject(taken);
        expect(await told(ann.cards.add({ ...one, content: 'another' }))).toEqual(right);
        expect(await told(ann.cards.add_batch({ cards: [one], atomic: true }))).toMatchObject(taken);
      }
      // Whoever made it may send it again, as may the tenant.
      await bob.packets.write(packet);
      await bob.cards.add(card);
      await cairn.packets.write(unnamed.packet);
      await cairn.cards.add(unnamed.card);
    });
  });

  describe('answers and refusals', () => {
    const note = (entity_id: string) => ({ entity_type: 'Note' as const, entity_id });

    it('EDGE-18 changing a note shows no more of what contradicts it than reading it', async () => {
      await allow(accessTo('own'));
      const { note_id } = await ann.notes.create({ note_type: 'Fact', title: 't', content: 'c' });
      const { artifact_id } = await ann.artifacts.create({
        trajectory_id: world.trajectories.hers,
        artifact_type: 'Fact',
        name: 'n',
        content: 'c',
      });
      const foreign = world.ids.Note.foreign;
      await cairn.edges.create({ edge_type: 'Contradicts', participants: [note(note_id), note(foreign)] });
      await cairn.edges.create({
        edge_type: 'Contradicts',
        participants: [{ entity_type: 'Artifact', entity_id: artifact_id }, note(foreign)],
      });
      const item = { operation: 'update' as const, note_id, update: { title: 'v' } };
      for (const answer of [
        await ann.notes.update({ note_id, title: 'u' }),
        await ann.artifacts.update({ artifact_id, name: 'u' }),
        await ann.notes.batch({ items: [item] }),
      ]) {
        expect(JSON.stringify(answer)).toContain('"contradicted_by":[]');
        expect(JSON.stringify(answer)).not.toContain(foreign);
      }
      expect((await cairn.notes.update({ note_id, title: 'w' })).contradicted_by).toEqual([foreign]);
    });

    it('ACCESS-30 a manifest lists what its reader can read', async () => {
      await allow(accessTo('own_trajectory'));
      const { trajectory_id } = await ann.trajectories.create({ name: 'hers' });
      const made = { trajectory_id, artifact_type: 'Fact', name: 'n', content: 'badger' };
      const own = await ann.artifacts.create(made);
      const foreign = await cairn.artifacts.create({ ...made, agent_id: 'bob', content: 'badger too' });
      const ids = [own.artifact_id, foreign.artifact_id];
      const first = await ann.context.assemble({ trajectory_id, query: 'badger', user_input: 'x' });
      const { manifest_id } = await ann.context.assemble({ trajectory_id, query: 'badger', user_input: 'y' });
      const shown = async () => {
        const { entries, entries_total } = await ann.manifests.get({ manifest_id });
        expect(entries_total).toBe(entries.length);
        return entries.map(({ id }) => id).filter((id) => ids.includes(id));
      };
      expect((await shown()).sort()).toEqual([...ids].sort());
      await allow(accessTo('own'));
      expect(await shown()).toEqual([own.artifact_id]);
      const against = first.manifest_id;
      expect(JSON.stringify(await ann.manifests.get({ manifest_id }))).not.toContain(foreign.artifact_id);
      expect(JSON.stringify(await ann.manifests.get({ manifest_id }))).not.toContain(foreign.card_id);
      const difference = await ann.manifests.diff({ manifest_id, against });
      expect(JSON.stringify(difference)).not.toContain(foreign.artifact_id);
      const whole = await cairn.manifests.get({ manifest_id });
      expect(whole.entries.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
    });

    it('LOCK-6 a lock is missing to an agent that is not in line for it', async () => {
      await allow(accessTo('all'));
      const resource = { resource_type: 'file', resource_id: randomUUID(), lease_ms: 60_000 };
      const { lock_id, fencing_token } = await bob.locks.acquire(resource);
      const missing = { code: 'LOCK_NOT_FOUND', status: 404 };
      await probes(lock_id, (id) => ann.locks.release({ lock_id: id }), missing);
      await probes(lock_id, (id) => ann.locks.extend({ lock_id: id, additional_ms: 1000 }), missing);
      // Who shares the resource sees the lock, and is told whose it is.
      const shared = { ...resource, resource_id: randomUUID(), mode: 'Shared' as const };
      const his = await bob.locks.acquire(shared);
      const hers = await ann.locks.acquire(shared);
      for (const call of [
        () => ann.locks.release({ lock_id: his.lock_id }),
        () => ann.locks.extend({ lock_id: his.lock_id, additional_ms: 1000 }),
      ])
        expect(await refusalOf(call())).toMatchObject({ code: 'FORBIDDEN', details: { rule: 'lock_holder' } });
      await ann.locks.release({ lock_id: hers.lock_id });
      // The id of another's lock is taken; how it was asked for is not told.
      const taken = async (wanted: object) => {
        const sent = { ...resource, resource_id: randomUUID(), lock_id, ...wanted };
        const { code, message } = await refusalOf(ann.locks.acquire(sent));
        expect(code).toBe('ENTITY_ALREADY_EXISTS');
        return message;
      };
      const told = await taken({});
      expect(await taken({ resource_id: resource.resource_id })).toBe(told);
      expect(await taken({ mode: 'Shared', lease_ms: 1000 })).toBe(told);
      // A key with an agent writes under a lock of that agent alone.
      const under = (id: string) => ann.cards.add({ content: 'x' }, { fencing_token: `${id}:${fencing_token}` });
      await probes(lock_id, under, { code: 'LOCK_EXPIRED', status: 409 });
      const { total } = await cairn.cards.list({ limit: 1 });
      const fenced = { fencing_token: `${lock_id}:${fencing_token}` };
      await bob.cards.add({ content: 'x' }, fenced);
      await cairn.cards.add({ content: 'x' }, fenced);
      expect((await cairn.cards.list({ limit: 1 })).total).toBe(total! + 2);
      expect((await bob.locks.release({ lock_id })).state).toBe('released');
    });

    it('MSG-12 a message between others is missing to an agent that acknowledges it', async () => {
      await allow(accessTo('all'));
      const sent = { from_agent_id: 'bob', to_agent_id: 'bob', message_type: 'x', payload: 'x' };
      const { message_id } = await cairn.messages.send(sent);
      await probes(message_id, (id) => ann.messages.acknowledge({ message_id: id }), {
        code: 'MESSAGE_NOT_FOUND',
        status: 404,
      });
      // Its sender can read it, and is told who acknowledges it.
      const own = await ann.messages.send({ to_agent_id: 'bob', message_type: 'x', payload: 'x' });
      expect(await refusalOf(ann.messages.acknowledge({ message_id: own.message_id }))).toMatchObject({
        code: 'FORBIDDEN',
        details: { rule: 'message_recipient' },
      });
      await bob.messages.acknowledge({ message_id });
    });

    it('ACCESS-31 an agent_turn between others exists for nobody else', async () => {
      await allow(accessTo('all'));
      const name = `worker-${randomUUID()}`;
      await cairn.profiles.create({ name });
      const target = { target_strategy: 'new' as const, target_ref: name, instruction: 'work' };
      const { agent_turn_id } = (await bob.pmo.delegate_async(target)) as { agent_turn_id: string };
      const { agent_id } = await cairn.agent_turns.get({ agent_turn_id });
      const { trajectory_id } = await ann.trajectories.create({ name: 'hers' });
      const assemble = (id: string) => ann.context.assemble({ trajectory_id, agent_turn_id: id });
      await probes(agent_turn_id, assemble, { code: 'UNKNOWN_ENTITY', status: 400 });
      const stale = { code: 'STALE_TURN', status: 409 };
      await probes(agent_turn_id, (id) => ann.cards.add({ content: 1 }, { agent_turn: `${id}:1` }), stale);
      await probes(agent_turn_id, (id) => ann.cards.list({}, { agent_turn: `${id}:1` }), stale);
      // Who delegated it knows it, and is told whose it is.
      expect(await refusalOf(bob.cards.list({}, { agent_turn: `${agent_turn_id}:1` }))).toMatchObject({
        code: 'FORBIDDEN',
        details: { rule: 'key_agent' },
      });
      // That the agent has no time is told; with what, only to a party of that.
      const reuse = { target_strategy: 'reuse' as const, target_ref: agent_id, instruction: 'more' };
      const [foreign, own] = [await ann.pmo.delegate_async(reuse), await bob.pmo.delegate_async(reuse)];
      expect([foreign, own]).toMatchObject([{ error_code: 'AGENT_BUSY' }, { error_code: 'AGENT_BUSY' }]);
      expect(JSON.stringify(foreign)).not.toContain(agent_turn_id);
      expect(JSON.stringify(own)).toContain(agent_turn_id);
    });

    it("ACCESS-24 importing into another's execution does not tell whose it is", async () => {
      await allow(accessTo('own'));
      const { execution_id } = await cairn.executions.create({ agent_id: 'bob' });
      const snapshot = {
        thought_chain: { steps: [] },
        context: { messages: [], variables: {} },
        tool_state: { pending: [], completed: [] },
      };
      const { id } = await cairn.checkpoints.create({ execution_id, snapshot });
      const file = await cairn.checkpoints.get({ checkpoint_id: id });
      const checkpoint = { ...file, id: randomUUID(), agent_id: 'ann' };
      const { message } = await refusalOf(ann.checkpoints.import({ checkpoint }));
      expect(message).toContain(execution_id);
      expect(message).not.toContain('bob');
    });
  });
});

/** Guards of stale writers: every operation that writes refuses a late worker, and what it writes in time is its agent's. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { AnyMethod, Api, ApiByName, CallOptions } from '#cairn/api/index.js';
import type { AgentTurn } from '#cairn/coordination/agent-turns/model.js';
import {
  allOperations,
  inputOf,
  type NamedOperation,
  type Planted,
  pathParameters,
  plant,
} from '../support/contract.js';
import { contentsOf } from '../support/inspect/contents.js';
import { tenantOf } from '../support/nouns/hierarchy.js';
import { latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

/** Reading a whole tenant takes the role of an admin, and changes nothing. */
const READS = ['store.stats', 'store.check'];
const writes = allOperations.filter(({ access, name }) => access !== 'read' && !READS.includes(name));
const stale = { code: 'STALE_TURN', status: 409 };

/** An agent_turn of a profile, claimed. */
async function heldTurn(cairn: Api, profile_name = 'worker', lease_ms = 600_000): Promise<AgentTurn> {
  await cairn.profiles.save({ name: profile_name, system_prompt: 'You work.' });
  const told = await cairn.pmo.launch_principal({ profile_name, instruction: 'Work.' });
  if (told.status !== 'accepted') throw new Error(told.message);
  const claimed = await cairn.agent_turns.claim({ worker_id: 'w-1', profile_name, lease_ms });
  return claimed.agent_turn!;
}

const held = ({ agent_turn_id, turn_epoch }: AgentTurn) => ({ agent_turn_id, turn_epoch });
const guardOf = ({ agent_turn_id, turn_epoch }: AgentTurn): string => `${agent_turn_id}:${turn_epoch}`;

/** One of everything, and an agent_turn that operations on agent_turns are about. */
async function plantAll(cairn: Api): Promise<Planted> {
  const planted = await plant(cairn);
  const { agent_turn_id, turn_epoch, batch_id } = await heldTurn(cairn, 'researcher');
  return { ...planted, agent_turn_id, turn_epoch, batch_id, name: 'researcher' };
}

/** As far as it was planted: a late call is refused whatever it names. */
function inputsOf(operation: NamedOperation, planted: Planted): Record<string, unknown> {
  const missing = Object.fromEntries(pathParameters(operation.path).map((name) => [name, operation.example[name]]));
  return inputOf(operation, { ...missing, ...planted });
}

/** Wherever an input names the agent that acts. */
const named = ({ agent_id }: AgentTurn) => ({
  agent_id,
  source_agent_id: agent_id,
  holder_agent_id: agent_id,
  from_agent_id: agent_id,
});

/** What no agent may do, and examples that name another agent inside: 403 before any transaction. */
const FORBIDDEN_TO_AGENTS = [
  'keys.create',
  'keys.list',
  'keys.revoke',
  'settings.update',
  'dsl.apply',
  'executions.import',
  'checkpoints.import',
];

async function attempt(cairn: Api, operation: NamedOperation, input: unknown, options: CallOptions) {
  const method = (cairn as unknown as ApiByName)[operation.group]![operation.verb] as AnyMethod;
  const answer = method(input, options);
  if (!operation.stream) return answer;
  for await (const item of answer as AsyncIterable<unknown>) return item;
}

onEveryTarget('guards', (test) => {
  it('GUARD-1 every operation that writes refuses a stale epoch, and nothing is written', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const planted = await plantAll(cairn);
    const turn = await heldTurn(cairn);
    await cairn.agent_turns.complete({ ...held(turn), deliverable: 'done' });
    const other = await heldTurn(cairn, 'another');
    const before = await contentsOf(test().store, tenant);
    for (const operation of writes) {
      const input = inputsOf(operation, { ...planted, ...named(turn) });
      for (const agent_turn of [guardOf(turn), `${other.agent_turn_id}:7`, `${randomUUID()}:1`]) {
        const refusal = await refusalOf(attempt(cairn, operation, input, { agent_turn }) as Promise<unknown>);
        expect({ name: operation.name, ...refusal }).toMatchObject({ name: operation.name, ...stale });
      }
    }
    expect(await contentsOf(test().store, tenant)).toBe(before);
  });

  it('GUARD-2 the transaction of every write refuses it, also of one with a key', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const planted = await plantAll(cairn);
    const turn = await heldTurn(cairn);
    await cairn.agent_turns.stop({ agent_turn_id: turn.agent_turn_id });
    // For messages.receive, which has nothing to do in an empty mailbox.
    const to_agent_id = turn.agent_id;
    await cairn.messages.send({ from_agent_id: 'ann', to_agent_id, message_type: 'note', payload: '{}' });
    const before = await contentsOf(test().store, tenant);
    const options = () => ({ agent_turn: guardOf(turn), idempotency_key: randomUUID() });
    const seen: Record<string, string> = {};
    for (const operation of writes.filter(({ stream, name }) => !stream && !FORBIDDEN_TO_AGENTS.includes(name))) {
      const input = inputsOf(operation, { ...planted, ...named(turn) });
      const late = attempt(cairn, operation, input, options()) as Promise<unknown>;
      const { code } = await refusalOf(late).catch((error) => ({ code: String(error) }));
      if (code !== 'STALE_TURN') seen[operation.name] = code;
    }
    expect(seen).toEqual({});
    expect(await contentsOf(test().store, tenant)).toBe(before);
  });

  it('GUARD-2 a worker that was taken over from writes nothing, whatever it does at that time', async () => {
    const cairn = await test().freshTenant();
    const turn = await heldTurn(cairn, 'worker', 1000);
    const agent_turn = guardOf(turn);
    await cairn.cards.add({ content: 'in time' }, { agent_turn });
    test().advance(1000);
    // Nobody has noticed yet that the lease is over.
    expect(await refusalOf(cairn.cards.add({ content: 'late' }, { agent_turn }))).toMatchObject(stale);
    const again = await cairn.agent_turns.claim({ worker_id: 'w-2', profile_name: 'worker' });
    expect(again.agent_turn).toMatchObject({ agent_turn_id: turn.agent_turn_id, turn_epoch: 2 });
    expect(await refusalOf(cairn.cards.add({ content: 'later' }, { agent_turn }))).toMatchObject({
      ...stale,
      details: { status: 'running', turn_epoch: 2 },
    });
    const own = { ...held(turn), cards: [{ content: 'late' }] };
    const live = { agent_turn: guardOf(again.agent_turn!) };
    // Neither may the guard be that of one epoch and the input that of another.
    expect(await refusalOf(cairn.agent_turns.append(own, live))).toMatchObject(stale);
    const now = { ...own, turn_epoch: 2 };
    expect(await refusalOf(cairn.agent_turns.append(now, { agent_turn }))).toMatchObject(stale);
    expect((await cairn.cards.list()).cards.map(({ content }) => content)).not.toContain('late');
    await cairn.cards.add({ content: 'by the next' }, live);
  });

  it('GUARD-2 of writes that race with a take-over, none is behind it', async () => {
    const cairn = await test().freshTenant();
    const turn = await heldTurn(cairn, 'worker', 1000);
    const options = { agent_turn: guardOf(turn) };
    let late = 0;
    const write = async () => {
      while (late < 8) await cairn.cards.add({ content: 1 }, options).catch(() => late++);
    };
    const taking = async () => {
      while ((await cairn.cards.list({ limit: 1 })).total! < 8);
      test().advance(1000);
      return cairn.agent_turns.claim({ worker_id: 'w-2', profile_name: 'worker' });
    };
    const [taken] = await Promise.all([taking(), write(), write(), write(), write()]);
    expect(taken.agent_turn).toMatchObject({ turn_epoch: 2 });
    const { packets } = await cairn.packets.list({ order: 'asc', limit: 500 });
    const types = packets.map(({ packet_type }) => packet_type);
    expect(types.lastIndexOf('cairn.card.added')).toBeLessThan(types.indexOf('cairn.agent_turn.lost'));
  });

  it('GUARD-3 what is written in an agent_turn is done by its agent', async () => {
    const cairn = await test().freshTenant();
    const turn = await heldTurn(cairn);
    const { agent_id, trajectory_id } = turn;
    const options = { agent_turn: guardOf(turn) };
    const { latest } = await headOf(cairn);
    const { card_id } = await cairn.cards.add({ content: 1 }, options);
    expect(await cairn.cards.get({ card_id })).toMatchObject({ author_id: agent_id });
    const { box_id } = await cairn.boxes.create({ card_ids: [] }, options);
    expect(await cairn.boxes.append({ box_id, card_ids: [card_id] }, options)).toMatchObject({ length: 1 });
    const { scope_id } = await cairn.scopes.create({ trajectory_id, name: 's' }, options);
    await cairn.turns.add({ scope_id, role: 'User', content: 'hello' }, options);
    await cairn.artifacts.create({ trajectory_id, artifact_type: 'Fact', name: 'a', content: 1 }, options);
    await cairn.notes.create({ note_type: 'Fact', title: 't', content: 1 }, options);
    await cairn.packets.write({ packet_type: 'event', payload: {} }, options);
    const { execution_id } = await cairn.executions.create({ agent_id, name: 'run' }, options);
    const snapshot = {
      thought_chain: { steps: [] },
      context: { messages: [], variables: {} },
      tool_state: { pending: [], completed: [] },
    };
    await cairn.checkpoints.create({ execution_id, snapshot }, options);
    await cairn.locks.acquire(
      { resource_type: 'file', resource_id: 'f', holder_agent_id: agent_id, timeout_ms: 1000 },
      options,
    );
    const child = await cairn.pmo.delegate_async(
      { target_strategy: 'new', target_ref: 'worker', instruction: 'Help.' },
      options,
    );
    expect(child).toMatchObject({ status: 'accepted' });
    await cairn.agent_turns.append({ ...held(turn), cards: [{ content: 'x' }] }, options);
    const { packets } = await cairn.packets.list({ order: 'asc', limit: 500 });
    const made = packets.filter(({ seq }) => seq > latest);
    expect(made.length).toBeGreaterThanOrEqual(13);
    expect(new Set(made.map(({ metadata }) => metadata?.agent))).toEqual(new Set([agent_id]));
  });

  it('GUARD-3 streams are followed as the agent too, and a key of another agent is refused', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const turn = await heldTurn(cairn);
    const agent_turn = guardOf(turn);
    const after = await latestToken(cairn);
    const hidden = await cairn.boxes.create({ card_ids: [], agent_id: 'somebody' });
    const { box_id } = await cairn.boxes.create({ card_ids: [] }, { agent_turn });
    const told: unknown[] = [];
    const signal = AbortSignal.timeout(20_000);
    for await (const { packet } of cairn.events.follow({ after }, { agent_turn, signal })) {
      if (packet?.packet_type === 'cairn.box.created') told.push((packet.payload as Entity).entity.id);
      if (told.includes(box_id)) break;
    }
    expect(told).not.toContain(hidden.box_id);
    const other = await test().as({ tenant, agent: 'somebody' });
    const refused = { code: 'STALE_TURN', status: 409 };
    expect(await refusalOf(other.cards.list({}, { agent_turn }))).toMatchObject(refused);
    const follow = other.events.follow({}, { agent_turn })[Symbol.asyncIterator]();
    expect(await refusalOf(follow.next())).toMatchObject(refused);
    const same = await test().as({ tenant, agent: turn.agent_id });
    await same.cards.add({ content: 1 }, { agent_turn });
  });

  it('GUARD-4 reads of an agent_turn that is over are answered, of an unknown one refused', async () => {
    const cairn = await test().freshTenant();
    const turn = await heldTurn(cairn);
    await cairn.agent_turns.complete({ ...held(turn), deliverable: 'done' }, { agent_turn: guardOf(turn) });
    expect((await cairn.auth.whoami({}, { agent_turn: guardOf(turn) })).agent_id).toBe(turn.agent_id);
    const unknown = cairn.cards.list({}, { agent_turn: `${randomUUID()}:1` });
    expect(await refusalOf(unknown)).toMatchObject(stale);
  });

  it('GUARD-5 a write under a lock that is over is refused, and nothing is written', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const wanted = { resource_type: 'file', resource_id: 'f', holder_agent_id: 'ann', timeout_ms: 60_000 };
    const lock = await cairn.locks.acquire(wanted);
    const fencing_token = `${lock.lock_id}:${lock.fencing_token}`;
    await cairn.cards.add({ content: 'under the lock' }, { fencing_token });
    await cairn.locks.release({ lock_id: lock.lock_id, releasing_agent_id: 'ann' });
    const planted = { ...(await plantAll(cairn)), agent_id: 'ann' };
    const before = await contentsOf(test().store, tenant);
    const expired = { code: 'LOCK_EXPIRED', status: 409 };
    for (const name of ['cards.add', 'boxes.append', 'turns.add', 'packets.write', 'checkpoints.create']) {
      const operation = writes.find((one) => one.name === name)!;
      const late = attempt(cairn, operation, inputOf(operation, planted), { fencing_token });
      expect(await refusalOf(late as Promise<unknown>)).toMatchObject(expired);
    }
    const made_up = { fencing_token: `${randomUUID()}:1` };
    expect(await refusalOf(cairn.cards.add({ content: 1 }, made_up))).toMatchObject(expired);
    expect(await contentsOf(test().store, tenant)).toBe(before);
  });

  it('GUARD-6 a malformed guard is refused, whatever the call does', async () => {
    const cairn = await test().freshTenant();
    const id = randomUUID();
    const bad = ['', 'x', id, `${id}:`, `${id}:-1`, `${id}:1.5`, `${id}:1:1`, `x:1`, `${id}:1, ${id}:1`, `${id}:1\n`];
    const invalid = { code: 'INVALID_INPUT', status: 400 };
    for (const guard of bad) {
      for (const options of [{ agent_turn: guard }, { fencing_token: guard }]) {
        expect(await refusalOf(cairn.cards.list({}, options))).toMatchObject(invalid);
        expect(await refusalOf(cairn.cards.add({ content: 1 }, options))).toMatchObject(invalid);
      }
    }
    const { url } = test();
    if (url === undefined) return;
    // A header that is sent twice.
    const { key } = await cairn.keys.create({ role: 'read' });
    const headers = new Headers({ authorization: `Bearer ${key}` });
    for (const _ of [1, 2]) headers.append('x-agent-turn', `${id}:1`);
    const { status } = await fetch(`${url}/projects/${await tenantOf(cairn)}/cards`, { headers });
    expect(status).toBe(400);
  });

  it('GUARD-7 what was done in time with a key is answered again after the turn', async () => {
    const cairn = await test().freshTenant();
    const turn = await heldTurn(cairn);
    const options = { agent_turn: guardOf(turn), idempotency_key: 'k' };
    const first = await cairn.cards.add({ content: 1 }, options);
    const end = { ...held(turn), deliverable: 'done' };
    const ended = await cairn.agent_turns.complete(end, { ...options, idempotency_key: 'end' });
    expect(await cairn.agent_turns.complete(end, { ...options, idempotency_key: 'end' })).toEqual(ended);
    expect(await cairn.cards.add({ content: 1 }, options)).toEqual(first);
  });
});

type Entity = { readonly entity: { readonly id: string } };

async function headOf(cairn: Api): Promise<{ latest: number }> {
  const { packets } = await cairn.packets.list({ order: 'desc', limit: 1 });
  return { latest: packets[0]?.seq ?? 0 };
}

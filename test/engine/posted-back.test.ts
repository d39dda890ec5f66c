/** Answers that are posted back: to the store that gave them, and to another. */
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import type { Packet } from '#cairn/facts/contract.js';
import { latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

type Answer = Record<string, unknown>;

interface Noun {
  /** What it needs to be there, made the same in both tenants: ids are the client's. */
  readonly prepare?: (cairn: Api) => Promise<unknown>;
  /** Makes one, with an id of the server's where there may be one. */
  readonly make: (cairn: Api) => Promise<Answer>;
  readonly get: (cairn: Api, made: Answer) => Promise<Answer>;
  readonly post: (cairn: Api, answer: Answer) => Promise<Answer>;
  /** What only the store says of it. */
  readonly own: readonly string[];
}

const T = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const S = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5c';
const A = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5d';
const P = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5e';

const task = (cairn: Api) => cairn.trajectories.create({ trajectory_id: T, name: 'task' });
const scope = async (cairn: Api) => {
  await task(cairn);
  await cairn.scopes.create({ scope_id: S, trajectory_id: T, name: 'scope' });
};
const STORES_OWN = ['created_at', 'updated_at', 'card_id', 'box_id', 'project_id', 'tenant_id'];

/** The Api takes answers as they are; its types ask for what a create needs. */
const as = <T>(answer: Answer): T => answer as unknown as T;

const nouns: Record<string, Noun> = {
  'a packet': {
    prepare: (cairn) => cairn.packets.write({ packet_id: P, packet_type: 'p', payload: {}, subject_ids: ['s'] }),
    make: (cairn) =>
      cairn.packets.write({
        packet_type: 'event',
        payload: { z: null, a: [1, { b: 2 }] },
        metadata: { agent: 'ann', domain: null },
        provenance: { source: 'test', parent_packet: P },
        confidence: { score: 0.5 },
        routing: { to: 'x' },
        tags: ['t'],
        ttl: '2099-01-01T00:00:00+02:00',
      }),
    get: (cairn, made) => cairn.packets.get({ packet_id: made.packet_id as string }),
    post: (cairn, answer) => cairn.packets.write(as(answer)),
    own: ['seq', 'recorded_at'],
  },
  'a packet of an older version': {
    make: (cairn) =>
      cairn.packets.write({ packet_type: 'event', payload: { a: 1 }, metadata: { schema_version: '1.0.1' } }),
    get: (cairn, made) => cairn.packets.get({ packet_id: made.packet_id as string }),
    post: (cairn, answer) => cairn.packets.write(as(answer)),
    own: ['seq', 'recorded_at'],
  },
  'a card': {
    prepare: (cairn) => cairn.cards.add({ card_id: 'source', content: 's', subject_ids: ['ben'] }),
    make: (cairn) =>
      cairn.cards.add({
        content: { text: 'x', none: null },
        metadata: { type: 'note', role: 'USER' },
        author_id: 'ann',
        subject_ids: ['ann'],
        derived_from: ['source'],
        ttl_seconds: 3600,
      }),
    get: (cairn, made) => cairn.cards.get({ card_id: made.card_id as string }),
    post: (cairn, answer) => cairn.cards.add(as(answer)),
    own: ['created_at', 'project_id'],
  },
  'a box': {
    prepare: (cairn) => cairn.cards.add({ card_id: 'a', content: 'a' }),
    make: async (cairn) => {
      const { box_id } = await cairn.boxes.create({ agent_id: 'ann', metadata: { k: 1 } });
      await cairn.boxes.append({ box_id, card_ids: ['a'] });
      return { box_id };
    },
    get: (cairn, made) => cairn.boxes.load({ box_id: made.box_id as string }),
    post: (cairn, answer) => cairn.boxes.create(as(answer)),
    own: ['created_at', 'updated_at', 'project_id', 'revision'],
  },
  'a box that is saved': {
    prepare: (cairn) => cairn.cards.add({ card_id: 'a', content: 'a' }),
    make: (cairn) => cairn.boxes.create({ card_ids: ['a'], agent_id: 'ann', metadata: { k: 1 } }),
    get: (cairn, made) => cairn.boxes.load({ box_id: made.box_id as string }),
    // There is none in another store yet.
    post: async (cairn, answer) =>
      (await cairn.boxes.list({})).total === 1 ? cairn.boxes.save(as(answer)) : cairn.boxes.create(as(answer)),
    own: ['created_at', 'updated_at', 'project_id'],
  },
  'a trajectory': {
    make: (cairn) => cairn.trajectories.create({ name: 'n', description: 'd', agent_id: 'ann' }),
    get: (cairn, made) => cairn.trajectories.get({ trajectory_id: made.trajectory_id as string }),
    post: (cairn, answer) => cairn.trajectories.create(as(answer)),
    own: STORES_OWN,
  },
  'a scope': {
    prepare: task,
    make: (cairn) => cairn.scopes.create({ trajectory_id: T, name: 'n', enforce: true, agent_id: 'ann' }),
    get: (cairn, made) => cairn.scopes.get({ scope_id: made.scope_id as string }),
    post: (cairn, answer) => cairn.scopes.create(as(answer)),
    own: STORES_OWN,
  },
  'a turn': {
    prepare: scope,
    make: (cairn) =>
      cairn.turns.add({
        scope_id: S,
        role: 'assistant',
        content: [{ text: 'x' }],
        agent_id: 'ann',
        tool_calls: [{ id: 'c1' }],
        metadata: { k: null },
      }),
    get: (cairn, made) => cairn.turns.get({ turn_id: made.turn_id as string }),
    post: (cairn, answer) => cairn.turns.add(as(answer)),
    own: ['created_at', 'budget'],
  },
  'an artifact': {
    prepare: async (cairn) => {
      await scope(cairn);
      await cairn.turns.add({ scope_id: S, role: 'User', content: 'said' });
    },
    make: (cairn) =>
      cairn.artifacts.create({
        scope_id: S,
        artifact_type: 'Fact',
        name: 'n',
        content: { a: null },
        source_turn: 1,
        extraction_method: 'Inferred',
        confidence: 0.5,
        ttl: 'ShortTerm',
        agent_id: 'ann',
      }),
    get: (cairn, made) => cairn.artifacts.get({ artifact_id: made.artifact_id as string }),
    post: (cairn, answer) => cairn.artifacts.create(as(answer)),
    own: [...STORES_OWN, 'access_count', 'accessed_at'],
  },
  'a note that was changed': {
    prepare: async (cairn) => {
      await task(cairn);
      await cairn.artifacts.create({
        artifact_id: A,
        trajectory_id: T,
        artifact_type: 'Fact',
        name: 'n',
        content: 'c',
      });
    },
    make: async (cairn) => {
      const note = { note_type: 'Fact', title: 't', content: 'c', source_trajectory_ids: [T] };
      const { note_id } = await cairn.notes.create({ ...note, source_artifact_ids: [A] });
      return cairn.notes.update({ note_id, content: 'changed', confidence: 0.25 });
    },
    get: (cairn, made) => cairn.notes.get({ note_id: made.note_id as string }),
    post: (cairn, answer) => cairn.notes.create(as(answer)),
    own: [...STORES_OWN, 'version', 'access_count', 'accessed_at'],
  },
  'an edge': {
    prepare: async (cairn) => {
      for (const card_id of ['a', 'b']) await cairn.cards.add({ card_id, content: card_id });
    },
    make: (cairn) =>
      cairn.edges.create({
        edge_type: 'Supports',
        participants: [
          { entity_type: 'Card', entity_id: 'a', role: 'first' },
          { entity_type: 'Card', entity_id: 'b' },
        ],
        weight: 0.5,
      }),
    get: (cairn, made) => cairn.edges.get({ edge_id: made.edge_id as string }),
    post: (cairn, answer) => cairn.edges.create(as(answer)),
    own: ['created_at'],
  },
  'an execution': {
    prepare: task,
    make: (cairn) => cairn.executions.create({ agent_id: 'ann', trajectory_id: T, status: 'completed' }),
    get: (cairn, made) => cairn.executions.get({ execution_id: made.execution_id as string }),
    post: (cairn, answer) => cairn.executions.create(as(answer)),
    own: ['created_at', 'updated_at', 'finished_at'],
  },
  'a policy for a scope': {
    prepare: scope,
    make: (cairn) => cairn.summarization_policies.create({ scope_id: S, trigger: { type: 'TurnCount', count: 3 } }),
    get: (cairn, made) => cairn.summarization_policies.get({ policy_id: made.policy_id as string }),
    post: (cairn, answer) => cairn.summarization_policies.create(as(answer)),
    own: ['created_at', 'updated_at'],
  },
  'a profile': {
    make: (cairn) => cairn.profiles.create({ name: 'p', system_prompt: 's', capabilities: ['c'] }),
    get: (cairn, made) => cairn.profiles.get({ name: made.name as string }),
    post: (cairn, answer) => cairn.profiles.create(as(answer)),
    own: STORES_OWN,
  },
  'a profile that is saved': {
    make: (cairn) => cairn.profiles.save({ name: 'p', tools: [{ name: 't' }] }),
    get: (cairn, made) => cairn.profiles.get({ name: made.name as string }),
    post: (cairn, answer) => cairn.profiles.save(as(answer)),
    own: STORES_OWN,
  },
  'a handover': {
    make: (cairn) => {
      const handover = { context_packing_config: { pack_arguments: [{ arg_key: 'instruction' }] } };
      return cairn.handovers.save({ name: 'h', handover });
    },
    get: (cairn, made) => cairn.handovers.get({ name: made.name as string }),
    post: (cairn, answer) => cairn.handovers.save(as(answer)),
    own: ['created_at', 'updated_at'],
  },
};

const cases = Object.entries(nouns);

const without = (answer: Answer, own: readonly string[]): Answer =>
  Object.fromEntries(Object.entries(answer).filter(([name]) => !own.includes(name)));

onEveryTarget('answers that are posted back', (test) => {
  it.each(cases)('BACK-1 %s is taken as it was answered, and changes nothing', async (_, noun) => {
    const cairn = await test().freshTenant();
    await noun.prepare?.(cairn);
    const answer = await noun.get(cairn, await noun.make(cairn));
    const before = await latestToken(cairn);
    const again = await noun.post(cairn, answer);
    expect(await latestToken(cairn)).toBe(before);
    if ('status' in again && again.written_tables) expect(again.written_tables).toEqual([]);
    else expect(without(again, ['accessed_at', 'access_count'])).toMatchObject(without(answer, noun.own));
  });

  it.each(cases)('BACK-2 %s is the same in another store', async (_, noun) => {
    const [cairn, other] = [await test().freshTenant(), await test().freshTenant()];
    for (const api of [cairn, other]) await noun.prepare?.(api);
    const answer = await noun.get(cairn, await noun.make(cairn));
    const copy = await noun.get(other, await noun.post(other, answer));
    expect(without(copy, noun.own)).toEqual(without(answer, noun.own));
  });

  it('BACK-3 what would be lost is refused: a state that nothing new has, a part of a box', async () => {
    const [cairn, other] = [await test().freshTenant(), await test().freshTenant()];
    const { trajectory_id } = await cairn.trajectories.create({ name: 'n' });
    const { scope_id } = await cairn.scopes.create({ trajectory_id, name: 's' });
    const closed = await cairn.scopes.close({ scope_id });
    const finished = await cairn.trajectories.update({ trajectory_id, status: 'Completed' });
    const cards = ['a', 'b'].map((card_id) => ({ card_id, content: card_id }));
    for (const api of [cairn, other]) await api.cards.add_batch({ cards, atomic: true });
    const { box_id } = await cairn.boxes.create({ card_ids: ['a', 'b'] });
    const part = await cairn.boxes.load({ box_id, limit: 1 });
    const sealed = await cairn.boxes.seal({ box_id });
    const whole = await cairn.boxes.create({ card_ids: ['a'] });
    const scopeAnswer = await cairn.scopes.get({ scope_id });
    expect(closed.is_active).toBe(false);
    for (const [attempt, field] of [
      [() => other.trajectories.create(as(finished)), 'status'],
      [() => other.scopes.create(as(scopeAnswer)), 'is_active'],
      [() => other.boxes.create(as(part)), 'next_cursor'],
      [() => other.boxes.create(as(sealed)), 'sealed_at'],
      [() => cairn.boxes.save(as({ ...whole, card_ids: [], metadata: { k: 1 } })), 'metadata'],
      [() => cairn.boxes.save(as({ ...whole, card_ids: [], agent_id: 'ben' })), 'agent_id'],
      [() => cairn.boxes.save(as({ ...part, revision: 1 })), 'next_cursor'],
      [() => other.notes.create(as({ note_type: 'Fact', title: 't', content: 'c', lifetime: 'Session' })), 'lifetime'],
      [
        () => other.notes.create({ note_type: 'Fact', title: 't', content: 'c', expires_at: '2099-01-01T00:00:00Z' }),
        'expires_at',
      ],
    ] as const) {
      const refusal = await refusalOf(attempt());
      expect(refusal).toMatchObject({ code: 'INVALID_INPUT', status: 400 });
      expect(refusal.message).toContain(field);
    }
  });

  it('BACK-4 an answer with other content is no answer: the id is taken', async () => {
    for (const [name, noun] of cases) {
      if (!['a packet', 'a card', 'a turn', 'an artifact', 'a note that was changed'].includes(name)) continue;
      const cairn = await test().freshTenant();
      await noun.prepare?.(cairn);
      const answer = await noun.get(cairn, await noun.make(cairn));
      const changed = 'payload' in answer ? { ...answer, payload: { other: 1 } } : { ...answer, content: 'other' };
      expect(await refusalOf(noun.post(cairn, changed)), name).toMatchObject({
        code: 'ENTITY_ALREADY_EXISTS',
        status: 409,
      });
    }
  });

  it('BACK-1 a batch takes answers as well', async () => {
    const [cairn, other] = [await test().freshTenant(), await test().freshTenant()];
    const results = await cairn.packets.write_batch({
      packets: [1, 2, 3].map((n) => ({ packet_type: 'p', payload: { n }, tags: [`${n}`] })),
    });
    expect(results.results).toHaveLength(3);
    const { packets } = await cairn.packets.list({ packet_type: 'p', order: 'asc' });
    await other.packets.write_batch({ packets: packets as (Packet & { payload: object })[] as never });
    const copies = await other.packets.list({ packet_type: 'p', order: 'asc' });
    const content = ({ packet_id, payload, timestamp, content_hash }: Packet) => [
      packet_id,
      payload,
      timestamp,
      content_hash,
    ];
    expect(copies.packets.map(content)).toEqual(packets.map(content));
    const cards = { cards: [{ content: 1 }, { content: 2 }], atomic: true };
    await cairn.cards.add_batch(cards);
    const listed = (await cairn.cards.list({})).cards;
    await other.cards.add_batch({ cards: listed });
    const own = ['created_at', 'project_id'];
    const copied = (await other.cards.list({})).cards;
    expect(copied.map((card) => without(card, own))).toEqual(listed.map((card) => without(card, own)));
  });

  it('BACK-5 what expires at a moment expires at that moment in another store, too', async () => {
    const [cairn, other] = [await test().freshTenant(), await test().freshTenant()];
    for (const api of [cairn, other]) await task(api);
    const note = await cairn.notes.create({ note_type: 'Fact', title: 't', content: 'c', ttl: 'ShortTerm' });
    const made = { trajectory_id: T, artifact_type: 'Fact', name: 'n', content: 'c' };
    const artifact = await cairn.artifacts.create({ ...made, ttl: { Duration: 3_600_000 } });
    test().advance(30 * 60_000);
    expect(await other.notes.create(as(note))).toMatchObject({ expires_at: note.expires_at });
    expect(await other.artifacts.create(as(artifact))).toMatchObject({ expires_at: artifact.expires_at });
    const late = { ...made, ttl: 'Duration(1000)', expires_at: artifact.expires_at };
    expect((await refusalOf(other.artifacts.create(late))).message).toContain('expires_at');
    test().advance(31 * 60_000);
    const { note_id } = note;
    expect(await refusalOf(other.notes.get({ note_id }))).toMatchObject({ code: 'CONTENT_ERASED' });
  });

  it('BACK-5 provenance of an artifact stands for its members, and must agree with them', async () => {
    const cairn = await test().freshTenant();
    await task(cairn);
    const made = { trajectory_id: T, artifact_type: 'Fact', name: 'n', content: 'c' };
    const provenance = { extraction_method: 'Inferred' as const, confidence: 0.5 };
    expect((await cairn.artifacts.create({ ...made, provenance })).provenance).toEqual({
      source_turn: null,
      ...provenance,
    });
    const refusal = await refusalOf(cairn.artifacts.create({ ...made, provenance, confidence: 0.75 }));
    expect(refusal).toMatchObject({ code: 'INVALID_INPUT', status: 400 });
    expect(refusal.message).toContain('provenance.confidence');
  });
});

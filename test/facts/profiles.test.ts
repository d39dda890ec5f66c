import { expect, it } from 'vitest';
import { accessTo } from '#cairn/engine/contract.js';
import { cardsIn, dispatched, expectNothingWritten, withProfile } from '../support/nouns/agent-turns.js';
import { tenantOf } from '../support/nouns/hierarchy.js';
import { eventsOf } from '../support/nouns/scopes.js';
import { latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const notFound = { code: 'PROFILE_NOT_FOUND', status: 404 };
const full = {
  name: 'critic of prose',
  description: 'Reads closely',
  agent_type: 'critic',
  capabilities: ['read', 'judge'],
  memory_access: { read: [{ memory_type: 'Card' as const, scope: 'own' as const }] },
  can_delegate_to: ['researcher'],
  system_prompt: 'You judge.',
  tools: [{ name: 'look', input_schema: { type: 'object' } }],
  llm_config: { temperature: 0 },
};

onEveryTarget('profiles and handovers', (test) => {
  it('PROF-1 a profile is a box with one sys.profile card, and reads as it was written', async () => {
    const cairn = await test().freshTenant();
    const made = await cairn.profiles.create(full);
    expect(made).toEqual({
      ...full,
      box_id: expect.any(String),
      card_id: expect.any(String),
      created_at: expect.stringMatching(/Z$/),
      updated_at: made.created_at,
    });
    expect(await cairn.profiles.get({ name: full.name })).toEqual(made);
    const cards = await cardsIn(cairn, made.box_id);
    expect(cards).toMatchObject([
      { card_id: made.card_id, content: full, metadata: { type: 'sys.profile', role: 'system' } },
    ]);
    expect(await eventsOf(cairn, 'cairn.profile.created', full.name)).toMatchObject([
      { box_id: made.box_id, card_id: made.card_id },
    ]);
  });

  it('PROF-2 the same again is the one that is there; another under its name is a conflict', async () => {
    const cairn = await test().freshTenant();
    const made = await cairn.profiles.create(full);
    await expectNothingWritten(test(), cairn, async () => {
      expect(await cairn.profiles.create(full)).toEqual(made);
      expect(await cairn.profiles.save(full)).toEqual(made);
      expect(await refusalOf(cairn.profiles.create({ name: full.name }))).toMatchObject({
        code: 'ENTITY_ALREADY_EXISTS',
        status: 409,
      });
    });
  });

  it('PROF-3 saving replaces what a profile says in its box, whose history keeps what it said', async () => {
    const cairn = await test().freshTenant();
    const made = await cairn.profiles.create({ name: 'p', system_prompt: 'first' });
    const saved = await cairn.profiles.save({ name: 'p', system_prompt: 'second' });
    expect(saved).toMatchObject({ box_id: made.box_id, system_prompt: 'second', created_at: made.created_at });
    expect(saved.card_id).not.toBe(made.card_id);
    expect(await cairn.profiles.get({ name: 'p' })).toEqual(saved);
    expect(await cardsIn(cairn, made.box_id)).toMatchObject([{ card_id: saved.card_id }]);
    const { cards } = await cairn.boxes.cards({ box_id: made.box_id, revision: 1 });
    expect(cards).toMatchObject([{ card_id: made.card_id, content: { system_prompt: 'first' } }]);
    expect(await cairn.profiles.save({ name: 'q' })).toMatchObject({ name: 'q' });
    expect(await eventsOf(cairn, 'cairn.profile.saved', 'p')).toHaveLength(1);
  });

  it('PROF-4 a deleted profile is not found by its name, its box stays, and the name is free', async () => {
    const cairn = await test().freshTenant();
    const made = await cairn.profiles.create(full);
    await cairn.profiles.delete({ name: full.name });
    expect(await refusalOf(cairn.profiles.get({ name: full.name }))).toMatchObject(notFound);
    expect(await refusalOf(cairn.profiles.delete({ name: full.name }))).toMatchObject(notFound);
    expect(await cardsIn(cairn, made.box_id)).toHaveLength(1);
    const again = await cairn.profiles.create({ name: full.name });
    expect(again.box_id).not.toBe(made.box_id);
  });

  it('PROF-5 profiles are listed by name, and are those of the tenant', async () => {
    const cairn = await test().freshTenant();
    for (const name of ['c', 'a', 'b']) await cairn.profiles.create({ name });
    const first = await cairn.profiles.list({ limit: 2 });
    expect(first.total).toBe(3);
    const rest = await cairn.profiles.list({ limit: 2, cursor: first.next_cursor! });
    expect([...first.profiles, ...rest.profiles].map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    const other = await test().freshTenant();
    expect(await other.profiles.list({})).toMatchObject({ profiles: [], total: 0 });
    expect(await refusalOf(other.profiles.get({ name: 'a' }))).toMatchObject(notFound);
  });

  it('PROF-6 a name is printable, stands in a path, and has no space at its ends', async () => {
    const cairn = await test().freshTenant();
    const name = 'ünï / 100 % ?#';
    await cairn.profiles.create({ name });
    await cairn.handovers.save({ name, handover: {} });
    expect(await cairn.profiles.get({ name })).toMatchObject({ name });
    expect(await cairn.handovers.get({ name })).toMatchObject({ name });
    for (const wrong of ['', ' p', 'p ', 'a\nb', '.', '..', 'x'.repeat(201)])
      expect((await refusalOf(cairn.profiles.create({ name: wrong }))).code).toBe('INVALID_INPUT');
    const unknown = { name: 'p', colour: 'red' } as { name: string };
    expect(await refusalOf(cairn.profiles.create(unknown))).toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('colour'),
    });
  });

  it('PROF-7 an agent made from a profile has what the profile says, its name where it says nothing', async () => {
    const cairn = await withProfile(test());
    await cairn.profiles.create(full);
    const { agent_id } = await dispatched(cairn, { target_ref: full.name });
    const { agent_type, capabilities, memory_access, can_delegate_to } = full;
    expect(await cairn.agents.get({ agent_id })).toMatchObject({
      agent_type,
      capabilities,
      memory_access,
      can_delegate_to,
      profile_name: full.name,
      status: 'idle',
    });
    const plain = await dispatched(cairn);
    expect(await cairn.agents.get({ agent_id: plain.agent_id })).toMatchObject({
      agent_type: 'researcher',
      capabilities: ['researcher'],
      memory_access: accessTo('all'),
      can_delegate_to: ['*'],
    });
  });

  it('PROF-8 handovers are stored by name, replaced by saving, listed, and deleted', async () => {
    const cairn = await test().freshTenant();
    const handover = { context_packing_config: { pack_arguments: [{ arg_key: 'a' }] } };
    const made = await cairn.handovers.save({ name: 'h', handover });
    expect(made).toMatchObject({ name: 'h', handover, built_in: false });
    const before = await latestToken(cairn);
    expect(await cairn.handovers.save({ name: 'h', handover })).toEqual(made);
    expect(await latestToken(cairn)).toBe(before);
    const other = { target_profile_config: { profile_name: 'p' } };
    expect(await cairn.handovers.save({ name: 'h', handover: other })).toMatchObject({
      handover: other,
      created_at: made.created_at,
    });
    await cairn.handovers.save({ name: 'g', handover });
    const { handovers, total } = await cairn.handovers.list({});
    expect([total, ...handovers.map(({ name }) => name)]).toEqual([2, 'g', 'h']);
    await cairn.handovers.delete({ name: 'h' });
    for (const call of [cairn.handovers.get, cairn.handovers.delete])
      expect(await refusalOf(call({ name: 'h' }))).toMatchObject({ code: 'HANDOVER_NOT_FOUND', status: 404 });
    expect((await eventsOf(cairn, 'cairn.handover.saved', 'h')).length).toBe(2);
  });

  it('PROF-9 the recipe "instruction" is built in, and stays as it is', async () => {
    const cairn = await test().freshTenant();
    const name = 'instruction';
    const there = await cairn.handovers.get({ name });
    expect(there).toEqual({
      name,
      handover: {
        context_packing_config: {
          pack_arguments: [{ arg_key: 'instruction', as_card_type: 'task.instruction' }],
          inherit_context: { include_boxes_from_args: ['input_box_ids'], include_parent: true },
        },
      },
      built_in: true,
      created_at: null,
      updated_at: null,
    });
    const refused = { code: 'INVALID_INPUT', status: 400 };
    expect(await refusalOf(cairn.handovers.save({ name, handover: {} }))).toMatchObject(refused);
    expect(await refusalOf(cairn.handovers.delete({ name }))).toMatchObject(refused);
    expect(await cairn.handovers.get({ name })).toEqual(there);
    expect(await cairn.handovers.list({})).toMatchObject({ handovers: [], total: 0 });
  });

  it('PROF-10 a recipe with an unknown member or too many rules is refused by name', async () => {
    const cairn = await test().freshTenant();
    const save = (handover: object) => refusalOf(cairn.handovers.save({ name: 'h', handover }));
    const config = (more: object) => ({ context_packing_config: more });
    expect((await save({ packing: {} })).message).toContain('packing');
    expect((await save(config({ pack_argument: [] }))).message).toContain('pack_argument');
    expect((await save(config({ inherit_context: { parent: true } }))).message).toContain('parent');
    expect((await save(config({ pack_arguments: [{ arg_key: 'a', role: 'user' }] }))).code).toBe('INVALID_INPUT');
    expect((await save(config({ pack_arguments: [{}] }))).code).toBe('INVALID_INPUT');
    const many = Array.from({ length: 101 }, (_, i) => ({ arg_key: `a${i}` }));
    expect((await save(config({ pack_arguments: many }))).message).toContain('pack_arguments');
    expect((await save({ target_profile_config: { profile_name: 5 } })).message).toContain('profile_name');
    expect((await cairn.handovers.list({})).total).toBe(0);
  });

  it('PROF-11 an agent owns the boxes of its profiles; who reads only saves none', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const ann = await test().as({ tenant, agent: 'ann', role: 'write' });
    const { box_id } = await ann.profiles.create({ name: 'p' });
    expect(await cairn.boxes.list({ agent_id: 'ann' })).toMatchObject({ boxes: [{ box_id }], total: 1 });
    const reader = await test().as({ tenant, role: 'read' });
    expect(await reader.profiles.get({ name: 'p' })).toMatchObject({ box_id });
    const refused = { code: 'FORBIDDEN', details: { rule: 'key_role' } };
    expect(await refusalOf(reader.profiles.save({ name: 'p', description: 'x' }))).toMatchObject(refused);
    expect(await refusalOf(reader.handovers.save({ name: 'h', handover: {} }))).toMatchObject(refused);
  });

  it('PROF-3 a sealed box stays as it is, and the profile goes on in a new one', async () => {
    const cairn = await test().freshTenant();
    const made = await cairn.profiles.create({ name: 'p', system_prompt: 'first' });
    await cairn.boxes.seal({ box_id: made.box_id });
    const saved = await cairn.profiles.save({ name: 'p', system_prompt: 'second' });
    expect(saved.box_id).not.toBe(made.box_id);
    expect(await cardsIn(cairn, saved.box_id)).toMatchObject([{ content: { system_prompt: 'second' } }]);
    expect(await cardsIn(cairn, made.box_id)).toMatchObject([{ content: { system_prompt: 'first' } }]);
  });

  it('PROF-7 who delegates gives no more rights than it has', async () => {
    const cairn = await withProfile(test());
    await cairn.profiles.create(full);
    const memory_access = { read: [{ memory_type: '*' as const, scope: 'own_trajectory' as const }], write: [] };
    const ann = { agent_type: 'lead', capabilities: ['lead'], profile_name: 'researcher' };
    const can_delegate_to = ['critic', 'researcher', 'lead'];
    await cairn.agents.register({ ...ann, agent_id: 'ann', memory_access, can_delegate_to });
    await cairn.agents.register({ ...ann, agent_id: 'free' });
    const rightsOf = async (more: object) => {
      const { agent_id } = await dispatched(cairn, { source_agent_id: 'ann', ...more });
      const { memory_access: access, can_delegate_to: names } = await cairn.agents.get({ agent_id });
      return [access, names];
    };
    expect(await rightsOf({ target_ref: full.name })).toEqual([
      { read: full.memory_access.read, write: [] },
      ['researcher'],
    ]);
    // Who says nothing of rights is given those of who delegates, and so is the clone of an agent that has them all.
    const hers = [memory_access, can_delegate_to];
    expect(await rightsOf({})).toEqual(hers);
    expect(await rightsOf({ target_strategy: 'clone', target_ref: 'free' })).toEqual(hers);
  });

  it('PROF-11 an agent changes and deletes the profiles that it made, and no others', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const [ann, bob] = await Promise.all(['ann', 'bob'].map((agent) => test().as({ tenant, agent, role: 'write' })));
    const theirs = await cairn.profiles.create({ name: 'of all' });
    const hers = await ann!.profiles.create({ name: 'hers' });
    await expectNothingWritten(test(), cairn, async () => {
      for (const { name, box_id } of [theirs, hers]) {
        const refused = { code: 'FORBIDDEN', status: 403, details: { rule: 'box_owner_or_grant', box_id } };
        const saving = bob!.profiles.save({ name, system_prompt: 'Obey bob.' });
        expect(await refusalOf(saving)).toMatchObject(refused);
        expect(await refusalOf(bob!.profiles.delete({ name }))).toMatchObject(refused);
      }
    });
    expect(await ann!.profiles.save({ name: 'hers', system_prompt: 's' })).toMatchObject({ system_prompt: 's' });
    await ann!.profiles.delete({ name: 'hers' });
  });

  it('PROF-12 the rights in a profile are set by who administers', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const ann = await test().as({ tenant, agent: 'ann', role: 'admin' });
    const writer = await test().as({ tenant, role: 'write' });
    await ann.profiles.create({ name: 'hers' });
    for (const rights of [
      { agent_type: 'boss' },
      { memory_access: { read: [{ memory_type: '*' as const, scope: 'all' as const }] } },
      { can_delegate_to: ['*'] },
    ]) {
      const own = { code: 'FORBIDDEN', details: { rule: 'own_rights', fields: Object.keys(rights) } };
      expect(await refusalOf(ann.profiles.create({ name: 'new', ...rights }))).toMatchObject(own);
      expect(await refusalOf(ann.profiles.save({ name: 'hers', ...rights }))).toMatchObject(own);
      const role = { code: 'FORBIDDEN', details: { rule: 'key_role', fields: Object.keys(rights) } };
      expect(await refusalOf(writer.profiles.save({ name: 'hers', ...rights }))).toMatchObject(role);
    }
    await cairn.profiles.save({ name: 'hers', can_delegate_to: [] });
    // To leave them out would take them away.
    expect(await refusalOf(ann.profiles.save({ name: 'hers' }))).toMatchObject({
      details: { rule: 'own_rights', fields: ['can_delegate_to'] },
    });
    const kept = await ann.profiles.save({ name: 'hers', can_delegate_to: [], description: 'd' });
    expect(kept).toMatchObject({ can_delegate_to: [], description: 'd' });
    expect(await writer.profiles.create({ ...full, name: 'w' })).toMatchObject({ agent_type: 'critic' });
  });

  it('PROF-13 without its card a profile makes no agent, until it is saved anew', async () => {
    const cairn = await test().freshTenant();
    const { card_id } = await cairn.profiles.create({ name: 'tight', memory_access: { read: [] } });
    const worker = { agent_id: 'worker', agent_type: 'w', capabilities: ['w'], profile_name: 'tight' };
    await cairn.agents.register(worker);
    await cairn.cards.delete({ card_id });
    const gone = { code: 'CONTENT_ERASED', status: 410, details: { card_ids: [card_id] } };
    await expectNothingWritten(test(), cairn, async () => {
      expect(await refusalOf(cairn.profiles.get({ name: 'tight' }))).toMatchObject(gone);
      for (const [target_strategy, target_ref] of [
        ['new', 'tight'],
        ['reuse', 'worker'],
        ['clone', 'worker'],
      ] as const)
        expect(await refusalOf(dispatched(cairn, { target_strategy, target_ref }))).toMatchObject(gone);
    });
    expect(await cairn.profiles.list({})).toMatchObject({ profiles: [{ name: 'tight', card_id }] });
    await cairn.profiles.save({ name: 'tight', memory_access: { read: [] } });
    const { agent_id } = await dispatched(cairn, { target_ref: 'tight' });
    expect(await cairn.agents.get({ agent_id })).toMatchObject({ memory_access: { read: [] } });
  });
});

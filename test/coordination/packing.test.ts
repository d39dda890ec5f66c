import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { sql } from '#cairn/driver/index.js';
import {
  boxOf as anyBoxOf,
  cardsIn,
  expectNothingWritten,
  PROFILE,
  withProfile,
  wordsIn,
} from '../support/nouns/agent-turns.js';
import { tenantOf } from '../support/nouns/hierarchy.js';
import { eventsOf } from '../support/nouns/scopes.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

type Packing = Parameters<Api['pmo']['pack_context']>[0];
type Recipe = Exclude<Packing['handover'], string>;

const bad = { code: 'INVALID_INPUT', status: 400 };
const noBox = { code: 'BOX_NOT_FOUND', status: 404 };
const config = (context_packing_config: Recipe['context_packing_config']): Recipe => ({ context_packing_config });
const packing = (given: Record<string, unknown>, handover: Packing['handover'] = 'instruction'): Packing => ({
  tool_suffix: 'delegate',
  source_agent_id: 'planner',
  arguments: { profile_name: PROFILE, ...given },
  handover,
});
const boxesFrom = (...include_boxes_from_args: string[]) => config({ inherit_context: { include_boxes_from_args } });

/** A box that who packs may see. */
const boxOf = (cairn: Api, box_id: string, words: string[], agent_id = 'planner'): Promise<string> =>
  anyBoxOf(cairn, box_id, words, agent_id);

/** The cards that rules make of arguments. */
async function packedBy(cairn: Api, pack_arguments: unknown[], given: Record<string, unknown>) {
  const recipe = config({ pack_arguments: pack_arguments as { arg_key: string }[] });
  const { context_box_id, attached_card_ids } = await cairn.pmo.pack_context(packing(given, recipe));
  const cards = await cardsIn(cairn, context_box_id);
  expect(cards.map(({ card_id }) => card_id)).toEqual(attached_card_ids);
  return cards;
}

onEveryTarget('packing', (test) => {
  it('PACK-1 the profile is that of the arguments, else that of the recipe', async () => {
    const cairn = await withProfile(test());
    const own = await cairn.profiles.get({ name: PROFILE });
    const other = await cairn.profiles.create({ name: 'other' });
    const recipe = { target_profile_config: { profile_name: 'other' } };
    const target = async (profile_name: unknown) =>
      (await cairn.pmo.pack_context({ ...packing({}, recipe), arguments: { profile_name } as never }))
        .target_profile_box_id;
    expect(await target(PROFILE)).toBe(own.box_id);
    expect(await target(null)).toBe(other.box_id);
    const absent = await cairn.pmo.pack_context({ ...packing({}, recipe), arguments: {} });
    expect(absent.target_profile_box_id).toBe(other.box_id);
  });

  it('PACK-2 an unknown profile is 404, none or what is no name is 400, and nothing is made', async () => {
    const cairn = await withProfile(test());
    await expectNothingWritten(test(), cairn, async () => {
      const pack = (profile_name: unknown, handover: Packing['handover'] = {}) =>
        refusalOf(cairn.pmo.pack_context({ ...packing({}, handover), arguments: { profile_name } as never }));
      const missing = { code: 'PROFILE_NOT_FOUND', status: 404, message: expect.stringContaining('"nobody"') };
      expect(await pack('nobody')).toMatchObject(missing);
      expect(await pack(null, { target_profile_config: { profile_name: 'nobody' } })).toMatchObject(missing);
      expect(await pack(null)).toMatchObject({ ...bad, message: expect.stringContaining('profile_name') });
      expect(await pack(null, { target_profile_config: {} })).toMatchObject(bad);
      for (const wrong of [5, '', {}, ['researcher'], true])
        expect(await pack(wrong)).toMatchObject({ ...bad, message: expect.stringContaining('profile_name') });
    });
  });

  it('PACK-3 a handover is a recipe or the name of a stored one; an unknown name is 404', async () => {
    const cairn = await withProfile(test());
    const handover = config({ pack_arguments: [{ arg_key: 'said' }] });
    await cairn.handovers.save({ name: 'mine', handover });
    const { context_box_id } = await cairn.pmo.pack_context(packing({ said: 'x' }, 'mine'));
    expect(await wordsIn(cairn, context_box_id)).toEqual(['x']);
    expect(await refusalOf(cairn.pmo.pack_context(packing({}, 'theirs')))).toMatchObject({
      code: 'HANDOVER_NOT_FOUND',
      status: 404,
    });
    const unknown = { tool: 'x' } as unknown as Recipe;
    expect(await refusalOf(cairn.pmo.pack_context(packing({}, unknown)))).toMatchObject(bad);
    const { source_agent_id: _, ...without } = packing({});
    expect(await refusalOf(cairn.pmo.pack_context(without as Packing))).toMatchObject({
      ...bad,
      message: expect.stringContaining('source_agent_id'),
    });
  });

  it('PACK-4 each rule whose argument is there makes one card, in the order of the rules', async () => {
    const cairn = await withProfile(test());
    const rules: unknown[] = [
      'not a rule',
      { arg_key: 'b' },
      7,
      { arg_key: 'absent' },
      null,
      ['arg_key', 'a'],
      { arg_key: 'a' },
      { arg_key: 'b', as_card_type: 'note' },
    ];
    const cards = await packedBy(cairn, rules, { a: 'first', b: 'second', c: 'unused' });
    expect(cards.map(({ content }) => content)).toEqual(['second', 'first', 'second']);
    expect(new Set(cards.map(({ card_id }) => card_id)).size).toBe(3);
  });

  it('PACK-5 a card is a task.instruction of the user by the tool, unless the rule says otherwise', async () => {
    const cairn = await withProfile(test());
    const cards = await packedBy(
      cairn,
      [
        { arg_key: 'a' },
        { arg_key: 'a', as_card_type: 'task.brief', card_metadata: { role: 'system', deep: { n: [1] } } },
        { arg_key: 'a', card_metadata: { type: 'agent.thought', why: 'x' } },
      ],
      { a: 'said' },
    );
    expect(cards.map(({ metadata }) => metadata)).toEqual([
      { type: 'task.instruction', role: 'user' },
      { type: 'task.brief', role: 'system', deep: { n: [1] } },
      { type: 'task.instruction', role: 'user', why: 'x' },
    ]);
    for (const { author_id } of cards) expect(author_id).toBe('delegate');
    const wrong = config({ pack_arguments: [{ arg_key: 'a', card_metadata: { role: 'boss' } }] });
    expect(await refusalOf(cairn.pmo.pack_context(packing({ a: 'x' }, wrong)))).toMatchObject(bad);
  });

  it('PACK-6 objects and lists stay JSON, anything else is text', async () => {
    const cairn = await withProfile(test());
    const given = { o: { a: [1, null] }, l: [1, 'x', {}], s: 'text', n: 4.5, t: true, f: false, z: null, e: '' };
    const cards = await packedBy(
      cairn,
      Object.keys(given).map((arg_key) => ({ arg_key })),
      given,
    );
    expect(cards.map(({ content }) => content)).toEqual([
      { a: [1, null] },
      [1, 'x', {}],
      'text',
      '4.5',
      'true',
      'false',
      'null',
      '',
    ]);
  });

  it('PACK-7 task.result_fields takes a list of fields, or of their names, and nothing else', async () => {
    const cairn = await withProfile(test());
    const rule = { arg_key: 'want', as_card_type: 'task.result_fields' };
    const field = { name: 'why', description: 'the reason', required: true };
    const [card] = await packedBy(cairn, [rule], { want: [' answer ', field] });
    expect(card).toMatchObject({
      content: [{ name: 'answer' }, field],
      metadata: { type: 'task.result_fields', role: 'user' },
    });
    const pack = (want: unknown) =>
      refusalOf(cairn.pmo.pack_context(packing({ want }, config({ pack_arguments: [rule] }))));
    await expectNothingWritten(test(), cairn, async () => {
      for (const wrong of ['answer', { name: 'answer' }, 5, true, null])
        expect(await pack(wrong)).toMatchObject({ ...bad, message: expect.stringContaining('want') });
      for (const wrong of [[5], [''], [{ title: 'x' }], ['twice', 'twice ']])
        expect(await pack(wrong)).toMatchObject({
          code: 'INVALID_CONTENT',
          status: 400,
          message: expect.stringContaining('arguments.want'),
        });
    });
  });

  it('PACK-8 cards of boxes follow in the order of boxes and entries, each at its first occurrence', async () => {
    const cairn = await withProfile(test());
    await boxOf(cairn, 'x', ['1', '2', '3']);
    await boxOf(cairn, 'y', ['4', '5']);
    await cairn.boxes.append({ box_id: 'y', card_ids: ['x-2'] });
    await cairn.boxes.create({ box_id: 'z', card_ids: ['y-5', 'x-3', 'x-1'], agent_id: 'planner' });
    await boxOf(cairn, '7', ['seven']);
    await cairn.boxes.create({ box_id: 'empty', agent_id: 'planner' });
    const pack = async (given: Record<string, unknown>, ...names: string[]) =>
      (await cairn.pmo.pack_context(packing(given, boxesFrom(...names)))).attached_card_ids;
    expect(await pack({ a: 'x' }, 'a')).toEqual(['x-1', 'x-2', 'x-3']);
    expect(await pack({ a: 7 }, 'a')).toEqual(['7-seven']);
    expect(await pack({ a: ['y', 'x', 'y'], b: 'z' }, 'a', 'b')).toEqual(['y-4', 'y-5', 'x-2', 'x-1', 'x-3']);
    expect(await pack({ a: ['y', 'x'], b: 'z' }, 'b', 'absent', 'a')).toEqual(['y-5', 'x-3', 'x-1', 'y-4', 'x-2']);
    expect(await pack({ a: [], b: ['empty', 7] }, 'a', 'b')).toEqual(['7-seven']);
    await cairn.boxes.fork({ box_id: 'x', new_box_id: 'fork', agent_id: 'planner' });
    await cairn.boxes.append({ box_id: 'fork', card_ids: ['y-4'] });
    await cairn.boxes.save({ box_id: 'x', card_ids: ['x-3', 'x-1'], revision: 1 });
    expect(await pack({ a: ['x', 'fork'] }, 'a')).toEqual(['x-3', 'x-1', 'x-2', 'y-4']);
  });

  it('PACK-9 a missing box is 404, what is no box_id is 400, and nothing is made', async () => {
    const cairn = await withProfile(test());
    await boxOf(cairn, 'x', ['1']);
    await expectNothingWritten(test(), cairn, async () => {
      const pack = (a: unknown) => refusalOf(cairn.pmo.pack_context(packing({ a }, boxesFrom('a'))));
      expect(await pack('nowhere')).toMatchObject({ ...noBox, message: expect.stringContaining('nowhere') });
      expect(await pack(['x', 'nowhere'])).toMatchObject(noBox);
      for (const wrong of [null, true, 1.5, {}, '', '..', ['x', null], [['x']], ['x', 2.5]])
        expect(await pack(wrong)).toMatchObject({ ...bad, message: expect.stringContaining('arguments.a') });
      expect((await pack(['x', null])).message).toContain('a[1]');
    });
  });

  it('PACK-10 include_parent adds a pointer to who packs, of the role system, as the last card', async () => {
    const cairn = await withProfile(test());
    await boxOf(cairn, 'x', ['1']);
    const given = { instruction: 'do', input_box_ids: 'x' };
    const { context_box_id } = await cairn.pmo.pack_context(packing(given));
    const cards = await cardsIn(cairn, context_box_id);
    expect(cards).toMatchObject([
      { content: 'do', metadata: { type: 'task.instruction', role: 'user' } },
      { card_id: 'x-1' },
      {
        content: { parent_agent_id: 'planner' },
        metadata: { type: 'meta.parent_pointer', role: 'system' },
        author_id: 'delegate',
      },
    ]);
    for (const include_parent of [false, undefined]) {
      const inherit_context = include_parent === undefined ? {} : { include_parent };
      const { attached_card_ids } = await cairn.pmo.pack_context(packing({}, config({ inherit_context })));
      expect(attached_card_ids).toEqual([]);
    }
  });

  it('PACK-11 instruction_last puts the cards of arguments behind what is inherited', async () => {
    const cairn = await withProfile(test());
    await boxOf(cairn, 'x', ['1', '2']);
    const handover = config({
      pack_arguments: [{ arg_key: 'instruction' }, { arg_key: 'more' }],
      inherit_context: { include_boxes_from_args: ['input_box_ids'], include_parent: true },
      instruction_last: true,
    });
    const given = { instruction: 'do', more: 'so', input_box_ids: ['x'] };
    const { context_box_id } = await cairn.pmo.pack_context(packing(given, handover));
    expect(await wordsIn(cairn, context_box_id)).toEqual(['1', '2', 'do', 'so', { parent_agent_id: 'planner' }]);
  });

  it('PACK-12 gives the box, the profile box and all cards in order; the box is sealed and of who packed it', async () => {
    const cairn = await withProfile(test());
    await boxOf(cairn, 'x', ['1']);
    const answer = await cairn.pmo.pack_context(packing({ instruction: 'do', input_box_ids: 'x' }));
    const profile = await cairn.profiles.get({ name: PROFILE });
    const { context_box_id: box_id } = answer;
    const ids = (await cardsIn(cairn, box_id)).map(({ card_id }) => card_id);
    expect(answer).toEqual({ context_box_id: box_id, target_profile_box_id: profile.box_id, attached_card_ids: ids });
    const { boxes } = await cairn.boxes.list({ agent_id: 'planner' });
    expect(boxes.find((one) => one.box_id === box_id)).toMatchObject({ length: 3, sealed_at: expect.any(String) });
    const sealed = { code: 'BOX_SEALED', status: 409 };
    expect(await refusalOf(cairn.boxes.append({ box_id, card_ids: ['x-1'] }))).toMatchObject(sealed);
    expect(await refusalOf(cairn.boxes.save({ box_id, card_ids: [], revision: 1 }))).toMatchObject(sealed);
    await cairn.boxes.append({ box_id: 'x', card_ids: [ids[0]!] });
    expect((await cardsIn(cairn, box_id)).map(({ card_id }) => card_id)).toEqual(ids);
    expect(await eventsOf(cairn, 'cairn.context.packed', box_id)).toMatchObject([
      { profile_name: PROFILE, source_agent_id: 'planner', length: 3, box_ids: ['x'] },
    ]);
  });

  it('PACK-13 an inherited box must be visible to who packs: its own, or granted', async () => {
    const cairn = await withProfile(test());
    const tenant = await tenantOf(cairn);
    await boxOf(cairn, 'of-ann', ['1'], 'ann');
    await anyBoxOf(cairn, 'of-all', ['2']);
    const ann = await test().as({ tenant, agent: 'ann', role: 'write' });
    const bob = await test().as({ tenant, agent: 'bob', role: 'write' });
    const by = (source_agent_id: string, input_box_ids: unknown): Packing => ({
      ...packing({ input_box_ids }, boxesFrom('input_box_ids')),
      source_agent_id,
    });
    const refused = { code: 'FORBIDDEN', status: 403, details: { rule: 'box_owner_or_grant', box_id: 'of-ann' } };
    expect((await ann.pmo.pack_context(by('ann', 'of-ann'))).attached_card_ids).toEqual(['of-ann-1']);
    await expectNothingWritten(test(), cairn, async () => {
      expect(await refusalOf(bob.pmo.pack_context(by('bob', ['of-ann'])))).toMatchObject(refused);
      // A key without an agent packs as the agent that it names.
      expect(await refusalOf(cairn.pmo.pack_context(by('bob', ['of-ann'])))).toMatchObject(refused);
      expect(await refusalOf(bob.pmo.pack_context(by('bob', 'of-all')))).toMatchObject({
        details: { rule: 'box_owner_or_grant', box_id: 'of-all' },
      });
      expect(await refusalOf(bob.pmo.pack_context(by('ann', 'of-ann')))).toMatchObject({
        code: 'FORBIDDEN',
        details: { rule: 'key_agent' },
      });
    });
    await ann.boxes.grant({ box_id: 'of-ann', agent_id: 'bob' });
    const { context_box_id } = await bob.pmo.pack_context(by('bob', ['of-ann']));
    expect(await wordsIn(bob, context_box_id)).toEqual(['1']);
    expect((await refusalOf(ann.boxes.cards({ box_id: context_box_id }))).code).toBe('FORBIDDEN');
  });

  it('PACK-14 what is gone is not packed; what was packed stays when its source goes', async () => {
    const cairn = await withProfile(test());
    await boxOf(cairn, 'x', ['1', '2', '3']);
    const cards = [{ card_id: 'x-4', content: '4', ttl_seconds: 60 }];
    await cairn.cards.add_batch({ cards });
    await cairn.boxes.append({ box_id: 'x', card_ids: ['x-4'] });
    await cairn.cards.delete({ card_id: 'x-2' });
    const pack = () => cairn.pmo.pack_context(packing({ a: 'x' }, boxesFrom('a')));
    const before = await pack();
    expect(before.attached_card_ids).toEqual(['x-1', 'x-3', 'x-4']);
    await cairn.cards.delete({ card_id: 'x-1' });
    test().advance(61_000);
    await cairn.lifetime.sweep();
    expect((await pack()).attached_card_ids).toEqual(['x-3']);
    expect(await wordsIn(cairn, before.context_box_id)).toEqual(['1', '3', '4']);
  });

  it('PACK-15 the same request with a key is packed once, and another with it is refused', async () => {
    const cairn = await withProfile(test());
    const options = { idempotency_key: 'pack-1' };
    const first = await cairn.pmo.pack_context(packing({ instruction: 'do' }), options);
    await expectNothingWritten(test(), cairn, async () => {
      expect(await cairn.pmo.pack_context(packing({ instruction: 'do' }), options)).toEqual(first);
      expect(await refusalOf(cairn.pmo.pack_context(packing({ instruction: 'else' }), options))).toMatchObject({
        code: 'IDEMPOTENCY_CONFLICT',
      });
    });
  });

  it('PACK-16 boxes with more than 100,000 cards together are refused', async () => {
    const cairn = await withProfile(test());
    const tenant = await tenantOf(cairn);
    for (const box_id of ['x', 'y']) await boxOf(cairn, box_id, ['1']);
    await test().store.driver.write(tenant, (tx) =>
      tx.run(sql`UPDATE boxes SET length = 50001 WHERE tenant_id = ${tenant} AND agent_id = 'planner'`),
    );
    await expectNothingWritten(test(), cairn, async () => {
      expect(await refusalOf(cairn.pmo.pack_context(packing({ a: ['x', 'y'] }, boxesFrom('a'))))).toMatchObject({
        code: 'TOO_LARGE',
        details: { cards: 100_002, limit: 100_000 },
      });
    });
  });

  it('PACK-16 an argument that makes too large a card is refused by its name', async () => {
    const cairn = await withProfile(test());
    const rules = [{ arg_key: 'ok' }, { arg_key: 'long' }];
    await expectNothingWritten(test(), cairn, async () => {
      const given = { ok: 'x', long: 'x'.repeat(1024 * 1024) };
      const refused = await refusalOf(cairn.pmo.pack_context(packing(given, config({ pack_arguments: rules }))));
      expect(refused).toMatchObject({ code: 'TOO_LARGE', message: expect.stringContaining('arguments.long') });
    });
  });
});

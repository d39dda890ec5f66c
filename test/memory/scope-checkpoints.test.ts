import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { tenantOf } from '../support/nouns/hierarchy.js';
import { contentsOf, eventsOf, say, someScope, wordsLeft } from '../support/nouns/scopes.js';
import { latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const STATE = Buffer.from([0, 255, 7, 128]).toString('base64');
const notRecoverable = { code: 'NOT_RECOVERABLE', status: 409 };

/** A scope with some turns, of one token each, and their words. */
async function talk(cairn: Api, words: readonly string[], more: object = {}) {
  const scope = await someScope(cairn, more);
  const ids: string[] = [];
  for (const word of words) ids.push((await say(cairn, scope.scope_id, word)).turn_id);
  return { ...scope, ids };
}

onEveryTarget('checkpoints of scopes', (test) => {
  it('SCOPE-9 the state is base64, a list of bytes, or bytes as a program has them; it is answered as base64', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await talk(cairn, ['one']);
    const bytes = [0, 255, 7, 128];
    const inJson = JSON.parse(JSON.stringify({ a: new Uint8Array(bytes), b: Buffer.from(bytes) })) as {
      a: number[];
      b: number[];
    };
    for (const context_state of [bytes, new Uint8Array(bytes), Buffer.from(bytes), inJson.a, inJson.b, STATE]) {
      const { checkpoint } = await cairn.scopes.checkpoint({ scope_id, context_state });
      expect(checkpoint!.context_state).toBe(STATE);
    }
    const empty = await cairn.scopes.checkpoint({ scope_id, context_state: [] });
    expect(empty.checkpoint!.context_state).toBe('');
    for (const wrong of [[256], [-1], [1.5], ['1'], 'no base64!', { 0: 1, 2: 1 }, 7])
      expect(await refusalOf(cairn.scopes.checkpoint({ scope_id, context_state: wrong as never }))).toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringMatching(/context_state: must be base64 text or a list of bytes/),
      });
  });

  it('SCOPE-9 a checkpoint keeps how the scope is now, with its opaque state', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, trajectory_id } = await talk(cairn, ['one', 'two']);
    const made = await cairn.scopes.checkpoint({ scope_id, context_state: STATE });
    const checkpoint = {
      context_state: STATE,
      recoverable: true,
      tokens_used: 2,
      turns: 2,
      created_at: expect.stringMatching(/Z$/),
    };
    expect(made).toMatchObject({ scope_id, is_active: true, checkpoint });
    await say(cairn, scope_id, 'three');
    expect(await cairn.scopes.get({ scope_id })).toMatchObject({ turns: 3, tokens_used: 3, checkpoint });
    expect((await cairn.scopes.list({})).scopes[0]!.checkpoint).toEqual(checkpoint);
    const told = await eventsOf(cairn, 'cairn.scope.checkpointed', scope_id);
    expect(told).toMatchObject([{ turns: 2, tokens_used: 2, recoverable: true }]);
    const { packets } = await cairn.packets.thread({ thread_id: trajectory_id });
    expect(JSON.stringify(packets)).not.toContain(STATE);
  });

  it('SCOPE-9 a new checkpoint takes the place of the one before', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await talk(cairn, ['one']);
    await cairn.scopes.checkpoint({ scope_id, context_state: STATE });
    await say(cairn, scope_id, 'two');
    const { checkpoint } = await cairn.scopes.checkpoint({ scope_id });
    expect(checkpoint).toMatchObject({ context_state: null, turns: 2, tokens_used: 2 });
    const restored = await cairn.scopes.restore({ scope_id });
    expect(restored.context_state).toBeNull();
    expect(await contentsOf(cairn, restored.scope_id)).toEqual(['one', 'two']);
    // Those of the checkpoint before belong to the open scope, so nothing of it is gone.
    await cairn.lifetime.sweep();
    expect(await contentsOf(cairn, scope_id)).toEqual(['one', 'two']);
  });

  it('SCOPE-9 the state is base64 of 1 MiB at most', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn);
    const invalid = { code: 'INVALID_INPUT', status: 400 };
    const large = Buffer.alloc(1024 * 1024 + 3).toString('base64');
    for (const context_state of ['no base64!', large])
      expect(await refusalOf(cairn.scopes.checkpoint({ scope_id, context_state }))).toMatchObject(invalid);
    const context_state = Buffer.alloc(1024 * 1024).toString('base64');
    const { checkpoint } = await cairn.scopes.checkpoint({ scope_id, context_state });
    expect(checkpoint!.context_state).toHaveLength(context_state.length);
  });

  it('SCOPE-9 over HTTP a list of bytes is for less than 200,000, base64 for more', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await someScope(cairn);
    const kept = async (length: number) => {
      const context_state = Array<number>(length).fill(7);
      const { checkpoint } = await cairn.scopes.checkpoint({ scope_id, context_state });
      return Buffer.from(checkpoint!.context_state!, 'base64').length;
    };
    expect(await kept(199_000)).toBe(199_000);
    if (test().url === undefined) expect(await kept(200_000)).toBe(200_000);
    else expect(await refusalOf(kept(200_000))).toMatchObject({ code: 'TOO_LARGE', status: 413 });
  });

  it('SCOPE-10 restoring an open scope makes a new one as of the checkpoint; neither sees the other', async () => {
    const cairn = await test().freshTenant();
    const words = { purpose: 'why', metadata: { a: 1 }, threshold_percent: 90, enforce: true, agent_id: 'ann' };
    const old = await talk(cairn, ['one', 'two'], { token_budget: 10, ...words });
    const { scope_id } = old;
    await cairn.scopes.checkpoint({ scope_id, context_state: STATE });
    await say(cairn, scope_id, 'three');
    const restored = await cairn.scopes.restore({ scope_id });
    expect(restored).toMatchObject({
      ...words,
      name: 'scope',
      token_budget: 10,
      trajectory_id: old.trajectory_id,
      parent_scope_id: null,
      restored_from: scope_id,
      context_state: STATE,
      tokens_used: 2,
      turns: 2,
      is_active: true,
      checkpoint: null,
    });
    expect(restored.scope_id).not.toBe(scope_id);
    expect(restored.box_id).not.toBe(old.box_id);
    const { context_state: _, ...shown } = restored;
    expect(await cairn.scopes.get({ scope_id: restored.scope_id })).toEqual(shown);
    const mine = await say(cairn, restored.scope_id, 'another');
    expect(mine).toMatchObject({ sequence: 3, budget: { tokens_used: 3 } });
    await say(cairn, scope_id, 'four');
    expect(await contentsOf(cairn, scope_id)).toEqual(['one', 'two', 'three', 'four']);
    const { turns, total } = await cairn.scopes.turns({ scope_id: restored.scope_id, limit: 2 });
    expect(turns.map((turn) => [turn.scope_id, turn.sequence, turn.turn_id])).toEqual(
      old.ids.map((id, i) => [restored.scope_id, i + 1, id]),
    );
    expect(total).toBe(3);
    const tail = await cairn.scopes.turns({ scope_id: restored.scope_id, tail: 2 });
    expect(tail.turns.map(({ content }) => content)).toEqual(['two', 'another']);
    expect(await cairn.turns.get({ turn_id: old.ids[0]! })).toMatchObject({ scope_id, sequence: 1 });
    expect(await cairn.turns.get({ turn_id: mine.turn_id })).toMatchObject({ scope_id: restored.scope_id });
  });

  it('SCOPE-10 name and budget can be given anew; a threshold that is reached from the start is told', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, trajectory_id } = await talk(cairn, ['one', 'two']);
    await cairn.scopes.checkpoint({ scope_id });
    const restored = await cairn.scopes.restore({ scope_id, name: 'again', token_budget: 2 });
    expect(restored).toMatchObject({ name: 'again', token_budget: 2, context_state: null });
    expect(restored.threshold_reached_at).not.toBeNull();
    const { packets } = await cairn.packets.thread({ thread_id: trajectory_id });
    expect(packets.slice(-2).map(({ packet_type }) => packet_type)).toEqual([
      'cairn.scope.restored',
      'cairn.scope.threshold',
    ]);
    await say(cairn, restored.scope_id, 'three');
    expect(await eventsOf(cairn, 'cairn.scope.threshold', restored.scope_id)).toHaveLength(1);
    expect(await eventsOf(cairn, 'cairn.scope.threshold', scope_id)).toHaveLength(0);
  });

  it('SCOPE-10 the same Idempotency-Key makes one checkpoint and restores once', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await talk(cairn, ['one']);
    const made = await cairn.scopes.checkpoint({ scope_id, context_state: STATE }, { idempotency_key: 'c' });
    expect(await cairn.scopes.checkpoint({ scope_id, context_state: STATE }, { idempotency_key: 'c' })).toEqual(made);
    expect(await eventsOf(cairn, 'cairn.scope.checkpointed', scope_id)).toHaveLength(1);
    const restored = await cairn.scopes.restore({ scope_id }, { idempotency_key: 'r' });
    const before = await latestToken(cairn);
    expect(await cairn.scopes.restore({ scope_id }, { idempotency_key: 'r' })).toEqual(restored);
    expect(await latestToken(cairn)).toBe(before);
    expect((await cairn.scopes.list({})).total).toBe(2);
    // What another checkpoint says was never an answer to this request.
    await cairn.scopes.checkpoint({ scope_id, context_state: 'b3RoZXI=' });
    expect(await cairn.scopes.restore({ scope_id }, { idempotency_key: 'r' })).toEqual({
      ...restored,
      context_state: null,
    });
  });

  it('SCOPE-10 a closed scope can be restored from its checkpoint, again and again', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, ids } = await talk(cairn, ['one', 'two']);
    await cairn.scopes.checkpoint({ scope_id, context_state: STATE });
    await say(cairn, scope_id, 'three');
    const answer = await cairn.scopes.close({ scope_id, wait: true });
    expect(answer).toMatchObject({
      checkpoint: { context_state: STATE, recoverable: true },
      erasure: { state: 'done', erased: 1, kept: 2 },
      kept_by: [{ kind: 'checkpoint', id: scope_id, turns: 2 }],
    });
    expect(await refusalOf(cairn.turns.get({ turn_id: ids[0]! }))).toMatchObject({ code: 'TURN_NOT_FOUND' });
    for (let i = 0; i < 2; i++) {
      const restored = await cairn.scopes.restore({ scope_id });
      expect(restored).toMatchObject({ tokens_used: 2, turns: 2, context_state: STATE });
      expect(await contentsOf(cairn, restored.scope_id)).toEqual(['one', 'two']);
      expect((await say(cairn, restored.scope_id, 'more')).sequence).toBe(3);
      expect(await cairn.turns.get({ turn_id: ids[1]! })).toMatchObject({
        scope_id: restored.scope_id,
        sequence: 2,
        content: 'two',
      });
      const { cards, missing_card_ids } = await cairn.boxes.cards({ box_id: restored.box_id });
      expect(cards.map(({ content }) => content)).toEqual(['one', 'two', 'more']);
      expect(missing_card_ids).toEqual([]);
      await cairn.scopes.close({ scope_id: restored.scope_id, wait: true });
    }
  });

  it('SCOPE-11 without a recoverable checkpoint there is nothing to restore', async () => {
    const cairn = await test().freshTenant();
    const { scope_id } = await talk(cairn, ['one']);
    expect(await refusalOf(cairn.scopes.restore({ scope_id }))).toMatchObject(notRecoverable);
    const made = await cairn.scopes.checkpoint({ scope_id, context_state: STATE, recoverable: false });
    expect(made.checkpoint).toMatchObject({ context_state: STATE, recoverable: false, turns: 1 });
    expect(await refusalOf(cairn.scopes.restore({ scope_id }))).toMatchObject(notRecoverable);
    const answer = await cairn.scopes.close({ scope_id, wait: true });
    expect(answer).toMatchObject({ checkpoint: null, kept_by: [], erasure: { erased: 1, kept: 0 } });
    expect(await refusalOf(cairn.scopes.restore({ scope_id }))).toMatchObject(notRecoverable);
    expect((await cairn.scopes.list({})).total).toBe(1);
  });

  it('SCOPE-11 nothing is restored into a finished trajectory, or from another tenant', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, trajectory_id } = await talk(cairn, ['one']);
    await cairn.scopes.checkpoint({ scope_id });
    const stranger = await test().freshTenant();
    expect(await refusalOf(stranger.scopes.restore({ scope_id }))).toMatchObject({ status: 404 });
    await cairn.trajectories.update({ trajectory_id, status: 'Failed' });
    expect(await refusalOf(cairn.scopes.restore({ scope_id }))).toMatchObject({ code: 'STATE_CONFLICT' });
  });

  it('CLOSE-6 what a checkpoint that is replaced kept is erased with the scope', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const { scope_id } = await talk(cairn, ['quokka']);
    await cairn.scopes.checkpoint({ scope_id, context_state: STATE });
    await cairn.scopes.checkpoint({ scope_id, recoverable: false });
    const answer = await cairn.scopes.close({ scope_id, wait: true });
    expect(answer).toMatchObject({ erasure: { state: 'done', erased: 1, kept: 0 }, kept_by: [] });
    expect(await wordsLeft(test().store, tenant, 'cards', ['quokka'])).toEqual([]);
  });

  it('CLOSE-6 a restored scope keeps the turns of a closed one until it is closed itself', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const { scope_id, ids } = await talk(cairn, ['quokka', 'wombat']);
    await cairn.scopes.checkpoint({ scope_id });
    await say(cairn, scope_id, 'numbat');
    const restored = await cairn.scopes.restore({ scope_id });
    await say(cairn, restored.scope_id, 'bilby');
    await cairn.scopes.checkpoint({ scope_id, recoverable: false });
    const first = await cairn.scopes.close({ scope_id, wait: true });
    expect(first).toMatchObject({
      erasure: { erased: 1, kept: 2 },
      kept_by: [{ kind: 'scope', id: restored.scope_id, turns: 2 }],
    });
    const words = ['quokka', 'wombat', 'numbat', 'bilby'];
    expect(await wordsLeft(test().store, tenant, 'cards', words)).toEqual(['quokka', 'wombat', 'bilby']);
    expect(await contentsOf(cairn, restored.scope_id)).toEqual(['quokka', 'wombat', 'bilby']);
    const last = await cairn.scopes.close({ scope_id: restored.scope_id, wait: true });
    expect(last).toMatchObject({ erasure: { state: 'done', erased: 3, kept: 0 }, kept_by: [] });
    expect(await wordsLeft(test().store, tenant, 'cards', words)).toEqual([]);
    expect((await cairn.scopes.close({ scope_id })).kept_by).toEqual([]);
    for (const turn_id of ids)
      expect(await refusalOf(cairn.turns.get({ turn_id }))).toMatchObject({ code: 'TURN_NOT_FOUND' });
  });

  it('CLOSE-6 the checkpoint of a restored scope keeps the turns of the closed scope before it', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const first = await talk(cairn, ['quokka']);
    await cairn.scopes.checkpoint({ scope_id: first.scope_id });
    const second = await cairn.scopes.restore({ scope_id: first.scope_id });
    await say(cairn, second.scope_id, 'wombat');
    await cairn.scopes.checkpoint({ scope_id: first.scope_id, recoverable: false });
    await cairn.scopes.close({ scope_id: first.scope_id, wait: true });
    await cairn.scopes.checkpoint({ scope_id: second.scope_id });
    const answer = await cairn.scopes.close({ scope_id: second.scope_id, wait: true });
    expect(answer).toMatchObject({
      erasure: { erased: 0, kept: 2 },
      kept_by: [{ kind: 'checkpoint', id: second.scope_id, turns: 2 }],
    });
    const third = await cairn.scopes.restore({ scope_id: second.scope_id });
    expect(await contentsOf(cairn, third.scope_id)).toEqual(['quokka', 'wombat']);
    expect(await wordsLeft(test().store, tenant, 'cards', ['quokka', 'wombat'])).toHaveLength(2);
  });

  it('CLOSE-6 closing a restored scope leaves the turns to the open scope that they came from', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, box_id } = await talk(cairn, ['one', 'two']);
    await cairn.scopes.checkpoint({ scope_id });
    const restored = await cairn.scopes.restore({ scope_id });
    await say(cairn, restored.scope_id, 'mine');
    await cairn.scopes.checkpoint({ scope_id, recoverable: false });
    const answer = await cairn.scopes.close({ scope_id: restored.scope_id, wait: true });
    expect(answer).toMatchObject({
      erasure: { erased: 1, kept: 2 },
      kept_by: [{ kind: 'scope', id: scope_id, turns: 2 }],
    });
    expect(await contentsOf(cairn, scope_id)).toEqual(['one', 'two']);
    expect((await cairn.boxes.cards({ box_id })).cards).toHaveLength(2);
  });

  it('CLOSE-6 what a restored scope keeps is read through it alone', async () => {
    const cairn = await test().freshTenant();
    const { scope_id, ids } = await talk(cairn, ['one']);
    await cairn.scopes.checkpoint({ scope_id });
    const restored = await cairn.scopes.restore({ scope_id });
    const fork = await cairn.boxes.fork({ box_id: restored.box_id });
    await cairn.scopes.close({ scope_id, wait: true });
    await cairn.boxes.seal({ box_id: fork.box_id });
    expect(await contentsOf(cairn, restored.scope_id)).toEqual(['one']);
    expect((await cairn.boxes.cards({ box_id: fork.box_id })).missing_card_ids).toEqual(ids);
    expect(await refusalOf(cairn.cards.get({ card_id: ids[0]! }))).toMatchObject({ status: 410 });
    expect(await refusalOf(say(cairn, restored.scope_id, 'one', { turn_id: ids[0]! }))).toMatchObject({
      code: 'ENTITY_GONE',
    });
    expect(await refusalOf(cairn.turns.get({ turn_id: randomUUID() }))).toMatchObject({ status: 404 });
  });
});

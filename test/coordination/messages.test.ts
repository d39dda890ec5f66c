import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { openPost, payloads } from '../support/nouns/messages.js';
import { onEveryStreamTarget, onEveryTarget, refusalOf } from '../support/targets.js';

const HOUR_MS = 3_600_000;
const forbidden = (rule: string) => ({ code: 'FORBIDDEN', status: 403, details: { rule } });

onEveryStreamTarget('messages', (test) => {
  const inAnHour = () => new Date(test().store.driver.now() + HOUR_MS).toISOString();

  describe('sending', () => {
    it('MSG-1 reads back what was sent, to an agent that need not be registered', async () => {
      const { cairn } = await openPost(test());
      const { trajectory_id } = await cairn.trajectories.create({ name: 'task' });
      const { scope_id } = await cairn.scopes.create({ trajectory_id, name: 'work' });
      const { artifact_id } = await cairn.artifacts.create({
        trajectory_id,
        artifact_type: 'Fact',
        name: 'fact',
        content: 1,
      });
      const input = {
        message_id: randomUUID(),
        from_agent_id: 'ann',
        to_agent_id: 'nobody yet',
        message_type: 'ask',
        payload: '{"a": 1}',
        scope_id,
        artifact_ids: [artifact_id],
        expires_at: inAnHour(),
      };
      const sent = await cairn.messages.send({ ...input, priority: 'URGENT' });
      expect(sent).toEqual({
        ...input,
        trajectory_id,
        to_agent_type: null,
        fan_out: 'one',
        priority: 'urgent',
        seq: expect.any(Number),
        created_at: expect.any(String),
        recipients: 1,
        acknowledged: 0,
        acknowledged_at: null,
      });
      expect(await cairn.messages.get({ message_id: sent.message_id })).toEqual(sent);
      const { packets } = await cairn.packets.list({ packet_type: 'cairn.message.sent' });
      expect(packets).toMatchObject([{ seq: sent.seq, thread_id: trajectory_id }]);
      expect(JSON.stringify(packets)).not.toContain('"a"');
    });

    it('MSG-2 goes to either an agent or a type, and comes of the agent of the key', async () => {
      const post = await openPost(test());
      const both = { to_agent_id: 'bob', to_agent_type: 'reviewer' };
      const rest = { message_type: 'ask', payload: '' };
      for (const input of [both, {}, { to_agent_id: 'bob', fan_out: 'one' as const }])
        expect(await refusalOf(post.cairn.messages.send({ ...input, ...rest }))).toMatchObject({
          code: 'INVALID_INPUT',
        });
      const ann = await post.as('ann');
      expect(await ann.messages.send({ to_agent_id: 'bob', ...rest })).toMatchObject({ from_agent_id: 'ann' });
      const forged = { from_agent_id: 'bob', to_agent_id: 'bob', ...rest };
      expect(await refusalOf(ann.messages.send(forged))).toMatchObject(forbidden('key_agent'));
      expect(await post.cairn.messages.send({ to_agent_id: 'bob', ...rest })).toMatchObject({ from_agent_id: null });
    });

    it('MSG-3 refuses what names something that is not there, and a time that is over', async () => {
      const post = await openPost(test());
      const { trajectory_id } = await post.cairn.trajectories.create({ name: 'task' });
      const other = await post.cairn.trajectories.create({ name: 'other' });
      const { scope_id } = await post.cairn.scopes.create({ trajectory_id, name: 'work' });
      const missing = randomUUID();
      for (const more of [{ trajectory_id: missing }, { scope_id: missing }, { artifact_ids: [missing] }])
        expect(await refusalOf(post.send('x', more))).toMatchObject({
          code: 'UNKNOWN_ENTITY',
          status: 400,
          details: { missing_ids: [missing] },
        });
      const elsewhere = { scope_id, trajectory_id: other.trajectory_id };
      expect(await refusalOf(post.send('x', elsewhere))).toMatchObject({ code: 'UNKNOWN_ENTITY' });
      const over = { expires_at: new Date(test().store.driver.now() - 1).toISOString() };
      expect(await refusalOf(post.send('x', over))).toMatchObject({ code: 'INVALID_INPUT' });
      expect(await post.cairn.messages.list()).toMatchObject({ messages: [], total: 0 });
    });

    it('MSG-4 the same message_id gives the same message, or a conflict, also when sent at once', async () => {
      const post = await openPost(test());
      const message_id = randomUUID();
      const sent = await Promise.all([1, 2, 3].map(() => post.send('once', { message_id })));
      expect(sent[1]).toEqual(sent[0]);
      expect(sent[2]).toEqual(sent[0]);
      expect(sent[0]).toMatchObject({ recipients: 1, seq: expect.any(Number) });
      expect(await post.cairn.messages.get({ message_id })).toEqual(sent[0]);
      expect(await refusalOf(post.send('other', { message_id }))).toMatchObject({ code: 'ENTITY_ALREADY_EXISTS' });
      const key = { idempotency_key: 'once' };
      const input = { to_agent_id: 'bob', message_type: 'note', payload: 'keyed' };
      const keyed = await Promise.all([1, 2].map(() => post.cairn.messages.send(input, key)));
      expect(keyed[1]).toEqual(keyed[0]);
      expect(await post.take('bob')).toEqual(['once', 'keyed']);
    });

    it('MSG-5 to a type goes to one of its agents, or to each that is registered', async () => {
      const post = await openPost(test());
      await post.register('reviewer', 'r1', 'r2');
      await post.register('writer', 'w1');
      await post.send('for one', { to_agent_type: 'reviewer' });
      expect(await post.send('for all', { to_agent_type: 'reviewer', fan_out: 'all' })).toMatchObject({
        recipients: 2,
      });
      expect(await post.send('for none', { to_agent_type: 'tester', fan_out: 'all' })).toMatchObject({
        recipients: 0,
        acknowledged_at: null,
      });
      expect(await post.take('w1')).toEqual([]);
      expect(await post.take('not registered')).toEqual([]);
      expect(await post.take('r1')).toEqual(['for one', 'for all']);
      expect(await post.take('r2')).toEqual(['for all']);
    });
  });

  describe('receiving', () => {
    it('MSG-6 hands out the most urgent first, then in order, to one reader for a time', async () => {
      const post = await openPost(test());
      await post.send('1');
      await post.send('2', { priority: 'low' });
      await post.send('3', { priority: 'critical' });
      await post.send('4');
      const before = test().store.driver.now();
      const { messages } = await post.cairn.messages.receive({ agent_id: 'bob', limit: 3, lease_ms: 60_000 });
      expect(payloads(messages)).toEqual(['3', '1', '4']);
      expect(messages[0]!.delivery).toMatchObject({ mailbox: 'agent:bob', attempt: 1, reader_id: 'bob' });
      const lease_ms = Date.parse(messages[0]!.delivery.lease_expires_at) - before;
      expect(lease_ms).toBeGreaterThanOrEqual(60_000);
      expect(lease_ms).toBeLessThan(70_000);
      expect(await post.take('bob')).toEqual(['2']);
      expect(await post.take('bob')).toEqual([]);
      expect(await refusalOf(post.cairn.messages.receive({}))).toMatchObject({ code: 'INVALID_INPUT' });
      const bob = await post.as('bob');
      expect(await refusalOf(bob.messages.receive({ agent_id: 'ann' }))).toMatchObject(forbidden('key_agent'));
    });

    it('MSG-7 hands out again what is not acknowledged in time, before what came later', async () => {
      const post = await openPost(test());
      await post.send('1');
      await post.send('2');
      expect(await post.take('bob', { limit: 1, lease_ms: 1000 })).toEqual(['1']);
      test().advance(1001);
      const { messages } = await post.cairn.messages.receive({ agent_id: 'bob' });
      expect(payloads(messages)).toEqual(['1', '2']);
      expect(messages.map(({ delivery }) => delivery.attempt)).toEqual([2, 1]);
    });

    it('MSG-8 keeps the order of a sender and priority between readers', async () => {
      const post = await openPost(test());
      await post.register('reviewer', 'r1', 'r2');
      const to = { to_agent_type: 'reviewer' };
      const first = await post.send('a1', to);
      await post.send('a2', to);
      await post.send('b1', { ...to, from_agent_id: 'ben' });
      await post.send('a3', { ...to, priority: 'high' });
      expect(await post.take('r1', { limit: 2 })).toEqual(['a3', 'a1']);
      // a2 waits for a1, which another has.
      expect(await post.take('r2')).toEqual(['b1']);
      expect(await post.take('r1', { reader_id: 'second' })).toEqual([]);
      expect(await post.take('r1', { limit: 1 })).toEqual(['a2']);
      await post.send('a4', to);
      await post.cairn.messages.acknowledge({ message_id: first.message_id, agent_id: 'r1' });
      expect(await post.take('r2')).toEqual([]);
      test().advance(30_001);
      expect(await post.take('r2')).toEqual(['a3', 'a2', 'b1', 'a4']);
    });

    it('MSG-8 gives nothing behind a message that another reader still has, though the first one is free again', async () => {
      const post = await openPost(test());
      await post.register('reviewer', 'r1', 'r2');
      const to = { to_agent_type: 'reviewer' };
      for (const payload of ['a1', 'a2', 'a3']) await post.send(payload, to);
      expect(await post.take('r1', { limit: 1, lease_ms: 1000 })).toEqual(['a1']);
      expect(await post.take('r1', { limit: 1, lease_ms: 60_000 })).toEqual(['a2']);
      test().advance(1001);
      expect(await post.take('r2')).toEqual(['a1']);
      expect(await post.take('r2')).toEqual([]);
      test().advance(60_000);
      expect(await post.take('r2')).toEqual(['a1', 'a2', 'a3']);
    });

    it('MSG-9 waits for a message, and for one that comes again', async () => {
      const post = await openPost(test());
      await post.register('reviewer', 'bob');
      for (const to of [{}, { to_agent_type: 'reviewer' }]) {
        const waiting = post.take('bob', { wait_ms: 20_000, lease_ms: 300 });
        await post.send('news', to);
        expect(await waiting).toEqual(['news']);
        const { messages } = await post.cairn.messages.receive({ agent_id: 'bob', wait_ms: 20_000 });
        expect(payloads(messages)).toEqual(['news']);
        const { message_id } = messages[0]!;
        await post.cairn.messages.acknowledge({ message_id, agent_id: 'bob' });
      }
      expect(await post.take('bob', { wait_ms: 50 })).toEqual([]);
    });

    it('MSG-10 gives the same messages for the same Idempotency-Key', async () => {
      const post = await openPost(test());
      const key = { idempotency_key: 'take' };
      expect(await post.cairn.messages.receive({ agent_id: 'bob' }, key)).toEqual({ messages: [] });
      await post.send('1');
      const taken = await post.cairn.messages.receive({ agent_id: 'bob' }, key);
      await post.send('2');
      expect(await post.cairn.messages.receive({ agent_id: 'bob' }, key)).toEqual(taken);
      expect(payloads(taken.messages)).toEqual(['1']);
    });
  });

  describe('acknowledging', () => {
    it('MSG-11 ends the delivery, once', async () => {
      const post = await openPost(test());
      const { message_id } = await post.send('1');
      await post.take('bob');
      const done = await post.cairn.messages.acknowledge({ message_id });
      expect(done).toMatchObject({ acknowledged: 1, acknowledged_at: expect.any(String) });
      expect(await post.cairn.messages.get({ message_id })).toEqual(done);
      expect(await refusalOf(post.cairn.messages.acknowledge({ message_id }))).toMatchObject({
        code: 'STATE_CONFLICT',
        status: 409,
      });
      test().advance(HOUR_MS);
      expect(await post.take('bob')).toEqual([]);
      const { packets } = await post.cairn.packets.list({ packet_type: 'cairn.message.acknowledged' });
      expect(packets).toMatchObject([{ payload: { agent_id: 'bob', entity: { id: message_id } } }]);
    });

    it('MSG-12 is up to those it went to', async () => {
      const post = await openPost(test());
      await post.register('reviewer', 'r1', 'r2');
      await post.register('writer', 'w1');
      const acknowledge = (message_id: string, agent_id?: string) =>
        post.cairn.messages.acknowledge({ message_id, ...(agent_id === undefined ? {} : { agent_id }) });
      const all = await post.send('all', { to_agent_type: 'reviewer', fan_out: 'all' });
      expect(await refusalOf(acknowledge(all.message_id))).toMatchObject({ code: 'INVALID_INPUT' });
      expect(await refusalOf(acknowledge(all.message_id, 'w1'))).toMatchObject(forbidden('message_recipient'));
      expect(await acknowledge(all.message_id, 'r1')).toMatchObject({ acknowledged: 1, acknowledged_at: null });
      expect(await refusalOf(acknowledge(all.message_id, 'r1'))).toMatchObject({ code: 'STATE_CONFLICT' });
      expect(await post.take('r1')).toEqual([]);
      const r2 = await post.as('r2');
      const named = { message_id: all.message_id, agent_id: 'r1' };
      expect(await refusalOf(r2.messages.acknowledge(named))).toMatchObject(forbidden('key_agent'));
      expect(await r2.messages.acknowledge({ message_id: all.message_id })).toMatchObject({ acknowledged: 2 });

      const unread = await post.send('unread', { to_agent_type: 'reviewer' });
      expect(await refusalOf(acknowledge(unread.message_id, 'w1'))).toMatchObject({ code: 'FORBIDDEN' });
      expect(await acknowledge(unread.message_id, 'r2')).toMatchObject({ acknowledged: 1 });
      const one = await post.send('one', { to_agent_type: 'reviewer' });
      expect(await post.take('r1')).toEqual(['one']);
      expect(await refusalOf(acknowledge(one.message_id, 'r2'))).toMatchObject(forbidden('message_recipient'));
      expect(await acknowledge(one.message_id, 'r1')).toMatchObject({ acknowledged: 1 });
      const none = await post.send('none', { to_agent_type: 'tester', fan_out: 'all' });
      expect(await refusalOf(acknowledge(none.message_id))).toMatchObject({ code: 'STATE_CONFLICT' });
      expect(await refusalOf(acknowledge(randomUUID()))).toMatchObject({ code: 'MESSAGE_NOT_FOUND' });
    });

    it('MSG-13 of a message that was handed on is good for whoever is first', async () => {
      const post = await openPost(test());
      await post.register('reviewer', 'r1', 'r2');
      for (const [first, second] of [
        ['r1', 'r2'],
        ['r2', 'r1'],
      ]) {
        const { message_id } = await post.send('x', { to_agent_type: 'reviewer' });
        expect(await post.take('r1', { lease_ms: 1000 })).toEqual(['x']);
        test().advance(1001);
        expect(await post.take('r2')).toEqual(['x']);
        const acknowledge = (agent_id: string) => post.cairn.messages.acknowledge({ message_id, agent_id });
        expect(await acknowledge(first!)).toMatchObject({ acknowledged: 1 });
        expect(await refusalOf(acknowledge(second!))).toMatchObject({ code: 'STATE_CONFLICT' });
      }
      expect(await post.take('r1')).toEqual([]);
    });
  });

  describe('reading', () => {
    it('MSG-14 lists in the order of sending, by what is asked for, and takes nothing', async () => {
      const post = await openPost(test());
      await post.register('reviewer', 'r1');
      const { trajectory_id } = await post.cairn.trajectories.create({ name: 'task' });
      const first = await post.send('1', { to_agent_id: 'r1' });
      await post.send('2', { to_agent_type: 'reviewer', from_agent_id: 'ben', message_type: 'ask' });
      await post.send('3', { to_agent_type: 'reviewer', fan_out: 'all', trajectory_id, priority: 'high' });
      await post.send('4');
      const shown = async (input: Parameters<Api['messages']['list']>[0]) => {
        const { messages, total } = await post.cairn.messages.list(input);
        expect(total).toBe(messages.length);
        return payloads(messages).join('');
      };
      expect(await shown({})).toBe('1234');
      expect(await shown({ to_agent: 'r1' })).toBe('123');
      expect(await shown({ to_agent: 'bob' })).toBe('4');
      expect(await shown({ to_agent_type: 'reviewer' })).toBe('23');
      expect(await shown({ from_agent_id: 'ben' })).toBe('2');
      expect(await shown({ message_type: 'note' })).toBe('134');
      expect(await shown({ trajectory_id })).toBe('3');
      await post.cairn.messages.acknowledge({ message_id: first.message_id });
      expect(await shown({ unacknowledged: true })).toBe('234');
      expect(await shown({ unacknowledged: true, to_agent: 'r1' })).toBe('23');
      const page = await post.cairn.messages.list({ to_agent: 'r1', limit: 2 });
      expect([payloads(page.messages), page.total]).toEqual([['1', '2'], 3]);
      const rest = await post.cairn.messages.list({ to_agent: 'r1', limit: 2, cursor: page.next_cursor! });
      expect([payloads(rest.messages), rest.next_cursor]).toEqual([['3'], null]);
      expect(payloads((await post.cairn.messages.list({ to_agent: 'r1', offset: 1 })).messages)).toEqual(['2', '3']);
      expect(await post.take('r1')).toEqual(['3', '2']);
    });

    it('MSG-15 shows an agent what it sent or what is for it, and no more', async () => {
      const post = await openPost(test());
      await post.register('reviewer', 'r1', 'r2');
      await post.send('by ann');
      await post.send('for the type', { to_agent_type: 'reviewer', from_agent_id: 'cid' });
      const own = await post.send('of r1', { to_agent_id: 'cid', from_agent_id: 'r1' });
      await post.send('to itself', { to_agent_id: 'r1', from_agent_id: 'r1' });
      const hidden = await post.send('for r2', { to_agent_id: 'r2', from_agent_id: 'cid' });
      const r1 = await post.as('r1');
      const { messages, total } = await r1.messages.list();
      expect([payloads(messages), total]).toEqual([['for the type', 'of r1', 'to itself'], 3]);
      expect(payloads((await r1.messages.list({ to_agent: 'r2' })).messages)).toEqual(['for the type']);
      expect(payloads((await r1.messages.list({ from_agent_id: 'cid' })).messages)).toEqual(['for the type']);
      expect(await r1.messages.get({ message_id: own.message_id })).toEqual(own);
      const { message_id } = hidden;
      expect(await refusalOf(r1.messages.get({ message_id }))).toMatchObject({ code: 'MESSAGE_NOT_FOUND' });
      expect(await refusalOf(r1.messages.acknowledge({ message_id }))).toMatchObject({ code: 'MESSAGE_NOT_FOUND' });
    });

    it('MSG-16 streams messages as they come, and those again that were not acknowledged', async () => {
      const post = await openPost(test());
      await post.send('before');
      const stop = new AbortController();
      const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(20_000)]);
      const items = post.cairn.messages.stream({ agent_id: 'bob', lease_ms: 300 }, { signal });
      const seen: string[] = [];
      for await (const { token, message } of items) {
        expect(token).toMatch(/^[0-9a-f]{16}\.\d+$/);
        if (message === null) continue;
        expect(token.split('.')[1]).toBe(String(message.seq));
        seen.push(`${message.payload} ${message.delivery.attempt}`);
        if (seen.length === 1) await post.send('after');
        if (message.delivery.attempt === 2) await post.cairn.messages.acknowledge({ message_id: message.message_id });
        if (seen.includes('before 2') && seen.includes('after 2')) break;
      }
      stop.abort();
      expect(seen.filter((one) => one.startsWith('before')).slice(0, 2)).toEqual(['before 1', 'before 2']);
      expect(seen.filter((one) => one.startsWith('after')).slice(0, 2)).toEqual(['after 1', 'after 2']);
      expect(seen[0]).toBe('before 1');
      const bad = post.cairn.messages.stream({ agent_id: 'bob', after: 'somewhere' });
      const opening = bad[Symbol.asyncIterator]().next();
      expect(await refusalOf(opening)).toMatchObject({ code: 'INVALID_CURSOR' });
    });
  });

  it('MSG-16 an agent that was unregistered gets no more messages, by its stream or while it waits', async () => {
    const post = await openPost(test());
    const bob = await post.as('bob');
    const seen: unknown[] = [];
    const stop = AbortSignal.timeout(15_000);
    const streaming = (async () => {
      for await (const { message } of bob.messages.stream({}, { signal: stop })) seen.push(message?.payload ?? null);
    })();
    const refusals = [streaming, bob.messages.receive({ wait_ms: 15_000 })].map(refusalOf);
    for (const refusal of refusals) refusal.catch(() => undefined);
    await expect.poll(() => seen).toEqual([null]);
    await post.cairn.agents.unregister({ agent_id: 'bob' });
    await post.send('after');
    for (const refusal of refusals) expect(await refusal).toMatchObject(forbidden('agent_registered'));
    expect(seen).toEqual([null]);
  });

  describe('ending', () => {
    it('MSG-17 an expired message is gone at once, and swept', async () => {
      const post = await openPost(test());
      await post.register('reviewer', 'bob', 'r2');
      const { trajectory_id } = await post.cairn.trajectories.create({ name: 'task' });
      const message_id = randomUUID();
      const soon = { message_id, expires_at: inAnHour(), trajectory_id };
      await post.send('secret', soon);
      const all = await post.send('all', { to_agent_type: 'reviewer', fan_out: 'all', expires_at: inAnHour() });
      await post.send('stays');
      expect(await post.take('bob', { lease_ms: 2 * HOUR_MS })).toEqual(['secret', 'all', 'stays']);
      test().advance(HOUR_MS + 1);
      const gone = async () => {
        for (const id of [message_id, all.message_id])
          for (const refused of [post.cairn.messages.get, post.cairn.messages.acknowledge])
            expect(await refusalOf(refused({ message_id: id }))).toMatchObject({ code: 'MESSAGE_NOT_FOUND' });
        expect(await refusalOf(post.send('secret', soon))).toMatchObject({ code: 'ENTITY_GONE', status: 410 });
        expect(payloads((await post.cairn.messages.list()).messages)).toEqual(['stays']);
        expect((await post.cairn.messages.list({ to_agent: 'bob' })).total).toBe(1);
        expect(await post.take('r2')).toEqual([]);
      };
      await gone();
      expect(await post.cairn.lifetime.sweep()).toMatchObject({ messages_erased: 2 });
      expect(await post.cairn.lifetime.sweep()).toMatchObject({ messages_erased: 0 });
      const { packets } = await post.cairn.packets.list({ packet_type: 'cairn.lifetime.swept' });
      expect(packets).toMatchObject([{ payload: { messages_erased: 2 } }]);
      await gone();
    });

    it('MSG-18 deleting a trajectory erases the messages that name it, or what is below it', async () => {
      const post = await openPost(test());
      const { trajectory_id } = await post.cairn.trajectories.create({ name: 'task' });
      const part = await post.cairn.trajectories.create({ name: 'part', parent_trajectory_id: trajectory_id });
      const { scope_id } = await post.cairn.scopes.create({ trajectory_id: part.trajectory_id, name: 'work' });
      const about = [await post.send('1', { trajectory_id }), await post.send('2', { scope_id })];
      await post.send('3');
      expect(await post.take('bob', { limit: 1 })).toEqual(['1']);
      await post.cairn.trajectories.delete({ trajectory_id });
      for (const { message_id } of about)
        expect(await refusalOf(post.cairn.messages.get({ message_id }))).toMatchObject({ code: 'MESSAGE_NOT_FOUND' });
      expect(await post.take('bob')).toEqual(['3']);
      expect(payloads((await post.cairn.messages.list()).messages)).toEqual(['3']);
      const again = { message_id: about[0]!.message_id };
      expect(await refusalOf(post.send('1', again))).toMatchObject({ code: 'ENTITY_GONE' });
      expect(await refusalOf(post.send('4', { trajectory_id }))).toMatchObject({ code: 'UNKNOWN_ENTITY' });
    });
  });
});

onEveryTarget(
  'messages that are large',
  (test) => {
    it('MSG-6 are handed out as far as they fit into an answer, and the others are not on their way', async () => {
      const post = await openPost(test());
      for (const name of ['1', '2', '3']) await post.send(name.repeat(600));
      for (const name of ['1', '2', '3']) expect(await post.take('bob')).toEqual([name.repeat(600)]);
      expect(await post.take('bob')).toEqual([]);
    });
  },
  { limits: { max_answer_bytes: 1000 } },
);

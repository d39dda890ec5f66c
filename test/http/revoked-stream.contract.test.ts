/** Streams and calls that wait end with their key. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { connectCairn } from '#cairn/client/index.js';
import { openTarget, refusalOf } from '../support/targets.js';

it('KEY-5 a stream shows nothing more once its key is revoked', async () => {
  const test = await openTarget('http');
  try {
    const { key, key_id } = await test.cairn.keys.create({ role: 'read' });
    const reader = connectCairn({ url: test.url!, key });
    const seen: number[] = [];
    const reading = (async () => {
      for await (const { packet } of reader.events.follow({ after: '0' })) if (packet) seen.push(packet.seq);
    })();
    reading.catch(() => undefined);
    await expect.poll(() => seen.length).toBeGreaterThan(0);

    await test.cairn.keys.revoke({ key_id });
    await sleep(1100);
    const before = seen.length;
    await test.cairn.packets.write({ packet_type: 'secret', payload: {} });
    expect(await refusalOf(reading)).toMatchObject({ code: 'UNAUTHORIZED', status: 401 });
    expect(seen).toHaveLength(before);
    await reader.close();
  } finally {
    await test.close();
  }
});

it('KEY-5 a call that waits is not answered once its key is revoked', async () => {
  const test = await openTarget('http');
  try {
    const { execution_id } = await test.cairn.executions.create({});
    const { pause_id } = await test.cairn.pauses.create({ execution_id, question: 'Deploy?' });
    const { key, key_id } = await test.cairn.keys.create({ role: 'read' });
    const client = connectCairn({ url: test.url!, key });
    const [refused, answered] = [client, test.cairn].map((one) => one.pauses.get({ pause_id, wait_ms: 20_000 }));
    const refusal = refusalOf(refused!);
    await sleep(1100);
    await test.cairn.keys.revoke({ key_id });
    await test.cairn.pauses.answer({ pause_id, action: 'approve', comment: 'secret' });
    expect(await refusal).toMatchObject({ code: 'UNAUTHORIZED', status: 401 });
    expect(await answered).toMatchObject({ answer: { comment: 'secret' } });
    await client.close();
  } finally {
    await test.close();
  }
});

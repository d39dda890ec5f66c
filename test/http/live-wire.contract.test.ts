/** A live view as it is on the wire, for readers that have no client of ours. */
import { expect, it } from 'vitest';
import { startHttp } from '../support/http.js';
import { beginRun, snapshotOf } from '../support/nouns/executions.js';

it('EXEC-39 the state is an event `snapshot`, a change an event `changes`, and the id of either resumes behind it', async () => {
  const test = await startHttp('sqlite');
  try {
    const cairn = await test.admin('default');
    const add = await beginRun(cairn, 'run');
    const read = async (headers: Record<string, string>, until: string) => {
      const { text } = await test.send({ method: 'GET', path: '/api/v1/executions/run/live', headers }, until);
      return text
        .split('\n\n')
        .slice(0, -1)
        .map((frame) => {
          const [, event, id, data] = /^event: (\w+)\nid: (\S+)\ndata: (.*)$/.exec(frame)!;
          return { event, id: id!, data: JSON.parse(data!) as unknown };
        });
    };

    const [empty] = await read({}, '\n\n');
    expect(empty).toEqual({ event: 'heartbeat', id: empty!.id, data: { latest: empty!.id } });

    await add('b', { messages: ['eins 😀', 'two'] });
    const [snapshot] = await read({ 'last-event-id': empty!.id }, '\n\n');
    expect(snapshot).toMatchObject({ event: 'snapshot' });
    expect(snapshot!.data).toEqual({
      checkpoint: expect.objectContaining({ id: 'b' }),
      snapshot: snapshotOf({ messages: ['eins 😀', 'two'] }),
    });

    await expect.poll(() => test.store.figures()).toMatchObject({ streams: 0 });
    const changes = read({ 'last-event-id': snapshot!.id }, '"id":"c"');
    await expect.poll(() => test.store.figures()).toMatchObject({ streams: 1 });
    await add('c', { messages: ['eins 😀'] });
    const frames = await changes;
    expect(frames.map(({ event }) => event)).toEqual(['heartbeat', 'changes']);
    expect(frames[1]!.data).toEqual({
      checkpoint: expect.objectContaining({ id: 'c' }),
      from_checkpoint_id: 'b',
      changes: { '/context/messages/1:2': { before: [{ role: 'user', content: 'two' }], after: [] } },
    });
    expect(frames[1]!.id).not.toBe(frames[0]!.id);
    expect(test.log).toEqual([]);
  } finally {
    await test.close();
  }
});

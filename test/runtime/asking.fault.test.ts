/** A turn that waits for an answer, whose worker and server are killed. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectCairn } from '#cairn/client/index.js';
import { Execution } from '#cairn/runtime/index.js';
import { databases } from '../support/http.js';
import { illnesses } from '../support/inspect/audit.js';
import { deliverableOf, launch } from '../support/nouns/turns.js';
import { exitOf, type ServerProcess, stablePort, startServer, until } from '../support/server.js';
import { freshDatabase } from '../support/targets.js';

describe.each(databases())('a question on %s', (kind) => {
  let database: { database: string; drop(): Promise<void> };
  let server: ServerProcess;
  let port: number;
  let cairn: ReturnType<typeof connectCairn>;
  const children: ChildProcess[] = [];

  const startWorker = async (worker_id: string): Promise<ChildProcess> => {
    const child = fork(join(import.meta.dirname, '../support/children/asker.mjs'), [server.url, worker_id]);
    children.push(child);
    await once(child, 'message');
    return child;
  };

  beforeAll(async () => {
    database = await freshDatabase(kind);
    port = await stablePort();
    server = await startServer({ database: database.database, port });
    cairn = connectCairn({ url: server.url });
  });
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await cairn.close();
    await server.end('SIGTERM');
    expect(await illnesses(database.database)).toEqual([]);
    await database.drop();
  });

  const openPause = async () => {
    await until('a pause', async () => (await cairn.pauses.list({ status: 'open' })).total === 1);
    return (await cairn.pauses.list({ status: 'open' })).pauses[0]!;
  };

  const restart = async () => {
    await server.end('SIGKILL');
    server = await startServer({ database: database.database, port });
  };

  it('WORK-13 survives the death of worker and server, and another worker completes the turn', async () => {
    const first = await startWorker('first');
    const id = await launch(cairn, 'asker', 'Do it.');
    const { pause_id } = await openPause();
    const dead = exitOf(first);
    first.kill('SIGKILL');
    await Promise.all([dead, restart()]);
    expect(await cairn.agent_turns.get({ agent_turn_id: id })).toMatchObject({
      status: 'suspended',
      lease_expires_at: null,
    });
    await cairn.pauses.answer({ pause_id, action: 'approve', comment: 'Go on.' });
    await startWorker('second');
    expect(await deliverableOf(cairn, id)).toEqual({ action: 'approve', comment: 'Go on.', worker_id: 'second' });
    const { packets } = await cairn.packets.list({ packet_type: 'cairn.pause.answered' });
    expect(packets).toHaveLength(1);
  });

  it('WORK-13 RUN-21 a worker and an execution that live on do not notice that the server was killed', async () => {
    const id = await launch(cairn, 'asker', 'Do it again.');
    const { pause_id } = await openPause();
    await restart();
    await cairn.pauses.answer({ pause_id, action: 'reject' });
    expect(await deliverableOf(cairn, id)).toMatchObject({ action: 'reject' });

    const run = await Execution.start(cairn);
    const asked = run.ask({ question: 'Go on?' });
    const pause = await openPause();
    await restart();
    await cairn.pauses.answer({ pause_id: pause.pause_id, action: 'continue' });
    expect(await asked).toMatchObject({ action: 'continue', pause_id: pause.pause_id });
  });
});

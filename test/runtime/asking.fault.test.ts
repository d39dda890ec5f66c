/** A turn that waits for an answer, whose worker and server are killed. */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectCairn } from '#cairn/client/index.js';
import { Execution } from '#cairn/runtime/index.js';
import { databases } from '../support/http.js';
import { illnesses } from '../support/inspect/audit.js';
import { deliverableOf, launch } from '../support/nouns/turns.js';
import { exitOf, messageOf, type ServerProcess, stablePort, startServer, until } from '../support/server.js';
import { freshDatabase } from '../support/targets.js';

describe.each(databases())('a question on %s', (kind) => {
  let database: { database: string; drop(): Promise<void> };
  let server: ServerProcess;
  let port: number;
  let cairn: ReturnType<typeof connectCairn>;
  const children: ChildProcess[] = [];

  /** Started with the address of the server; gives the child once it has sent something. */
  const startChild = async (file: string, ...args: string[]): Promise<ChildProcess> => {
    const child = fork(join(import.meta.dirname, '../support/children', file), [server.url, ...args]);
    children.push(child);
    await messageOf(child);
    return child;
  };
  const startWorker = (worker_id: string) => startChild('asker.mjs', worker_id);
  const startRun = (execution_id: string, name: string) => startChild('asking-run.mjs', execution_id, name);

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

  const killBoth = async (child: ChildProcess) => {
    const dead = exitOf(child);
    child.kill('SIGKILL');
    await Promise.all([dead, restart()]);
  };

  /** The state in which the execution ended, after one question with one answer. */
  const completed = async (execution_id: string) => {
    expect(await cairn.executions.get({ execution_id })).toMatchObject({ status: 'completed' });
    expect((await cairn.pauses.list({ execution_id })).pauses).toMatchObject([{ status: 'answered' }]);
    const { packets } = await cairn.packets.list({ packet_type: 'cairn.pause.answered' });
    expect(packets.filter(({ payload }) => payload?.execution_id === execution_id)).toHaveLength(1);
    const { snapshot, metadata } = await cairn.checkpoints.latest({ execution_id });
    expect(metadata).toMatchObject({ step_number: 2, tokens_used: 12 });
    return snapshot.context;
  };

  it('RUN-21 RUN-22 survives the death of its process and the server, and another process completes it', async () => {
    const first = await startRun('answered', 'first');
    const { pause_id, execution_id, details } = await openPause();
    expect(details).toEqual({ tool: 'deploy', arguments: { version: 7 } });
    await killBoth(first);
    expect(await cairn.executions.get({ execution_id: execution_id! })).toMatchObject({ status: 'paused' });
    await cairn.pauses.answer({ pause_id, action: 'approve', comment: 'Go on.' });
    const second = await startRun('answered', 'second');
    expect(await messageOf(second)).toBe('completed');
    expect(await completed('answered')).toMatchObject({
      messages: [{ content: 'Deploy version 7.' }, { content: 'approve: Go on.' }],
      variables: { planned_by: 'first', deployed_by: 'second' },
    });
  });

  it('RUN-21 RUN-22 waits on in the other process, also when that and the server are killed before the answer', async () => {
    const first = await startRun('waiting', 'first');
    const { pause_id } = await openPause();
    await killBoth(first);
    await killBoth(await startRun('waiting', 'second'));
    const third = await startRun('waiting', 'third');
    expect(await openPause()).toMatchObject({ pause_id });
    await cairn.pauses.answer({ pause_id, action: 'reject', comment: 'Not today.' });
    expect(await messageOf(third)).toBe('completed');
    expect(await completed('waiting')).toMatchObject({
      messages: [{ content: 'Deploy version 7.' }, { content: 'reject: Not today.' }],
      variables: { planned_by: 'first', deployed_by: 'third' },
    });
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

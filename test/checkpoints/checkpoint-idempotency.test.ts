import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Api, CallOptions } from '#cairn/client/index.js';
import type { JsonObject } from '#cairn/kernel/contract.js';
import { numbered, someExecution, take } from '../support/nouns/checkpoints.js';
import { latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const HOUR = 60 * 60_000;
const conflict = { code: 'IDEMPOTENCY_CONFLICT', status: 409 };
const portable = {
  version: '1.0.0',
  id: 'imported',
  timestamp: 5,
  execution_id: 'elsewhere',
  agent_id: 'agent',
  metadata: { step_number: 1, tokens_used: 0, duration_ms: 0, checkpoint_reason: 'manual' },
  snapshot: numbered(3) as unknown as JsonObject,
};
const bundle = {
  format: 'cairn.execution',
  version: '1.0.0',
  execution: { execution_id: 'bundled', agent_id: 'agent', status: 'paused', created_at: 0 },
  checkpoints: [],
};

/** A tenant with the execution run and its checkpoints a, b and c. */
async function prepared(cairn: Api): Promise<Api> {
  await someExecution(cairn, { execution_id: 'run' });
  for (const [n, checkpoint_id] of ['a', 'b', 'c'].entries()) await take(cairn, 'run', numbered(n), { checkpoint_id });
  return cairn;
}

/** Every operation that changes something, as a call that changes something the first time. */
const changes: readonly [string, (cairn: Api, options: CallOptions) => Promise<unknown>][] = [
  ['executions.create', (cairn, options) => cairn.executions.create({ name: 'n' }, options)],
  [
    'executions.update',
    (cairn, options) => cairn.executions.update({ execution_id: 'run', status: 'failed' }, options),
  ],
  ['executions.delete', (cairn, options) => cairn.executions.delete({ execution_id: 'run' }, options)],
  ['executions.prune', (cairn, options) => cairn.executions.prune({ execution_id: 'run' }, options)],
  ['executions.import', (cairn, options) => cairn.executions.import({ bundle }, options)],
  [
    'checkpoints.create',
    (cairn, options) => cairn.checkpoints.create({ execution_id: 'run', snapshot: numbered(9) }, options),
  ],
  [
    'checkpoints.create with an id',
    (cairn, options) =>
      cairn.checkpoints.create({ execution_id: 'run', checkpoint_id: 'd', snapshot: numbered(9) }, options),
  ],
  ['checkpoints.restore', (cairn, options) => cairn.checkpoints.restore({ checkpoint_id: 'a' }, options)],
  ['checkpoints.branch', (cairn, options) => cairn.checkpoints.branch({ checkpoint_id: 'a', reason: 'r' }, options)],
  ['checkpoints.import', (cairn, options) => cairn.checkpoints.import({ checkpoint: portable }, options)],
  [
    'checkpoints.write',
    (cairn, options) =>
      cairn.checkpoints.write(
        { checkpoint_id: 'a', writes: [{ task_id: 't', index: 0, channel: 'c', value: 1 }] },
        options,
      ),
  ],
];

onEveryTarget('Idempotency-Key of checkpoints', (test) => {
  it.each(changes)('IDEM-1 %s again gives the same answer and writes nothing more', async (_, change) => {
    const cairn = await prepared(await test().freshTenant());
    const before = await latestToken(cairn);
    const options = { idempotency_key: randomUUID() };
    const first = await change(cairn, options);
    // Waits for the erasures that it started, which have events of their own.
    await cairn.lifetime.sweep();
    const after = await latestToken(cairn);
    expect(after).not.toBe(before);
    expect(await change(cairn, options)).toEqual(first);
    test().advance(HOUR);
    expect(await change(cairn, options)).toEqual(first);
    expect(await latestToken(cairn)).toBe(after);
  });

  it.each(changes)('IDEM-2 the key of %s cannot be used for another request', async (_, change) => {
    const cairn = await prepared(await test().freshTenant());
    const options = { idempotency_key: 'k' };
    await change(cairn, options);
    expect(await refusalOf(cairn.cards.add({ content: 'another' }, options))).toMatchObject(conflict);
    const other = { execution_id: 'other', snapshot: numbered(1) };
    await cairn.executions.create({ execution_id: 'other' });
    expect(await refusalOf(cairn.checkpoints.create(other, options))).toMatchObject(conflict);
    await take(cairn, 'other', numbered(1));
    await take(cairn, 'other', numbered(2));
    expect(await refusalOf(cairn.executions.prune({ execution_id: 'other' }, options))).toMatchObject(conflict);
    expect((await cairn.executions.get({ execution_id: 'other' })).checkpoints).toBe(2);
  });

  it('IDEM-1 a checkpoint is answered again when the run has gone on, was finished, and its parent pruned', async () => {
    const cairn = await prepared(await test().freshTenant());
    const options = { idempotency_key: 'k' };
    const sent = { execution_id: 'run', snapshot: numbered(9), parent_checkpoint_id: 'a' };
    const made = await cairn.checkpoints.create(sent, options);
    const last = await take(cairn, 'run', numbered(10));
    await cairn.executions.update({ execution_id: 'run', status: 'completed' });
    expect(await cairn.checkpoints.create(sent, options)).toEqual(made);
    await cairn.executions.prune({ execution_id: 'run', keep_newest: 2, keep_branch_points: false });
    expect((await cairn.executions.tree({ execution_id: 'run' })).nodes.map((one) => one.checkpoint_id)).toEqual([
      made.id,
      last.id,
    ]);
    const { parent, ...now } = made;
    expect(parent).toBeDefined();
    expect(await cairn.checkpoints.create(sent, options)).toEqual(now);
  });

  it('IDEM-6 what was deleted since is not found', async () => {
    const cairn = await prepared(await test().freshTenant());
    const options = { idempotency_key: 'k' };
    const sent = { execution_id: 'run', snapshot: numbered(9) };
    await cairn.checkpoints.create(sent, options);
    await cairn.executions.delete({ execution_id: 'run', wait: true });
    expect((await refusalOf(cairn.checkpoints.create(sent, options))).status).toBe(404);
  });
});

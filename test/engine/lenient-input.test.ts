/** Nulls on real stores: a request with them is the same request, for every operation of the table. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { AnyMethod, ApiByName } from '#cairn/api/index.js';
import { nullIsAbsence } from '#cairn/engine/contract/lenient-input.js';
import { allOperations, clearsByNull, inputOf, type NamedOperation, plant } from '../support/contract.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

/** All that the operation could take and was not given, as null. */
function withNulls(operation: NamedOperation, input: Record<string, unknown>): Record<string, unknown> {
  const optional = Object.entries(operation.input.shape).filter(
    ([name, member]) => !(name in input) && nullIsAbsence(member),
  );
  return { ...input, ...Object.fromEntries(optional.map(([name]) => [name, null])) };
}

const answered = (operation: NamedOperation) => !operation.stream && !clearsByNull(operation);

onEveryTarget('nulls', (test) => {
  it('INPUT-9 a request with nulls is the same request, by its key, for every change', async () => {
    // What ends something comes last, so that the others find it.
    const ends = ({ method, verb }: NamedOperation): boolean =>
      method === 'DELETE' || /^(close|complete|fail|stop|cancel|reject|release|batch)$/.test(verb);
    const changes = allOperations
      .filter((one) => answered(one) && one.event !== null)
      .sort((a, b) => Number(ends(a)) - Number(ends(b)));
    const cairn = await test().freshTenant();
    const planted = await plant(cairn);
    let compared = 0;
    for (const operation of changes) {
      const input = inputOf(operation, planted);
      const call = (cairn as unknown as ApiByName)[operation.group]![operation.verb] as AnyMethod;
      const options = { idempotency_key: randomUUID() };
      const first = await Promise.resolve(call(input, options)).catch((error: { code: string }) => error.code);
      const again = await Promise.resolve(call(withNulls(operation, input), options)).catch(
        (error: { code: string }) => error.code,
      );
      // What was refused is not remembered: then both are refused alike.
      if (typeof first === 'string') expect(again, operation.name).toBe(first);
      else if (typeof again === 'string') expect(again, operation.name).not.toMatch(/^(IDEMPOTENCY_|INVALID_)/);
      else compared++;
    }
    expect(compared).toBeGreaterThan(60);
  });

  it('INPUT-9 reads take nulls as well', async () => {
    const cairn = await test().freshTenant();
    const planted = await plant(cairn);
    const reads = allOperations.filter((one) => answered(one) && one.event === null && one.access === 'read');
    for (const operation of reads) {
      const call = (cairn as unknown as ApiByName)[operation.group]![operation.verb] as AnyMethod;
      const input = inputOf(operation, planted);
      const refused = (error: { code: string }) => error.code;
      const [plain, nulls] = [
        await Promise.resolve(call(input)).catch(refused),
        await Promise.resolve(call(withNulls(operation, input))).catch(refused),
      ];
      expect(typeof nulls, `${operation.name}: ${JSON.stringify(nulls)}`).toBe(typeof plain);
      if (typeof plain === 'string') expect(nulls).toBe(plain);
    }
    expect(reads.length).toBeGreaterThan(60);
  });

  it('INPUT-9 the same id again, with nulls, is the one that is there', async () => {
    const cairn = await test().freshTenant();
    const wrong = <T>(value: object): T => value as T;
    const trajectory_id = randomUUID();
    const made = await cairn.trajectories.create({ trajectory_id, name: 'Task' });
    expect(
      await cairn.trajectories.create(wrong({ trajectory_id, name: 'Task', description: null, metadata: null })),
    ).toEqual(made);
    const scope_id = randomUUID();
    const scope = await cairn.scopes.create({ scope_id, trajectory_id, name: 'Scope' });
    expect(
      await cairn.scopes.create(
        wrong({ scope_id, trajectory_id, name: 'Scope', token_budget: null, metadata: null, enforce: null }),
      ),
    ).toEqual(scope);
    const packet_id = randomUUID();
    const packet = { packet_id, packet_type: 'event', payload: { kept: null } };
    await cairn.packets.write(packet);
    expect(
      await cairn.packets.write(wrong({ ...packet, lineage: null, tags: null, ttl: null, thread_id: null })),
    ).toMatchObject({ written_tables: [] });
    expect(await cairn.packets.get({ packet_id })).toMatchObject({ payload: { kept: null } });
    const artifact_id = randomUUID();
    const artifact = { artifact_id, trajectory_id, artifact_type: 'Fact', name: 'a', content: { kept: null } };
    const stored = await cairn.artifacts.create(artifact);
    expect(await cairn.artifacts.create(wrong({ ...artifact, ttl: null, metadata: null }))).toEqual(stored);
    expect(stored.content).toEqual({ kept: null });
  });

  it('INPUT-9 nulls of a snapshot are dropped as well, but not those of variables and results', async () => {
    const cairn = await test().freshTenant();
    const { execution_id } = await cairn.executions.create({});
    const step = { id: 't', type: 'Planning', content: 'c', confidence: 1, children: [], timestamp: 1 };
    const call = { tool_id: 'shell', arguments: { a: null }, success: true, duration_ms: 1, timestamp: 1 };
    const sent = {
      thought_chain: { current_step_id: null, steps: [{ ...step, reasoning: null, parent_id: null, metadata: null }] },
      context: { messages: [{ role: 'USER', content: 'hi' }], variables: { unset: null }, memory: null },
      tool_state: { last_tool_call_id: null, pending: [], completed: [{ ...call, id: null, result: null }] },
    };
    const { id } = await cairn.checkpoints.create({ execution_id, snapshot: sent as never, name: null as never });
    const { snapshot } = await cairn.checkpoints.get({ checkpoint_id: id });
    expect(snapshot).toEqual({
      thought_chain: { steps: [{ ...step, type: 'planning' }] },
      context: { messages: [{ role: 'user', content: 'hi' }], variables: { unset: null } },
      tool_state: { pending: [], completed: [{ ...call, result: null }] },
    });
  });

  it('INPUT-9 null in a PATCH clears the field, or puts back its default', async () => {
    const cairn = await test().freshTenant();
    const metadata = { a: 1 };
    const { trajectory_id } = await cairn.trajectories.create({ name: 'Task', description: 'long', metadata });
    expect(await cairn.trajectories.update({ trajectory_id, description: null, metadata: null })).toMatchObject({
      name: 'Task',
      description: null,
      metadata: {},
    });
    const { scope_id } = await cairn.scopes.create({
      trajectory_id,
      name: 'Scope',
      purpose: 'all',
      token_budget: 5,
      threshold_percent: 5,
      enforce: true,
      metadata,
    });
    expect(
      await cairn.scopes.update({
        scope_id,
        purpose: null,
        token_budget: null,
        threshold_percent: null,
        enforce: null,
        metadata: null,
      }),
    ).toMatchObject({ purpose: null, token_budget: 8000, threshold_percent: 80, enforce: false, metadata: {} });
    const { note_id } = await cairn.notes.create({
      note_type: 'Fact',
      title: 'n',
      content: 'c',
      ttl: 'LongTerm',
      abstraction_level: 'L1',
      confidence: 0.5,
      metadata,
    });
    expect(
      await cairn.notes.update({
        note_id,
        ttl: null,
        abstraction_level: null,
        confidence: null,
        metadata: null,
        version: null,
      }),
    ).toMatchObject({ ttl: 'Persistent', expires_at: null, abstraction_level: 'L0', confidence: null, metadata: {} });
    const refused = await refusalOf(cairn.notes.update({ note_id, title: null } as never));
    expect(refused).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining('title') });
    const items = [{ operation: 'update' as const, note_id, update: { metadata: null, confidence: null } }];
    expect(await cairn.notes.batch({ items })).toMatchObject({ succeeded: 1, failed: 0 });
  });
});

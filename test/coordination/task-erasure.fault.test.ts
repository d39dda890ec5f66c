/** What was said in tasks is in no byte of the file once their trajectory is deleted. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import { illnesses } from '../support/inspect/audit.js';
import { addWorkers, someAccepted } from '../support/nouns/delegations.js';
import { freshDatabase, targetNames } from '../support/targets.js';

const CALLER = { tenant_id: 'default', agent_id: null, role: 'admin', key_id: null } as const;

/** Which of these words are in the bytes of a SQLite file or of its log. */
function found(database: string, words: readonly string[]): string[] {
  const files = [database, `${database}-wal`, `${database}-journal`].filter((file) => existsSync(file));
  const bytes = files.map((file) => readFileSync(file));
  return words.filter((word) => bytes.some((one) => one.includes(word)));
}

async function withStore(work: (store: Store, database: string) => Promise<void>): Promise<void> {
  const { database, drop } = await freshDatabase('sqlite');
  const store = await Store.open({ database, sweep_every_ms: 0 });
  await work(store, database);
  await store.close();
  expect(await illnesses(database)).toEqual([]);
  await drop();
}

describe.runIf(targetNames().includes('sqlite'))('the bytes of a SQLite file', () => {
  it('PAUSE-12 hold nothing of a question and its answer', () =>
    withStore(async (store, database) => {
      const api = store.api(CALLER);
      const words: string[] = [];
      const word = () => words[words.push(`mark${randomBytes(9).toString('hex')}`) - 1]!;
      const question = () => ({ question: word(), choices: [word()], details: { about: word() }, ask_key: word() });
      await api.profiles.create({ name: 'asker', system_prompt: 'Ask.' });
      const { trajectory_id } = await api.trajectories.create({ name: 'task' });
      const target = { target_strategy: 'new', target_ref: 'asker', instruction: 'Ask.', trajectory_id } as const;
      for (const answer of [true, false]) {
        await api.pmo.delegate_async(target);
        const { agent_turn_id, turn_epoch } = (await api.agent_turns.claim({ worker_id: 'w' })).agent_turn!;
        const fallback = { action: 'reject' as const, comment: word() };
        const asked = { ...question(), timeout_ms: 3_600_000, default: fallback };
        const { pause_id } = await api.pauses.create({ agent_turn_id, turn_epoch, ...asked });
        const given = () => ({ action: 'modify' as const, value: { use: word() }, comment: word() });
        if (answer) await api.pauses.answer({ pause_id, ...given() }, { idempotency_key: 'k' });
        await api.agent_turns.stop({ agent_turn_id });
      }
      const { execution_id } = await api.executions.create({});
      const { pause_id } = await api.pauses.create({ execution_id, ...question() });
      await api.pauses.answer({ pause_id, action: 'modify', value: word(), comment: word() });
      expect(found(database, words)).toEqual(words);
      await api.executions.delete({ execution_id, wait: true });
      await api.trajectories.delete({ trajectory_id, wait: true });
      expect(found(database, words)).toEqual([]);
    }));

  it('DELEG-20 hold nothing of a delegation, its agent_turn and its boxes, also of those that were replaced', () =>
    withStore(async (store, database) => {
      const api = store.api(CALLER);
      const words: string[] = [];
      const word = () => words[words.push(`mark${randomBytes(9).toString('hex')}`) - 1]!;
      await addWorkers(api, ['ann', 'bob', 'cyd']);
      const { trajectory_id } = await api.trajectories.create({ name: word(), agent_id: 'ann' });
      const handover = {
        context_packing_config: { pack_arguments: [{ arg_key: 'instruction', card_metadata: { note: word() } }] },
      };
      const given = { trajectory_id, handover };
      const { delegation_id, agent_turn_id } = await someAccepted(api, {
        ...given,
        task_description: word(),
        context: { about: word() },
      });
      const { agent_turn } = await api.agent_turns.claim({ worker_id: 'w', agent_turn_id });
      const held = { agent_turn_id, turn_epoch: agent_turn!.turn_epoch };
      await api.agent_turns.append({ ...held, cards: [{ content: word() }] });
      await api.agent_turns.hydrate({ ...held, format: 'openai' });
      await api.agent_turns.replace_box({ ...held, box: 'output', card_ids: [] });
      await api.agent_turns.append({ ...held, cards: [{ content: word() }] });
      const done = { deliverable: word(), summary: word() };
      await api.agent_turns.complete({ ...held, ...done });
      const failing = await someAccepted(api, { ...given, task_description: word() });
      const result = { status: 'Failure' as const, output: word(), error: word() };
      await api.delegations.complete({ delegation_id: failing.delegation_id, result });
      const taken = await someAccepted(api, { ...given, task_description: word() });
      await api.delegations.cancel({ delegation_id: taken.delegation_id, reason: word() });
      const offer = { from_agent_id: 'ann', to_agent_id: 'cyd', task_description: word(), trajectory_id };
      await api.delegations.create(offer);
      expect(found(database, words)).toEqual(words);
      await api.trajectories.delete({ trajectory_id, wait: true });
      expect(found(database, words)).toEqual([]);
      expect((await api.delegations.get({ delegation_id })).status).toBe('Completed');
    }));

  it('DELEG-20 hold nothing of what was dispatched at once; the output of an agent that went on stays with that', () =>
    withStore(async (store, database) => {
      const api = store.api(CALLER);
      await api.profiles.create({ name: 'researcher', system_prompt: 'You look things up.' });
      const word = () => `mark${randomBytes(9).toString('hex')}`;
      const give = async (more: object, instruction: string) => {
        const { trajectory_id } = await api.trajectories.create({ name: 'task' });
        const task = { target_strategy: 'new', target_ref: 'researcher', trajectory_id, instruction } as const;
        const answer = await api.pmo.delegate_async({ ...task, ...more });
        if (answer.status !== 'accepted') throw new Error(answer.message);
        return { ...answer, trajectory_id };
      };
      const [first, second, said] = [word(), word(), word()];
      const one = await give({}, first);
      await api.delegations.complete({ delegation_id: one.delegation_id, result: { status: 'Success', output: said } });
      const reuse = { target_strategy: 'reuse', target_ref: one.agent_id };
      const two = await give(reuse, second);
      expect(two.output_box_id).toBe(one.output_box_id);
      expect(found(database, [first, second, said])).toEqual([first, second, said]);
      await api.trajectories.delete({ trajectory_id: one.trajectory_id, wait: true });
      expect(found(database, [first, second, said])).toEqual([second, said]);
      const { agent_turn } = await api.agent_turns.claim({ worker_id: 'w', agent_id: one.agent_id });
      expect(agent_turn).toMatchObject({ agent_turn_id: two.agent_turn_id, output_box_id: one.output_box_id });
      await api.trajectories.delete({ trajectory_id: two.trajectory_id, wait: true });
      expect(found(database, [first, second, said])).toEqual([]);
      expect((await api.agent_turns.get({ agent_turn_id: two.agent_turn_id })).status).toBe('stopped');
    }));
});

/** How SQLite finds pauses: by their runs and parties, never by walking the tenant's. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '#cairn/api/index.js';
import { notePlans, type Plans } from '../support/inspect/plans.js';
import { PROFILE } from '../support/nouns/agent-turns.js';
import { addWorkers } from '../support/nouns/delegations.js';
import { asked, askedInRun } from '../support/nouns/pauses.js';

describe('pauses', () => {
  let plans: Plans;
  let ann: Api;
  let [turn, run, execution_id, agent_turn_id, trajectory_id] = ['', '', '', '', ''];
  beforeAll(async () => {
    plans = await notePlans();
    const { cairn } = plans;
    await cairn.profiles.create({ name: PROFILE, system_prompt: 'You look things up.' });
    await addWorkers(cairn, ['ann']);
    ann = plans.store.api({ tenant_id: 'default', agent_id: 'ann', role: 'write', key_id: null });
    const inTurn = await asked(cairn, { timeout_ms: 3_600_000, to_agent_id: 'ann' });
    [turn, agent_turn_id, trajectory_id] = [inTurn.pause_id, inTurn.agent_turn_id, inTurn.trajectory_id!];
    const inRun = await askedInRun(cairn);
    [run, execution_id] = [inRun.pause_id, inRun.execution_id];
  });
  afterAll(() => plans.close());

  const pauses = () => plans.cairn.pauses;

  /** Lines that read all pauses, or all that the tenant has. */
  const walks = (lines: readonly string[]): string[] =>
    lines.filter(
      (line) =>
        /^(SCAN|SEARCH) (p|pauses) /.test(`${line} `) && (line.startsWith('SCAN') || /\(tenant_id=\?\)/.test(line)),
    );

  it.each([
    ['ask in an agent_turn', () => asked(plans.cairn, { ask_key: 'k' })],
    ['ask in an execution', () => askedInRun(plans.cairn, { execution_id, ask_key: 'k' })],
    ['get', () => pauses().get({ pause_id: turn })],
    ['list by agent_turn', () => pauses().list({ agent_turn_id })],
    ['list by execution', () => pauses().list({ execution_id })],
    ['list by trajectory', () => pauses().list({ trajectory_id })],
    ['list as a party', () => ann.pauses.list({ status: 'open' })],
    ['answer in an agent_turn', () => ann.pauses.answer({ pause_id: turn, action: 'approve' })],
    ['answer in an execution', () => pauses().answer({ pause_id: run, action: 'approve' })],
    ['finish the execution', () => plans.cairn.executions.update({ execution_id, status: 'completed' })],
    ['delete the execution', () => plans.cairn.executions.delete({ execution_id, wait: true })],
    ['delete the trajectory', () => plans.cairn.trajectories.delete({ trajectory_id, wait: true })],
  ] as const)('%s', async (_, ask) => {
    const lines = await plans.plansOf(ask);
    expect(lines.length).toBeGreaterThan(1);
    expect(walks(lines)).toEqual([]);
  });

  it('list what is open by the index of that', async () => {
    const lines = await plans.plansOf(() => pauses().list({ status: 'open' }));
    expect(lines.filter((line) => / p /.test(line))).not.toEqual([]);
    expect(lines.filter((line) => / p /.test(line) && !line.includes('pauses_open'))).toEqual([]);
  });
});

/** How SQLite finds delegations: by their parties and trajectories, never by walking the tenant's. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { notePlans, type Plans } from '../support/inspect/plans.js';
import { addWorkers, someAccepted, someOffer } from '../support/nouns/delegations.js';

describe('delegations', () => {
  let plans: Plans;
  let [offered, accepted, started, trajectory_id] = ['', '', '', ''];
  beforeAll(async () => {
    plans = await notePlans();
    const { cairn } = plans;
    await addWorkers(cairn, ['ann', 'bob', 'cyd', 'dan']);
    offered = (await someOffer(cairn)).delegation_id;
    accepted = (await someAccepted(cairn, { to_agent_id: 'cyd' })).delegation_id;
    started = (await someAccepted(cairn, { to_agent_id: 'dan' })).delegation_id;
    trajectory_id = (await cairn.delegations.get({ delegation_id: started })).trajectory_id!;
  });
  afterAll(() => plans.close());

  const delegations = () => plans.cairn.delegations;

  /** Lines that read all of these tables, or all that the tenant has in them. */
  const walks = (lines: readonly string[]): string[] =>
    lines.filter(
      (line) =>
        /^(SCAN|SEARCH) (d|t|o|p|delegations|agent_turns|trajectories|leases) /.test(`${line} `) &&
        (line.startsWith('SCAN') || /\(tenant_id=\?\)/.test(line)) &&
        // The next lease that is over is the first of its index.
        !/leases_due/.test(line),
    );

  it.each([
    ['create', () => someOffer(plans.cairn)],
    ['get', () => delegations().get({ delegation_id: accepted })],
    ['list by delegator', () => delegations().list({ from_agent_id: 'ann' })],
    ['list by receiver', () => delegations().list({ to_agent_id: 'bob' })],
    ['list by trajectory', () => delegations().list({ trajectory_id })],
    ['accept', () => delegations().accept({ delegation_id: offered })],
    ['start', () => delegations().start({ delegation_id: offered })],
    ['complete', () => delegations().complete({ delegation_id: accepted, result: { status: 'Success' } })],
    ['cancel', () => delegations().cancel({ delegation_id: offered })],
    ['delete the trajectory', () => plans.cairn.trajectories.delete({ trajectory_id, wait: true })],
  ] as const)('%s', async (_, ask) => {
    const lines = await plans.plansOf(ask);
    expect(lines.length).toBeGreaterThan(1);
    expect(walks(lines)).toEqual([]);
  });
});

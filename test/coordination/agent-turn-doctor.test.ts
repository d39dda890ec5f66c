/** The doctor on agent_turns: nothing to say of healthy ones, and each of its questions finds what it is for. */
import { expect, it } from 'vitest';
import { turnChecks } from '#cairn/coordination/agent-turns/doctor.js';
import type { AgentTurn } from '#cairn/coordination/agent-turns/model.js';
import { type Sql, sql } from '#cairn/driver/index.js';
import { atWork, PROFILE, withProfile } from '../support/nouns/agent-turns.js';
import { tenantOf } from '../support/nouns/hierarchy.js';
import { onEveryTarget } from '../support/targets.js';

/** A turn at work and one that is completed, of which the second is named by a harm. */
interface Harmed {
  readonly tenant: string;
  readonly running: AgentTurn;
  readonly completed: AgentTurn;
  readonly batch_id: string;
}

const HELD = turnChecks[0]!.name;
const ENDED = turnChecks[1]!.name;
const AGREE = turnChecks[2]!.name;
const BATCH = turnChecks[3]!.name;
const BOXES = turnChecks[4]!.name;

onEveryTarget('the doctor on agent_turns', (test) => {
  it.each<[string, (harmed: Harmed) => Sql, string[]]>([
    ['healthy ones', ({ tenant }) => sql`SELECT ${tenant} AS tenant_id`, []],
    [
      'one at work without a lease',
      ({ tenant, running }) =>
        sql`DELETE FROM leases WHERE tenant_id = ${tenant} AND kind = 'agent_turn' AND subject_id = ${running.agent_turn_id}`,
      [HELD],
    ],
    [
      'a lease of another epoch',
      ({ tenant, running }) =>
        sql`UPDATE leases SET token = 7 WHERE tenant_id = ${tenant} AND kind = 'agent_turn' AND subject_id = ${running.agent_turn_id}`,
      [HELD],
    ],
    [
      'a lease of none',
      ({ tenant, completed }) =>
        sql`INSERT INTO leases (tenant_id, kind, subject_id, token, expires_at)
            VALUES (${tenant}, 'agent_turn', ${`${completed.agent_turn_id}x`}, 1, 1)`,
      [HELD],
    ],
    [
      'one that has ended and is at work',
      ({ tenant, running }) =>
        sql`UPDATE agent_turns SET ended_at = 1 WHERE tenant_id = ${tenant} AND agent_turn_id = ${running.agent_turn_id}`,
      [ENDED, AGREE],
    ],
    [
      'one without its deliverable',
      ({ tenant, completed }) =>
        sql`UPDATE agent_turns SET deliverable_card_id = NULL
            WHERE tenant_id = ${tenant} AND agent_turn_id = ${completed.agent_turn_id}`,
      [ENDED],
    ],
    [
      'a delegation that is cancelled and was completed',
      ({ tenant, completed }) =>
        sql`UPDATE delegations SET status = 'Cancelled'
            WHERE tenant_id = ${tenant} AND agent_turn_id = ${completed.agent_turn_id}`,
      [AGREE],
    ],
    [
      'a batch that has ended with a task under way',
      ({ tenant, batch_id }) =>
        sql`UPDATE turn_batches SET ended_at = 1 WHERE tenant_id = ${tenant} AND batch_id = ${batch_id}`,
      [BATCH],
    ],
    [
      'a context that is open',
      ({ tenant, running }) =>
        sql`UPDATE boxes SET sealed_at = NULL WHERE tenant_id = ${tenant} AND box_id = ${running.context_box_id}`,
      [BOXES],
    ],
    [
      'an output that nothing holds',
      ({ tenant, running }) =>
        sql`UPDATE boxes SET held_by = NULL WHERE tenant_id = ${tenant} AND box_id = ${running.output_box_id}`,
      [BOXES],
    ],
  ])('ATURN-1 ATURN-15 %s', async (_, harm, expected) => {
    const cairn = await withProfile(test());
    const tenant = await tenantOf(cairn);
    const { driver } = test().store;
    const { turn: running } = await atWork(cairn);
    const { held } = await atWork(cairn);
    const completed = await cairn.agent_turns.complete({ ...held, deliverable: 'done' });
    const tasks = [{ target_strategy: 'new' as const, target_ref: PROFILE, instruction: 'go' }];
    const batch = await cairn.pmo.fork_join({ tasks });
    if (batch.status !== 'accepted') throw new Error('not accepted');
    const { batch_id } = batch;
    await driver.write(tenant, (tx) => tx.send(harm({ tenant, running, completed, batch_id })));
    const found: string[] = [];
    for (const { name, broken } of turnChecks) if ((await driver.long(tenant, broken())).length > 0) found.push(name);
    expect(found).toEqual(expected);
  });
});

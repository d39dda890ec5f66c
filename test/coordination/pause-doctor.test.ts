/** The doctor on pauses: nothing to say of healthy ones, and each of its questions finds what it is for. */
import { expect, it } from 'vitest';
import { turnChecks } from '#cairn/coordination/agent-turns/doctor.js';
import { pauseChecks } from '#cairn/coordination/pauses/doctor.js';
import { type Sql, sql } from '#cairn/driver/index.js';
import { withProfile } from '../support/nouns/agent-turns.js';
import { tenantOf } from '../support/nouns/hierarchy.js';
import { asked, askedInRun } from '../support/nouns/pauses.js';
import { onEveryTarget } from '../support/targets.js';

onEveryTarget('the doctor on pauses', (test) => {
  it.each<[string, (tenant: string, pause_id: string, turn_id: string) => Sql[], string[]]>([
    ['healthy ones', () => [], []],
    [
      'an open one of a turn that runs',
      (tenant, _, id) => [
        sql`UPDATE agent_turns SET status = 'dispatched' WHERE tenant_id = ${tenant} AND agent_turn_id = ${id}`,
      ],
      ['pause <id> is open'],
    ],
    [
      'a turn that waits for nothing, without a lease',
      (tenant, id) => [
        sql`UPDATE pauses SET status = 'cancelled' WHERE tenant_id = ${tenant} AND pause_id = ${id}`,
        sql`DELETE FROM leases WHERE tenant_id = ${tenant} AND kind = 'pause' AND subject_id = ${id}`,
      ],
      ['agent_turn <turn> is suspended'],
    ],
    [
      'an open one of an execution that is over',
      (tenant) => [sql`UPDATE executions SET finished_at = 1 WHERE tenant_id = ${tenant}`],
      ['pause <run> is open'],
    ],
    [
      'two open ones of a turn',
      (tenant, _, id) => [
        sql`UPDATE pauses SET agent_turn_id = ${id}, execution_id = NULL WHERE tenant_id = ${tenant} AND status = 'open'`,
      ],
      ['agent_turn <turn> has 2 open pauses'],
    ],
    [
      'a deadline that nobody watches',
      (tenant, id) => [sql`DELETE FROM leases WHERE tenant_id = ${tenant} AND kind = 'pause' AND subject_id = ${id}`],
      ['pause <id> is open'],
    ],
    [
      'a deadline of nothing',
      (tenant) => [
        sql`INSERT INTO leases (tenant_id, kind, subject_id, token, expires_at)
            VALUES (${tenant}, 'pause', 'gone', 0, 99999999999999)`,
      ],
      ['a lease of pause gone'],
    ],
    [
      'an answer without its time',
      (tenant) => [sql`UPDATE pauses SET answered_at = NULL WHERE tenant_id = ${tenant} AND status = 'answered'`],
      ['pause <done> is answered'],
    ],
    [
      'a text that should be erased',
      (tenant) => [sql`UPDATE pauses SET erased_at = 1 WHERE tenant_id = ${tenant} AND status = 'answered'`],
      ['pause <done> is answered'],
    ],
  ])('PAUSE-16 %s', async (_, harm, expected) => {
    const cairn = await withProfile(test());
    const tenant = await tenantOf(cairn);
    const { store } = test();
    const { pause_id, agent_turn_id } = await asked(cairn, { timeout_ms: 3_600_000 });
    const run = await askedInRun(cairn);
    const done = await askedInRun(cairn, { execution_id: run.execution_id, question: 'Done?' });
    await cairn.pauses.answer({ pause_id: done.pause_id, action: 'approve' });
    for (const statement of harm(tenant, pause_id, agent_turn_id))
      await store.driver.write(tenant, (tx) => tx.send(statement));
    const found = [];
    for (const { broken } of [...pauseChecks, turnChecks[0]!])
      found.push(...(await store.driver.long<{ what: string }>(tenant, broken())));
    const names = { [pause_id]: '<id>', [agent_turn_id]: '<turn>', [run.pause_id]: '<run>', [done.pause_id]: '<done>' };
    const named = (what: string) => Object.entries(names).reduce((text, [id, name]) => text.replace(id, name), what);
    expect(found.map(({ what }) => named(what))).toEqual(expected);
  });
});

/** The doctor on jobs and what they made: nothing to say of healthy ones, and each of its questions finds what it is for. */
import { expect, it } from 'vitest';
import { type Sql, sql } from '#cairn/driver/index.js';
import { jobChecks } from '#cairn/recall/jobs/doctor.js';
import { tenantOf } from '../../support/nouns/hierarchy.js';
import { someScope } from '../../support/nouns/scopes.js';
import { somePolicy, talk } from '../../support/nouns/summaries.js';
import { onEveryTarget } from '../../support/targets.js';

onEveryTarget('the doctor on jobs', (test) => {
  it.each<[string, (tenant: string, made: string) => Sql, string[]]>([
    ['healthy ones', (tenant) => sql`SELECT ${tenant} AS tenant_id`, []],
    [
      'one without a lease',
      (tenant) => sql`DELETE FROM leases WHERE tenant_id = ${tenant} AND kind = 'job'`,
      ['job is waiting'],
    ],
    [
      'one that made what is not there',
      (tenant, made) => sql`DELETE FROM memory_versions WHERE tenant_id = ${tenant} AND memory_id = ${made}`,
      ['job made made, which is not there'],
    ],
    [
      'a summary that lacks a source',
      (tenant) =>
        sql`DELETE FROM edge_participants WHERE tenant_id = ${tenant} AND edge_type = 'SynthesizedFrom' AND position = 3`,
      ['made is linked to 2 of 3'],
    ],
    [
      'a scope that was summarised beyond its turns',
      (tenant) => sql`UPDATE scopes SET summarized_turns = 9 WHERE tenant_id = ${tenant}`,
      ['scope'],
    ],
  ])('SUM-24 %s', async (_, harm, expected) => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const { driver } = test().store;
    const { scope_id } = await someScope(cairn);
    await talk(cairn, scope_id, 3);
    const { artifact, job_id } = await cairn.scopes.summarize({ scope_id });
    // Nobody works in the background here, so this one waits.
    await somePolicy(cairn, { type: 'TurnCount', count: 2 });
    await talk(cairn, scope_id, 1, 3);
    const [, waiting] = (await cairn.jobs.list({ scope_id })).jobs;
    await driver.write(tenant, (tx) => tx.send(harm(tenant, artifact!.artifact_id)));
    const found: { what: string }[] = [];
    for (const { broken } of jobChecks) found.push(...(await driver.long<{ what: string }>(tenant, broken())));
    const shown = found.map(({ what }) =>
      [job_id!, waiting!.job_id, scope_id]
        .reduce((text, id) => text.replace(` ${id}`, ''), what)
        .replace(artifact!.artifact_id, 'made'),
    );
    expect(shown).toEqual(expected);
  });
});

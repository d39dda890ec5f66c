/** `cairn migrate` and `cairn doctor`: work on the database itself. */
import { examineStore, migrateStore } from '../maintain.js';

export async function migrate(flags: { database: string; restored?: boolean }): Promise<void> {
  const { location, applied, version } = await migrateStore(flags);
  const done = applied.length > 0 ? `applied ${applied.join(', ')}` : 'nothing to do';
  console.log(`${location}: ${done}; the schema is at version ${version}`);
  if (flags.restored)
    console.log('A new epoch began: resume tokens of before are answered with STREAM_RESET.');
}

export async function doctor(flags: { database: string; json?: boolean }): Promise<void> {
  let sick = 0;
  for await (const finding of examineStore(flags)) {
    if (!finding.ok) sick++;
    if (flags.json) {
      console.log(JSON.stringify(finding));
      continue;
    }
    console.log(`${finding.ok ? '✓' : '✗'} ${finding.check}`);
    for (const problem of finding.problems) console.log(`    ${problem}`);
  }
  if (!flags.json) console.log(sick === 0 ? 'The store is healthy.' : `${sick} check(s) failed.`);
  if (sick > 0) process.exitCode = 1;
}

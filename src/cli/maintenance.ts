/** `cairn migrate`, `doctor`, `clock recover`, `tenants`, `reindex` and `embed`: commands that need the database itself. */
import type { Reindexing } from '../api/index.js';
import { invalid } from '../kernel/index.js';
import { Progress } from './progress.js';
import { readerGone } from './reader.js';
import { embedderOf } from './settings.js';
import { isConfirmed, plain, redrawsLines } from './terminal.js';

const NEW_EPOCH = 'A new epoch began: older resume tokens fail with STREAM_RESET.';

/** Lazy import: other commands start faster without it. */
const api = () => import('../api/index.js');

export async function migrate(flags: { database: string; restored?: boolean }): Promise<void> {
  const progress = new Progress('indexed');
  const indexing = ({ done, total }: Reindexing) => progress.show(done, total);
  const { location, applied, version } = await (await api()).migrateStore({ ...flags, indexing });
  progress.end();
  const done = applied.length > 0 ? `applied ${applied.join(', ')}` : 'nothing to apply';
  console.log(`${location}: ${done}; the schema is at version ${version}`);
  if (flags.restored) console.log(NEW_EPOCH);
}

export async function doctor(flags: { database: string; json?: boolean }): Promise<void> {
  let failed = 0;
  for await (const finding of (await api()).examineStore(flags)) {
    if (readerGone.aborted) return;
    if (!finding.ok) failed++;
    if (flags.json) {
      console.log(JSON.stringify(finding));
      continue;
    }
    console.log(`${finding.ok ? '✓' : '✗'} ${finding.check}`);
    for (const problem of finding.problems) console.log(`    ${problem}`);
  }
  if (!flags.json) console.log(failed === 0 ? 'The store is healthy.' : `${failed} check(s) failed.`);
  if (failed > 0) process.exitCode = 1;
}

export async function recoverClock(flags: { database: string }): Promise<void> {
  const { recovered } = await (await api()).recoverClock(flags);
  if (recovered.length === 0) {
    console.log('No record is ahead of the clock: nothing to recover.');
    return;
  }
  for (const { tenant_id, from, until } of recovered)
    console.log(`${plain(tenant_id)}: continues at ${from}; as_of from then until ${until} fails with AMBIGUOUS_TIME`);
  console.log(NEW_EPOCH);
}

export async function listTenants(flags: { database: string; json?: boolean }): Promise<void> {
  const tenants = await (await api()).listStoreTenants(flags);
  if (flags.json) return console.log(JSON.stringify(tenants, null, 2));
  for (const { tenant_id, packets } of tenants) console.log(`${plain(tenant_id)}  ${packets} packets`);
}

export async function deleteTenant(tenant: string, flags: { database: string; yes?: boolean }): Promise<void> {
  const asked = `everything of the tenant ${plain(tenant)} will be erased, which cannot be undone`;
  if (!flags.yes && !(await isConfirmed(asked))) {
    console.error('nothing was changed');
    process.exitCode = 1;
    return;
  }
  const { erasure_id, status, not_covered } = await (await api()).deleteStoreTenant({ ...flags, tenant });
  console.log(`deleted ${plain(tenant)} (${status})\nnot covered: ${not_covered.join(', ')}\nreceipt ${erasure_id}`);
}

export async function reindex(flags: { database: string; tenant?: string }): Promise<void> {
  const progress = new Progress('checked');
  let last: Reindexing | undefined;
  for await (last of (await api()).reindexStore(flags)) progress.show(last.done, last.total);
  progress.end();
  const changed = last?.changed ?? 0;
  console.log(changed === 0 ? 'The index was correct.' : `${changed} documents were repaired.`);
}

export async function embed(flags: { database: string }): Promise<void> {
  const { embedder } = await embedderOf();
  if (!embedder) throw invalid('no embedder is set: set CAIRN_EMBEDDER_URL and CAIRN_EMBEDDER_MODEL');
  const show = redrawsLines(process.stderr) ? (text: string) => process.stderr.write(`\r${text}`) : () => true;
  let first: number | undefined;
  for await (const left of (await api()).embedStore({ ...flags, embedder })) {
    first ??= left;
    show(`${left} documents without a vector `);
  }
  show('\n');
  console.log(`embedded ${first ?? 0} documents with ${embedder.name}`);
}

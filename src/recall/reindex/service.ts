/**
 * Reindexing: makes search documents match their content, in small batches beside live traffic. Correct documents are
 * only read. Progress is stored, so that another process or the next start continues from there.
 */
import { type Driver, longQuery, type Tx } from '../../driver/index.js';
import { hasTenant, listTenants, nextBatch } from '../../engine/index.js';
import { coverFolded, purgeHidden, replaceSegments } from '../../index/index.js';
import { ANALYSIS_VERSION } from '../../index/sql.js';
import { newId } from '../../kernel/contract.js';
import { CairnError, invalid } from '../../kernel/index.js';
import { type Drift, type DriftPage, type DriftRequest, STAGES, type Stage } from './drift.js';
import type { SegmentCheck, SegmentCheckRequest } from './segment-check.js';
import * as store from './store.js';

export interface Reindexing {
  readonly tenant: string;
  /** Contents and rows checked, of an estimated total, in all tenants. */
  readonly done: number;
  readonly total: number;
  /** Repaired rows and index entries. */
  readonly changed: number;
}

/** The stored progress. */
interface Progress {
  /** Distinguishes it from the run of another process. */
  readonly run: string;
  readonly version: number;
  readonly tenant: string;
  readonly stage: Stage;
  readonly after: string;
}

const DRIFT = new URL('./drift.js', import.meta.url);
const SEGMENT_CHECK = new URL('./segment-check.js', import.meta.url);
/** Contents or rows per page. */
const PAGE = 100;
const REPAIR_ATTEMPTS = 3;
const STORE_PROGRESS_EVERY_MS = 2000;

/** Whether the store has content that another version of the search indexed. */
export async function needsReindex(driver: Driver): Promise<boolean> {
  const query = driver.at('');
  if ((await store.indexedVersion(query)) === ANALYSIS_VERSION) return false;
  const tenants = await listTenants(query);
  if (tenants.some(({ seq }) => seq > 0)) return true;
  // A new store: everything is indexed as it is written.
  await driver.system((tx) => store.setIndexedVersion(tx, ANALYSIS_VERSION));
  return false;
}

/** Continues an interrupted run for the same tenants, and yields its progress. Default: all tenants. */
export async function* reindex(
  driver: Driver,
  { tenant: only, stopping = () => false }: { tenant?: string | undefined; stopping?: () => boolean } = {},
): AsyncGenerator<Reindexing, void, undefined> {
  const tenants = await tenantsOf(driver, only);
  let total = 0;
  for (const tenant of tenants) total += await store.countContents(longQuery(driver, tenant));
  const run = await Run.start(driver, only ?? null, tenants);
  let done = 0;
  for (const tenant of tenants) {
    // Tenants are ordered by name.
    if (tenant < run.start.tenant) continue;
    const resumed = tenant === run.start.tenant ? run.start : undefined;
    const report = (): Reindexing => ({ tenant, done, total: Math.max(total, done), changed: run.changed });
    yield report();
    for (const stage of STAGES.slice(STAGES.indexOf(resumed?.stage ?? STAGES[0]))) {
      for (let after: string | null = stage === resumed?.stage ? resumed.after : ''; after !== null; ) {
        if (stopping()) return;
        const request: DriftRequest = { tenant, stage, after, limit: PAGE, now: driver.now() };
        const page: DriftPage = await driver.away<DriftPage>(tenant, DRIFT, request);
        await run.repairDocs(tenant, page.drifts);
        done += page.checked;
        after = page.next;
        await run.reach({ tenant, stage, after: after ?? '' }, after === null);
        yield report();
      }
    }
    await run.repairIndex(tenant, stopping);
    if (stopping()) return;
  }
  await run.finish();
  yield { tenant: tenants.at(-1) ?? '', done: total, total, changed: run.changed };
}

async function tenantsOf(driver: Driver, only: string | undefined): Promise<string[]> {
  if (only === undefined) return (await listTenants(driver.at(''))).map(({ tenant_id }) => tenant_id);
  if (await hasTenant(driver.at(only))) return [only];
  throw invalid(`there is no tenant ${JSON.stringify(only)}: nothing was indexed`);
}

class Run {
  readonly #driver: Driver;
  /** Null for all tenants. */
  readonly #only: string | null;
  readonly start: Progress;
  #progress: string;
  #storedAt = performance.now();
  #batch = PAGE / 5;
  changed = 0;

  private constructor(driver: Driver, only: string | null, start: Progress) {
    this.#driver = driver;
    this.#only = only;
    this.start = start;
    this.#progress = JSON.stringify(start);
  }

  static async start(driver: Driver, only: string | null, tenants: readonly string[]): Promise<Run> {
    const stored = await store.readProgress(driver.at(''), only);
    const known = stored === undefined ? undefined : (JSON.parse(stored) as Progress);
    const continues = known !== undefined && known.version === ANALYSIS_VERSION && tenants.includes(known.tenant);
    const { tenant, stage, after } = continues ? known : { tenant: tenants[0] ?? '', stage: STAGES[0], after: '' };
    const run = new Run(driver, only, { run: newId(), version: ANALYSIS_VERSION, tenant, stage, after });
    await driver.system((tx) => store.startProgress(tx, only, run.#progress));
    return run;
  }

  async repairDocs(tenant: string, drifts: readonly Drift[]): Promise<void> {
    for (let at = 0; at < drifts.length; ) {
      const some = drifts.slice(at, at + this.#batch);
      const started = performance.now();
      this.changed += await this.#write(tenant, (tx) => store.repairDocs(tx, some));
      at += some.length;
      this.#batch = nextBatch(this.#batch, performance.now() - started);
    }
  }

  /** Makes every segment what the contents of its documents give. */
  async repairIndex(tenant: string, stopping: () => boolean): Promise<void> {
    await coverFolded(this.#driver, tenant);
    let attempts = 0;
    for (let after = 0; !stopping(); ) {
      const request: SegmentCheckRequest = { after, max_problems: 1 };
      const found = await this.#driver.away<SegmentCheck | undefined>(tenant, SEGMENT_CHECK, request);
      if (!found) break;
      // Checked again after a repair, which gives way to other changes of the segment.
      if (!found.rebuilt || attempts++ === REPAIR_ATTEMPTS) {
        after = found.row.last_doc;
        attempts = 0;
        continue;
      }
      await this.#write(tenant, async () => undefined);
      await replaceSegments(this.#driver, tenant, [found.row], found.rebuilt, found.dead);
      this.changed += found.rebuilt.header.doc_nos.length;
    }
    // Hidden documents that were never in a segment would be counted as missing ones.
    if (!stopping()) await purgeHidden(this.#driver, tenant);
  }

  async reach(place: Pick<Progress, 'tenant' | 'stage' | 'after'>, isEnd: boolean): Promise<void> {
    // Not stored at the end of a stage: repeating its last page is harmless.
    if (isEnd || performance.now() - this.#storedAt < STORE_PROGRESS_EVERY_MS) return;
    const { run, version } = this.start;
    const next = JSON.stringify({ run, version, ...place });
    await this.#write('', (tx) => store.moveProgress(tx, this.#only, this.#progress, next));
    this.#progress = next;
    this.#storedAt = performance.now();
  }

  /** Stops if another process has taken over. */
  #write<T>(tenant: string, work: (tx: Tx) => Promise<T>): Promise<T> {
    const progress = this.#progress;
    return this.#driver.write(tenant, async (tx) => {
      if (await store.moveProgress(tx, this.#only, progress, progress)) return work(tx);
      throw new CairnError('STATE_CONFLICT', 'another process has started reindexing and does the rest');
    });
  }

  async finish(): Promise<void> {
    const progress = this.#progress;
    await this.#driver.system(async (tx) => {
      await store.raiseGeneration(tx);
      if (!(await store.endProgress(tx, this.#only, progress)) || this.#only !== null) return;
      await store.setIndexedVersion(tx, ANALYSIS_VERSION);
    });
  }
}

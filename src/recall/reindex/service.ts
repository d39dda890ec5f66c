/**
 * Indexes anew: makes what the search knows what the content says, in small batches beside live traffic. What is right
 * already is only looked at. It notes how far it came, so that another process, or the next start, goes on from there.
 */
import { atLength, type Driver, type Tx } from '../../driver/index.js';
import { hasTenant, listTenants, nextBatch } from '../../engine/index.js';
import { ANALYSIS_VERSION } from '../../index/sql.js';
import { newId } from '../../kernel/contract.js';
import { CairnError, invalid } from '../../kernel/index.js';
import { type Drift, type DriftPage, type DriftRequest, STAGES, type Stage } from './drift.js';
import { entriesToPutRight, wrongEntries } from './index-drift.js';
import {
  begin,
  countContents,
  countDocs,
  end,
  goOn,
  heal,
  indexedBy,
  noteCount,
  noteIndexed,
  raiseGeneration,
  underWay,
} from './store.js';

export interface Reindexing {
  readonly tenant: string;
  /** How much was looked at, of about how much, in all tenants. */
  readonly done: number;
  readonly total: number;
  /** Rows, and documents in the index, that were put right. */
  readonly changed: number;
}

export interface ReindexOptions {
  /** Only this one; all unless given. */
  readonly tenant?: string | undefined;
  /** Asked between batches. */
  readonly stopping?: () => boolean;
}

/** Where an indexing is: as it is stored, so that it can go on. */
interface Place {
  /** Tells it from one that another process does. */
  readonly run: string;
  readonly version: number;
  readonly tenant: string;
  readonly stage: Stage;
  readonly after: string;
}

const DRIFT = new URL('./drift.js', import.meta.url);
/** So many are looked at in one go, on a thread or with pauses. */
const PAGE = 100;
/** So many documents are looked for at once whose entries in the index are wrong. */
const WRONG_AT_ONCE = 50_000;
const READ_AT_ONCE = 1000;
/** How often it is tried to set the number of documents right beside those who change it. */
const COUNT_ATTEMPTS = 20;
/** How often it is noted how far it came when nothing was to be changed. */
const NOTE_EVERY_MS = 2000;

/** Whether the store holds something that was written before this version's search. */
export async function needsReindex(driver: Driver): Promise<boolean> {
  const query = driver.at('');
  if ((await indexedBy(query)) === ANALYSIS_VERSION) return false;
  const tenants = await listTenants(query);
  if (tenants.some(({ seq }) => seq > 0)) return true;
  // A new store: all that comes is indexed as it is written.
  await driver.system((tx) => noteIndexed(tx, ANALYSIS_VERSION));
  return false;
}

/** Takes over where another one stopped, if that was for the same; gives how far it is from time to time. */
export async function* reindex(
  driver: Driver,
  options: ReindexOptions = {},
): AsyncGenerator<Reindexing, void, undefined> {
  const { tenant: only, stopping = () => false } = options;
  const tenants = await tenantsOf(driver, only);
  let total = 0;
  for (const tenant of tenants) total += await countContents(atLength(driver, tenant));
  const run = await Run.start(driver, only ?? null, tenants);
  let done = 0;
  let isFirst = true;
  for (const tenant of tenants) {
    if (run.isBehind(tenant)) continue;
    const report = (): Reindexing => ({ tenant, done, total: Math.max(total, done), changed: run.changed });
    yield report();
    // The index first: taking a row out of it that it does not have would fail.
    if (driver.dialect === 'postgres' || isFirst) await run.putEntriesRight(tenant, stopping);
    isFirst = false;
    for (const stage of STAGES.slice(run.firstStage(tenant))) {
      for (let after: string | null = run.firstAfter(tenant, stage); after !== null; ) {
        if (stopping()) return;
        const request: DriftRequest = { tenant, stage, after, limit: PAGE, now: driver.now() };
        const page: DriftPage = await driver.away<DriftPage>(tenant, DRIFT, request);
        await run.putRight(tenant, page.drifts);
        done += page.looked_at;
        after = page.next;
        await run.reach({ tenant, stage, after: after ?? '' }, after === null);
        yield report();
      }
    }
    await run.countRight(tenant);
  }
  await run.finish();
  const tenant = tenants.at(-1) ?? '';
  yield { tenant, done: total, total, changed: run.changed };
}

async function tenantsOf(driver: Driver, only: string | undefined): Promise<string[]> {
  if (only === undefined) return (await listTenants(driver.at(''))).map(({ tenant_id }) => tenant_id);
  if (!(await hasTenant(driver.at(only))))
    throw invalid(`there is no tenant ${JSON.stringify(only)}: nothing was indexed`);
  return [only];
}

class Run {
  readonly #driver: Driver;
  /** The tenant that it is for; null for all. */
  readonly #only: string | null;
  readonly #start: Place;
  #place: string;
  #noted = performance.now();
  #batch = PAGE / 5;
  changed = 0;

  private constructor(driver: Driver, only: string | null, start: Place) {
    this.#driver = driver;
    this.#only = only;
    this.#start = start;
    this.#place = JSON.stringify(start);
  }

  static async start(driver: Driver, only: string | null, tenants: readonly string[]): Promise<Run> {
    const left = await underWay(driver.at(''), only);
    const known = left === undefined ? undefined : (JSON.parse(left) as Place);
    const goesOn = known !== undefined && known.version === ANALYSIS_VERSION && tenants.includes(known.tenant);
    const from = goesOn ? known : { tenant: tenants[0] ?? '', stage: STAGES[0], after: '' };
    const { tenant, stage, after } = from;
    const run = new Run(driver, only, { run: newId(), version: ANALYSIS_VERSION, tenant, stage, after });
    await driver.system((tx) => begin(tx, only, run.#place));
    return run;
  }

  /** Tenants come in the order of their names. */
  isBehind(tenant: string): boolean {
    return tenant < this.#start.tenant;
  }

  firstStage(tenant: string): number {
    return tenant === this.#start.tenant ? STAGES.indexOf(this.#start.stage) : 0;
  }

  firstAfter(tenant: string, stage: Stage): string {
    return tenant === this.#start.tenant && stage === this.#start.stage ? this.#start.after : '';
  }

  async putRight(tenant: string, drifts: readonly Drift[]): Promise<void> {
    for (let at = 0; at < drifts.length; ) {
      const some = drifts.slice(at, at + this.#batch);
      const started = performance.now();
      this.changed += await this.#write(tenant, (tx) => heal(tx, some));
      at += some.length;
      this.#batch = nextBatch(this.#batch, performance.now() - started);
    }
  }

  async putEntriesRight(tenant: string, stopping: () => boolean): Promise<void> {
    const driver = this.#driver;
    for (let before = Number.POSITIVE_INFINITY; ; ) {
      const wrong = await wrongEntries(driver, tenant, WRONG_AT_ONCE);
      // What is changed while it is looked at may seem wrong; what does not get less is not put right by more rounds.
      if (wrong.length === 0 || (wrong.length < WRONG_AT_ONCE && wrong.length >= before)) return;
      before = wrong.length;
      for (let at = 0; at < wrong.length; at += READ_AT_ONCE) {
        const some = wrong.slice(at, at + READ_AT_ONCE);
        for (const part of await entriesToPutRight(driver, tenant, some)) {
          if (stopping()) return;
          await this.#write(tenant, part);
        }
        this.changed += some.length;
      }
    }
  }

  async countRight(tenant: string): Promise<void> {
    for (let attempt = 1; attempt <= COUNT_ATTEMPTS; attempt++) {
      const counted = await countDocs(atLength(this.#driver, tenant));
      if (counted.docs === counted.noted) return;
      if (await this.#write(tenant, (tx) => noteCount(tx, counted))) return;
    }
  }

  /** Notes how far it came, now and then. */
  async reach(place: Pick<Place, 'tenant' | 'stage' | 'after'>, isEnd: boolean): Promise<void> {
    // The end of a stage is the beginning of the next: looking at its last page once more does no harm.
    if (isEnd || performance.now() - this.#noted < NOTE_EVERY_MS) return;
    const { run, version } = this.#start;
    const only = this.#only;
    const next = JSON.stringify({ run, version, ...place });
    await this.#write('', (tx) => goOn(tx, only, this.#place, next));
    this.#place = next;
    this.#noted = performance.now();
  }

  /** Refuses to go on beside another one, which does the same. */
  #write<T>(tenant: string, work: (tx: Tx) => Promise<T>): Promise<T> {
    const place = this.#place;
    return this.#driver.write(tenant, async (tx) => {
      if (!(await goOn(tx, this.#only, place, place)))
        throw new CairnError('STATE_CONFLICT', 'another process has begun to index anew: it does the rest');
      return work(tx);
    });
  }

  async finish(): Promise<void> {
    const place = this.#place;
    await this.#driver.system(async (tx) => {
      await raiseGeneration(tx);
      if ((await end(tx, this.#only, place)) && this.#only === null) await noteIndexed(tx, ANALYSIS_VERSION);
    });
  }
}

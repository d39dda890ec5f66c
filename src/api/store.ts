/** A store: its driver, schema, background work and the Apis of its callers. */
import type { z } from 'zod';
import { RetainedStates, retainedStates } from '../checkpoints/index.js';
import { type Driver, openPostgres, openSqlite } from '../driver/index.js';
import type { Caller } from '../engine/contract.js';
import {
  defaultLimits,
  Erasures,
  ensureMeta,
  ensureTenant,
  eraseAll,
  hasTenant,
  type Limits,
  listTenants,
  OpenCalls,
  packetJournal,
  type Runtime,
  readMeta,
  renewEpoch,
  StreamHub,
  systemCall,
  Timekeeper,
  Wakes,
  WrittenTenants,
} from '../engine/index.js';
import {
  anyKey,
  ensureAgentRecord,
  findAgent,
  findKeyByHash,
  keyHash,
  SettingsCache,
  settingsCache,
} from '../identity/index.js';
import { Embedding, embedding, INDEXED_FROM, VectorIndexing, vectorIndexing } from '../index/index.js';
import { anyId, tenantId } from '../kernel/contract.js';
import { invalid } from '../kernel/index.js';
import { clockAhead } from '../maintenance/index.js';
import { AccessCounts, accessCounts } from '../memory/index.js';
import type { Embedder } from '../providers/index.js';
import {
  checkProviders,
  IndexUpkeep,
  JobQueue,
  jobQueue,
  loadProviders,
  needsReindex,
  type ProviderOptions,
  providers,
  providersOf,
  reindex,
  runJob,
  VectorFilling,
} from '../recall/index.js';
import type { Api, Host } from './api.js';
import { apiFor } from './dispatch.js';
import { schema } from './schema.js';

export interface StoreOptions extends ProviderOptions {
  /** Path of an SQLite file, or a postgres:// URL. */
  readonly database: string;
  /** Size and time limits; limits that are left out keep their default. */
  readonly limits?: Partial<Limits>;
  /** Interval of the sweep that erases expired content; 0 for never; default: 60,000. */
  readonly sweep_every_ms?: number;
  /** Interval at which access counters are written; 0 for only on close; default: 5,000. */
  readonly count_every_ms?: number;
  /** Milliseconds to add to the database's clock, for tests of expiry; default: 0. */
  readonly clock_offset_ms?: () => number;
  /** Maximum connections to PostgreSQL; default: 10. */
  readonly pool_size?: number;
  /** Whether content written by a version with another search index is reindexed in the background; default: true. */
  readonly reindex?: boolean;
  /** Documents that searches read without an index, at most; writers fold what is beyond it; default: 16,384. */
  readonly search_tail?: number;
  /** Embeds content and queries, so that search also ranks by meaning; default: none. */
  readonly embedder?: Embedder | undefined;
  /** Document count above which a tenant gets a pgvector index; default: 20,000. */
  readonly vectors_indexed_from?: number;
}

export const DEFAULT_TENANT = 'default';
const SWEEP_EVERY_MS = 60_000;
const COUNT_EVERY_MS = 5000;
/** Cached Apis, one per caller. */
const API_LIMIT = 1000;

export const isPostgres = (database: string): boolean => /^postgres(ql)?:\/\//.test(database);

export async function openDriver(options: StoreOptions): Promise<Driver> {
  const { clock_offset_ms, pool_size, search_tail } = options;
  const journal = packetJournal(() => driver.now(), search_tail);
  const { max_waiting_bytes } = { ...defaultLimits, ...options.limits };
  const shared = {
    journal,
    schema,
    max_waiting_bytes,
    ...(clock_offset_ms ? { clock_offset_ms } : {}),
    ...(pool_size ? { pool_size } : {}),
  };
  // SQLite would create an empty file of that name.
  const scheme = /^([a-z][a-z\d+.-]*):\/\//i.exec(options.database)?.[1];
  if (scheme !== undefined && !isPostgres(options.database))
    throw invalid(`\`database\` must be a file or postgres://…, not ${scheme}://…`);
  const open = isPostgres(options.database) ? openPostgres : openSqlite;
  const driver: Driver = await open(options.database, shared);
  return driver;
}

function checkName(schema: z.ZodType, name: string, what: string): void {
  const { error } = schema.safeParse(name);
  if (error) throw invalid(`${what} ${JSON.stringify(name)} ${error.issues[0]!.message}`);
}

export class Store implements Host {
  readonly runtime: Runtime;
  readonly #apis = new Map<string, Api>();
  readonly #sweeper: NodeJS.Timeout | undefined;
  readonly #timekeeper: Timekeeper | undefined;
  readonly #filling: VectorFilling | undefined;
  readonly #upkeep: IndexUpkeep | undefined;
  #sweeping: Promise<void> | undefined;
  #reindexing: Promise<void> | undefined;
  #stopping = false;
  #keyCheck: Promise<boolean> | undefined;

  private constructor(runtime: Runtime, sweep_every_ms: number) {
    this.runtime = runtime;
    const embedder = embedding.find(runtime);
    if (embedder) this.#filling = new VectorFilling(runtime, embedder, vectorIndexing.of(runtime));
    if (sweep_every_ms > 0) {
      this.#sweeper = setInterval(() => (this.#sweeping ??= this.#sweep()), sweep_every_ms).unref();
      this.#timekeeper = new Timekeeper(runtime);
      this.#upkeep = new IndexUpkeep(runtime.driver);
      jobQueue.of(runtime).start((tenant, job_id, signal) => runJob(systemCall(runtime, tenant), job_id, { signal }));
    }
  }

  static async open(options: StoreOptions): Promise<Store> {
    checkProviders(options);
    return Store.on(await openDriver(options), options);
  }

  /** Opens a store on an open driver, which is closed with it. */
  static async on(driver: Driver, options: Omit<StoreOptions, 'database'> = {}): Promise<Store> {
    try {
      checkProviders(options);
      await driver.migrate();
      const meta = (await readMeta(driver.at(''))) ?? (await driver.system((tx) => ensureMeta(tx)));
      const limits = { ...defaultLimits, ...options.limits };
      const runtime: Runtime = {
        driver,
        meta,
        limits,
        hub: new StreamHub(driver),
        wakes: new Wakes(driver),
        calls: new OpenCalls(),
        written: new WrittenTenants(),
        erasures: new Erasures(),
        parts: new Map(),
      };
      settingsCache.add(runtime, new SettingsCache());
      retainedStates.add(runtime, new RetainedStates());
      jobQueue.add(runtime, new JobQueue());
      providers.add(runtime, providersOf(options));
      accessCounts.add(runtime, new AccessCounts(driver, options.count_every_ms ?? COUNT_EVERY_MS));
      if (options.embedder) {
        embedding.add(runtime, new Embedding(options.embedder));
        const indexed_from = options.vectors_indexed_from ?? INDEXED_FROM;
        vectorIndexing.add(runtime, new VectorIndexing(driver, indexed_from));
      }
      const sweep_every_ms = options.sweep_every_ms ?? SWEEP_EVERY_MS;
      if (sweep_every_ms > 0) await loadProviders(options);
      const store = new Store(runtime, sweep_every_ms);
      await store.ensureTenant(DEFAULT_TENANT);
      if (sweep_every_ms > 0) store.#resumeErasures();
      if (options.reindex !== false && (await needsReindex(driver))) store.#reindexing = store.#reindex();
      return store;
    } catch (error) {
      await driver.close();
      throw error;
    }
  }

  get location(): string {
    return this.runtime.driver.location;
  }

  get driver(): Driver {
    return this.runtime.driver;
  }

  async ensureTenant(tenant: string): Promise<void> {
    checkName(tenantId, tenant, 'tenant');
    const { driver } = this.runtime;
    if (await hasTenant(driver.at(tenant))) return;
    await driver.system((tx) => ensureTenant(tx, tenant, driver.now()));
  }

  /** Registers the agent that a store is opened as, with all rights: the process that opens the store owns it. */
  async ensureAgent(tenant: string, agent_id: string): Promise<void> {
    checkName(anyId, agent_id, 'agent');
    const { driver } = this.runtime;
    if (await findAgent(driver.at(tenant), agent_id)) return;
    const call = systemCall(this.runtime, tenant);
    await driver.write(tenant, (tx) => ensureAgentRecord({ call, tx, now: driver.now() }, agent_id, {}, 'all'));
  }

  api(caller: Caller): Api {
    const name = JSON.stringify([caller.tenant_id, caller.agent_id, caller.role, caller.key_id, caller.user_id]);
    let api = this.#apis.get(name);
    if (!api) {
      if (this.#apis.size >= API_LIMIT) this.#apis.clear();
      this.#apis.set(name, (api = apiFor(this.runtime, caller)));
    }
    return api;
  }

  /** The Api of a tenant that its first call creates, with the agent that it acts as. */
  tenantApi(tenant_id: string, agent_id: string | null): Api {
    checkName(tenantId, tenant_id, 'tenant');
    let made: Promise<void> | undefined;
    const make = async () => {
      await this.ensureTenant(tenant_id);
      if (agent_id !== null) await this.ensureAgent(tenant_id, agent_id);
    };
    const ready = () => {
      made ??= make();
      // A failure is not kept: the next call tries again.
      made.catch(() => (made = undefined));
      return made;
    };
    return apiFor(this.runtime, { tenant_id, agent_id, role: 'admin', key_id: null }, ready);
  }

  async authenticate(key: string): Promise<Caller | undefined> {
    const found = await findKeyByHash(this.runtime.driver.at(''), keyHash(key));
    if (!found || found.revoked_at !== null) return undefined;
    const { tenant_id, agent_id, user_id, role, key_id } = found;
    return { tenant_id, agent_id, role, key_id, ...(user_id === null ? {} : { user_id }) };
  }

  /** Called by every request. Calls in one turn of the event loop share a read that begins after them. */
  hasKeys(): Promise<boolean> {
    this.#keyCheck ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#keyCheck = undefined;
        resolve(anyKey(this.runtime.driver.at('')));
      });
    });
    return this.#keyCheck;
  }

  async ready(): Promise<{ clock_ahead_ms: number }> {
    return { clock_ahead_ms: await clockAhead(this.runtime.driver) };
  }

  figures(): Readonly<Record<string, number>> {
    const { driver, hub, wakes } = this.runtime;
    return {
      ...driver.figures(),
      streams: hub.followers,
      waiters: wakes.waiters,
      ...embedding.find(this.runtime)?.figures(),
      ...this.#filling?.figures(),
      ...this.#upkeep?.figures(),
      ...vectorIndexing.find(this.runtime)?.figures(),
    };
  }

  /** Waits until every searchable document has its vector; resolves to the number without one. */
  async embedded(timeout_ms = 60_000): Promise<number> {
    return (await this.#filling?.settle(timeout_ms)) ?? 0;
  }

  /** After a restore: older resume tokens fail from now on. */
  async renewEpoch(): Promise<void> {
    await this.runtime.driver.system((tx) => renewEpoch(tx));
  }

  async #sweep(): Promise<void> {
    try {
      for (const { tenant_id } of await listTenants(this.runtime.driver.at(''))) {
        if (this.#stopping) return;
        await this.api({ tenant_id, agent_id: null, role: 'admin', key_id: null }).lifetime.sweep();
      }
    } catch {
      // The next round finds the same work again.
    } finally {
      this.#sweeping = undefined;
    }
  }

  /** Continues erasures that a closed store or a dead process left unfinished. */
  #resumeErasures(): void {
    const runtime = this.runtime;
    runtime.erasures.start(async () => {
      for (const { tenant_id: tenant } of await listTenants(runtime.driver.at(''))) {
        if (this.#stopping) return;
        await eraseAll({ ...systemCall(runtime, tenant), operation: 'lifetime.sweep' });
      }
    });
  }

  async #reindex(): Promise<void> {
    try {
      const stopping = () => this.#stopping;
      for await (const _ of reindex(this.runtime.driver, { stopping })) if (this.#stopping) return;
    } catch {
      // Another process does it, or the next start continues.
    }
  }

  async close(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#sweeper);
    this.runtime.hub.close();
    this.runtime.wakes.close();
    embedding.find(this.runtime)?.stop();
    await this.#filling?.stop();
    await this.#upkeep?.stop();
    await vectorIndexing.find(this.runtime)?.stop();
    await this.#timekeeper?.stop();
    await jobQueue.of(this.runtime).stop();
    await this.runtime.erasures.stop();
    await this.#sweeping;
    await this.#reindexing;
    await this.runtime.calls.drain();
    await accessCounts.of(this.runtime).close();
    await this.runtime.driver.close();
  }
}

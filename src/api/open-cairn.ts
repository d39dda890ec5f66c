/** Opens a store in this process: the library, with no server. */
import { invalid, isObject } from '../kernel/index.js';
import { DEFAULT_TENANT, Store, type StoreOptions } from './store.js';
import { type CairnView, viewsOn } from './views.js';

export interface OpenOptions extends StoreOptions {
  /** Tenant; default: `default`. */
  readonly tenant?: string;
  /** Agent to act as, registered with all rights if it does not exist; default: none, calls act for the tenant. */
  readonly agent?: string;
}

/** An open Api. */
export interface Cairn extends CairnView {
  /** Waits for running calls, then closes the database. */
  close(): Promise<void>;
}

export interface LocalCairn extends Cairn {
  /** The same store for another tenant, which is created if it does not exist. Opens nothing: it needs no closing. */
  tenant(name: string): CairnView;
  /** Waits until every searchable document has its vector; resolves to the number without one. 0 without an embedder. */
  embedded(timeout_ms?: number): Promise<number>;
}

/** Complete: the compiler reports a missing one. */
const OPTIONS: Readonly<Record<keyof OpenOptions, true>> = {
  agent: true,
  clock_offset_ms: true,
  count_every_ms: true,
  database: true,
  embedder: true,
  extractor: true,
  limits: true,
  model: true,
  pool_size: true,
  reindex: true,
  search_tail: true,
  summarizer: true,
  sweep_every_ms: true,
  tenant: true,
  vectors_indexed_from: true,
};

/** Validates options for untyped callers. */
function checkOptions(options: OpenOptions): void {
  if (!isObject(options)) throw invalid(`openCairn takes options, such as { database: './cairn.db' }`);
  const unknown = Object.keys(options).find((name) => !(name in OPTIONS));
  if (unknown !== undefined)
    throw invalid(`openCairn: unknown option "${unknown}": the options are ${Object.keys(OPTIONS).join(', ')}`);
  if (typeof options.database !== 'string' || options.database === '')
    throw invalid('openCairn: database must be the path of a file, or a postgres:// URL');
}

/** Opens a store in this process. Several processes may open the same database. */
export async function openCairn(options: OpenOptions): Promise<LocalCairn> {
  checkOptions(options);
  const { tenant = DEFAULT_TENANT, agent = null, ...rest } = options;
  const store = await Store.open(rest);
  try {
    await store.ensureTenant(tenant);
    if (agent !== null) await store.ensureAgent(tenant, agent);
  } catch (error) {
    await store.close();
    throw error;
  }
  const api = store.api({ tenant_id: tenant, agent_id: agent, role: 'admin', key_id: null });
  const embedded = (timeout_ms?: number) => store.embedded(timeout_ms);
  const views = (name: string) => viewsOn(store.tenantApi(name, agent));
  return { ...viewsOn(api), tenant: views, embedded, close: () => store.close() };
}

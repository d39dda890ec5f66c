/** Opens a store in this process: the library, with no server. */
import { invalid } from '../kernel/index.js';
import type { Api } from './api.js';
import { type Shorthands, shorthandsOn } from './shorthands.js';
import { DEFAULT_TENANT, Store, type StoreOptions } from './store.js';

export interface OpenOptions extends StoreOptions {
  /** Tenant; default: `default`. */
  readonly tenant?: string;
  /** Agent that calls are made as; it is registered with all rights if it does not exist; default: none, calls act for the tenant. */
  readonly agent?: string;
}

/** An Api, with the shorthands `remember` and `recall`, that can be closed. */
export interface Cairn extends Api, Shorthands {
  /** Drains what is under way, then closes the database. */
  close(): Promise<void>;
}

export interface LocalCairn extends Cairn {
  /** Waits until all that can be searched has its vector, if there is an embedder; says how many have none by then. */
  embedded(timeout_ms?: number): Promise<number>;
}

/** All of them: the compiler says when one is missing. */
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
  summarizer: true,
  sweep_every_ms: true,
  tenant: true,
  vectors_indexed_from: true,
};

/** Not everybody has a compiler to check this. */
function checkOptions(options: OpenOptions): void {
  const given: unknown = options;
  if (typeof given !== 'object' || given === null)
    throw invalid(`openCairn takes options, such as { database: './cairn.db' }`);
  const unknown = Object.keys(given).filter((name) => !(name in OPTIONS));
  if (unknown.length > 0)
    throw invalid(`openCairn: unknown option "${unknown[0]}": there are ${Object.keys(OPTIONS).join(', ')}`);
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
  return { ...api, ...shorthandsOn(api), embedded, close: () => store.close() };
}

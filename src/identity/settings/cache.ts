/**
 * The settings of tenants as this process last read them. Writes use them without a statement of their own: the packet
 * of the write carries the revision it assumed, and the statement that numbers packets, which every commit runs, compares
 * it with the head row. If another process has changed the settings since, the write is rolled back and runs again with a
 * fresh copy. A notification (LISTEN, or a look at the file) would arrive too late for that: the setting applies to every
 * request after its acknowledgement, in every process.
 */
import type { Query } from '../../driver/index.js';
import { type AssumedRevision, type Call, RuntimePart, type Work } from '../../engine/index.js';
import type { Settings } from './model.js';
import { findSettings, type SettingsRow } from './store.js';
import { shownSettings } from './views.js';

interface Cached {
  readonly settings: Settings;
  readonly revision: string | null;
}

const MAX_TENANTS = 1000;

/** By tenant. */
export class SettingsCache {
  readonly #cached = new Map<string, Cached>();

  get(tenant: string): Cached | undefined {
    return this.#cached.get(tenant);
  }

  put(tenant: string, row: SettingsRow | undefined): Settings {
    const settings = shownSettings(row);
    if (this.#cached.size >= MAX_TENANTS) this.#cached.clear();
    this.#cached.set(tenant, { settings, revision: row?.revision ?? null });
    return settings;
  }

  drop(tenant: string): void {
    this.#cached.delete(tenant);
  }
}

export const settingsCache = new RuntimePart<SettingsCache>('a cache of settings');

/** Settings for one write, and what its packet has to carry if they came from the cache. */
export interface AssumedSettings {
  readonly settings: Settings;
  readonly assumes: AssumedRevision | undefined;
}

async function assumed(call: Call, query: Query): Promise<AssumedSettings> {
  const cache = settingsCache.of(call);
  const { tenant } = call;
  const known = cache.get(tenant);
  if (!known) return { settings: cache.put(tenant, await findSettings(query)), assumes: undefined };
  const { settings, revision } = known;
  return { settings, assumes: { revision, drop: () => cache.drop(tenant) } };
}

/** In a transaction. The caller puts `assumes` on the packet that it journals. */
export const assumedSettings = ({ call, tx }: Work): Promise<AssumedSettings> => assumed(call, tx);

/** Before the transaction of a write, whose packet carries `assumes` likewise. */
export const settingsAhead = (call: Call): Promise<AssumedSettings> => assumed(call, call.driver.at(call.tenant));

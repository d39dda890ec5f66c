/** Hearing of wakes in tests: what a driver tells, and calls as operations that wait get them. */
import type { CallOptions } from '#cairn/client/index.js';
import type { Driver } from '#cairn/driver/index.js';
import {
  type Call,
  defaultLimits,
  Erasures,
  OpenCalls,
  readMeta,
  StreamHub,
  Wakes,
  WrittenTenants,
} from '#cairn/engine/index.js';

export const TENANT = 'default';

export interface Ear {
  /** Keys of the tenant, in the order in which they were told; `*` stands for all of them. */
  readonly keys: string[];
  /** How often it was told that anything may have been missed. */
  missed: number;
  forget(): void;
  leave(): void;
}

export function earOn(driver: Driver): Ear {
  const leave = driver.onWake((tenant, key) => {
    if (tenant === undefined) ear.missed++;
    else if (tenant === TENANT) ear.keys.push(key ?? '*');
  });
  const forget = () => {
    ear.keys.length = 0;
    ear.missed = 0;
  };
  const ear: Ear = { keys: [], missed: 0, forget, leave };
  return ear;
}

/** A call on a migrated driver, with wakes of its own. */
export async function callOn(driver: Driver, options: CallOptions = {}): Promise<Call> {
  return {
    driver,
    meta: (await readMeta(driver.at('')))!,
    limits: defaultLimits,
    hub: new StreamHub(driver),
    wakes: new Wakes(driver),
    calls: new OpenCalls(),
    written: new WrittenTenants(),
    erasures: new Erasures(),
    parts: new Map(),
    operation: 'locks.acquire',
    caller: { tenant_id: TENANT, agent_id: null, role: 'admin', key_id: null },
    tenant: TENANT,
    options,
  };
}

export const wake = (driver: Driver, key: string): Promise<void> => driver.write(TENANT, async (tx) => tx.wake(key));

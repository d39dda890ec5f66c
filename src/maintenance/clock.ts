/** Clock skew: how far records are ahead of the clock, and recovery at the true time. */
import type { Driver } from '../driver/index.js';
import {
  addOverlap,
  type Call,
  event,
  headsAfter,
  type NewPacket,
  newestHead,
  type Runtime,
  renewEpoch,
  resetHead,
  systemCall,
} from '../engine/index.js';
import { CLOCK_TOLERANCE_MS, toIso } from '../kernel/index.js';
import { bringBackSeals, bringBackTimes, endFutureLeases } from './clock-recovery.js';

/** How far the newest record is ahead of the clock; 0 within the tolerance. */
export async function clockAhead(driver: Driver): Promise<number> {
  const ahead = (await newestHead(driver.at(''))) - driver.now();
  return ahead > CLOCK_TOLERANCE_MS ? ahead : 0;
}

export interface RecoveredTenant {
  readonly tenant_id: string;
  /** The range that is recorded twice: as_of within it is refused. */
  readonly from: string;
  readonly until: string;
}

/** Sets tenants whose head is ahead back to the present. Renews the epoch first, so that a second run can finish. */
export async function recoverClock(runtime: Runtime): Promise<RecoveredTenant[]> {
  const { driver } = runtime;
  const ahead = await headsAfter(driver.at(''), driver.now() + CLOCK_TOLERANCE_MS);
  if (ahead.length === 0) return [];
  await driver.system((tx) => renewEpoch(tx));
  const recovered: RecoveredTenant[] = [];
  for (const { tenant_id, recorded_at } of ahead)
    recovered.push(await recoverTenant(systemCall(runtime, tenant_id), Number(recorded_at)));
  return recovered;
}

function recoverTenant(call: Call, reached: number): Promise<RecoveredTenant> {
  const { driver, tenant } = call;
  return driver.write(tenant, async (tx) => {
    const now = driver.now();
    await bringBackSeals(tx, now);
    // Before bringBackTimes: the rows behind the leases still have times of the wrong clock.
    await endFutureLeases(tx, now, reached);
    await bringBackTimes(tx, now, call.limits.max_closing_ms);
    const until_at = await resetHead(tx, now);
    const overlap = { from: toIso(now), until: toIso(until_at) };
    const packet: NewPacket = {
      ...event({ call, now }, 'cairn.clock.recovered', { type: 'tenant', id: tenant }, overlap),
      settle: (settling, _recorded_at, seq) => addOverlap(settling, seq, { from_at: now, until_at }),
    };
    tx.journal(packet);
    return { tenant_id: tenant, ...overlap };
  });
}

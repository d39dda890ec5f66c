/** `as_of` reads: the same moment always gives the same answer, whatever is written later. */
import { CairnError, invalid, toIso, toMs } from '../../kernel/index.js';
import type { Call } from '../calls/call.js';
import { advancePast, recordedAt } from '../writes/tenants.js';
import { type Overlap, overlapAt } from './clock.js';

/** The moment in milliseconds; later commits are recorded after it. */
export async function resolveAsOf(call: Call, as_of: string | undefined): Promise<number | undefined> {
  if (as_of === undefined) return undefined;
  const { driver, tenant } = call;
  const moment = toMs(as_of);
  const overlap = await overlapAt(driver.at(tenant), moment);
  if (overlap) throw ambiguous(as_of, overlap);
  const recorded_at = await recordedAt(driver.at(tenant));
  // A recorded time is in the past even if this server's clock is behind.
  if (moment > driver.now() && moment > recorded_at)
    throw invalid(`\`as_of\` ${as_of} is in the future: give a time in the past`);
  // Otherwise a later commit of the same millisecond would change the answer.
  if (recorded_at <= moment) await driver.write(tenant, (tx) => advancePast(tx, moment));
  return moment;
}

function ambiguous(as_of: string, { from_at, until_at }: Overlap): CairnError {
  const [from, until] = [toIso(from_at), toIso(until_at)];
  return new CairnError(
    'AMBIGUOUS_TIME',
    `\`as_of\` ${as_of} lies in a period that was recorded twice, after a clock ran ahead: give a time before ${from} or after ${until}`,
    { from, until },
  );
}

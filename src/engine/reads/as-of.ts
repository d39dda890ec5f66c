/** Reads as of a moment that has passed: the same answer every time, whatever is written after the first. */
import { CairnError, invalid, toIso, toMs } from '../../kernel/index.js';
import type { Call } from '../calls/call.js';
import { passMoment, recordedAt } from '../writes/tenants.js';
import { type Overlap, overlapAt } from './clock.js';

/** The moment in milliseconds; from now on no commit is recorded at it or before. */
export async function settledMoment(call: Call, as_of: string | undefined): Promise<number | undefined> {
  if (as_of === undefined) return undefined;
  const { driver, tenant } = call;
  const moment = toMs(as_of);
  const overlap = await overlapAt(driver.at(tenant), moment);
  if (overlap) throw ambiguous(as_of, overlap);
  const recorded_at = await recordedAt(driver.at(tenant));
  // What the store has recorded has passed, also where the clock of this server is behind that of another.
  if (moment > driver.now() && moment > recorded_at) {
    throw invalid(`as_of ${as_of} is in the future: give a moment that has passed`);
  }
  // A commit of the same millisecond may still come, and would be seen by the next read only: so time goes on first.
  if (recorded_at <= moment) await driver.write(tenant, (tx) => passMoment(tx, moment));
  return moment;
}

/** Records of both clocks bear times of the overlap: which came first they do not say. */
function ambiguous(as_of: string, { from_at, until_at }: Overlap): CairnError {
  const [from, until] = [toIso(from_at), toIso(until_at)];
  return new CairnError(
    'AMBIGUOUS_TIME',
    `as_of ${as_of} lies in a time that was recorded twice, since a clock was ahead: give a moment before ${from} or after ${until}`,
    { from, until },
  );
}

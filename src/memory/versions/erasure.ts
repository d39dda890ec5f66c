/** Erases the artifacts and notes that end with their holder. */
import { type Call, inBatches } from '../../engine/index.js';
import { type EndingRow, noteVersions } from '../../engine/sql.js';
import { eraseMemories } from './store.js';

/** Undefined when the store is about to close. */
export async function eraseHeld(call: Call, { holder }: EndingRow): Promise<object | undefined> {
  const { driver, tenant } = call;
  const whole = await inBatches(call, (limit) =>
    driver.write(tenant, async (tx) => {
      const erased = await eraseMemories(tx, holder, limit, call.meta.erasure_key, driver.now());
      if (erased > 0) await noteVersions(tx, holder, erased);
      return erased;
    }),
  );
  return whole ? {} : undefined;
}

/** memory_versions (being written elsewhere). */
import type { Tx } from '../driver/driver.js';
export async function eraseMemories(
  _tx: Tx,
  _tenant: string,
  _holder: string,
  _limit: number,
  _key: string,
  _now: number,
): Promise<number> {
  return 0;
}

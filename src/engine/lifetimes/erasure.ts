/**
 * Erases what has ended: the turns of closed scopes, what replaced checkpoints kept, the artifacts of removed
 * trajectories. In small batches beside live traffic; how far it came is stored, so that it goes on after a crash.
 */
import { eraseStates } from '../../checkpoints/executions/erasure.js';
import { atLength } from '../../driver/driver.js';
import { entriesAfter, segmentsOf } from '../../facts/boxes/entries.js';
import { findBox } from '../../facts/boxes/store.js';
import { eraseCards } from '../../facts/cards/lifetime.js';
import type { JsonObject } from '../../kernel/json.js';
import { deleteEdges, settleEdges } from '../../memory/edges/store.js';
import { edgesLeftBelow } from '../../memory/trajectories/removal-store.js';
import { eraseMemories } from '../../memory/versions/store.js';
import { eraseContexts } from '../../recall/contexts/erasure.js';
import type { Call } from '../calls/call.js';
import type { NewPacket } from '../journal/store.js';
import { event } from '../writes/change.js';
import {
  type EndingRow,
  endingsUnderWay,
  executionHolder,
  findEnding,
  noteDone,
  noteProgress,
  noteVersions,
  pruneHolder,
  trajectoryHolder,
} from './endings.js';
import { inBatches } from './erasure-batches.js';

/** Starts erasing what these holders held, and leaves what fails to the next sweep. */
export function startErasure(call: Call, holders: readonly string[]): void {
  call.erasures.start(() => eraseHolders(call, holders));
}

/**
 * Waits for the erasure of what these holders held. If it fails or the store is about to close, it is stored as
 * unfinished: what ended has ended all the same.
 */
export const waitForErasure = (call: Call, holders: readonly string[]): Promise<void> =>
  eraseHolders(call, holders).catch(() => undefined);

async function eraseHolders(call: Call, holders: readonly string[]): Promise<void> {
  for (const holder of holders)
    await call.erasures.once(`${call.tenant} ${holder}`, () => eraseOne(call, holder));
}

const EXECUTION = executionHolder('');
const PRUNED = pruneHolder('');

/** How many endings are gone on with at a time; the next sweep finds the rest. */
const ENDINGS = 1000;

/** Goes on with whatever was left, by this process or another. */
export async function eraseAll(call: Call): Promise<void> {
  const under_way = await endingsUnderWay(call.driver.at(call.tenant), call.tenant, ENDINGS);
  for (const { holder } of under_way) {
    if (call.erasures.stopping) return;
    await eraseHolders(call, [holder]);
  }
}

/** What ended once more while it was erased is erased once more. */
async function eraseOne(call: Call, holder: string): Promise<void> {
  const { driver, tenant } = call;
  for (;;) {
    const ending = await findEnding(driver.at(tenant), tenant, holder);
    if (!ending || ending.done_at !== null || !(await eraseEnding(call, ending))) return;
  }
}

/** False when it could not go on to the end. */
async function eraseEnding(call: Call, ending: EndingRow): Promise<boolean> {
  const { driver, tenant } = call;
  const { holder } = ending;
  // Where it came to: what kept some of it may have let go meanwhile, and have it begin anew.
  let reached: number | undefined;
  if (holder.startsWith(EXECUTION) || holder.startsWith(PRUNED)) {
    if (!(await eraseStates(call, ending))) return false;
    if (holder.startsWith(PRUNED)) reached = ending.position;
  } else {
    reached = await eraseBox(call, ending);
    if (reached === undefined || !(await eraseHeld(call, holder))) return false;
    if (!(await eraseContexts(call, ending))) return false;
  }
  if (holder === trajectoryHolder(ending.thread_id ?? '')) await deleteLateEdges(call, ending.thread_id!);
  const { erased, kept, versions, thread_id } = (await findEnding(driver.at(tenant), tenant, holder))!;
  const any = erased + versions > 0;
  // Only now is it gone: from the file by the overwriting, and from its log by this. Closing and deleting overwrite more
  // than cards, such as the state of a checkpoint; a session that held nothing leaves nothing.
  if ((any || !holder.startsWith('session:')) && !(await driver.scrub())) return false;
  await driver.write(tenant, async (tx) => {
    const now = driver.now();
    if (!(await noteDone(tx, tenant, holder, now, reached))) return;
    // That something ended was told when it did; here is told what was erased of it, if anything was.
    if (!any) return;
    const [kind, id] = [holder.slice(0, holder.indexOf(':')), holder.slice(holder.indexOf(':') + 1)];
    const facts: JsonObject =
      kind === 'execution' || kind === 'pruned'
        ? { parts_erased: versions }
        : { cards_erased: erased, cards_kept: kept, versions_erased: versions };
    tx.journal(event(call, now, 'cairn.lifetime.erased', kind, id, facts, thread_id));
  });
  return true;
}

/** The cards in the box of what ended, in order, up to a position. Undefined when the store is about to close. */
async function eraseBox(call: Call, ending: EndingRow): Promise<number | undefined> {
  const { driver, tenant } = call;
  const { holder } = ending;
  const box = ending.box_id === null ? undefined : await findBox(driver.at(tenant), tenant, ending.box_id);
  if (!box) return ending.position;
  const segments = await segmentsOf(driver.at(tenant), tenant, box);
  let after = ending.position;
  const whole = await inBatches(call, async (limit) => {
    const entries = await entriesAfter(driver.at(tenant), tenant, segments, { after, limit });
    if (entries.length === 0) return 0;
    const position = entries.at(-1)!.position;
    const ids = entries.map(({ card_id }) => card_id);
    const noted = await driver.write(tenant, async (tx) => {
      const erased = await eraseCards(tx, tenant, ids, call.meta.erasure_key, driver.now());
      return noteProgress(tx, tenant, holder, { after, position, erased, kept: ids.length - erased });
    });
    if (noted) {
      after = position;
      return entries.length;
    }
    // Another server is at it as well: on from where it is, which need not be the end yet.
    after = (await findEnding(driver.at(tenant), tenant, holder))!.position;
    return limit;
  });
  return whole ? after : undefined;
}

/** The artifacts and notes that end with the holder. False when the store is about to close. */
function eraseHeld(call: Call, holder: string): Promise<boolean> {
  const { driver, tenant } = call;
  return inBatches(call, (limit) =>
    driver.write(tenant, async (tx) => {
      const erased = await eraseMemories(tx, tenant, holder, limit, call.meta.erasure_key, driver.now());
      if (erased > 0) await noteVersions(tx, tenant, holder, erased);
      return erased;
    }),
  );
}

/** Edges to what a trajectory took with it, by writers who had seen that before it went and committed after. */
async function deleteLateEdges(call: Call, trajectory_id: string): Promise<void> {
  const { driver, tenant } = call;
  const late = await edgesLeftBelow(atLength(driver, tenant), tenant, [trajectory_id]);
  if (late.length === 0) return;
  await driver.write(tenant, async (tx) => {
    const edge_ids = await deleteEdges(tx, tenant, late);
    if (edge_ids.length === 0) return;
    const told: NewPacket = {
      ...event(call, driver.now(), 'cairn.edge.deleted', 'edge', edge_ids[0]!, { edge_ids }, trajectory_id),
      settle: (settling, recorded_at) => settleEdges(settling, tenant, edge_ids, recorded_at),
    };
    tx.journal(told);
  });
}

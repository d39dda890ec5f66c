/** Erases the stored parts of states that nobody sees any more: of an execution that was deleted, or after pruning. */
import { atLength, type Tx } from '../../driver/index.js';
import { type Call, inBatches } from '../../engine/index.js';
import { type EndingRow, executionHolder, noteVersions } from '../../engine/sql.js';
import {
  coveringOf,
  deleteLines,
  deletePart,
  deleteRemoved,
  emptyPart,
  linesOf,
  nodesOf,
  PART_TABLES,
  type PartPlace,
  type PartTable,
  partsAfter,
  removeCheckpoints,
  removedCheckpoints,
} from '../checkpoints/removal.js';
import { deleteWritesOf, emptyWritesOf } from '../checkpoints/writes.js';
import { Views } from '../states/views.js';
import { type ExecutionRow, findExecution } from './store.js';

/** How many parts are looked at in one read. */
const LOOK = 2000;

/** Every part of an execution up to a revision that the views do not see, table by table. */
export async function* unseenParts(
  call: Call,
  { execution_id, revision }: Pick<ExecutionRow, 'execution_id' | 'revision'>,
  views: Views,
): AsyncGenerator<{ table: PartTable; parts: PartPlace[] }> {
  const query = atLength(call.driver, call.tenant);
  for (const table of PART_TABLES) {
    let after = { line: 0, added: 0, ordinal: -1 };
    for (;;) {
      const parts = await partsAfter(query, table, execution_id, revision, after, LOOK);
      const unseen = parts.filter((part) => !views.see(part));
      if (unseen.length > 0) yield { table, parts: unseen };
      if (parts.length < LOOK) break;
      after = parts.at(-1)!;
    }
  }
}

/**
 * What of an execution at some revision no view sees then, none will see later: a checkpoint to come starts from one that
 * is there, and brings parts of higher revisions, which are left alone. So nothing has to be locked, as long as the
 * revision is read first and the lines after the checkpoints. False when the store is about to close.
 */
export async function eraseStates(call: Call, ending: EndingRow): Promise<boolean> {
  const { driver, tenant } = call;
  const { holder } = ending;
  const isDeleted = holder.startsWith(executionHolder(''));
  const execution_id = holder.slice(holder.indexOf(':') + 1);
  const query = atLength(driver, tenant);
  const execution = (await findExecution(driver.at(tenant), execution_id))!;
  const nodes = await nodesOf(query, execution_id);
  const lines = await linesOf(query, execution_id);
  const views = isDeleted
    ? new Views([], [], { covers: [], holders: [] })
    : new Views(nodes, lines, await coveringOf(query, execution_id));
  if (isDeleted) await driver.write(tenant, (tx) => emptyWritesOf(tx, execution_id));
  const ids = isDeleted ? nodes.map(({ checkpoint_id }) => checkpoint_id) : [];
  const whole =
    (await eachBatch(call, ids, (tx, batch) => removeCheckpoints(tx, batch))) &&
    (await eachUnseen(call, execution, views, emptyPart)) &&
    (await eachUnseen(call, execution, views, deletePart, (tx, count) => noteVersions(tx, holder, count))) &&
    (await inBatches(call, async (limit) => {
      const removed = await removedCheckpoints(driver.at(tenant), limit);
      if (removed.length > 0) await driver.write(tenant, (tx) => deleteRemoved(tx, removed));
      return removed.length;
    }));
  if (!whole) return false;
  if (isDeleted) await driver.write(tenant, (tx) => deleteWritesOf(tx, execution_id));
  // A line that came since has the number of a later revision, and its checkpoint is not among those that were read.
  const unused = lines.map(({ line }) => line).filter((line) => line <= execution.revision && !views.isUsed(line));
  if (unused.length > 0) await driver.write(tenant, (tx) => deleteLines(tx, execution_id, unused));
  return true;
}

/** Does something with every part that the views do not see. False when the store is about to close. */
async function eachUnseen(
  call: Call,
  execution: ExecutionRow,
  views: Views,
  work: typeof emptyPart,
  note?: (tx: Tx, count: number) => Promise<void>,
): Promise<boolean> {
  for await (const { table, parts } of unseenParts(call, execution, views)) {
    const whole = await eachBatch(call, parts, async (tx, batch) => {
      for (const part of batch) await work(tx, table, execution.execution_id, part);
      await note?.(tx, batch.length);
    });
    if (!whole) return false;
  }
  return true;
}

function eachBatch<T>(
  call: Call,
  all: readonly T[],
  work: (tx: Tx, batch: readonly T[]) => Promise<void>,
): Promise<boolean> {
  let from = 0;
  return inBatches(call, async (limit) => {
    const batch = all.slice(from, from + limit);
    if (batch.length > 0) await call.driver.write(call.tenant, (tx) => work(tx, batch));
    from += batch.length;
    return batch.length;
  });
}

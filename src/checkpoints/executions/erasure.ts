/** Erases stored parts that are no longer visible: of a deleted execution, or after pruning. */
import { longQuery, type Tx } from '../../driver/index.js';
import { type Call, inBatches } from '../../engine/index.js';
import { countErasedVersions, type EndingRow, executionHolder } from '../../engine/sql.js';
import {
  deleteLines,
  deletePart,
  deleteRemoved,
  emptyPart,
  linesOf,
  nodesOf,
  overridesOf,
  PART_TABLES,
  type PartPlace,
  type PartTable,
  partsAfter,
  removeCheckpoints,
  removedCheckpoints,
} from '../checkpoints/removal.js';
import { deleteWritesOf, emptyWritesOf } from '../checkpoints/writes.js';
import { Visibility } from '../states/visibility.js';
import { type ExecutionRow, findExecution } from './store.js';

const PARTS_PER_READ = 2000;

/** The parts of an execution up to a revision that are not visible, by table. */
export async function* invisibleParts(
  call: Call,
  execution: Pick<ExecutionRow, 'execution_id' | 'revision'>,
  visibility: Visibility,
): AsyncGenerator<{ table: PartTable; parts: PartPlace[] }> {
  const query = longQuery(call.driver, call.tenant);
  for (const table of PART_TABLES) {
    let after = { line: 0, removed: -1, added: 0, ordinal: -1 };
    for (;;) {
      const parts = await partsAfter(query, table, execution, after, PARTS_PER_READ);
      const invisible = parts.filter((part) => !visibility.isVisible(part));
      if (invisible.length > 0) yield { table, parts: invisible };
      if (parts.length < PARTS_PER_READ) break;
      after = parts.at(-1)!;
    }
  }
}

/**
 * A part that is invisible at some revision stays so: a later checkpoint descends from an existing one, and adds parts
 * of higher revisions, which are left alone. So no lock is needed, as long as the revision is read first and the lines
 * after the checkpoints. False if the store is closing.
 */
export async function eraseStates(call: Call, ending: EndingRow): Promise<boolean> {
  const { driver, tenant } = call;
  const { holder } = ending;
  const isDeleted = holder.startsWith(executionHolder(''));
  const execution_id = holder.slice(holder.indexOf(':') + 1);
  const query = longQuery(driver, tenant);
  const execution = (await findExecution(driver.at(tenant), execution_id))!;
  const nodes = await nodesOf(query, execution_id);
  const lines = await linesOf(query, execution_id);
  const visibility = isDeleted
    ? new Visibility([], [], { overrides: [], holders: [] })
    : new Visibility(nodes, lines, await overridesOf(query, execution_id));
  if (isDeleted) await driver.write(tenant, (tx) => emptyWritesOf(tx, execution_id));
  const ids = isDeleted ? nodes.map(({ checkpoint_id }) => checkpoint_id) : [];
  const whole =
    (await eachBatch(call, ids, (tx, batch) => removeCheckpoints(tx, batch))) &&
    (await eachInvisible(call, execution, visibility, emptyPart)) &&
    (await eachInvisible(call, execution, visibility, deletePart, (tx, count) =>
      countErasedVersions(tx, holder, count),
    )) &&
    (await inBatches(call, async (limit) => {
      const removed = await removedCheckpoints(driver.at(tenant), limit);
      if (removed.length > 0) await driver.write(tenant, (tx) => deleteRemoved(tx, removed));
      return removed.length;
    }));
  if (!whole) return false;
  if (isDeleted) await driver.write(tenant, (tx) => deleteWritesOf(tx, execution_id));
  // A line created since has the number of a later revision, and its checkpoint was not read.
  const unused = lines.map(({ line }) => line).filter((line) => line <= execution.revision && !visibility.isUsed(line));
  if (unused.length > 0) await driver.write(tenant, (tx) => deleteLines(tx, execution_id, unused));
  return true;
}

/** Changes every invisible part. False if the store is closing. */
async function eachInvisible(
  call: Call,
  execution: ExecutionRow,
  visibility: Visibility,
  work: typeof emptyPart,
  note?: (tx: Tx, count: number) => Promise<void>,
): Promise<boolean> {
  for await (const { table, parts } of invisibleParts(call, execution, visibility)) {
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

/** Erases the stored parts of states that nobody sees any more: of an execution that was deleted, or after pruning. */
import { Views } from '../domain/state-views.js';
import { atLength } from '../driver/driver.js';
import {
  coveringOf,
  deleteCheckpoints,
  deleteLines,
  deletePart,
  linesOf,
  nodesOf,
  PART_TABLES,
  type PartPlace,
  type PartTable,
  partsAfter,
} from '../store/checkpoint-removal.js';
import { deleteWritesOf } from '../store/checkpoint-writes.js';
import { type EndingRow, executionHolder, noteVersions } from '../store/endings.js';
import { type ExecutionRow, findExecution } from '../store/executions.js';
import { inBatches } from './erasure-batches.js';
import type { Call } from './runtime.js';

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
      const parts = await partsAfter(query, table, call.tenant, execution_id, revision, after, LOOK);
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
  const execution = (await findExecution(driver.at(tenant), tenant, execution_id))!;
  const nodes = await nodesOf(query, tenant, execution_id);
  const lines = await linesOf(query, tenant, execution_id);
  const views = isDeleted
    ? new Views([], [], { covers: [], holders: [] })
    : new Views(nodes, lines, await coveringOf(query, tenant, execution_id));
  for await (const { table, parts } of unseenParts(call, execution, views)) {
    let from = 0;
    const whole = await inBatches(call, async (limit) => {
      const batch = parts.slice(from, from + limit);
      if (batch.length === 0) return 0;
      await driver.write(tenant, async (tx) => {
        for (const part of batch) await deletePart(tx, table, tenant, execution_id, part);
        await noteVersions(tx, tenant, holder, batch.length);
      });
      from += batch.length;
      return batch.length;
    });
    if (!whole) return false;
  }
  if (
    isDeleted &&
    !(await eraseRows(
      call,
      nodes.map(({ checkpoint_id }) => checkpoint_id),
    ))
  )
    return false;
  if (isDeleted) await driver.write(tenant, (tx) => deleteWritesOf(tx, tenant, execution_id));
  const unused = lines.map(({ line }) => line).filter((line) => !views.isUsed(line));
  if (unused.length > 0) await driver.write(tenant, (tx) => deleteLines(tx, tenant, execution_id, unused));
  return true;
}

function eraseRows(call: Call, checkpoint_ids: readonly string[]): Promise<boolean> {
  let from = 0;
  return inBatches(call, async (limit) => {
    const batch = checkpoint_ids.slice(from, from + limit);
    if (batch.length > 0)
      await call.driver.write(call.tenant, (tx) => deleteCheckpoints(tx, call.tenant, batch));
    from += batch.length;
    return batch.length;
  });
}

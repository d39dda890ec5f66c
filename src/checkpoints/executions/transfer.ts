/** Exports executions as bundles, and imports bundles and checkpoint files, each in one transaction. */

import { listToText, longQuery, type Query, type Tx } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import { appendEvent, type Call, change, runCallSteps, storedReplay, subjectsOf } from '../../engine/index.js';
import { refuseForeignWrite } from '../../identity/index.js';
import { CairnError, cooperativeYield, groupBy, invalid, runWithYields } from '../../kernel/index.js';
import { metadataText } from '../../memory/index.js';
import { addCheckpoint, cycleError } from '../checkpoints/adding.js';
import { type CheckpointSummary, presentMembers } from '../checkpoints/model.js';
import { draftOf } from '../checkpoints/rows.js';
import { showSummary, showWrite, writeRow } from '../checkpoints/states.js';
import { findCheckpoint, insertCheckpoints, insertLines, usedIds } from '../checkpoints/store.js';
import { buildTree } from '../checkpoints/tree.js';
import { readCheckpoint } from '../checkpoints/versions.js';
import { insertWrites } from '../checkpoints/writes.js';
import { bundleWithCarried, carriedByBundle, withCarried } from '../states/carried-members.js';
import { type Rest, snapshotOf } from '../states/snapshot-state.js';
import { insertParts } from '../states/store.js';
import { type BundledCheckpoint, type BundledExecution, bundleSteps, readSteps, sameBundleSteps } from './bundle.js';
import { readContents, statesFrom, storedBytes } from './contents.js';
import { type LaidOut, layOut } from './layout.js';
import type { Bundle, Execution } from './model.js';
import { agentOf, executionGone, newExecution, openExecution, showExecution } from './service.js';
import { type ExecutionRow, findExecution, insertExecution } from './store.js';

/** Bundles are built in memory, and must fit into one import request. */
const MAX_BUNDLE_BYTES = 64 * 1024 * 1024;

async function exportBundle(call: Call, { execution_id }: In<'executions.export'>): Promise<Bundle> {
  const { driver, tenant } = call;
  const query = longQuery(driver, tenant);
  const bytes = await storedBytes(query, await openExecution(query, execution_id));
  if (bytes > MAX_BUNDLE_BYTES) {
    const fault = `the states of execution ${execution_id} have ${bytes} bytes, the limit is ${MAX_BUNDLE_BYTES}`;
    throw new CairnError('TOO_LARGE', `${fault}: prune it first, or export its checkpoints`);
  }
  const { execution, contents } = await driver.snapshot(tenant, async (at) => ({
    execution: await openExecution(at, execution_id),
    contents: await readContents(at, execution_id),
  }));
  const maybe_yield = cooperativeYield();
  const stateAt = await runWithYields(statesFrom(contents.parts, contents.lines), maybe_yield);
  const writes = groupBy(contents.writes, ({ checkpoint_id }) => checkpoint_id);
  // In tree order: a file may have been imported before its parent's.
  function* bundled(): Generator<BundledCheckpoint> {
    for (const { row } of buildTree(contents.checkpoints).nodes)
      yield {
        summary: withCarried(showSummary(row), row.carried),
        snapshot: snapshotOf(stateAt(row, JSON.parse(row.rest) as Rest)),
        pending_writes: (writes.get(row.checkpoint_id) ?? []).map(showWrite),
      };
  }
  const exported = await runWithYields(bundleSteps(toBundle(execution), bundled()), maybe_yield);
  return bundleWithCarried(exported, execution.carried);
}

const toBundle = (row: ExecutionRow): BundledExecution => ({
  execution_id: row.execution_id,
  agent_id: row.agent_id,
  status: row.status,
  ...(row.namespace === '' ? {} : { namespace: row.namespace }),
  ...(row.metadata === null ? {} : { metadata: JSON.parse(row.metadata) }),
  ...presentMembers({ name: row.name, thread_id: row.thread_id, latest_checkpoint_id: row.head_id }),
  created_at: row.created_at,
});

async function importBundle(call: Call, input: In<'executions.import'>): Promise<Execution> {
  const { tenant } = call;
  const { execution, checkpoints } = await runCallSteps(call, readSteps(input.bundle));
  const { execution_id } = execution;
  const agent_id = agentOf(call, execution.agent_id);
  const foreign = checkpoints.find(({ summary }) => summary.agent_id !== execution.agent_id);
  if (foreign)
    throw invalid(`checkpoint ${foreign.summary.id} of the bundle has another \`agent_id\` than its execution`);
  const again = async (query: Query) => showExecution(await openExecution(query, execution_id));
  if ((await storedReplay(call, input)) !== undefined) return again(call.driver.at(tenant));
  const laidOut = await runCallSteps(call, layOut(tenant, checkpoints));
  const existing = await sameExecution(call, execution_id, input.bundle as unknown as Bundle);
  if (existing && call.options.idempotency_key === undefined) return existing;
  return change(call, {
    input,
    bytes: laidOut.bytes,
    work: async (work) => {
      const { tx, now } = work;
      // Nothing changes, but the answer is recorded under the idempotency key.
      if (existing) return existing;
      const head_id = execution.latest_checkpoint_id ?? laidOut.rows.at(-1)?.checkpoint_id ?? null;
      const row = newExecution(
        {
          execution_id,
          agent_id,
          name: execution.name ?? null,
          status: execution.status,
          thread_id: execution.thread_id ?? null,
          namespace: execution.namespace ?? '',
          subject_ids: listToText(subjectsOf(call, [])),
          metadata: metadataText(execution.metadata),
          carried: carriedByBundle(input.bundle as unknown as Bundle),
          revision: laidOut.rows.length,
          line: laidOut.rows.at(-1)?.line ?? 0,
          checkpoints: laidOut.rows.length,
          head_id,
          created_at: execution.created_at,
        },
        now,
      );
      await refuseUsed(tx, execution_id, laidOut);
      await insertExecution(tx, row);
      await insertLines(tx, execution_id, laidOut.lines);
      await insertCheckpoints(tx, laidOut.rows);
      await insertParts(tx, row, laidOut.parts);
      for (const { checkpoint_id, writes } of laidOut.writes)
        await insertWrites(tx, { checkpoint_id, execution_id }, 0, writes.map(writeRow));
      const facts = { checkpoints: laidOut.rows.length };
      appendEvent(work, 'cairn.execution.imported', { type: 'execution', id: execution_id }, facts);
      return showExecution(row);
    },
    remember: () => execution_id,
    again,
  });
}

/** The existing execution with this id, if it exports the same bytes. */
async function sameExecution(call: Call, execution_id: string, given: Bundle): Promise<Execution | undefined> {
  const row = await findExecution(call.driver.at(call.tenant), execution_id);
  if (!row) return undefined;
  if (row.deleted_at !== null) throw executionGone(execution_id);
  const exported = await exportBundle(call, { execution_id });
  refuseForeignWrite(call, `execution ${execution_id}`, row.subject_ids);
  if (await runWithYields(sameBundleSteps(exported, given), cooperativeYield())) return showExecution(row);
  throw new CairnError(
    'ENTITY_ALREADY_EXISTS',
    `execution ${execution_id} already exists with different content: import into another store`,
  );
}

async function refuseUsed(tx: Tx, execution_id: string, { rows }: LaidOut): Promise<void> {
  if (await findExecution(tx, execution_id))
    throw new CairnError('ENTITY_ALREADY_EXISTS', `execution ${execution_id} was created meanwhile: try again`);
  const used = await usedIds(
    tx,
    rows.map(({ checkpoint_id }) => checkpoint_id),
  );
  if (used.length === 0) return;
  const message = `checkpoint ids of the bundle are in use, or were: ${used.slice(0, 3).join(', ')}`;
  throw new CairnError('ENTITY_ALREADY_EXISTS', message, { checkpoint_ids: used.slice(0, 100) });
}

export { exportBundle as export, importBundle as import };

/** Imports a file of any supported version. A parent that is not in this store is recorded by id only. */
export async function importCheckpoint(call: Call, input: In<'checkpoints.import'>): Promise<CheckpointSummary> {
  const read = readCheckpoint(input.checkpoint);
  const draft = draftOf(read);
  const parent_id = draft.absent_parent_id;
  if (parent_id === read.id) throw cycleError(read.id);
  const parent = parent_id === undefined ? undefined : await findCheckpoint(call.driver.at(call.tenant), parent_id);
  const known = parent?.execution_id === read.execution_id ? { parent_id, absent_parent_id: undefined } : {};
  const agent_id = agentOf(call, read.agent_id);
  const sent = { ...draft, ...known, agent_id, snapshot: read.snapshot, imported: true, carries: true };
  return addCheckpoint(call, sent, input, 'cairn.checkpoint.imported');
}

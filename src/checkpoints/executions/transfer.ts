/** Carries executions from store to store: a bundle with all checkpoints out, and in again in one transaction. */
import type { z } from 'zod';
import { atLength, type Query, type Tx } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import { appendEvent, type Call, change, keptAnswer, stepsOf } from '../../engine/index.js';
import type { JsonObject } from '../../kernel/contract.js';
import { CairnError, givingWay, inSteps, invalid } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import { metadataText } from '../../memory/index.js';
import { addCheckpoint, circle } from '../checkpoints/adding.js';
import type { checkpoints as checkpointOperations } from '../checkpoints/contract.js';
import type { CheckpointSummary } from '../checkpoints/model.js';
import { showSummary, showWrite } from '../checkpoints/states.js';
import { findCheckpoint, insertCheckpoints, insertLines, usedIds } from '../checkpoints/store.js';
import { descend } from '../checkpoints/tree.js';
import { readCheckpoint } from '../checkpoints/versions.js';
import { insertWrites, type WriteRow } from '../checkpoints/writes.js';
import { bundleWithCarried, carriedBy, carriedByBundle, withCarried } from '../states/carried-members.js';
import { type Rest, snapshotOf } from '../states/snapshot-state.js';
import { insertParts, thoughtBodies } from '../states/store.js';
import type { ThinkingExecution, ThoughtMeasures } from '../states/thought-docs.js';
import { measureThoughts } from '../states/thought-measures.js';
import { type BundledCheckpoint, type BundledExecution, bundleSteps, readSteps, sameBundleSteps } from './bundle.js';
import { readContents, storedBytes } from './contents.js';
import { type LaidOut, layOut } from './layout.js';
import type { Bundle, Execution } from './model.js';
import { agentOf, goneExecution, newExecution, openExecution, showExecution } from './service.js';
import { statesFrom } from './states.js';
import { type ExecutionRow, findExecution, insertExecution } from './store.js';

/** A bundle is put together in memory, and has to be taken in over HTTP. */
const MAX_BUNDLE_BYTES = 64 * 1024 * 1024;

async function exportBundle(call: Call, input: In<'executions.export'>): Promise<Bundle> {
  const { driver, tenant } = call;
  const { execution_id } = input;
  const query = atLength(driver, tenant);
  const bytes = await storedBytes(query, await openExecution(query, execution_id));
  if (bytes > MAX_BUNDLE_BYTES) {
    throw new CairnError(
      'TOO_LARGE',
      `execution ${execution_id} has ${bytes} bytes of states, a bundle takes ${MAX_BUNDLE_BYTES}: prune it first, or export its checkpoints`,
    );
  }
  const { execution, contents } = await driver.snapshot(tenant, async (at) => ({
    execution: await openExecution(at, execution_id),
    contents: await readContents(at, execution_id),
  }));
  const give_way = givingWay();
  const stateAt = await inSteps(statesFrom(contents.parts, contents.lines), give_way);
  const writes = new Map<string, WriteRow[]>();
  for (const row of contents.writes) {
    const before = writes.get(row.checkpoint_id);
    if (before) before.push(row);
    else writes.set(row.checkpoint_id, [row]);
  }
  // Files may have come before those of their parents.
  function* bundled(): Generator<BundledCheckpoint> {
    for (const { row } of descend(contents.checkpoints).nodes)
      yield {
        summary: withCarried(showSummary(row), row.carried),
        snapshot: snapshotOf(stateAt(row, JSON.parse(row.rest) as Rest)),
        pending_writes: (writes.get(row.checkpoint_id) ?? []).map(showWrite),
      };
  }
  const made = await inSteps(bundleSteps(toBundle(execution), bundled()), give_way);
  return bundleWithCarried(made, execution.carried);
}

function toBundle(row: ExecutionRow): BundledExecution {
  return {
    execution_id: row.execution_id,
    agent_id: row.agent_id,
    ...(row.name === null ? {} : { name: row.name }),
    status: row.status,
    ...(row.thread_id === null ? {} : { thread_id: row.thread_id }),
    ...(row.namespace === '' ? {} : { namespace: row.namespace }),
    ...(row.metadata === null ? {} : { metadata: JSON.parse(row.metadata) as JsonObject }),
    ...(row.head_id === null ? {} : { latest_checkpoint_id: row.head_id }),
    created_at: row.created_at,
  };
}

async function importBundle(call: Call, input: In<'executions.import'>): Promise<Execution> {
  const { tenant } = call;
  const { execution, checkpoints } = await stepsOf(call, readSteps(input.bundle));
  const { execution_id } = execution;
  const agent_id = agentOf(call, execution.agent_id);
  const foreign = checkpoints.find(({ summary }) => summary.agent_id !== execution.agent_id);
  if (foreign) {
    const { id, agent_id: named } = foreign.summary;
    throw invalid(`checkpoint ${id} of the bundle is of agent ${named}, its execution is not`);
  }
  const again = async (query: Query) => showExecution(await openExecution(query, execution_id));
  if ((await keptAnswer(call, input)) !== undefined) return again(call.driver.at(tenant));
  const laidOut = await stepsOf(call, layOut(tenant, checkpoints));
  const there = await sameExecution(call, execution_id, input.bundle as unknown as Bundle);
  if (there && call.options.idempotency_key === undefined) return there;
  const measures = await measureThoughts(call, there ? [] : thoughtBodies(laidOut.parts));
  return change(call, {
    input,
    bytes: laidOut.bytes,
    work: async (work) => {
      const { tx, now } = work;
      // Nothing is to be done, which is remembered all the same.
      if (there) return there;
      const head_id = execution.latest_checkpoint_id ?? laidOut.rows.at(-1)?.checkpoint_id ?? null;
      const row = newExecution(
        {
          execution_id,
          agent_id,
          name: execution.name ?? null,
          status: execution.status,
          thread_id: execution.thread_id ?? null,
          namespace: execution.namespace ?? '',
          metadata: metadataText(execution.metadata),
          carried: carriedByBundle(input.bundle as unknown as Bundle),
          revision: laidOut.rows.length,
          checkpoints: laidOut.rows.length,
          head_id,
          created_at: execution.created_at,
        },
        now,
      );
      await refuseUsed(tx, execution_id, laidOut);
      await insertExecution(tx, row);
      await insertLaidOut(tx, row, laidOut, measures);
      const facts = { checkpoints: laidOut.rows.length };
      appendEvent(work, 'cairn.execution.imported', { type: 'execution', id: execution_id }, facts);
      return showExecution(row);
    },
    remember: () => execution_id,
    again,
  });
}

async function insertLaidOut(
  tx: Tx,
  execution: ThinkingExecution,
  laidOut: LaidOut,
  measures: ThoughtMeasures,
): Promise<void> {
  const { execution_id } = execution;
  await insertLines(tx, execution_id, laidOut.lines);
  await insertCheckpoints(tx, laidOut.rows);
  await insertParts(tx, execution, laidOut.parts, measures);
  for (const { checkpoint_id, writes } of laidOut.writes) {
    const rows = writes.map(({ index, value, ...write }) => ({ ...write, place: index, value: canonical(value) }));
    await insertWrites(tx, { checkpoint_id, execution_id }, 0, rows);
  }
}

/** The execution that has this id already, if it is the same to the last byte. */
async function sameExecution(call: Call, execution_id: string, given: Bundle): Promise<Execution | undefined> {
  const row = await findExecution(call.driver.at(call.tenant), execution_id);
  if (!row) return undefined;
  if (row.deleted_at !== null) throw goneExecution(execution_id);
  const made = await exportBundle(call, { execution_id });
  if (await inSteps(sameBundleSteps(made, given), givingWay())) return showExecution(row);
  throw new CairnError(
    'ENTITY_ALREADY_EXISTS',
    `execution ${execution_id} exists and is another, or has gone on: import into another store`,
  );
}

async function refuseUsed(tx: Tx, execution_id: string, { rows }: LaidOut): Promise<void> {
  if (await findExecution(tx, execution_id)) {
    throw new CairnError('ENTITY_ALREADY_EXISTS', `execution ${execution_id} was made meanwhile: try again`);
  }
  const used = await usedIds(
    tx,
    rows.map(({ checkpoint_id }) => checkpoint_id),
  );
  if (used.length === 0) return;
  throw new CairnError(
    'ENTITY_ALREADY_EXISTS',
    `checkpoint ids of the bundle are in use, or were: ${used.slice(0, 3).join(', ')}`,
    { checkpoint_ids: used.slice(0, 100) },
  );
}

export { exportBundle as export, importBundle as import };

type ImportIn = z.output<(typeof checkpointOperations)['import']['input']>;

/** A file of any supported version. Of a parent that is not here only the id is known. */
export async function importCheckpoint(call: Call, input: ImportIn): Promise<CheckpointSummary> {
  const read = readCheckpoint(input.checkpoint);
  const { parent } = read;
  if (parent?.checkpoint_id === read.id) throw circle(read.id);
  const found = parent && (await findCheckpoint(call.driver.at(call.tenant), parent.checkpoint_id));
  const known = found?.execution_id === read.execution_id;
  return addCheckpoint(
    call,
    {
      checkpoint_id: read.id,
      execution_id: read.execution_id,
      agent_id: agentOf(call, read.agent_id),
      parent_id: parent && known ? parent.checkpoint_id : null,
      absent_parent_id: known ? undefined : parent?.checkpoint_id,
      branch: { is_branch: parent?.is_branch ?? false, reason: parent?.branch_reason ?? null },
      imported: true,
      carries: true,
      carried: carriedBy(read),
      snapshot: read.snapshot,
      metadata: read.metadata,
      name: read.name ?? null,
      description: read.description ?? null,
      labels: read.labels,
      timestamp: read.timestamp,
    },
    input,
    'cairn.checkpoint.imported',
  );
}

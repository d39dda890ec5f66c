/** Lists of checkpoints, thoughts and tool calls. */
import { atLength } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { type Call, listPage, type PageInput } from '../../engine/index.js';
import { reachOf } from '../../identity/index.js';
import { type Json, textFault } from '../../kernel/contract.js';
import { toMs } from '../../kernel/index.js';
import { invalidCursor } from '../../kernel/node.js';
import { toolCallIds } from '../states/tool-call-ids.js';
import {
  type CheckpointFilter,
  countCheckpoints,
  countThoughts,
  countToolCalls,
  type EntryFilter,
  type EntryKey,
  type FoundRow,
  listCheckpoints,
  listThoughts,
  listToolCalls,
  lower,
} from './lists-store.js';
import type { Thought, ToolCall } from './model.js';
import { openCheckpoint, readState, showSummary } from './states.js';
import type { CheckpointRow } from './store.js';

const msOf = (iso: string | undefined): number | undefined => (iso === undefined ? undefined : toMs(iso));

export async function list(call: Call, input: In<'checkpoints.list'>): Promise<Out<'checkpoints.list'>> {
  const { driver, tenant } = call;
  const { limit, cursor, offset, order, ...filters } = input;
  const taken_after = msOf(filters.taken_after);
  const taken_before = msOf(filters.taken_before);
  const reach = reachOf(call, 'Checkpoint');
  const filter: CheckpointFilter = { ...filters, taken_after, taken_before, reach };
  const { rows, ...page } = await listPage<CheckpointRow, string>(call, {
    input: { limit, cursor, offset, order },
    filters: filters as Json,
    key: 'string',
    keyOf: ({ checkpoint_id }) => checkpoint_id,
    read: (request) => listCheckpoints(atLength(driver, tenant), filter, request),
    bytesOf: ({ labels, description }) => (labels?.length ?? 0) + (description?.length ?? 0),
    count: countCheckpoints(filter),
  });
  return { checkpoints: rows.map(showSummary), ...page };
}

const keyOf = ({ checkpoint_id, id }: FoundRow): string => JSON.stringify([checkpoint_id, id]);

function keyFrom(text: string | undefined): EntryKey | undefined {
  if (text === undefined) return undefined;
  try {
    const key = JSON.parse(text) as unknown;
    // Texts that both databases can compare with: an escape may stand for NUL.
    const isKey =
      Array.isArray(key) &&
      key.length === 2 &&
      key.every((part) => typeof part === 'string' && textFault(part) === undefined);
    if (isKey) return key as unknown as EntryKey;
  } catch {
    // Falls through to the one refusal.
  }
  throw invalidCursor();
}

interface EntriesInput extends PageInput, EntryFilter {
  readonly checkpoint_id?: string | undefined;
}

/** A page of thoughts or tool calls: of one checkpoint what it has, else what the table has. */
function entryPage(
  call: Call,
  { limit, cursor, offset, order, ...filters }: EntriesInput,
  held: readonly FoundRow[] | undefined,
  stored: { readonly read: typeof listThoughts; readonly count: typeof countThoughts },
) {
  const { driver, tenant } = call;
  const reached = { ...filters, reach: reachOf(call, 'Checkpoint') };
  return listPage<FoundRow, string>(call, {
    input: { limit, cursor, offset, order },
    filters: filters as Json,
    key: 'string',
    keyOf,
    read: held
      ? pageOf(order === 'desc' ? [...held].reverse() : held)
      : async ({ after, ...request }) =>
          stored.read(atLength(driver, tenant), reached, { ...request, after: keyFrom(after) }),
    bytesOf: ({ body }) => body.length,
    count: held ? async () => held.length : stored.count(reached),
  });
}

export async function thoughts(call: Call, input: In<'checkpoints.thoughts'>): Promise<Out<'checkpoints.thoughts'>> {
  const { checkpoint_id } = input;
  const held = checkpoint_id === undefined ? undefined : await thoughtsOf(call, checkpoint_id, input);
  const { rows, ...page } = await entryPage(call, input, held, { read: listThoughts, count: countThoughts });
  return {
    thoughts: rows.map((row) => {
      const { children: _, ...thought } = JSON.parse(row.body) as Thought;
      return { ...placeOf(row), ...thought };
    }),
    ...page,
  };
}

export async function tool_calls(
  call: Call,
  input: In<'checkpoints.tool_calls'>,
): Promise<Out<'checkpoints.tool_calls'>> {
  const { checkpoint_id } = input;
  const held = checkpoint_id === undefined ? undefined : await toolCallsOf(call, checkpoint_id, input);
  const { rows, ...page } = await entryPage(call, input, held, { read: listToolCalls, count: countToolCalls });
  return {
    tool_calls: rows.map((row) => ({ ...placeOf(row), ...(JSON.parse(row.body) as ToolCall), id: row.id })),
    ...page,
  };
}

const placeOf = ({ execution_id, checkpoint_id }: FoundRow) => ({ execution_id, checkpoint_id });

/** Pages of what one checkpoint has, in the order of its state. */
const pageOf =
  (held: readonly FoundRow[]) =>
  async ({ after, limit, offset }: { after: string | undefined; limit: number; offset: number }) => {
    const start = after === undefined ? 0 : held.findIndex((row) => keyOf(row) === after) + 1;
    // The state of a checkpoint never changes: each key that a page ended with is still there.
    if (after !== undefined && start === 0) throw invalidCursor();
    return held.slice(start + offset, start + offset + limit);
  };

/** What one checkpoint has, inherited or not, is in its state. */
async function thoughtsOf(
  call: Call,
  checkpoint_id: string,
  filter: Pick<
    In<'checkpoints.thoughts'>,
    'thought_type' | 'confidence_below' | 'thought_text' | 'execution_id' | 'agent_id'
  >,
): Promise<FoundRow[]> {
  const { row, state } = await stateOf(call, checkpoint_id);
  const text = filter.thought_text === undefined ? undefined : lower(filter.thought_text);
  const held = (state.thoughts.value as unknown as Thought[]).filter(
    (thought) =>
      isOf(row, filter) &&
      (filter.thought_type === undefined || thought.type === filter.thought_type) &&
      (filter.confidence_below === undefined || thought.confidence < filter.confidence_below) &&
      (text === undefined || lower(thought.content).includes(text) || lower(thought.reasoning ?? '').includes(text)),
  );
  return held.map((thought) => foundIn(row, thought.id, thought));
}

async function toolCallsOf(
  call: Call,
  checkpoint_id: string,
  filter: Pick<
    In<'checkpoints.tool_calls'>,
    'tool_id' | 'tool_success' | 'tool_slower_than_ms' | 'execution_id' | 'agent_id'
  >,
): Promise<FoundRow[]> {
  const { row, state } = await stateOf(call, checkpoint_id);
  const calls = state.tool_calls.value as unknown as ToolCall[];
  const ids = toolCallIds(calls);
  return calls
    .map((each, i) => ({ each, id: ids[i]! }))
    .filter(
      ({ each }) =>
        isOf(row, filter) &&
        (filter.tool_id === undefined || each.tool_id === filter.tool_id) &&
        (filter.tool_success === undefined || each.success === filter.tool_success) &&
        (filter.tool_slower_than_ms === undefined || each.duration_ms > filter.tool_slower_than_ms),
    )
    .map(({ each, id }) => foundIn(row, id, each));
}

const isOf = (row: CheckpointRow, filter: { execution_id?: string | undefined; agent_id?: string | undefined }) =>
  (filter.execution_id === undefined || filter.execution_id === row.execution_id) &&
  (filter.agent_id === undefined || filter.agent_id === row.agent_id);

const foundIn = ({ checkpoint_id, execution_id }: CheckpointRow, id: string, entry: Thought | ToolCall): FoundRow => ({
  checkpoint_id,
  execution_id,
  id,
  body: JSON.stringify(entry),
});

const stateOf = (call: Call, checkpoint_id: string) =>
  call.driver.snapshot(call.tenant, async (query) => {
    const row = await openCheckpoint(query, checkpoint_id);
    return { row, state: await readState(query, row) };
  });

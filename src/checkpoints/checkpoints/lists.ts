/** Lists of checkpoints, thoughts and tool calls. */
import { longQuery } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { type Call, listPage, type PageInput } from '../../engine/index.js';
import { reachOf } from '../../identity/index.js';
import { type Json, textFault } from '../../kernel/contract.js';
import { toMs } from '../../kernel/index.js';
import { invalidCursor } from '../../kernel/node.js';
import { toolCallIds } from '../states/tool-call-ids.js';
import {
  countCheckpoints,
  countEntries,
  type EntryFilter,
  type EntryKey,
  type EntryRow,
  type EntryTable,
  listCheckpoints,
  listEntries,
  lower,
} from './lists-store.js';
import type { Thought, ToolCall } from './model.js';
import { openState, showSummary } from './states.js';
import type { CheckpointRow } from './store.js';

const msOf = (iso: string | undefined): number | undefined => (iso === undefined ? undefined : toMs(iso));

export async function list(call: Call, input: In<'checkpoints.list'>): Promise<Out<'checkpoints.list'>> {
  const { driver, tenant } = call;
  const { limit, cursor, offset, order, ...filters } = input;
  const taken = { taken_after: msOf(filters.taken_after), taken_before: msOf(filters.taken_before) };
  const filter = { ...filters, ...taken, reach: reachOf(call, 'Checkpoint') };
  const { rows, ...page } = await listPage<CheckpointRow, string>(call, {
    input: { limit, cursor, offset, order },
    filters: filters as Json,
    key: 'string',
    keyOf: ({ checkpoint_id }) => checkpoint_id,
    read: (request) => listCheckpoints(longQuery(driver, tenant), filter, request),
    bytesOf: ({ labels, description }) => (labels?.length ?? 0) + (description?.length ?? 0),
    count: countCheckpoints(filter),
  });
  return { checkpoints: rows.map(showSummary), ...page };
}

const keyOf = ({ checkpoint_id, id }: EntryRow): string => JSON.stringify([checkpoint_id, id]);

function parseKey(text: string): EntryKey {
  try {
    const key = JSON.parse(text) as unknown;
    // Texts that both databases can compare with: an escape may stand for NUL.
    const isText = (part: unknown) => typeof part === 'string' && textFault(part) === undefined;
    if (Array.isArray(key) && key.length === 2 && key.every(isText)) return key as unknown as EntryKey;
  } catch {
    // Not JSON: refused below.
  }
  throw invalidCursor();
}

/** A page of thoughts or tool calls: `held` are those of one checkpoint, else the table is read. */
async function entryPage<T extends Thought | ToolCall>(
  call: Call,
  table: EntryTable,
  { limit, cursor, offset, order, ...filters }: PageInput & EntryFilter,
  held: readonly EntryRow[] | undefined,
) {
  const query = longQuery(call.driver, call.tenant);
  const filter = { ...filters, reach: reachOf(call, 'Checkpoint') };
  const { rows, ...page } = await listPage<EntryRow, string>(call, {
    input: { limit, cursor, offset, order },
    filters: filters as Json,
    key: 'string',
    keyOf,
    read: held
      ? pageOf(order === 'desc' ? [...held].reverse() : held)
      : async ({ after, ...request }) =>
          listEntries(query, table, filter, { ...request, after: after === undefined ? after : parseKey(after) }),
    bytesOf: ({ body }) => body.length,
    count: held ? async () => held.length : countEntries(table, filter),
  });
  // The body first: an imported one may have unknown members of these names.
  const entries = rows.map(({ id, execution_id, checkpoint_id, body }) => ({
    ...(JSON.parse(body) as T),
    id,
    execution_id,
    checkpoint_id,
  }));
  return { entries, page };
}

export async function thoughts(call: Call, input: In<'checkpoints.thoughts'>): Promise<Out<'checkpoints.thoughts'>> {
  const { entries, page } = await entryPage<Thought>(call, 'thoughts', input, await thoughtsOf(call, input));
  return { thoughts: entries.map(({ children: _, ...thought }) => thought), ...page };
}

export async function tool_calls(
  call: Call,
  input: In<'checkpoints.tool_calls'>,
): Promise<Out<'checkpoints.tool_calls'>> {
  const { entries, page } = await entryPage<ToolCall>(call, 'tool_calls', input, await toolCallsOf(call, input));
  return { tool_calls: entries, ...page };
}

/** Pages of one checkpoint's entries, in the order of its state. */
const pageOf =
  (held: readonly EntryRow[]) =>
  async ({ after, limit, offset }: { after: string | undefined; limit: number; offset: number }) => {
    const start = after === undefined ? 0 : held.findIndex((row) => keyOf(row) === after) + 1;
    // A checkpoint never changes, so the last key of a page is still there.
    if (after !== undefined && start === 0) throw invalidCursor();
    return held.slice(start + offset, start + offset + limit);
  };

/** Whether a value passes a filter that may be absent. */
const passes = <T>(wanted: T | undefined, test: (wanted: T) => boolean): boolean =>
  wanted === undefined || test(wanted);

/** The matching thoughts of the state of one checkpoint, if the filter names one. */
async function thoughtsOf(call: Call, filter: In<'checkpoints.thoughts'>): Promise<EntryRow[] | undefined> {
  const found = await stateOf(call, filter);
  const lowered = filter.thought_text === undefined ? undefined : lower(filter.thought_text);
  return (found?.state.thoughts.value as unknown as Thought[] | undefined)
    ?.filter(
      ({ type, confidence, content, reasoning = '' }) =>
        isOf(found!.row, filter) &&
        passes(filter.thought_type, (wanted) => type === wanted) &&
        passes(filter.confidence_below, (limit) => confidence < limit) &&
        passes(lowered, (text) => [content, reasoning].some((each) => lower(each).includes(text))),
    )
    .map((thought) => entryOf(found!.row, thought.id, thought));
}

async function toolCallsOf(call: Call, filter: In<'checkpoints.tool_calls'>): Promise<EntryRow[] | undefined> {
  const found = await stateOf(call, filter);
  if (!found) return undefined;
  const completed = found.state.tool_calls.value as unknown as ToolCall[];
  return toolCallIds(completed)
    .map((id, i) => ({ id, tool: completed[i]! }))
    .filter(
      ({ tool }) =>
        isOf(found.row, filter) &&
        passes(filter.tool_id, (wanted) => tool.tool_id === wanted) &&
        passes(filter.tool_success, (wanted) => tool.success === wanted) &&
        passes(filter.tool_slower_than_ms, (limit) => tool.duration_ms > limit),
    )
    .map(({ id, tool }) => entryOf(found.row, id, tool));
}

const isOf = (row: CheckpointRow, { execution_id, agent_id }: EntryFilter): boolean =>
  passes(execution_id, (wanted) => wanted === row.execution_id) &&
  passes(agent_id, (wanted) => wanted === row.agent_id);

const entryOf = ({ checkpoint_id, execution_id }: CheckpointRow, id: string, entry: object): EntryRow => ({
  checkpoint_id,
  execution_id,
  id,
  body: JSON.stringify(entry),
});

async function stateOf(call: Call, { checkpoint_id }: { checkpoint_id?: string | undefined }) {
  if (checkpoint_id === undefined) return undefined;
  return call.driver.snapshot(call.tenant, (query) => openState(query, checkpoint_id));
}

/** Reading boxes: what a box shows, at its newest revision or an earlier one. */
import type { z } from 'zod';
import type { boxes as operations } from '../contract/boxes.js';
import { atLength, type Query } from '../driver/driver.js';
import type { Box, Grant } from '../model/box.js';
import { toIso } from '../model/common.js';
import { CairnError } from '../model/errors.js';
import type { JsonObject } from '../model/json.js';
import {
  type BoxRow,
  countBoxes,
  countEntries,
  type Entry,
  entriesAfter,
  findBoxes,
  type GrantRow,
  listBoxes,
  listGrants,
  segmentsOf,
  tailOf,
} from '../store/boxes.js';
import { type CardRow, findCards, isVisible, toCard, wasVisible } from '../store/cards.js';
import { mayUse, openBox } from './box-access.js';
import { distinctIds } from './cards.js';
import { listPage } from './pages.js';
import type { Call } from './runtime.js';

type In<V extends keyof typeof operations> = z.output<(typeof operations)[V]['input']>;
type Out<V extends keyof typeof operations> = z.output<(typeof operations)[V]['output']>;

export const DEFAULT_TAIL = 200;
const clampTail = (limit = DEFAULT_TAIL) => Math.min(500, Math.max(1, limit));

export function describe(call: Call, row: BoxRow): Omit<Box, 'card_ids'> {
  return {
    box_id: row.box_id,
    project_id: call.tenant,
    agent_id: row.agent_id,
    length: row.length,
    revision: row.revision,
    sealed_at: row.sealed_at === null ? null : toIso(row.sealed_at),
    forked_from: row.base_box_id === null ? null : { box_id: row.base_box_id, revision: row.base_revision! },
    metadata: JSON.parse(row.metadata) as JsonObject,
    created_at: toIso(row.created_at),
    updated_at: toIso(row.updated_at),
  };
}

export async function show(call: Call, query: Query, row: BoxRow, limit?: number): Promise<Box> {
  const entries = await tailOf(
    query,
    call.tenant,
    await segmentsOf(query, call.tenant, row),
    clampTail(limit),
  );
  return { ...describe(call, row), card_ids: entries.map(({ card_id }) => card_id) };
}

export async function showAgain(call: Call, query: Query, box_id: string): Promise<Box> {
  return show(call, query, await openBox(call, query, box_id, 'read'));
}

export function segmentsAt(call: Call, query: Query, row: BoxRow, revision = row.revision) {
  if (revision > row.revision) {
    throw new CairnError(
      'INVALID_INPUT',
      `box ${row.box_id} is at revision ${row.revision}, there is no ${revision} yet`,
    );
  }
  return segmentsOf(query, call.tenant, row, revision);
}

export function load(call: Call, input: In<'load'>): Promise<Box> {
  return call.driver.snapshot(call.tenant, async (query) => {
    const row = await openBox(call, query, input.box_id, 'read');
    if (input.revision === undefined) return show(call, query, row, input.limit);
    const segments = await segmentsAt(call, query, row, input.revision);
    const entries = await tailOf(query, call.tenant, segments, clampTail(input.limit));
    const length = await countEntries(query, call.tenant, segments);
    return {
      ...describe(call, row),
      revision: input.revision,
      length,
      card_ids: entries.map(({ card_id }) => card_id),
    };
  });
}

export function load_batch(call: Call, input: In<'load_batch'>): Promise<Out<'load_batch'>> {
  const ids = distinctIds('box_ids', input.box_ids);
  return call.driver.snapshot(call.tenant, async (query) => {
    const rows = await findBoxes(query, call.tenant, ids);
    const boxes: Out<'load_batch'>['boxes'] = [];
    const missing_box_ids: string[] = [];
    const missing_card_ids = new Set<string>();
    for (const id of ids) {
      const row = rows.get(id);
      // A box that the caller may not see is as good as missing, as in any list.
      if (!row || !(await mayUse(call, query, row, 'read'))) {
        missing_box_ids.push(id);
        continue;
      }
      const box = await show(call, query, row, input.limit);
      if (!input.hydrate) {
        boxes.push(box);
        continue;
      }
      const { cards, missing } = await hydrate(call, query, row, box.card_ids);
      for (const one of missing) missing_card_ids.add(one);
      boxes.push({ ...box, cards });
    }
    return { boxes, missing_box_ids, missing_card_ids: [...missing_card_ids] };
  });
}

/** The cards behind ids, as the box shows them: a sealed box as of its sealing. */
async function hydrate(call: Call, query: Query, row: BoxRow, card_ids: readonly string[]) {
  const found =
    card_ids.length > 0 ? await findCards(query, call.tenant, card_ids) : new Map<string, CardRow>();
  const { sealed_at } = row;
  const now = call.driver.now();
  const shows = (card: CardRow) => (sealed_at === null ? isVisible(card, now) : wasVisible(card, sealed_at));
  const missing = card_ids.filter((id) => !found.has(id) || !shows(found.get(id)!));
  const gone = new Set(missing);
  return {
    cards: card_ids.filter((id) => !gone.has(id)).map((id) => toCard(call.tenant, found.get(id)!)),
    missing,
  };
}

export async function list(call: Call, input: In<'list'>): Promise<Out<'list'>> {
  const { driver, tenant } = call;
  const viewer = call.caller.agent_id;
  const { rows, ...page } = await listPage<BoxRow, string>(call, {
    input,
    filters: { agent_id: input.agent_id ?? null },
    key: 'string',
    keyOf: (row) => row.box_id,
    // What an agent may see is found by looking at all boxes, which may take a while.
    read: (request) =>
      listBoxes(
        viewer === null ? driver.at(tenant) : atLength(driver, tenant),
        tenant,
        viewer,
        input.agent_id,
        request,
      ),
    count: countBoxes(tenant, viewer, input.agent_id),
  });
  return { boxes: rows.map((row) => describe(call, row)), ...page };
}

export function cards(call: Call, input: In<'cards'>): Promise<Out<'cards'>> {
  const { tenant } = call;
  if (input.tail !== undefined && (input.cursor ?? input.offset ?? input.limit) !== undefined) {
    throw new CairnError(
      'INVALID_INPUT',
      'tail gives the last cards and goes with neither limit, cursor nor offset',
    );
  }
  return call.driver.snapshot(tenant, async (query) => {
    const row = await openBox(call, query, input.box_id, 'read');
    const segments = await segmentsAt(call, query, row, input.revision);
    const total = async () =>
      input.revision === undefined ? row.length : await countEntries(query, tenant, segments);
    const { rows, ...page } =
      input.tail !== undefined
        ? { rows: await tailOf(query, tenant, segments, input.tail), next_cursor: null, total: await total() }
        : await listPage<Entry, number>(call, {
            input,
            filters: { box_id: input.box_id, revision: input.revision ?? null },
            key: 'number',
            keyOf: ({ position }) => position,
            read: ({ after = 0, ...request }) => entriesAfter(query, tenant, segments, { after, ...request }),
            count: total,
          });
    const { cards, missing } = await hydrate(
      call,
      query,
      row,
      rows.map(({ card_id }) => card_id),
    );
    return { cards, missing_card_ids: missing, ...page };
  });
}

export const toGrant = (row: GrantRow): Grant => ({ ...row, granted_at: toIso(row.granted_at) });

export function grants(call: Call, input: In<'grants'>): Promise<Out<'grants'>> {
  return call.driver.snapshot(call.tenant, async (query) => {
    await openBox(call, query, input.box_id, 'read');
    return { grants: (await listGrants(query, call.tenant, input.box_id)).map(toGrant) };
  });
}

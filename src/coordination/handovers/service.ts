/** Use cases of handovers: packing recipes stored by name. One is built in. */
import type { Query } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { appendEvent, type Call, change, listPage, type Work } from '../../engine/index.js';
import { mayReadRecipe } from '../../identity/index.js';
import type { Json } from '../../kernel/contract.js';
import { CairnError, invalid, notFound, toIso } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import {
  type Handover,
  type HandoverChoice,
  INSTRUCTION_HANDOVER,
  instructionHandover,
  type StoredHandover,
} from './model.js';
import {
  countHandovers,
  deleteHandover,
  findHandover,
  type HandoverRow,
  insertHandover,
  listHandovers,
  lockHandover,
  replaceHandover,
} from './store.js';

const builtIn: StoredHandover = {
  name: INSTRUCTION_HANDOVER,
  handover: instructionHandover,
  built_in: true,
  created_at: null,
  updated_at: null,
};

const toHandover = (call: Call, row: HandoverRow): StoredHandover => ({
  name: row.name,
  ...(mayReadRecipe(call, row.agent_id) ? { handover: JSON.parse(row.recipe) as Handover } : {}),
  built_in: false,
  created_at: toIso(row.created_at),
  updated_at: toIso(row.updated_at),
});

/** Refuses a name under which no recipe is stored. */
function stored(query: Query, name: string, row: HandoverRow | undefined): HandoverRow {
  if (row) return row;
  throw notFound(query, 'handover', name, ': store it with handovers.save, or give the recipe itself');
}

const read = async (call: Call, query: Query, name: string): Promise<StoredHandover> =>
  name === INSTRUCTION_HANDOVER ? builtIn : toHandover(call, stored(query, name, await findHandover(query, name)));

/** The given recipe, or the stored one of that name. Packing by a recipe does not need the right to read it. */
export async function recipeOf(query: Query, choice: HandoverChoice = INSTRUCTION_HANDOVER): Promise<Handover> {
  if (typeof choice !== 'string') return choice;
  if (choice === INSTRUCTION_HANDOVER) return instructionHandover;
  return JSON.parse(stored(query, choice, await findHandover(query, choice)).recipe) as Handover;
}

function refuseBuiltIn(name: string): void {
  if (name === INSTRUCTION_HANDOVER) throw invalid(`handover "${name}" is built in and read-only: use another name`);
}

/** An agent changes only recipes that it stored itself. */
function refuseForeign({ caller }: Call, { name, agent_id }: HandoverRow): void {
  if (caller.agent_id === null || caller.agent_id === agent_id) return;
  throw new CairnError(
    'FORBIDDEN',
    `agent ${caller.agent_id} may not change handover "${name}", which it did not store: use another name`,
    { rule: 'handover_owner' },
  );
}

/** Stores a recipe in a transaction, unless it is stored already. */
export async function saveHandoverIn(
  work: Work,
  name: string,
  handover: Handover,
  replaces: boolean,
  recipe = canonical(handover as Json),
): Promise<StoredHandover> {
  const { call, tx, now } = work;
  refuseBuiltIn(name);
  const before = await lockHandover(tx, name);
  if (before && !replaces && before.recipe !== recipe)
    throw new CairnError('ENTITY_ALREADY_EXISTS', `handover "${name}" already exists with another recipe`);
  if (before) refuseForeign(call, before);
  if (before?.recipe !== recipe) {
    if (before) await replaceHandover(tx, { name, recipe, updated_at: now });
    else await insertHandover(tx, { name, agent_id: call.caller.agent_id, recipe, created_at: now, updated_at: now });
    appendEvent(work, 'cairn.handover.saved', { type: 'handover', id: name }, {});
  }
  return read(call, tx, name);
}

export async function save(call: Call, input: In<'handovers.save'>): Promise<StoredHandover> {
  const { name, handover } = input;
  refuseBuiltIn(name);
  const recipe = canonical(handover as Json);
  return change(call, {
    input,
    bytes: recipe.length,
    work: (work) => saveHandoverIn(work, name, handover, true, recipe),
    remember: () => name,
    again: (query, kept) => read(call, query, kept as string),
  });
}

export const get = (call: Call, input: In<'handovers.get'>): Promise<StoredHandover> =>
  read(call, call.driver.at(call.tenant), input.name);

export async function list(call: Call, input: In<'handovers.list'>): Promise<Out<'handovers.list'>> {
  const { rows, ...page } = await listPage<HandoverRow, string>(call, {
    input,
    filters: null,
    key: 'string',
    keyOf: ({ name }) => name,
    read: (request) => listHandovers(call.driver.at(call.tenant), request),
    bytesOf: ({ recipe }) => recipe.length,
    count: countHandovers(),
  });
  return { handovers: rows.map((row) => toHandover(call, row)), ...page };
}

/** Deletes a recipe in a transaction. */
export async function deleteHandoverIn(work: Work, name: string): Promise<null> {
  const { call, tx } = work;
  refuseForeign(call, stored(tx, name, await lockHandover(tx, name)));
  await deleteHandover(tx, name);
  appendEvent(work, 'cairn.handover.deleted', { type: 'handover', id: name }, {});
  return null;
}

async function remove(call: Call, input: In<'handovers.delete'>): Promise<void> {
  refuseBuiltIn(input.name);
  await change<Json>(call, {
    input,
    work: (work) => deleteHandoverIn(work, input.name),
    remember: () => null,
    again: async () => null,
  });
}

export { remove as delete };

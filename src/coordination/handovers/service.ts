/** Use cases of handovers: packing recipes, stored by name. One is built in. */
import type { Query } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { appendEvent, type Call, change, listPage } from '../../engine/index.js';
import { mayReadRecipe } from '../../identity/index.js';
import type { Json } from '../../kernel/contract.js';
import { CairnError, invalid, toIso } from '../../kernel/index.js';
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
  listHandovers,
  lockHandover,
  putHandover,
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

const noHandover = (name: string): CairnError =>
  new CairnError(
    'HANDOVER_NOT_FOUND',
    `there is no handover "${name}": store it with handovers.save, or give the recipe itself`,
  );

async function read(call: Call, query: Query, name: string): Promise<StoredHandover> {
  if (name === INSTRUCTION_HANDOVER) return builtIn;
  const row = await findHandover(query, name);
  if (!row) throw noHandover(name);
  return toHandover(call, row);
}

/** The recipe that was given, or the one that is stored by its name. To pack by a recipe is not to read it. */
export async function recipeOf(query: Query, choice: HandoverChoice): Promise<Handover> {
  if (typeof choice !== 'string') return choice;
  if (choice === INSTRUCTION_HANDOVER) return instructionHandover;
  const row = await findHandover(query, choice);
  if (!row) throw noHandover(choice);
  return JSON.parse(row.recipe) as Handover;
}

const refuseBuiltIn = (name: string): void => {
  if (name !== INSTRUCTION_HANDOVER) return;
  throw invalid(`handover "${name}" is built in and stays as it is: use another name`);
};

/** An agent changes the recipes that it stored, and no others. */
function refuseForeign(call: Call, { name, agent_id }: HandoverRow): void {
  if (call.caller.agent_id === null || call.caller.agent_id === agent_id) return;
  throw new CairnError(
    'FORBIDDEN',
    `agent ${call.caller.agent_id} may not change the handover "${name}", which it did not store: use another name`,
    { rule: 'handover_owner' },
  );
}

export async function save(call: Call, input: In<'handovers.save'>): Promise<StoredHandover> {
  refuseBuiltIn(input.name);
  const recipe = canonical(input.handover as Json);
  return change(call, {
    input,
    bytes: recipe.length,
    work: async (work) => {
      const { tx, now } = work;
      const before = await lockHandover(tx, input.name);
      if (before) refuseForeign(call, before);
      if (before?.recipe !== recipe) {
        const made = before ?? { agent_id: call.caller.agent_id, created_at: now };
        const { agent_id, created_at } = made;
        const row = { name: input.name, agent_id, recipe, created_at, updated_at: now };
        await putHandover(tx, row);
        appendEvent(work, 'cairn.handover.saved', { type: 'handover', id: input.name }, {});
      }
      return read(call, tx, input.name);
    },
    remember: () => input.name,
    again: (query, kept) => read(call, query, kept as string),
  });
}

export const get = (call: Call, input: In<'handovers.get'>): Promise<StoredHandover> =>
  read(call, call.driver.at(call.tenant), input.name);

export async function list(call: Call, input: In<'handovers.list'>): Promise<Out<'handovers.list'>> {
  const { driver, tenant } = call;
  const { rows, ...page } = await listPage<HandoverRow, string>(call, {
    input,
    filters: null,
    key: 'string',
    keyOf: ({ name }) => name,
    read: (request) => listHandovers(driver.at(tenant), request),
    bytesOf: ({ recipe }) => recipe.length,
    count: countHandovers(),
  });
  return { handovers: rows.map((row) => toHandover(call, row)), ...page };
}

async function remove(call: Call, input: In<'handovers.delete'>): Promise<void> {
  refuseBuiltIn(input.name);
  await change<Json>(call, {
    input,
    work: async (work) => {
      const { tx } = work;
      const row = await lockHandover(tx, input.name);
      if (!row) throw noHandover(input.name);
      refuseForeign(call, row);
      await deleteHandover(tx, input.name);
      appendEvent(work, 'cairn.handover.deleted', { type: 'handover', id: input.name }, {});
      return null;
    },
    remember: () => null,
    again: async () => null,
  });
}

export { remove as delete };

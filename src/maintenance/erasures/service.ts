/** Use cases of forgetting: what is to be erased, its receipt, and the list of receipts. */
import type { Query } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { writes } from '../../engine/contract.js';
import { appendEvent, type Call, change, type Forgettable, listPage, waitForErasure } from '../../engine/index.js';
import { addEndings } from '../../engine/sql.js';
import { keyedHash } from '../../facts/sql.js';
import { checkUses } from '../../identity/index.js';
import { type Json, newId } from '../../kernel/contract.js';
import { CairnError, invalid, notFound, toIso } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { useCases as recallUseCases } from '../../recall/index.js';
import { type ErasedType, type Erasure, type ErasureItem, type ForgetInput, MAX_ITEMS } from './model.js';
import { kindsOf, type Plan, type PlannedItem, planOf } from './plan.js';
import { type Selection, selectionOf } from './selection.js';
import { shownItems } from './shown-items.js';
import {
  addItems,
  COUNT_ERASURES,
  countItems,
  type ErasureRow,
  erasureHolder,
  findErasure,
  insertErasure,
  listErasures,
  listedItems,
  STATE,
} from './store.js';

/** How long an answer waits for the erasure; it goes on afterwards. */
const PATIENCE_MS = 20_000;

export const typeOf = (kind: string): ErasedType => (kind.charAt(0).toUpperCase() + kind.slice(1)) as ErasedType;

type By = 'ids' | 'filter' | 'user' | 'query';

function checkInput({ caller: { user_id } }: Call, input: ForgetInput): By {
  const given = (['ids', 'filter', 'user', 'query'] as const).filter((name) => input[name] !== undefined);
  if (given.length !== 1) throw invalid('give exactly one of `ids`, `filter`, `user` and `query`');
  const [by] = given as [By];
  if (by === 'query' && !input.dry_run)
    throw invalid('a `query` only finds candidates: call with dry_run, then forget the `ids` that you mean');
  if (by === 'filter' && Object.values(input.filter!).every((value) => value === undefined))
    throw invalid('`filter` must have a member: to erase everything, delete the tenant');
  if (by === 'user' && user_id !== undefined && input.user !== user_id)
    throw new CairnError('FORBIDDEN', `user ${user_id} may not forget what is about user ${input.user}`, {
      rule: 'user',
    });
  if (input.shared !== undefined && by !== 'user') throw invalid('`shared` belongs to `user`');
  return by;
}

async function rootsOf(call: Call, ids: readonly string[]): Promise<Forgettable[]> {
  const roots = await kindsOf(call, ids);
  const known = new Set(roots.map(({ id }) => id));
  const missing = ids.filter((id) => !known.has(id));
  if (missing.length === 0) return roots;
  throw new CairnError(
    'UNKNOWN_ENTITY',
    `\`ids\` must name entities that hold content: ${missing.length} do not, such as ${missing[0]}`,
    { missing_ids: missing.slice(0, 100) },
  );
}

const MEMORY_OF = {
  trajectory: ['Trajectory', 'trajectory_id'],
  scope: ['Scope', 'scope_id'],
  execution: ['Checkpoint', 'execution_id'],
  artifact: ['Artifact', 'artifact_id'],
  note: ['Note', 'note_id'],
  turn: ['Turn', 'turn_id'],
  card: ['Card', 'card_id'],
  packet: ['Packet', 'packet_id'],
} as const;

/** An agent may erase only what it may write, derived content included. */
async function checkRights(call: Call, plan: Plan): Promise<void> {
  if (!call.acting) return;
  const refusal = (what: string): CairnError =>
    new CairnError(
      'FORBIDDEN',
      `agent ${call.caller.agent_id} may not forget ${what}: ask with a key without an agent`,
      { rule: 'memory_access' },
    );
  if (plan.truncated) throw refusal('so much at once');
  for (const { kind, id, state } of plan.items) {
    if (state !== STATE.todo) continue;
    if (kind === 'message') throw refusal('messages');
    const [type, by] = MEMORY_OF[kind];
    await checkUses(call, [writes(type, by)], { [by]: id });
  }
}

/** Copies are whoever's: erasing them needs rights to all content. */
const COPIES = [
  writes('Card', 'tenant'),
  writes('Turn', 'tenant'),
  writes('Artifact', 'tenant'),
  writes('Note', 'tenant'),
] as const;

/** What an erasure keeps may be beyond the reach of a restricted caller, who is not told of it. */
const toldTo = <T extends { readonly state: number }>(
  { acting }: Pick<Call, 'acting'>,
  found: readonly T[],
): readonly T[] => (acting ? found.filter(isErased) : found);

const NOT_COVERED = {
  sqlite: ['backups of the file'],
  postgres: [
    'dead rows until the next VACUUM',
    'archives of the write-ahead log',
    'replicas until they have replayed the erasure',
    'backups of the database',
  ],
} as const;

const COUNTED: Readonly<Record<number, ErasureItem['outcome']>> = {
  [STATE.todo]: 'to_be_erased',
  [STATE.erased]: 'erased',
  [STATE.shared]: 'kept_shared',
  [STATE.copy]: 'copy',
};

interface Counted {
  readonly kind: string;
  readonly origin: ErasureItem['origin'];
  readonly state: number;
  readonly entities: number;
  readonly contents: number;
}

const isErased = ({ state }: Pick<Counted, 'state'>): boolean => state === STATE.todo || state === STATE.erased;

function accountOf(counted: readonly Counted[]): Pick<Erasure, 'erased' | 'derived' | 'kept_shared' | 'copies'> {
  const sum = (which: (one: Counted) => boolean): Erasure['erased'] => {
    const byKind = new Map<string, { entities: number; contents: number }>();
    for (const { kind, entities, contents } of counted.filter(which)) {
      const known = byKind.get(kind) ?? { entities: 0, contents: 0 };
      byKind.set(kind, { entities: known.entities + Number(entities), contents: known.contents + Number(contents) });
    }
    return [...byKind].map(([kind, counts]) => ({ entity_type: typeOf(kind), ...counts }));
  };
  const total = (wanted: number) =>
    counted.filter(({ state }) => state === wanted).reduce((all, { entities }) => all + Number(entities), 0);
  return {
    erased: sum((one) => isErased(one) && one.origin !== 'derived'),
    derived: sum((one) => isErased(one) && one.origin === 'derived'),
    kept_shared: total(STATE.shared),
    copies: total(STATE.copy),
  };
}

const itemOf = ({ kind, id, origin, state }: Pick<PlannedItem, 'id' | 'origin' | 'state'> & { kind: string }) =>
  ({ entity_type: typeOf(kind), entity_id: id, origin, outcome: COUNTED[state]! }) satisfies ErasureItem;

export function statusOf({ erased_at, verified_at }: Pick<ErasureRow, 'erased_at' | 'verified_at'>): Erasure['status'] {
  if (erased_at === null) return 'running';
  return verified_at === null ? 'pending' : 'verified';
}

const timeOf = (ms: number | null): string | null => (ms === null ? null : toIso(Number(ms)));

const summaryOf = (row: ErasureRow) => ({
  erasure_id: row.erasure_id,
  status: statusOf(row),
  selected_by: row.selected_by,
  request_hash: row.request_hash,
  agent_id: row.agent_id,
  key_id: row.key_id,
  created_at: toIso(row.created_at),
  erased_at: timeOf(row.erased_at),
  verified_at: row.erased_at === null ? null : timeOf(row.verified_at),
});

export async function openErasure(call: Call, query: Query, erasure_id: string): Promise<ErasureRow> {
  const row = await findErasure(query, erasure_id);
  if (!row) throw notFound(call, 'erasure', erasure_id);
  return row;
}

/** `reader`: not the call if that needs rights to the tenant anyway. */
async function receipt(call: Call, query: Query, erasure_id: string, reader: Pick<Call, 'acting'>): Promise<Erasure> {
  const row = await openErasure(call, query, erasure_id);
  const items = await listedItems(query, erasure_id, MAX_ITEMS);
  return {
    ...summaryOf(row),
    ...accountOf(toldTo(reader, await countItems(query, erasure_id))),
    items: toldTo(reader, items).map(itemOf),
    not_covered: [...NOT_COVERED[call.driver.dialect]],
  };
}

/** Entities by kind, as the account of a plan needs them. */
const countedOf = (items: readonly PlannedItem[]): Counted[] =>
  items.map(({ kind, origin, state }) => ({ kind, origin, state, entities: 1, contents: 0 }));

async function planned(call: Call, by: By, input: ForgetInput, plan: Plan): Promise<Out<'memory.forget'>> {
  const items = toldTo(call, plan.items);
  const listed = items.slice(0, MAX_ITEMS).map(itemOf);
  return {
    erasure_id: null,
    status: 'planned',
    selected_by: by,
    request_hash: hashOf(call, input),
    agent_id: call.caller.agent_id,
    key_id: call.caller.key_id,
    created_at: toIso(call.driver.now()),
    erased_at: null,
    verified_at: null,
    ...accountOf(countedOf(items)),
    items: listed,
    shown: await shownItems(call, listed),
    not_covered: [...NOT_COVERED[call.driver.dialect]],
  };
}

const hashOf = (call: Call, { ids, filter, user, query }: ForgetInput): string =>
  keyedHash(call.meta.erasure_key, sha256(canonical({ ids, filter, user, query } as unknown as Json)));

/** With the values that a passage replaced and its repetitions, which `recall` does not show as passages. */
async function findCandidates(call: Call, query: string) {
  const { passages } = await recallUseCases.memory.recall(call, {
    query,
    limit: 50,
    entity_types: ['Turn', 'Artifact', 'Note', 'Card', 'Packet'],
  });
  const found = new Map<string, { readonly snippet: string; readonly confidence: number }>();
  for (const { id, snippet, confidence, same_as, before = [] } of passages) {
    for (const same of [id, ...same_as]) found.set(same, { snippet, confidence });
    for (const { id: former, value } of before)
      if (!found.has(former)) found.set(former, { snippet: `before: ${value}`, confidence });
  }
  const kinds = new Map((await kindsOf(call, [...found.keys()])).map((one) => [one.id, one]));
  const roots = [...found.keys()].map((id) => kinds.get(id)).filter((one) => one !== undefined);
  const candidates = roots.map(({ kind, id }) => ({ entity_type: typeOf(kind), id, ...found.get(id)! }));
  return { roots, candidates };
}

const asNamed = (item: Forgettable): PlannedItem => ({ ...item, origin: 'named', state: STATE.todo });

export async function forget(call: Call, input: In<'memory.forget'>): Promise<Out<'memory.forget'>> {
  const by = checkInput(call, input);
  const { dry_run = false, shared = false, copies = false } = input;
  if (copies) await checkUses(call, COPIES, {});
  if (by === 'query') {
    const { roots, candidates } = await findCandidates(call, input.query!);
    // What is derived may be beyond the reach of the agent, and is checked when the ids are forgotten.
    const named = roots.map(asNamed);
    const plan = call.acting ? { items: named, truncated: false } : await planOf(call, roots, null, false);
    return { ...(await planned(call, by, input, plan)), candidates };
  }
  let selection: Selection | null = by === 'ids' ? null : selectionOf(input);
  let named = (by === 'ids' ? await rootsOf(call, [...new Set(input.ids)]) : []).map(asNamed);
  if (dry_run || call.acting) {
    const plan = await planOf(call, named, selection, shared);
    await checkRights(call, plan);
    if (dry_run) return planned(call, by, input, plan);
    // What is written from now on would be selected without a check.
    named = plan.items.filter(({ origin }) => origin === 'named');
    selection = null;
  }
  const erasure_id = await change<string>(call, {
    input,
    work: async (work) => {
      const { tx, now } = work;
      const id = newId();
      const { agent_id, key_id } = call.caller;
      await insertErasure(tx, {
        erasure_id: id,
        selected_by: by,
        request_hash: hashOf(call, input),
        selection: selection && JSON.stringify(selection),
        shared: shared ? 1 : 0,
        copies: copies ? 1 : 0,
        agent_id,
        key_id,
        created_at: now,
      });
      await addItems(tx, id, named);
      await addEndings(tx, [{ holder: erasureHolder(id), ended_at: now, thread_id: null, box_id: null }]);
      appendEvent(work, 'cairn.erasure.requested', { type: 'erasure', id }, { selected_by: by });
      return id;
    },
    remember: (id) => id,
    again: async (_query, kept) => kept as string,
  });
  await withinPatience(waitForErasure(call, [erasureHolder(erasure_id)]));
  return receipt(call, call.driver.at(call.tenant), erasure_id, call);
}

/** The erasure goes on if it takes longer, and after a failure. */
async function withinPatience(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS);
  });
  await Promise.race([work, patience]);
  clearTimeout(timer);
}

export const show = (call: Call, { erasure_id }: In<'erasures.show'>): Promise<Erasure> =>
  call.driver.snapshot(call.tenant, (query) => receipt(call, query, erasure_id, {}));

export async function list(call: Call, input: In<'erasures.list'>): Promise<Out<'erasures.list'>> {
  const query = call.driver.at(call.tenant);
  const { rows, ...page } = await listPage<ErasureRow, string>(call, {
    input,
    filters: {},
    key: 'string',
    keyOf: ({ erasure_id }) => erasure_id,
    read: (request) => listErasures(query, request),
    count: COUNT_ERASURES,
  });
  return { erasures: rows.map(summaryOf), ...page };
}

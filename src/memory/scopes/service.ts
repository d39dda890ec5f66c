/** Use cases of scopes: open, read, change. Closing is in closing.ts, checkpoints in checkpoints.ts. */
import { atLength, type Query, type Tx } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import {
  appendEvent,
  type Call,
  change,
  event,
  isAnswerOf,
  listPage,
  type PageInput,
  timesOf,
  type Work,
} from '../../engine/index.js';
import { scopeHolder } from '../../engine/sql.js';
import { makeBox, ownerOf } from '../../facts/index.js';
import { containerReachOf, reachOf } from '../../identity/index.js';
import { type Json, type JsonObject, newId } from '../../kernel/contract.js';
import { CairnError, invalid, toIso } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { scopesReached } from '../access/reach.js';
import { refuseFormerOwner } from '../trajectories/former-owners.js';
import { isFinished, lockTrajectory, type TrajectoryRow } from '../trajectories/store.js';
import { scopes as operations } from './contract.js';
import { DEFAULT_THRESHOLD_PERCENT, DEFAULT_TOKEN_BUDGET, type Scope } from './model.js';
import { reachesThreshold, thresholdAt } from './rules.js';
import {
  countScopes,
  findScope,
  insertScope,
  listScopes,
  lockScope,
  type ScopeFilter,
  type ScopeRow,
  type ScopeView,
  updateScope,
  viewScope,
} from './store.js';
import { triggers } from './triggers.js';

export function showScope(view: ScopeView): Scope {
  const closed = view.closed_at !== null;
  return {
    scope_id: view.scope_id,
    trajectory_id: view.trajectory_id,
    parent_scope_id: view.parent_scope_id,
    box_id: view.box_id,
    agent_id: view.agent_id,
    name: view.name,
    purpose: view.purpose,
    token_budget: view.token_budget,
    tokens_used: view.tokens_used,
    turns: view.turns,
    threshold_percent: view.threshold,
    threshold_reached_at: view.threshold_at === null ? null : toIso(view.threshold_at),
    enforce: view.enforce === 1,
    is_active: !closed,
    checkpoint:
      view.checkpoint_at === null
        ? null
        : {
            context_state: view.context_state,
            recoverable: view.checkpoint_box_id !== null,
            tokens_used: view.checkpoint_tokens!,
            turns: view.checkpoint_turns!,
            created_at: toIso(view.checkpoint_at),
          },
    restored_from: view.restored_from,
    erasure: closed
      ? { state: view.done_at === null ? 'pending' : 'done', erased: view.erased ?? 0, kept: view.kept ?? 0 }
      : null,
    metadata: view.metadata === null ? {} : (JSON.parse(view.metadata) as JsonObject),
    created_at: toIso(view.created_at),
    updated_at: toIso(view.updated_at),
    closed_at: view.closed_at === null ? null : toIso(view.closed_at),
  };
}

export const noScope = (scope_id: string): CairnError =>
  new CairnError('SCOPE_NOT_FOUND', `there is no scope ${scope_id}`);

export async function readScope(call: Call, query: Query, scope_id: string): Promise<Scope> {
  const view = await viewScope(query, scope_id);
  if (!view) throw noScope(scope_id);
  const [shown] = await withinReach(call, query, [view]);
  return showScope(shown!);
}

/** What a checkpoint keeps with the turns is for those who reach the turns. */
async function withinReach(call: Call, query: Query, views: readonly ScopeView[]): Promise<readonly ScopeView[]> {
  const reach = reachOf(call, 'Turn');
  if (!reach || views.every(({ context_state }) => context_state === null)) return views;
  const ids = views.map(({ scope_id }) => scope_id);
  const reached = await scopesReached(query, ids, reach);
  return views.map((view) => (reached.has(view.scope_id) ? view : { ...view, context_state: null }));
}

/** A scope that can still change, locked. */
export async function openScopeLocked({ call, tx }: Work, scope_id: string): Promise<ScopeRow> {
  const row = await lockScope(tx, scope_id);
  if (!row || row.deleted_at !== null) throw noScope(scope_id);
  await refuseFormerOwner(call, tx, row.trajectory_id);
  refuseClosed(row);
  return row;
}

export function refuseClosed(scope: { readonly scope_id: string; readonly closed_at: number | null }): void {
  if (scope.closed_at === null) return;
  throw new CairnError(
    'SCOPE_CLOSED',
    `scope ${scope.scope_id} was closed at ${toIso(scope.closed_at)}: open a new one, or restore its checkpoint`,
    { scope_id: scope.scope_id },
  );
}

/** A trajectory that can still change, locked: nobody finishes it until the commit. */
export async function openTrajectoryLocked(
  { call, tx }: Work,
  trajectory_id: string,
  /** The agent that a key without one names. */
  named?: string | null,
): Promise<TrajectoryRow> {
  const row = await lockTrajectory(tx, trajectory_id);
  if (!row || row.deleted_at !== null) {
    throw new CairnError('UNKNOWN_ENTITY', `trajectory_id names ${trajectory_id}, which does not exist`);
  }
  await refuseFormerOwner(call, tx, trajectory_id, named);
  refuseFinished(row);
  return row;
}

export function refuseFinished(trajectory: TrajectoryRow): void {
  if (!isFinished(trajectory)) return;
  const { trajectory_id, status } = trajectory;
  throw new CairnError('STATE_CONFLICT', `trajectory ${trajectory_id} is ${status}, so it is read only`, {
    trajectory_id,
    status,
  });
}

export const metadataText = (metadata: JsonObject = {}): string | null =>
  Object.keys(metadata).length === 0 ? null : canonical(metadata);

export type NewScope = Pick<
  ScopeRow,
  | 'scope_id'
  | 'trajectory_id'
  | 'parent_scope_id'
  | 'agent_id'
  | 'name'
  | 'purpose'
  | 'token_budget'
  | 'tokens_used'
  | 'threshold'
  | 'enforce'
  | 'metadata'
  | 'restored_from'
  | 'sent_hash'
> &
  Partial<Pick<ScopeRow, 'summarized_turns' | 'extracted_turns'>>;

/** Adds the row of a scope whose box is there. Tells of a threshold that is reached from the start. */
export async function addScope({ call, tx, now }: Work, scope: NewScope, box_id: string): Promise<void> {
  const threshold_at = thresholdAt(scope, scope.tokens_used, null, now);
  const times = { created_at: now, updated_at: now, closed_at: null, deleted_at: null };
  const { summarized_turns = 0, extracted_turns = 0 } = scope;
  const covered = { summarized_turns, extracted_turns };
  await insertScope(tx, { ...scope, ...covered, box_id, threshold_at, ...times });
  if (threshold_at !== null) tx.journal(thresholdEvent(call, scope, scope.tokens_used, now));
}

/** What of a scope's first turns was summarised and looked through, for a scope that starts with them. */
export const coveredOf = (scope: ScopeRow, turns: number) => ({
  summarized_turns: Math.min(scope.summarized_turns, turns),
  extracted_turns: Math.min(scope.extracted_turns, turns),
});

export const thresholdEvent = (
  call: Call,
  scope: Pick<ScopeRow, 'scope_id' | 'trajectory_id' | 'token_budget' | 'threshold'>,
  tokens_used: number,
  now: number,
) => {
  const { scope_id, trajectory_id, token_budget, threshold } = scope;
  const facts = { tokens_used, token_budget, threshold_percent: threshold };
  return event({ call, now }, 'cairn.scope.threshold', { type: 'scope', id: scope_id }, facts, trajectory_id);
};

/** A scope that is named by a member of the input, locked: open, and of this trajectory. */
export async function openScopeOf(
  tx: Tx,
  member: 'scope_id' | 'parent_scope_id',
  scope_id: string,
  trajectory_id: string,
): Promise<ScopeRow> {
  const scope = await lockScope(tx, scope_id);
  if (!scope || scope.deleted_at !== null || scope.trajectory_id !== trajectory_id) {
    throw new CairnError(
      'UNKNOWN_ENTITY',
      `${member} names ${scope_id}, which is no scope of trajectory ${trajectory_id}`,
      { missing_ids: [scope_id] },
    );
  }
  refuseClosed(scope);
  return scope;
}

/** The scope that has this id already, if it came of the same request by the same agent. */
async function sameScope(
  { call, tx }: Work,
  row: ScopeRow,
  input: In<'scopes.create'>,
  sent_hash: string | null,
  agent_id: string | null,
): Promise<Scope> {
  if (row.deleted_at !== null) {
    throw new CairnError('ENTITY_GONE', `scope ${row.scope_id} existed and is gone: an id is never used twice`);
  }
  const shown = await readScope(call, tx, row.scope_id);
  const isSame = row.sent_hash === sent_hash || isAnswerOf(operations.create.input, shown, input);
  if (!isSame || row.agent_id !== agent_id) {
    throw new CairnError(
      'ENTITY_ALREADY_EXISTS',
      `scope ${row.scope_id} exists and was made otherwise: use a new scope_id`,
    );
  }
  return shown;
}

export async function create(call: Call, input: In<'scopes.create'>): Promise<Scope> {
  const agent_id = ownerOf(call, input.agent_id ?? undefined);
  const metadata = metadataText(input.metadata);
  const sent_hash = input.scope_id === undefined ? null : sha256(canonical(input as unknown as Json));
  return change(call, {
    input,
    bytes: metadata?.length ?? 0,
    work: async (work) => {
      const { tx, now } = work;
      const scope_id = input.scope_id ?? newId();
      if (input.scope_id !== undefined) {
        const existing = await findScope(tx, scope_id);
        if (existing) return sameScope(work, existing, input, sent_hash, agent_id);
      }
      const { trajectory_id } = await openTrajectoryLocked(work, input.trajectory_id, agent_id);
      const parent_scope_id = input.parent_scope_id ?? null;
      if (parent_scope_id !== null) await openScopeOf(tx, 'parent_scope_id', parent_scope_id, trajectory_id);
      const box_id = newId();
      const held_by = scopeHolder(scope_id);
      await makeBox(tx, { box_id, agent_id, metadata: '{}', sent_hash: null, length: 0, held_by }, now);
      await addScope(
        work,
        {
          scope_id,
          trajectory_id,
          parent_scope_id,
          agent_id,
          name: input.name,
          purpose: input.purpose ?? null,
          token_budget: input.token_budget ?? DEFAULT_TOKEN_BUDGET,
          tokens_used: 0,
          threshold: input.threshold_percent ?? DEFAULT_THRESHOLD_PERCENT,
          enforce: input.enforce ? 1 : 0,
          metadata,
          restored_from: null,
          sent_hash,
        },
        box_id,
      );
      const facts = { box_id, ...(parent_scope_id === null ? {} : { parent_scope_id }) };
      appendEvent(work, 'cairn.scope.created', { type: 'scope', id: scope_id }, facts, trajectory_id);
      return readScope(call, tx, scope_id);
    },
    remember: ({ scope_id }) => scope_id,
    again: (query, kept) => readScope(call, query, kept as string),
  });
}

export const get = (call: Call, input: In<'scopes.get'>): Promise<Scope> =>
  readScope(call, call.driver.at(call.tenant), input.scope_id);

export const list = (call: Call, input: In<'scopes.list'>): Promise<Out<'scopes.list'>> => {
  const { limit, cursor, offset, order, ...filters } = input;
  return scopePage(call, { limit, cursor, offset, order }, { ...filters, times: timesOf(filters) }, filters as Json);
};

/** A page of scopes, for every list that shows some. */
export async function scopePage(
  call: Call,
  input: PageInput,
  filter: ScopeFilter,
  filters: Json,
): Promise<Out<'scopes.list'>> {
  const { driver, tenant } = call;
  const query = atLength(driver, tenant);
  const reached = { ...filter, reach: containerReachOf(call) };
  const { rows, ...page } = await listPage<ScopeView, string>(call, {
    input,
    filters,
    key: 'string',
    keyOf: ({ scope_id }) => scope_id,
    read: (request) => listScopes(query, reached, request),
    bytesOf: ({ metadata, context_state }) => (metadata?.length ?? 0) + (context_state?.length ?? 0),
    count: countScopes(reached),
  });
  return { scopes: (await withinReach(call, query, rows)).map(showScope), ...page };
}

export async function update(call: Call, input: In<'scopes.update'>): Promise<Scope> {
  const { scope_id, ...fields } = input;
  if (Object.values(fields).every((value) => value === undefined)) {
    throw invalid('scopes.update: give at least one field to change');
  }
  return change(call, {
    input,
    work: async (work) => {
      const { tx, now } = work;
      const row = await openScopeLocked(work, scope_id);
      const budget = {
        token_budget: fields.token_budget ?? row.token_budget,
        threshold: fields.threshold_percent ?? row.threshold,
      };
      const after = {
        ...budget,
        name: fields.name ?? row.name,
        purpose: fields.purpose === undefined ? row.purpose : fields.purpose,
        enforce: fields.enforce === undefined ? row.enforce : fields.enforce ? 1 : 0,
        metadata: fields.metadata === undefined ? row.metadata : metadataText(fields.metadata),
      };
      const changed = (Object.keys(after) as (keyof typeof after)[]).some((key) => after[key] !== row[key]);
      if (!changed) return readScope(call, tx, scope_id);
      const threshold_at = thresholdAt(budget, row.tokens_used, row.threshold_at, now);
      await updateScope(tx, scope_id, { ...after, threshold_at, updated_at: now });
      const facts = { fields: Object.keys(fields) };
      appendEvent(work, 'cairn.scope.updated', { type: 'scope', id: scope_id }, facts, row.trajectory_id);
      if (row.threshold_at === null && reachesThreshold(budget, row.tokens_used)) {
        tx.journal(thresholdEvent(call, { ...row, ...budget }, row.tokens_used, now));
      }
      const scope = await readScope(call, tx, scope_id);
      if (budget.token_budget !== row.token_budget) {
        const before = { ...row, turns: scope.turns, looked_at: row.updated_at };
        await triggers.get('policies').onUse(work, row, before, { ...before, ...budget });
      }
      return scope;
    },
    remember: () => scope_id,
    again: (query, kept) => readScope(call, query, kept as string),
  });
}

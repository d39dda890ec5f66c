/** Use cases of scopes: open, read, update. Closing is in closing.ts, checkpoints in checkpoints.ts. */
import { listToText, longQuery, type Query, type Tx, textToList } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import {
  appendEvent,
  type Call,
  change,
  equalsAnswer,
  event,
  listPage,
  type PageInput,
  subjectsOf,
  timesOf,
  type Work,
} from '../../engine/index.js';
import { scopeHolder } from '../../engine/sql.js';
import { makeBox, ownerOf } from '../../facts/index.js';
import { containerReachOf, isForeign, reachOf } from '../../identity/index.js';
import { type Json, type JsonObject, newId } from '../../kernel/contract.js';
import { CairnError, invalid, notFound, present, toIso } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { scopesReached } from '../access/reach.js';
import { idReused, idTaken } from '../entities/errors.js';
import { isoOrNull } from '../rows.js';
import { refuseFormerOwner } from '../trajectories/former-owners.js';
import { isFinished, lockTrajectory, type TrajectoryRow } from '../trajectories/store.js';
import { scopes as operations } from './contract.js';
import { DEFAULT_THRESHOLD_PERCENT, DEFAULT_TOKEN_BUDGET, type Scope } from './model.js';
import { thresholdAt } from './rules.js';
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

function showScope(view: ScopeView): Scope {
  const { closed_at, checkpoint_at } = view;
  return {
    scope_id: view.scope_id,
    trajectory_id: view.trajectory_id,
    parent_scope_id: view.parent_scope_id,
    box_id: view.box_id,
    agent_id: view.agent_id,
    subject_ids: textToList(view.subject_ids),
    name: view.name,
    purpose: view.purpose,
    token_budget: view.token_budget,
    tokens_used: view.tokens_used,
    turns: view.turns,
    threshold_percent: view.threshold,
    threshold_reached_at: isoOrNull(view.threshold_at),
    enforce: view.enforce === 1,
    retain: view.retain,
    is_active: closed_at === null,
    checkpoint:
      checkpoint_at === null
        ? null
        : {
            context_state: view.context_state,
            recoverable: view.checkpoint_box_id !== null,
            tokens_used: view.checkpoint_tokens!,
            turns: view.checkpoint_turns!,
            created_at: toIso(checkpoint_at),
          },
    restored_from: view.restored_from,
    erasure:
      closed_at === null
        ? null
        : { state: view.done_at === null ? 'pending' : 'done', erased: view.erased ?? 0, kept: view.kept ?? 0 },
    metadata: JSON.parse(view.metadata ?? '{}') as JsonObject,
    created_at: toIso(view.created_at),
    updated_at: toIso(view.updated_at),
    closed_at: isoOrNull(closed_at),
  };
}

export const noScope = (scope_id: string): CairnError =>
  new CairnError('SCOPE_NOT_FOUND', `there is no scope ${scope_id}`);

export async function readScope(call: Call, query: Query, scope_id: string): Promise<Scope> {
  const view = await viewScope(query, scope_id);
  if (!view) throw notFound(call, 'scope', scope_id);
  const [shown] = await hideStates(call, query, [view]);
  return showScope(shown!);
}

/** Hides the context_state of checkpoints whose turns the caller does not reach. */
async function hideStates(call: Call, query: Query, views: readonly ScopeView[]): Promise<readonly ScopeView[]> {
  const reach = reachOf(call, 'Turn');
  if (!reach || views.every(({ context_state }) => context_state === null)) return views;
  const ids = views.map(({ scope_id }) => scope_id);
  const reached = await scopesReached(query, ids, reach);
  return views.map((view) => (reached.has(view.scope_id) ? view : { ...view, context_state: null }));
}

export async function openScopeLocked({ call, tx }: Work, scope_id: string): Promise<ScopeRow> {
  const row = present(tx, 'scope', scope_id, await lockScope(tx, scope_id));
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

/** Locks an unfinished trajectory: no other transaction finishes it. */
export async function openTrajectoryLocked(
  { call, tx }: Work,
  trajectory_id: string,
  /** The agent that the input names, for keys without an agent. */
  named?: string | null,
): Promise<TrajectoryRow> {
  const row = await lockTrajectory(tx, trajectory_id);
  if (!row || row.deleted_at !== null) {
    throw new CairnError('UNKNOWN_ENTITY', `trajectory_id: there is no trajectory ${trajectory_id}`);
  }
  await refuseFormerOwner(call, tx, trajectory_id, named);
  refuseFinished(row);
  return row;
}

export function refuseFinished(trajectory: TrajectoryRow): void {
  if (!isFinished(trajectory)) return;
  const { trajectory_id, status } = trajectory;
  throw new CairnError(
    'STATE_CONFLICT',
    `trajectory ${trajectory_id} is ${status}: a finished trajectory is read-only`,
    { trajectory_id, status },
  );
}

export const metadataText = (metadata: JsonObject = {}): string | null =>
  Object.keys(metadata).length === 0 ? null : canonical(metadata);

type Covered = 'summarized_turns' | 'extracted_turns' | 'forgotten_turns';
type Assigned = Covered | 'box_id' | 'threshold_at' | 'created_at' | 'updated_at' | 'closed_at' | 'deleted_at';
type NewScope = Omit<ScopeRow, Assigned> & Partial<Pick<ScopeRow, Covered>>;

/** Inserts a scope whose box exists. Appends the threshold event if the threshold is reached from the start. */
export async function addScope({ call, tx, now }: Work, scope: NewScope, box_id: string): Promise<void> {
  const threshold_at = thresholdAt(scope, scope.tokens_used, null, now);
  const times = { created_at: now, updated_at: now, closed_at: null, deleted_at: null };
  const none = { summarized_turns: 0, extracted_turns: 0, forgotten_turns: 0 };
  await insertScope(tx, { ...none, ...scope, box_id, threshold_at, ...times });
  if (threshold_at !== null) tx.journal(thresholdEvent(call, scope, scope.tokens_used, now));
}

/** The covered turns of a scope that starts with the first turns of this one. */
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

/** Locks the scope that a member of the input names; it must be open and of this trajectory. */
export async function openScopeOf(
  tx: Tx,
  member: 'scope_id' | 'parent_scope_id',
  scope_id: string,
  trajectory_id: string,
): Promise<ScopeRow> {
  const scope = await lockScope(tx, scope_id);
  if (!scope || scope.deleted_at !== null || scope.trajectory_id !== trajectory_id) {
    throw new CairnError('UNKNOWN_ENTITY', `${member}: trajectory ${trajectory_id} has no scope ${scope_id}`, {
      missing_ids: [scope_id],
    });
  }
  refuseClosed(scope);
  return scope;
}

/** The existing scope of an id, if it came from the same request by the same agent. */
async function sameScope(
  { call, tx }: Work,
  row: ScopeRow,
  input: In<'scopes.create'>,
  sent_hash: string | null,
  agent_id: string | null,
): Promise<Scope> {
  if (row.deleted_at !== null) throw idReused(`scope ${row.scope_id}`);
  if (isForeign(call, row)) throw idTaken(`scope ${row.scope_id}`, 'use a new scope_id');
  const shown = await readScope(call, tx, row.scope_id);
  const isSame = row.sent_hash === sent_hash || equalsAnswer(operations.create.input, shown, input);
  if (!isSame || row.agent_id !== agent_id) throw idTaken(`scope ${row.scope_id}`, 'use a new scope_id');
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
      const trajectory = await openTrajectoryLocked(work, input.trajectory_id, agent_id);
      const { trajectory_id } = trajectory;
      const parent_scope_id = input.parent_scope_id ?? null;
      const parent =
        parent_scope_id === null ? undefined : await openScopeOf(tx, 'parent_scope_id', parent_scope_id, trajectory_id);
      const subject_ids = listToText(
        subjectsOf(call, input.subject_ids, trajectory.subject_ids, parent?.subject_ids ?? null),
      );
      const box_id = newId();
      const held_by = scopeHolder(scope_id);
      await makeBox(tx, { box_id, agent_id, subject_ids, metadata: '{}', sent_hash: null, length: 0, held_by }, now);
      const scope = {
        scope_id,
        trajectory_id,
        parent_scope_id,
        agent_id,
        name: input.name,
        purpose: input.purpose ?? null,
        token_budget: input.token_budget ?? DEFAULT_TOKEN_BUDGET,
        tokens_used: 0,
        threshold: input.threshold_percent ?? DEFAULT_THRESHOLD_PERCENT,
        enforce: Number(input.enforce ?? false),
        subject_ids,
        retain: input.retain ?? null,
        metadata,
        restored_from: null,
        sent_hash,
      };
      await addScope(work, scope, box_id);
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
  return scopePage(call, input, { ...filters, times: timesOf(filters) }, filters as Json);
};

export async function scopePage(
  call: Call,
  input: PageInput,
  filter: ScopeFilter,
  filters: Json,
): Promise<Out<'scopes.list'>> {
  const query = longQuery(call.driver, call.tenant);
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
  return { scopes: (await hideStates(call, query, rows)).map(showScope), ...page };
}

export async function update(call: Call, input: In<'scopes.update'>): Promise<Scope> {
  const { scope_id, ...fields } = input;
  if (Object.values(fields).every((value) => value === undefined)) {
    throw invalid('scopes.update: give at least one field to update');
  }
  return change(call, {
    input,
    work: async (work) => {
      const { tx, now } = work;
      const row = await openScopeLocked(work, scope_id);
      const after: ScopeRow = {
        ...row,
        name: fields.name ?? row.name,
        purpose: fields.purpose === undefined ? row.purpose : fields.purpose,
        token_budget: fields.token_budget ?? row.token_budget,
        threshold: fields.threshold_percent ?? row.threshold,
        enforce: fields.enforce === undefined ? row.enforce : Number(fields.enforce),
        retain: fields.retain === undefined ? row.retain : fields.retain,
        metadata: fields.metadata === undefined ? row.metadata : metadataText(fields.metadata),
      };
      const changed = (Object.keys(after) as (keyof ScopeRow)[]).some((key) => after[key] !== row[key]);
      if (!changed) return readScope(call, tx, scope_id);
      const threshold_at = thresholdAt(after, row.tokens_used, row.threshold_at, now);
      await updateScope(tx, { ...after, threshold_at, updated_at: now });
      const facts = { fields: Object.keys(fields) };
      appendEvent(work, 'cairn.scope.updated', { type: 'scope', id: scope_id }, facts, row.trajectory_id);
      if (row.threshold_at === null && threshold_at !== null)
        tx.journal(thresholdEvent(call, after, row.tokens_used, now));
      const scope = await readScope(call, tx, scope_id);
      if (after.token_budget !== row.token_budget) {
        const usage = { turns: scope.turns, looked_at: row.updated_at };
        await triggers.get('policies').onUse(work, row, { ...row, ...usage }, { ...after, ...usage });
      }
      return scope;
    },
    remember: () => scope_id,
    again: (query, kept) => readScope(call, query, kept as string),
  });
}

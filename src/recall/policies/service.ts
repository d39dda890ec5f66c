/** Use cases of summarization policies. What makes them fire is in triggers.ts. */
import type { Query, Tx } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { actsAs, appendEvent, type Call, change, isAnswerOf, listPage, type Work } from '../../engine/index.js';
import { reachOf } from '../../identity/index.js';
import { type Json, newId } from '../../kernel/contract.js';
import { CairnError, invalid } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { findTrajectory, refuseFormerOwner, unknownEntity } from '../../memory/index.js';
import { findScope } from '../../memory/sql.js';
import {
  DEFAULT_MAX_SOURCES,
  DEFAULT_MAX_TOKENS,
  type PolicyInput,
  policyInput,
  type SummarizationPolicy,
  type Trigger,
} from '../jobs/model.js';
import {
  attachedTo,
  countPolicies,
  deletePolicy,
  findPolicy,
  insertPolicy,
  listPolicies,
  lockPolicy,
  type PolicyRow,
  policiesAt,
  toPolicy,
  updatePolicy,
} from './store.js';

type Patch = Omit<In<'summarization_policies.update'>, 'policy_id'>;

const noPolicy = (policy_id: string): CairnError =>
  new CairnError('POLICY_NOT_FOUND', `there is no summarization policy ${policy_id}`);

async function read(query: Query, policy_id: string): Promise<SummarizationPolicy> {
  const row = await findPolicy(query, policy_id);
  if (!row || row.deleted_at !== null) throw noPolicy(policy_id);
  return toPolicy(row);
}

const thresholdOf = (trigger: Trigger): number => {
  if (trigger.type === 'DosageThreshold') return trigger.percent;
  return 'count' in trigger ? trigger.count : 0;
};

const ABOVE = { L0: 'L1', L1: 'L2' } as const;
const BELOW = { L1: 'L0', L2: 'L1' } as const;

type Levels = Pick<PolicyRow, 'source_level' | 'target_level'>;

/** Only upward, and one level at a time; either level says the other. */
export function levelsOf(given: Pick<Patch, 'source_level' | 'target_level'>): Levels {
  const source_level = given.source_level ?? (given.target_level ? BELOW[given.target_level] : 'L0');
  const target_level = given.target_level ?? ABOVE[source_level];
  if (ABOVE[source_level] === target_level) return { source_level, target_level };
  throw invalid(`a summary of ${source_level} is of the level ${ABOVE[source_level]}, not ${target_level}`);
}

/** The row that a policy becomes by what is given of it. */
function changed(row: PolicyRow, given: Patch, now: number): PolicyRow {
  const levels = given.source_level === undefined && given.target_level === undefined ? row : levelsOf(given);
  const actions = given.actions === undefined ? row.actions : canonical([...new Set(given.actions)].sort());
  if (levels.source_level !== 'L0' && actions.includes('extract'))
    throw invalid('facts are extracted from turns: give extract the source level L0');
  return {
    ...row,
    name: given.name === undefined ? row.name : given.name,
    trigger_type: given.trigger?.type ?? row.trigger_type,
    threshold: given.trigger === undefined ? row.threshold : thresholdOf(given.trigger),
    source_level: levels.source_level,
    target_level: levels.target_level,
    max_sources: given.max_sources ?? row.max_sources,
    max_tokens: given.max_tokens ?? row.max_tokens,
    create_edges: given.create_edges === undefined ? row.create_edges : given.create_edges ? 1 : 0,
    actions,
    enabled: given.enabled === undefined ? row.enabled : given.enabled ? 1 : 0,
    updated_at: now,
  };
}

/** An agent decides for its own trajectories: what holds for all is the tenant's to say. */
function refuseAgents(call: Call, what: string): never {
  throw new CairnError(
    'FORBIDDEN',
    `agent ${call.caller.agent_id} may not ${what}: this takes a key without an agent`,
    { rule: 'key_agent' },
  );
}

/** What a policy is for, once that was seen to be there. */
async function placeOf(
  { call, tx }: Work,
  { trajectory_id, scope_id, agent_id }: PolicyInput,
): Promise<Pick<PolicyRow, 'attached' | 'trajectory_id' | 'scope_id'>> {
  if (scope_id != null) {
    const scope = await findScope(tx, scope_id);
    if (!scope || scope.deleted_at !== null) throw unknownEntity('scope_id', 'scope', [scope_id]);
    if (trajectory_id != null && trajectory_id !== scope.trajectory_id)
      throw invalid(
        `scope ${scope_id} is not in trajectory ${trajectory_id}: a policy is for a scope or for a trajectory, give one of them`,
      );
    await refuseFormerOwner(call, tx, scope.trajectory_id, agent_id);
    return { attached: attachedTo.scope(scope_id), trajectory_id: scope.trajectory_id, scope_id };
  }
  if (trajectory_id != null) {
    const trajectory = await findTrajectory(tx, trajectory_id);
    if (!trajectory || trajectory.deleted_at !== null)
      throw unknownEntity('trajectory_id', 'trajectory', [trajectory_id]);
    await refuseFormerOwner(call, tx, trajectory_id, agent_id);
    return { attached: attachedTo.trajectory(trajectory_id), trajectory_id, scope_id: null };
  }
  if (call.caller.agent_id !== null) refuseAgents(call, 'set a policy for the whole tenant');
  return { attached: attachedTo.tenant, trajectory_id: null, scope_id: null };
}

/** Whatever is written fires all that apply to it: there must be few. */
const MAX_POLICIES = 20;

async function refuseMany(tx: Tx, attached: string): Promise<void> {
  if ((await policiesAt(tx, attached)) < MAX_POLICIES) return;
  throw invalid(`a tenant, a trajectory or a scope has at most ${MAX_POLICIES} policies: change or delete one of them`);
}

/** The policy that has this id already, if it came of the same request by the same agent. */
function samePolicy(
  row: PolicyRow,
  input: PolicyInput,
  sent_hash: string | null,
  agent_id: string | null,
): SummarizationPolicy {
  const what = `summarization policy ${row.policy_id}`;
  if (row.deleted_at !== null)
    throw new CairnError('ENTITY_GONE', `${what} existed and is gone: an id is never used twice`);
  const shown = toPolicy(row);
  const isSame = row.sent_hash === sent_hash || isAnswerOf(policyInput, shown, input);
  if (!isSame || row.agent_id !== agent_id)
    throw new CairnError('ENTITY_ALREADY_EXISTS', `${what} exists and was made otherwise: use a new policy_id`);
  return shown;
}

export async function create(call: Call, input: In<'summarization_policies.create'>): Promise<SummarizationPolicy> {
  const agent_id = actsAs(call, input.agent_id, 'agent_id') ?? input.agent_id ?? null;
  const sent_hash = input.policy_id === undefined ? null : sha256(canonical(input as unknown as Json));
  const blank = {
    policy_id: input.policy_id ?? newId(),
    name: null,
    agent_id,
    trigger_type: input.trigger.type,
    threshold: 0,
    ...levelsOf(input),
    max_sources: DEFAULT_MAX_SOURCES,
    max_tokens: DEFAULT_MAX_TOKENS,
    create_edges: 1,
    actions: canonical(['summarize']),
    enabled: 1,
    sent_hash,
    deleted_at: null,
  };
  return change(call, {
    input,
    work: async (work) => {
      const { tx, now } = work;
      const existing = input.policy_id && (await findPolicy(tx, input.policy_id));
      if (existing) return samePolicy(existing, input, sent_hash, agent_id);
      const place = await placeOf(work, input);
      await refuseMany(tx, place.attached);
      const row = changed({ ...blank, ...place, created_at: now, updated_at: now }, input, now);
      await insertPolicy(tx, row);
      journal(work, 'created', row);
      return toPolicy(row);
    },
    remember: ({ policy_id }) => policy_id,
    again: (query, kept) => read(query, kept as string),
  });
}

const journal = (
  work: Work,
  what: 'created' | 'updated' | 'deleted',
  { policy_id, attached, trajectory_id }: PolicyRow,
): void =>
  appendEvent(
    work,
    `cairn.summarization_policy.${what}`,
    { type: 'summarization_policy', id: policy_id },
    { attached },
    trajectory_id,
  );

export const get = (call: Call, input: In<'summarization_policies.get'>): Promise<SummarizationPolicy> =>
  read(call.driver.at(call.tenant), input.policy_id);

export async function list(
  call: Call,
  input: In<'summarization_policies.list'>,
): Promise<Out<'summarization_policies.list'>> {
  const { driver, tenant } = call;
  const { trajectory_id, scope_id } = input;
  const filter = { trajectory_id, scope_id, reach: reachOf(call, 'Turn') };
  const { rows, ...page } = await listPage<PolicyRow, string>(call, {
    input,
    filters: { trajectory_id: trajectory_id ?? null, scope_id: scope_id ?? null },
    key: 'string',
    keyOf: ({ policy_id }) => policy_id,
    read: (request) => listPolicies(driver.at(tenant), filter, request),
    count: countPolicies(filter),
  });
  return { summarization_policies: rows.map(toPolicy), ...page };
}

/** The policy, locked, if this caller may change it: that an agent writes Turns where it is attached was checked before. */
async function ownPolicy({ call, tx }: Work, policy_id: string): Promise<PolicyRow> {
  const row = await lockPolicy(tx, policy_id);
  if (!row || row.deleted_at !== null) throw noPolicy(policy_id);
  if (call.caller.agent_id !== null && row.attached === attachedTo.tenant)
    refuseAgents(call, 'change a policy of the whole tenant');
  await refuseFormerOwner(call, tx, row.trajectory_id);
  return row;
}

export async function update(call: Call, input: In<'summarization_policies.update'>): Promise<SummarizationPolicy> {
  const { policy_id, ...patch } = input;
  if (Object.values(patch).every((value) => value === undefined))
    throw invalid('summarization_policies.update: give at least one field to change');
  return change(call, {
    input,
    work: async (work) => {
      const { tx, now } = work;
      const row = await ownPolicy(work, policy_id);
      const next = changed(row, patch, row.updated_at);
      if (canonical(next as unknown as Json) === canonical(row as unknown as Json)) return toPolicy(row);
      const written = { ...next, updated_at: now };
      await updatePolicy(tx, written);
      journal(work, 'updated', written);
      return toPolicy(written);
    },
    remember: () => policy_id,
    again: (query, kept) => read(query, kept as string),
  });
}

async function remove(call: Call, input: In<'summarization_policies.delete'>): Promise<void> {
  const { policy_id } = input;
  await change<Json>(call, {
    input,
    work: async (work) => {
      const { tx, now } = work;
      const known = await findPolicy(tx, policy_id);
      if (known && known.deleted_at !== null) return null;
      const row = await ownPolicy(work, policy_id);
      await deletePolicy(tx, policy_id, now);
      journal(work, 'deleted', row);
      return null;
    },
    remember: () => null,
    again: async () => null,
  });
}

export { remove as delete };

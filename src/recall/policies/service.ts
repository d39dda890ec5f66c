/** Use cases of summarization policies; `jobs/triggers.ts` fires them. */
import type { Query } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import {
  appendEvent,
  type Call,
  change,
  checkNamedAgent,
  equalsAnswer,
  listPage,
  type Work,
} from '../../engine/index.js';
import { reachOf } from '../../identity/index.js';
import { type Json, newId } from '../../kernel/contract.js';
import { CairnError, invalid, present } from '../../kernel/index.js';
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
  lockTenantPolicies,
  type PolicyRow,
  policiesAt,
  toPolicy,
  updatePolicy,
} from './store.js';

type Patch = Omit<In<'summarization_policies.update'>, 'policy_id'>;

const read = async (query: Query, policy_id: string): Promise<SummarizationPolicy> =>
  toPolicy(present(query, 'policy', policy_id, await findPolicy(query, policy_id)));

const thresholdOf = (trigger: Trigger): number => {
  if (trigger.type === 'DosageThreshold') return trigger.percent;
  return 'count' in trigger ? trigger.count : 0;
};

const ABOVE = { L0: 'L1', L1: 'L2' } as const;
const BELOW = { L1: 'L0', L2: 'L1' } as const;

/** A summary goes up one level, so either level implies the other. */
export function levelsOf(
  given: Pick<Patch, 'source_level' | 'target_level'>,
): Pick<PolicyRow, 'source_level' | 'target_level'> {
  const source_level = given.source_level ?? (given.target_level ? BELOW[given.target_level] : 'L0');
  const target_level = given.target_level ?? ABOVE[source_level];
  if (ABOVE[source_level] === target_level) return { source_level, target_level };
  throw invalid(
    `\`target_level\` must be ${ABOVE[source_level]} for \`source_level\` ${source_level}, not ${target_level}`,
  );
}

function refuseExtraction(source_level: string, actions: string | readonly string[]): void {
  if (source_level === 'L0' || !actions.includes('extract')) return;
  throw invalid('`source_level` must be L0 for the action extract: facts are extracted from turns');
}

/** Refuses levels and actions that do not fit together. */
export const checkPolicy = (given: Pick<Patch, 'source_level' | 'target_level' | 'actions'>): void =>
  refuseExtraction(levelsOf(given).source_level, given.actions ?? []);

/** The row with a patch applied. */
function changed(row: PolicyRow, given: Patch, now: number): PolicyRow {
  const levels = given.source_level === undefined && given.target_level === undefined ? row : levelsOf(given);
  const actions = given.actions === undefined ? row.actions : canonical([...new Set(given.actions)].sort());
  refuseExtraction(levels.source_level, actions);
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

/** Tenant-wide policies require a key without an agent. */
function refuseAgents({ caller: { agent_id } }: Call, what: string): void {
  if (agent_id === null) return;
  throw new CairnError('FORBIDDEN', `agent ${agent_id} may not ${what}: use a key without an agent`, {
    rule: 'key_agent',
  });
}

/** Where a policy is attached; refuses a scope or trajectory that does not exist. */
async function placeOf(
  { call, tx }: Work,
  { trajectory_id, scope_id, agent_id }: PolicyInput,
): Promise<Pick<PolicyRow, 'attached' | 'trajectory_id' | 'scope_id'>> {
  if (scope_id != null) {
    const scope = await findScope(tx, scope_id);
    if (!scope || scope.deleted_at !== null) throw unknownEntity('scope_id', 'scope', [scope_id]);
    if (trajectory_id != null && trajectory_id !== scope.trajectory_id)
      throw invalid(
        `scope ${scope_id} is not in trajectory ${trajectory_id}: give \`scope_id\` or \`trajectory_id\`, not both`,
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
  refuseAgents(call, 'set a policy for the whole tenant');
  return { attached: attachedTo.tenant, trajectory_id: null, scope_id: null };
}

/** Every write checks all policies that apply to it, so their number is bounded. */
export const MAX_POLICIES = 20;

/** The existing policy with this id, if the same agent created it by the same request. */
function samePolicy(
  row: PolicyRow,
  input: PolicyInput,
  sent: Pick<PolicyRow, 'sent_hash' | 'agent_id'>,
): SummarizationPolicy {
  const what = `summarization policy ${row.policy_id}`;
  if (row.deleted_at !== null) throw new CairnError('ENTITY_GONE', `${what} was deleted; ids are never reused`);
  const shown = toPolicy(row);
  const isSame = row.sent_hash === sent.sent_hash || equalsAnswer(policyInput, shown, input);
  if (isSame && row.agent_id === sent.agent_id) return shown;
  throw new CairnError('ENTITY_ALREADY_EXISTS', `${what} already exists with different content: use a new policy_id`);
}

/** Creates a policy in a transaction. */
export async function createPolicyIn(work: Work, input: PolicyInput): Promise<SummarizationPolicy> {
  const { call, tx, now } = work;
  const agent_id = checkNamedAgent(call, input.agent_id, 'agent_id') ?? input.agent_id ?? null;
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
  const existing = input.policy_id && (await findPolicy(tx, input.policy_id));
  if (existing) return samePolicy(existing, input, blank);
  const place = await placeOf(work, input);
  if (place.attached === attachedTo.tenant) await lockTenantPolicies(tx);
  if ((await policiesAt(tx, place.attached)) >= MAX_POLICIES)
    throw invalid(`a tenant, trajectory or scope has at most ${MAX_POLICIES} policies: change or delete one`);
  const row = changed({ ...blank, ...place, created_at: now, updated_at: now }, input, now);
  await insertPolicy(tx, row);
  journal(work, 'created', row);
  return toPolicy(row);
}

export async function create(call: Call, input: In<'summarization_policies.create'>): Promise<SummarizationPolicy> {
  checkNamedAgent(call, input.agent_id, 'agent_id');
  levelsOf(input);
  return change(call, {
    input,
    work: (work) => createPolicyIn(work, input),
    remember: ({ policy_id }) => policy_id,
    again: (query, kept) => read(query, kept as string),
  });
}

function journal(work: Work, what: 'created' | 'updated' | 'deleted', row: PolicyRow): void {
  const entity = { type: 'summarization_policy', id: row.policy_id };
  appendEvent(work, `cairn.summarization_policy.${what}`, entity, { attached: row.attached }, row.trajectory_id);
}

export const get = (call: Call, input: In<'summarization_policies.get'>): Promise<SummarizationPolicy> =>
  read(call.driver.at(call.tenant), input.policy_id);

export async function list(
  call: Call,
  input: In<'summarization_policies.list'>,
): Promise<Out<'summarization_policies.list'>> {
  const { trajectory_id, scope_id } = input;
  const filter = { trajectory_id, scope_id, reach: reachOf(call, 'Turn') };
  const { rows, ...page } = await listPage<PolicyRow, string>(call, {
    input,
    filters: { trajectory_id: trajectory_id ?? null, scope_id: scope_id ?? null },
    key: 'string',
    keyOf: ({ policy_id }) => policy_id,
    read: (request) => listPolicies(call.driver.at(call.tenant), filter, request),
    count: countPolicies(filter),
  });
  return { summarization_policies: rows.map(toPolicy), ...page };
}

/** Locks a policy that this caller may change; the dispatcher has checked that an agent may write Turns there. */
async function ownPolicy({ call, tx }: Work, policy_id: string): Promise<PolicyRow> {
  const row = present(tx, 'policy', policy_id, await lockPolicy(tx, policy_id));
  if (row.attached === attachedTo.tenant) refuseAgents(call, 'change a policy of the whole tenant');
  await refuseFormerOwner(call, tx, row.trajectory_id);
  return row;
}

/** Changes a policy in a transaction. */
export async function updatePolicyIn(work: Work, policy_id: string, patch: Patch): Promise<SummarizationPolicy> {
  const row = await ownPolicy(work, policy_id);
  const next = changed(row, patch, row.updated_at);
  if (canonical(next as unknown as Json) === canonical(row as unknown as Json)) return toPolicy(row);
  const written = { ...next, updated_at: work.now };
  await updatePolicy(work.tx, written);
  journal(work, 'updated', written);
  return toPolicy(written);
}

export async function update(call: Call, input: In<'summarization_policies.update'>): Promise<SummarizationPolicy> {
  const { policy_id, ...patch } = input;
  if (Object.values(patch).every((value) => value === undefined))
    throw invalid('summarization_policies.update: give at least one field to change');
  return change(call, {
    input,
    work: (work) => updatePolicyIn(work, policy_id, patch),
    remember: () => policy_id,
    again: (query, kept) => read(query, kept as string),
  });
}

/** Deletes a policy in a transaction. */
export async function deletePolicyIn(work: Work, policy_id: string): Promise<null> {
  const known = await findPolicy(work.tx, policy_id);
  if (known && known.deleted_at !== null) return null;
  const row = await ownPolicy(work, policy_id);
  await deletePolicy(work.tx, policy_id, work.now);
  journal(work, 'deleted', row);
  return null;
}

async function remove(call: Call, input: In<'summarization_policies.delete'>): Promise<void> {
  await change<Json>(call, {
    input,
    work: (work) => deletePolicyIn(work, input.policy_id),
    remember: () => null,
    again: async () => null,
  });
}

export { remove as delete };

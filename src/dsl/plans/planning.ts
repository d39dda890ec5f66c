/** A plan: each definition with what is stored under its name. */
import type { Query } from '../../driver/index.js';
import { profileHash } from '../../facts/index.js';
import type { JsonObject } from '../../kernel/contract.js';
import { CairnError } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { MAX_POLICIES } from '../../recall/index.js';
import type { Declared } from '../checks/check.js';
import { KIND_NAMES, type KindName } from '../checks/kind-names.js';
import { MAX_DEFINITIONS } from '../syntax/ast.js';
import { type Difference, differenceOf } from './differences.js';
import type { Action, Counts, Plan, PlannedChange } from './model.js';
import { allStored, fieldsOf, isExported, READ_AT_ONCE, readers, type Stored } from './stored.js';

/** One change of a plan, with what is needed to carry it out: nothing that is stored, which may be large. */
export interface Step extends PlannedChange {
  /** As declared; empty for a deletion. */
  readonly input: JsonObject;
  readonly changed: Difference['changed'];
  /** Of a stored policy. */
  readonly policy_id?: string | undefined;
  /** Of an agent that has not registered yet: what it keeps unless declared. */
  readonly unfinished?: JsonObject | undefined;
  readonly identity: string;
}

interface PlanRequest {
  readonly declared: readonly Declared[];
  readonly prune: boolean;
  /** In a transaction that applies the plan: rows are locked, and the fields that change are not shown. */
  readonly locks: boolean;
  /** Outside a transaction. */
  readonly maybeYield?: () => Promise<void> | void;
}

export const titleOf = ({ kind, name }: Pick<PlannedChange, 'kind' | 'name'>): string =>
  kind === 'settings' ? 'settings' : `${kind} "${name}"`;

const hashOf = (value: JsonObject): string => sha256(canonical(value));

const step = (action: Action, { kind, name, input }: Declared, more: Partial<Step> = {}): Step => ({
  action,
  kind,
  name,
  input,
  fields: [],
  changed: {},
  identity: action === 'create' ? hashOf(input) : '',
  ...more,
});

/** An agent keeps the profile that it was registered with. */
const conflictOf = (one: Declared, { conflict, unfinished, fields }: Stored): string | undefined => {
  if (conflict !== undefined) return `${titleOf(one)} ${conflict}`;
  const { profile_name } = one.input;
  if (one.kind !== 'agent' || unfinished || profile_name === undefined || profile_name === fields.profile_name)
    return undefined;
  const present = fields.profile_name === undefined ? 'no profile' : `the profile "${String(fields.profile_name)}"`;
  return `${titleOf(one)} is registered with ${present}, which cannot be changed: use another name`;
};

/** The name is the type of an agent that was given none. */
const withType = (one: Declared, { unfinished, fields }: Stored): Declared =>
  unfinished && fields.agent_type === undefined ? { ...one, input: { agent_type: one.name, ...one.input } } : one;

/** A profile is compared by its hash: reading the content of many would hold the transaction for long. */
async function profileStep(query: Query, one: Declared, stored: Stored, locks: boolean): Promise<Step> {
  const hash = profileHash({ ...one.input, name: one.name });
  if (hash === stored.content_hash) return step('unchanged', one);
  const fields = locks ? [] : differenceOf(one, await fieldsOf(query, stored), true).fields;
  return step('update', one, { fields: [...fields], identity: `${stored.content_hash} ${hash}` });
}

function stepFor(declared: Declared, stored: Stored, prune: boolean): Step {
  const one = withType(declared, stored);
  const { policy_id } = stored;
  const { changed, fields, identity } = differenceOf(one, stored.fields, prune && one.kind === 'settings');
  if (fields.length === 0 && !stored.unfinished) return step('unchanged', one, { policy_id });
  const { agent_type, offline_after_ms, metadata } = stored.fields;
  const kept = { ...(agent_type === undefined ? {} : { agent_type }), offline_after_ms, metadata } as JsonObject;
  const unfinished = stored.unfinished && kept;
  return step('update', one, { fields: [...fields], changed, identity, policy_id, unfinished });
}

/** The steps of one kind; adds to `conflicts` why some are impossible. */
async function stepsOf(query: Query, kind: KindName, request: PlanRequest, conflicts: string[]): Promise<Step[]> {
  const { prune, locks, maybeYield } = request;
  const declared = request.declared.filter((one) => one.kind === kind).sort(byName);
  const steps: Step[] = [];
  for (let at = 0; at < declared.length; at += READ_AT_ONCE) {
    const some = declared.slice(at, at + READ_AT_ONCE);
    const names = some.map(({ name }) => name);
    const stored = new Map((await readers[kind].named(query, names, locks)).map((one) => [one.name, one]));
    for (const one of some) {
      await maybeYield?.();
      const before = stored.get(one.name);
      const conflict = before && conflictOf(one, before);
      if (conflict !== undefined) conflicts.push(conflict);
      else if (!before) steps.push(step('create', one));
      else steps.push(kind === 'profile' ? await profileStep(query, one, before, locks) : stepFor(one, before, prune));
    }
  }
  return steps;
}

/** Deletes what an export would have, and the source has not. */
async function deletions(query: Query, kind: KindName, request: PlanRequest): Promise<Step[]> {
  const { declared, locks, maybeYield } = request;
  const declaredNames = new Set(declared.filter((one) => one.kind === kind).map(({ name }) => name));
  const steps: Step[] = [];
  for await (const page of allStored(query, kind)) {
    const found = page.filter((stored) => !declaredNames.has(stored.name) && isExported(stored));
    const names = found.map(({ name }) => name);
    // Read again with locks: what was changed since the plan was shown must not be deleted.
    const current = locks && names.length > 0 ? await readers[kind].named(query, names, true) : found;
    for (const { name, policy_id, content_hash, fields } of current) {
      await maybeYield?.();
      const identity = content_hash ?? hashOf(fields);
      // Settings are reset member by member.
      const changed = kind === 'settings' ? Object.fromEntries(Object.keys(fields).map((one) => [one, undefined])) : {};
      steps.push(step('delete', { kind, name, input: {} }, { policy_id, identity, changed }));
    }
    if (steps.length > MAX_DEFINITIONS) throw tooManyDeletions(kind);
  }
  return steps;
}

const tooManyDeletions = (kind: KindName): CairnError =>
  new CairnError(
    'STATE_CONFLICT',
    `prune would delete more than ${MAX_DEFINITIONS} definitions of the kind ${kind}: delete them with the operations of ${kind} first`,
  );

/** Names in a fixed order, so that transactions lock rows in the same order. */
const byName = (a: Declared, b: Declared): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

/** Agents are locked before anything else (ARCHITECTURE.md, invariant 7). */
const LOCK_ORDER: readonly KindName[] = ['agent', ...KIND_NAMES.filter((kind) => kind !== 'agent')];

async function policyConflict(query: Query, changes: readonly Step[]): Promise<string | undefined> {
  const count = (action: Action): number =>
    changes.filter((one) => one.kind === 'policy' && one.action === action).length;
  if (count('create') === 0) return undefined;
  const total = (await readers.policy.page(query, { limit: MAX_POLICIES })).length + count('create') - count('delete');
  return total <= MAX_POLICIES
    ? undefined
    : `the tenant would have ${total} policies, and has at most ${MAX_POLICIES}: remove some from the source, or delete some with prune`;
}

/**
 * The steps in the order in which they are applied: profiles before the agents that name them, deletions last. Policies
 * that go make room first: nothing refers to them, and their number is limited.
 */
export async function planSteps(query: Query, request: PlanRequest): Promise<Step[]> {
  const conflicts: string[] = [];
  const written = new Map<KindName, Step[]>();
  const deleted = new Map<KindName, Step[]>();
  for (const kind of LOCK_ORDER) {
    written.set(kind, await stepsOf(query, kind, request, conflicts));
    deleted.set(kind, request.prune ? await deletions(query, kind, request) : []);
  }
  const kinds = [...KIND_NAMES];
  const steps = [
    ...deleted.get('policy')!,
    ...kinds.flatMap((kind) => written.get(kind)!),
    ...kinds.reverse().flatMap((kind) => (kind === 'policy' ? [] : deleted.get(kind)!)),
  ];
  const tooMany = await policyConflict(query, steps);
  if (tooMany !== undefined) conflicts.push(tooMany);
  const [first] = conflicts;
  if (first === undefined) return steps;
  const more = conflicts.length === 1 ? '' : ` (and ${conflicts.length - 1} more)`;
  throw new CairnError('STATE_CONFLICT', `${first}${more}`, { conflicts });
}

export function countsOf(steps: readonly Pick<Step, 'action'>[]): Counts {
  const counts = { create: 0, update: 0, unchanged: 0, delete: 0 };
  for (const { action } of steps) counts[action]++;
  return counts;
}

/** Of everything that would change, not of what stays. */
const planHash = (steps: readonly Step[]): string =>
  sha256(
    canonical(
      steps
        .filter(({ action }) => action !== 'unchanged')
        .map(({ action, kind, name, identity, policy_id }) => [action, kind, name, identity, policy_id ?? '']),
    ),
  );

export const planOf = (steps: readonly Step[]): Plan => ({
  changes: steps.map(({ action, kind, name, fields }) => ({ action, kind, name, fields })),
  counts: countsOf(steps),
  plan_hash: planHash(steps),
});

/** A plan: each definition with what is stored under its name. */
import type { Query } from '../../driver/index.js';
import type { JsonObject } from '../../kernel/contract.js';
import { CairnError } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import type { Declared } from '../checks/check.js';
import { KIND_NAMES, type KindName } from '../checks/kind-names.js';
import { MAX_DEFINITIONS } from '../syntax/ast.js';
import { type Difference, differenceOf } from './differences.js';
import type { Action, Counts, Plan, PlannedChange } from './model.js';
import { allStored, READ_AT_ONCE, readers, type Stored } from './stored.js';

/** One change of a plan, with what is needed to carry it out. */
export interface Step extends PlannedChange {
  /** As declared; empty for a deletion. */
  readonly input: JsonObject;
  readonly changed: Difference['changed'];
  readonly stored?: Stored;
  readonly identity: string;
}

export interface PlanRequest {
  readonly declared: readonly Declared[];
  readonly prune: boolean;
  /** In a transaction that applies the plan. */
  readonly locks: boolean;
}

export const titleOf = ({ kind, name }: Pick<PlannedChange, 'kind' | 'name'>): string =>
  kind === 'settings' ? 'settings' : `${kind} "${name}"`;

const step = (action: Action, { kind, name, input }: Declared, more: Partial<Step> = {}): Step => ({
  action,
  kind,
  name,
  input,
  fields: [],
  changed: {},
  identity: action === 'create' ? canonical(input) : '',
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

function stepFor(one: Declared, stored: Stored | undefined, prune: boolean): Step {
  if (!stored) return step('create', one);
  const { changed, fields, identity } = differenceOf(one, stored, prune && one.kind === 'settings');
  const isSame = fields.length === 0 && !stored.unfinished && stored.problem !== 'its card was deleted';
  if (isSame) return step('unchanged', one, { stored });
  return step('update', one, { stored, fields: [...fields], changed, identity });
}

async function stepsOf(query: Query, kind: KindName, { declared, prune, locks }: PlanRequest, conflicts: string[]) {
  const steps: Step[] = [];
  for (let at = 0; at < declared.length; at += READ_AT_ONCE) {
    const some = declared.slice(at, at + READ_AT_ONCE);
    const names = some.map(({ name }) => name);
    const stored = new Map((await readers[kind].named(query, names, locks)).map((one) => [one.name, one]));
    for (const one of some) {
      const before = stored.get(one.name);
      const conflict = before && conflictOf(one, before);
      if (conflict === undefined) steps.push(stepFor(one, before, prune));
      else conflicts.push(conflict);
    }
  }
  return steps;
}

/** A policy without a name of its own: no source could keep it, so none deletes it. */
const isBeyondSources = ({ policy_id, problem }: Stored): boolean => policy_id !== undefined && problem !== undefined;

/** Deletes what an export would have, and the source has not. */
async function deletions(query: Query, kind: KindName, declared: readonly Declared[]): Promise<Step[]> {
  const names = new Set(declared.map(({ name }) => name));
  const steps: Step[] = [];
  for await (const page of allStored(query, kind))
    for (const stored of page) {
      if (names.has(stored.name) || isBeyondSources(stored)) continue;
      steps.push(step('delete', { kind, name: stored.name, input: {} }, { stored }));
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

/** The steps in the order in which they are applied: profiles before the agents that name them, deletions last. */
export async function planSteps(query: Query, request: PlanRequest): Promise<Step[]> {
  const steps: Step[] = [];
  const conflicts: string[] = [];
  for (const kind of KIND_NAMES) {
    const declared = request.declared.filter((one) => one.kind === kind).sort(byName);
    steps.push(...(await stepsOf(query, kind, { ...request, declared }, conflicts)));
  }
  const [first] = conflicts;
  if (first !== undefined) {
    const more = conflicts.length === 1 ? '' : ` (and ${conflicts.length - 1} more)`;
    throw new CairnError('STATE_CONFLICT', `${first}${more}`, { conflicts });
  }
  if (!request.prune) return steps;
  for (const kind of [...KIND_NAMES].reverse()) {
    const declared = request.declared.filter((one) => one.kind === kind);
    steps.push(...(await deletions(query, kind, declared)));
  }
  return steps;
}

export function countsOf(steps: readonly Pick<Step, 'action'>[]): Counts {
  const counts = { create: 0, update: 0, unchanged: 0, delete: 0 };
  for (const { action } of steps) counts[action]++;
  return counts;
}

/** Of everything that would change, not of what stays. */
const hashOf = (steps: readonly Step[]): string =>
  sha256(
    canonical(
      steps
        .filter(({ action }) => action !== 'unchanged')
        .map(({ action, kind, name, identity, stored }) => [action, kind, name, identity, stored?.policy_id ?? '']),
    ),
  );

export const planOf = (steps: readonly Step[]): Plan => ({
  changes: steps.map(({ action, kind, name, fields }) => ({ action, kind, name, fields })),
  counts: countsOf(steps),
  plan_hash: hashOf(steps),
});

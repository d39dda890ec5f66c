/** Use cases of plans: plan a source, and apply it in one transaction. */
import type { In } from '../../engine/contract.js';
import { appendEvent, type Call, change } from '../../engine/index.js';
import type { Json } from '../../kernel/contract.js';
import { CairnError, cooperativeYield } from '../../kernel/index.js';
import type { Declared } from '../checks/check.js';
import type { KindName } from '../checks/kind-names.js';
import { declaredBy } from '../language/service.js';
import { ACTIONS, type Action, type Applied, type Plan } from './model.js';
import { countsOf, planOf, planSteps, type Step } from './planning.js';
import { applyStep } from './steps.js';

export async function plan(call: Call, { source, prune = false }: In<'dsl.plan'>): Promise<Plan> {
  const declared = await declaredBy(call, source);
  const maybeYield = cooperativeYield(call.options.signal);
  return planOf(await planSteps(call.driver.at(call.tenant), { declared, prune, locks: false, maybeYield }));
}

const answerOf = (steps: readonly Pick<Step, 'action' | 'kind' | 'name'>[]): Applied => ({
  changes: steps.map(({ action, kind, name }) => ({ action, kind, name })),
  counts: countsOf(steps),
});

/** The actions by kind and name; a deleted policy by its id, since its name is erased. */
const remembered = (steps: readonly Step[]): Json =>
  steps.map(({ action, kind, name, policy_id }) => [
    ACTIONS.indexOf(action),
    kind,
    action === 'delete' ? (policy_id ?? name) : name,
  ]);

const repeated = (kept: Json): Applied =>
  answerOf(
    (kept as [number, KindName, string][]).map(([action, kind, name]) => ({
      action: ACTIONS[action] as Action,
      kind,
      name,
    })),
  );

function refuseOtherPlan(given: string | undefined, steps: readonly Step[]): void {
  if (given === undefined || planOf(steps).plan_hash === given) return;
  throw new CairnError('STATE_CONFLICT', 'the plan has changed since it was made: plan the source again', {
    plan_hash: planOf(steps).plan_hash,
  });
}

export async function apply(call: Call, input: In<'dsl.apply'>): Promise<Applied> {
  const { source, prune = false, plan_hash } = input;
  const declared: readonly Declared[] = await declaredBy(call, source);
  let steps: readonly Step[] = [];
  return change(call, {
    input,
    bytes: source.length,
    work: async (work) => {
      steps = await planSteps(work.tx, { declared, prune, locks: true });
      refuseOtherPlan(plan_hash, steps);
      for (const step of steps) await applyStep(work, step);
      const { unchanged: _, ...counts } = countsOf(steps);
      if (steps.some(({ action }) => action !== 'unchanged'))
        appendEvent(work, 'cairn.dsl.applied', { type: 'tenant', id: call.tenant }, { ...counts, prune });
      return answerOf(steps);
    },
    remember: () => remembered(steps),
    again: async (_, kept) => repeated(kept),
  });
}

/** How a step of a plan is carried out: by the same functions as the operations of its noun. */
import { deleteHandoverIn, saveHandoverIn } from '../../coordination/index.js';
import { DriverError } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import type { Work } from '../../engine/index.js';
import { deleteProfileIn, writeProfileIn } from '../../facts/index.js';
import type { SettingsPatch } from '../../identity/contract.js';
import { registerIn, unregisterIn, updateIn, updateSettingsIn } from '../../identity/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { CairnError } from '../../kernel/index.js';
import { createPolicyIn, deletePolicyIn, updatePolicyIn } from '../../recall/index.js';
import type { KindName } from '../checks/kind-names.js';
import { type Step, titleOf } from './planning.js';

interface Applier {
  readonly create: (work: Work, step: Step) => Promise<unknown>;
  readonly update: (work: Work, step: Step) => Promise<unknown>;
  readonly delete: (work: Work, step: Step) => Promise<unknown>;
}

/** The checks of the source have read it by the schema of the operation. */
const inputOf = <T>(fields: JsonObject): T => fields as unknown as T;

/** settings.update takes the role admin. */
function changeSettings(work: Work, patch: Readonly<Record<string, Json | undefined>>): Promise<unknown> {
  const { role } = work.call.caller;
  if (role !== 'admin')
    throw new CairnError('FORBIDDEN', `changing them needs the role admin, this key has ${role}`, { rule: 'key_role' });
  return updateSettingsIn(work, patch as SettingsPatch);
}

/** A member that is removed returns to its default. */
const withNulls = (changed: Step['changed']): JsonObject =>
  Object.fromEntries(Object.entries(changed).map(([name, value]) => [name, value ?? null]));

const saveProfile = (work: Work, { action, name, input }: Step): Promise<unknown> =>
  writeProfileIn(work, inputOf<In<'profiles.save'>>({ ...input, name }), action === 'update');

const register = (work: Work, { name, input, unfinished = {} }: Step): Promise<unknown> =>
  registerIn(work, inputOf<In<'agents.register'>>({ agent_type: name, ...unfinished, ...input, agent_id: name }));

const saveHandover = (work: Work, { action, name, input }: Step): Promise<unknown> =>
  saveHandoverIn(work, name, inputOf<In<'handovers.save'>['handover']>(input), action === 'update');

const appliers: Readonly<Record<KindName, Applier>> = {
  settings: {
    create: (work, { input }) => changeSettings(work, input),
    update: (work, { changed }) => changeSettings(work, withNulls(changed)),
    delete: (work, { changed }) => changeSettings(work, withNulls(changed)),
  },
  profile: { create: saveProfile, update: saveProfile, delete: (work, { name }) => deleteProfileIn(work, name) },
  agent: {
    create: register,
    update: (work, step) =>
      step.unfinished
        ? register(work, step)
        : updateIn(work, inputOf<In<'agents.update'>>({ ...(step.changed as JsonObject), agent_id: step.name })),
    delete: (work, { name }) => unregisterIn(work, name),
  },
  handover: { create: saveHandover, update: saveHandover, delete: (work, { name }) => deleteHandoverIn(work, name) },
  policy: {
    create: (work, { name, input }) =>
      createPolicyIn(work, inputOf<In<'summarization_policies.create'>>({ ...input, name })),
    update: (work, { policy_id, changed }) => updatePolicyIn(work, policy_id!, changed),
    delete: (work, { policy_id }) => deletePolicyIn(work, policy_id!),
  },
};

/** Carries out a step; a refusal names its definition. */
export async function applyStep(work: Work, step: Step): Promise<void> {
  if (step.action === 'unchanged') return;
  try {
    await appliers[step.kind][step.action](work, step);
  } catch (error) {
    if (!(error instanceof CairnError)) throw error;
    // Another server created it since it was planned: the transaction runs again, with a new plan.
    if (step.action === 'create' && error.code === 'ENTITY_ALREADY_EXISTS')
      throw new DriverError('conflict', error.message);
    throw new CairnError(error.code, `${titleOf(step)}: ${error.message}`, error.details);
  }
}

/** The default place of memory: one trajectory of the tenant, and one scope in each trajectory. */
import { createHash } from 'node:crypto';
import { type Call, extentOf, systemCall } from '../../engine/index.js';
import { CairnError } from '../../kernel/index.js';
import { findTrajectory, scopesService as scopes, trajectoriesService as trajectories } from '../../memory/index.js';
import { findScope } from '../../memory/sql.js';

const NAME = 'memory';
/** A closed or deleted place is followed by the next one. */
const MAX_PLACES = 1000;
const WINDOW_TOKENS = 1_000_000;

/** A UUID derived from the purpose, so that concurrent processes create one place. */
function placeId(tenant: string, what: string, number: number): string {
  const hash = createHash('sha256').update(`${tenant}\n${NAME}\n${what}\n${number}`).digest('hex');
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}

/** The first open place, created if there is none. `isOpen` is undefined for a place that does not exist. */
async function openPlace(
  tenant: string,
  what: string,
  field: 'trajectory_id' | 'scope_id',
  isOpen: (id: string) => Promise<boolean | undefined>,
  create: (id: string) => Promise<unknown>,
): Promise<string> {
  for (let number = 1; number <= MAX_PLACES; number++) {
    const id = placeId(tenant, what, number);
    const open = await isOpen(id);
    if (open === false) continue;
    if (open === undefined) await create(id);
    return id;
  }
  throw new CairnError('STATE_CONFLICT', `${MAX_PLACES} places called ${NAME} are closed: give a ${field}`);
}

/** A user has a place of its own. */
export function defaultTrajectory(call: Call): Promise<string> {
  const { driver, tenant } = call;
  const { user_id } = call.caller;
  return openPlace(
    tenant,
    user_id === undefined ? 'trajectory' : `trajectory of user ${user_id}`,
    'trajectory_id',
    async (id) => {
      const row = await findTrajectory(driver.at(tenant), id);
      return row && row.deleted_at === null && row.status === 'Active';
    },
    (trajectory_id) =>
      trajectories.create(systemCall(call, tenant), {
        trajectory_id,
        name: NAME,
        subject_ids: user_id === undefined ? [] : [user_id],
      }),
  );
}

export function defaultScope(call: Call, trajectory_id: string): Promise<string> {
  const { driver, tenant } = call;
  return openPlace(
    tenant,
    call.caller.user_id === undefined
      ? `scope of ${trajectory_id}`
      : `scope of ${trajectory_id} for ${call.caller.user_id}`,
    'scope_id',
    async (id) => {
      const row = await findScope(driver.at(tenant), id);
      return row && row.deleted_at === null && row.closed_at === null;
    },
    (scope_id) =>
      scopes.create(systemCall(call, tenant), {
        scope_id,
        trajectory_id,
        name: NAME,
        token_budget: WINDOW_TOKENS,
        subject_ids: call.caller.user_id === undefined ? [] : [call.caller.user_id],
      }),
  );
}

/** Refuses the default place to an agent that may write only in places of its own, as any scope of others is refused. */
export function refuseDefaultPlace({ acting }: Call, memory_type: 'Turn' | 'Card'): void {
  const scope = acting && extentOf(acting.memory_access, memory_type, 'write');
  if (scope === undefined || scope === 'all') return;
  throw new CairnError(
    'FORBIDDEN',
    `agent ${acting!.agent_id} may write ${memory_type}s only in its own trajectories and scopes: name one`,
    { rule: 'memory_access', memory_type, need: 'write', scope },
  );
}

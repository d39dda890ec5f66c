/** Where memory goes that names no place: one trajectory of the tenant, and one scope in each trajectory. */
import { createHash } from 'node:crypto';
import { type Call, extentOf, systemCall } from '../../engine/index.js';
import { CairnError } from '../../kernel/index.js';
import { findTrajectory, scopesService as scopes, trajectoriesService as trajectories } from '../../memory/index.js';
import { findScope } from '../../memory/sql.js';

const NAME = 'memory';
/** A place that was closed or deleted gives way to the next one. */
const MAX_PLACES = 1000;
const WINDOW_TOKENS = 1_000_000;

/** The same for everyone who asks, so that several processes make one: a UUID of what it is for. */
function placeId(tenant: string, what: string, number: number): string {
  const hash = createHash('sha256').update(`${tenant}\n${NAME}\n${what}\n${number}`).digest('hex');
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}

/** The first place that is open, made if none is. */
async function openPlace(
  tenant: string,
  what: string,
  look: (id: string) => Promise<'open' | 'over' | 'none'>,
  make: (id: string) => Promise<unknown>,
): Promise<string> {
  for (let number = 1; number <= MAX_PLACES; number++) {
    const id = placeId(tenant, what, number);
    const state = await look(id);
    if (state === 'over') continue;
    if (state === 'none') await make(id);
    return id;
  }
  throw new CairnError('STATE_CONFLICT', `${MAX_PLACES} places called ${NAME} were closed: name a ${what}_id`);
}

/** The one that a call is about which names none. */
export const defaultTrajectory = (call: Call): Promise<string> => {
  const { tenant } = call;
  return openPlace(
    tenant,
    'trajectory',
    async (id) => {
      const row = await findTrajectory(call.driver.at(tenant), id);
      if (!row) return 'none';
      return row.deleted_at === null && row.status === 'Active' ? 'open' : 'over';
    },
    (trajectory_id) => trajectories.create(systemCall(call, tenant), { trajectory_id, name: NAME }),
  );
};

export async function defaultScope(call: Call, trajectory_id: string): Promise<string> {
  const { tenant } = call;
  return openPlace(
    tenant,
    `scope of ${trajectory_id}`,
    async (id) => {
      const row = await findScope(call.driver.at(tenant), id);
      if (!row) return 'none';
      return row.deleted_at === null && row.closed_at === null ? 'open' : 'over';
    },
    (scope_id) =>
      scopes.create(systemCall(call, tenant), { scope_id, trajectory_id, name: NAME, token_budget: WINDOW_TOKENS }),
  );
}

/** The place of all is no place for who may write only what is in its own: by the same rule as for any scope. */
export function refuseCommonGround({ acting }: Call, memory_type: 'Turn' | 'Card'): void {
  const scope = acting && extentOf(acting.memory_access, memory_type, 'write');
  if (scope === undefined || scope === 'all') return;
  throw new CairnError(
    'FORBIDDEN',
    `agent ${acting!.agent_id} may write ${memory_type}s in trajectories and scopes of its own alone: name one`,
    { rule: 'memory_access', memory_type, need: 'write', scope },
  );
}

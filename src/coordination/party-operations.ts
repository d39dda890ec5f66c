/** Members that the operations of this module share: access, inputs, an example id. */
import { anyId, text } from '../kernel/contract.js';

/** Access for the parties of an entity. */
export const READ = { method: 'GET', access: 'read', touches: 'parties', event: null } as const;
export const WRITE = { method: 'POST', access: 'write', touches: 'parties' } as const;

export const EXAMPLE_ID = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';

export const newEntityId = 'Default: a new id';
export const agentOfKey = 'Default: the agent of the key';

export const actingAgent = anyId
  .optional()
  .describe('The acting agent. Default: the agent of the key, or the party that this step belongs to');

export const reason = text(20_000);

/** The use cases of coordination, by group and verb of the table of operations. */
import { batch as readBatch } from './agent-turns/batches.js';
import { claim } from './agent-turns/claiming.js';
import * as agentTurnEnds from './agent-turns/ends.js';
import { fork } from './agent-turns/fork.js';
import * as agentTurnHydration from './agent-turns/hydration.js';
import * as agentTurns from './agent-turns/service.js';
import * as agentTurnSteps from './agent-turns/steps.js';
import { accept } from './delegations/accepting.js';
import * as delegations from './delegations/service.js';
import * as delegationSteps from './delegations/steps.js';
import { accept as acceptHandoff } from './handoffs/accepting.js';
import * as handoffs from './handoffs/service.js';
import * as handovers from './handovers/service.js';
import * as locks from './locks/service.js';
import { receive, stream } from './messages/receiving.js';
import * as messages from './messages/service.js';
import * as pmo from './packing/pmo.js';
import { pack_context } from './packing/service.js';

import { answer } from './pauses/answering.js';
import * as pauses from './pauses/service.js';

export const useCases = {
  handovers,
  pmo: { ...pmo, pack_context, batch: readBatch },
  agent_turns: { ...agentTurns, claim, ...agentTurnSteps, ...agentTurnEnds, ...agentTurnHydration, fork },
  delegations: { ...delegations, ...delegationSteps, accept },
  handoffs: { ...handoffs, accept: acceptHandoff },
  pauses: { create: pauses.create, get: pauses.get, list: pauses.list, answer },
  messages: { ...messages, receive, stream },
  locks,
};

/** The Api of a caller on a store: checks the input and the role, then runs the use case. */
import type { z } from 'zod';
import * as checkpointLists from '../checkpoints/checkpoints/lists.js';
import * as checkpoints from '../checkpoints/checkpoints/service.js';
import { prune, remove as removeExecution } from '../checkpoints/executions/ending.js';
import { live } from '../checkpoints/executions/live.js';
import * as executions from '../checkpoints/executions/service.js';
import * as executionTransfer from '../checkpoints/executions/transfer.js';
import { importCheckpoint } from '../checkpoints/executions/transfer.js';
import * as executionViews from '../checkpoints/executions/views.js';
import { batch as readBatch } from '../coordination/agent-turns/batches.js';
import { claim } from '../coordination/agent-turns/claiming.js';
import * as agentTurnEnds from '../coordination/agent-turns/ends.js';
import { fork } from '../coordination/agent-turns/fork.js';
import * as agentTurnHydration from '../coordination/agent-turns/hydration.js';
import * as agentTurns from '../coordination/agent-turns/service.js';
import * as agentTurnSteps from '../coordination/agent-turns/steps.js';
import { accept } from '../coordination/delegations/accepting.js';
import * as delegations from '../coordination/delegations/service.js';
import * as delegationSteps from '../coordination/delegations/steps.js';
import { guarding, namesGuards } from '../coordination/guards/guards.js';
import { accept as acceptHandoff } from '../coordination/handoffs/accepting.js';
import * as handoffs from '../coordination/handoffs/service.js';
import * as handovers from '../coordination/handovers/service.js';
import * as locks from '../coordination/locks/service.js';
import { receive, stream } from '../coordination/messages/delivery.js';
import * as messages from '../coordination/messages/service.js';
import * as pmo from '../coordination/packing/pmo.js';
import { pack_context } from '../coordination/packing/service.js';
import type { Call, Runtime } from '../engine/calls/call.js';
import type { Caller, KeyRole } from '../engine/calls/caller.js';
import { type Access, type Operation, readInput } from '../engine/contract/operation.js';
import * as boxGrants from '../facts/boxes/grants.js';
import * as boxes from '../facts/boxes/service.js';
import * as boxViews from '../facts/boxes/views.js';
import * as cards from '../facts/cards/service.js';
import * as packets from '../facts/packets/service.js';
import { events } from '../facts/packets/stream.js';
import * as profiles from '../facts/profiles/service.js';
import { asPermitted } from '../identity/access/permissions.js';
import * as agents from '../identity/agents/service.js';
import { auth, keys } from '../identity/keys/service.js';
import { CairnError } from '../kernel/errors.js';
import { keep } from '../kernel/json-values.js';
import * as lifetime from '../maintenance/sweep.js';
import * as artifacts from '../memory/artifacts/service.js';
import * as edges from '../memory/edges/service.js';
import * as edgeWalks from '../memory/edges/walks.js';
import * as notes from '../memory/notes/service.js';
import * as scopeCheckpoints from '../memory/scopes/checkpoints.js';
import * as scopeClosing from '../memory/scopes/closing.js';
import { artifactsOf, scopesOf } from '../memory/scopes/lists.js';
import * as scopes from '../memory/scopes/service.js';
import { batch } from '../memory/trajectories/batch.js';
import { remove } from '../memory/trajectories/ending.js';
import { update } from '../memory/trajectories/moves.js';
import * as trajectories from '../memory/trajectories/service.js';
import { tree } from '../memory/trajectories/tree.js';
import { turnsOf } from '../memory/turns/lists.js';
import * as turns from '../memory/turns/service.js';
import { assemble } from '../recall/contexts/service.js';
import * as byHand from '../recall/jobs/manual-jobs.js';
import * as jobs from '../recall/jobs/service.js';
import * as manifests from '../recall/manifests/service.js';
import * as policies from '../recall/policies/service.js';
import { recall, remember } from '../recall/remember/service.js';
import { query as searchAll, searchAmong } from '../recall/search/service.js';
import { expandArtifact, expandNote } from '../recall/summaries/expanding.js';
import type { Api, ApiByName, CallOptions } from './api.js';
import { allOperations, type NamedOperation, type Operations } from './operations.js';

type UseCase<O extends Operation> = (
  call: Call,
  input: z.output<O['input']>,
) => O extends { stream: true } ? AsyncIterable<z.output<O['output']>> : Promise<z.output<O['output']>>;

type UseCases = {
  [G in keyof Operations]: {
    [V in keyof Operations[G]]: Operations[G][V] extends Operation ? UseCase<Operations[G][V]> : never;
  };
};

/** One function for every entry of the table: the compiler says which is missing. */
const useCases: UseCases = {
  memory: { remember, recall },
  search: { query: searchAll },
  trajectories: { ...trajectories, update, delete: remove, tree, batch, scopes: scopesOf },
  scopes: {
    ...scopes,
    ...scopeCheckpoints,
    ...byHand,
    close: scopeClosing.close,
    turns: turnsOf,
    artifacts: artifactsOf,
  },
  turns,
  artifacts: { ...artifacts, search: searchAmong('Artifact'), expand: expandArtifact },
  notes: { ...notes, search: searchAmong('Note'), expand: expandNote },
  edges: { ...edges, ...edgeWalks },
  summarization_policies: policies,
  jobs,
  executions: {
    ...executions,
    ...executionViews,
    ...executionTransfer,
    live,
    delete: removeExecution,
    prune,
  },
  checkpoints: { ...checkpoints, ...checkpointLists, import: importCheckpoint },
  context: { assemble },
  manifests,
  agents,
  profiles,
  handovers,
  pmo: { ...pmo, pack_context, batch: readBatch },
  agent_turns: { ...agentTurns, claim, ...agentTurnSteps, ...agentTurnEnds, ...agentTurnHydration, fork },
  delegations: { ...delegations, ...delegationSteps, accept },
  handoffs: { ...handoffs, accept: acceptHandoff },
  messages: { ...messages, receive, stream },
  locks,
  cards,
  boxes: { ...boxViews, ...boxes, ...boxGrants },
  packets,
  events,
  lifetime,
  keys,
  auth,
};

const rank: Record<KeyRole, number> = { read: 1, write: 2, admin: 3 };
const needed: Record<Access, number> = { read: 1, write: 2, admin: 3 };

export function apiFor(runtime: Runtime, caller: Caller): Api {
  const api: Record<string, Record<string, unknown>> = {};
  for (const operation of allOperations) {
    const useCase = (useCases as unknown as ApiByName)[operation.group]?.[
      operation.verb
    ] as unknown as UseCase<Operation>;
    const group = (api[operation.group] ??= {});
    // The same for every call without options, which most are.
    const plain: Call = {
      ...runtime,
      operation: operation.name,
      caller,
      tenant: caller.tenant_id,
      options: {},
    };
    const writes = operation.access !== 'read';
    const begin = (input: unknown, options: CallOptions | undefined): Begun => {
      checkRole(operation, caller);
      const parsed = readInput(operation, input ?? {});
      const call = options === undefined ? plain : { ...plain, options };
      const guarded = namesGuards(call.options);
      // What is asked before it runs takes a moment, in which the caller may change what it gave.
      const waits = !options?.owned && (guarded || caller.agent_id !== null);
      return { call, guarded, parsed: waits ? (keep(parsed) as Record<string, unknown>) : parsed };
    };
    const run = ({ call, parsed }: Begun) =>
      call.caller.agent_id === null ? useCase(call, parsed) : asAgent(operation, useCase, call, parsed);
    const guard = async (begun: Begun): Promise<Begun> => ({
      ...begun,
      call: await guarding(begun.call, begun.parsed, writes),
    });
    group[operation.verb] = operation.stream
      ? // Whatever is wrong with a stream is said where it is read: one that was asked for is there.
        async function* (input: unknown, options?: CallOptions) {
          const begun = begin(input, options);
          yield* run(begun.guarded ? await guard(begun) : begun) as unknown as AsyncIterable<unknown>;
        }
      : (input: unknown, options?: CallOptions) =>
          runtime.calls.run(async () => {
            const begun = begin(input, options);
            const answer = (await run(begun.guarded ? await guard(begun) : begun)) as unknown;
            if (writes) runtime.written.add(caller.tenant_id);
            return answer;
          });
  }
  return api as unknown as Api;
}

/** A call whose role and input were looked at. */
interface Begun {
  readonly call: Call;
  readonly parsed: Record<string, unknown>;
  /** Whether it names guards, which are still to be looked at. */
  readonly guarded: boolean;
}

/** Runs a use case for an agent, within what that may do with memory; whatever it does says that it is there. */
function asAgent(
  operation: NamedOperation,
  useCase: UseCase<Operation>,
  call: Call,
  input: object,
): ReturnType<UseCase<Operation>> {
  const permitted = () => asPermitted(call, operation.touches, input, recordsPresence(operation));
  if (!operation.stream) return permitted().then((own) => useCase(own, input as never));
  return (async function* () {
    yield* useCase(await permitted(), input as never) as unknown as AsyncIterable<unknown>;
  })() as unknown as ReturnType<UseCase<Operation>>;
}

/** What changes an agent's row records there that it was seen. */
const recordsPresence = ({ group, access }: NamedOperation): boolean =>
  group === 'agents' && access !== 'read';

function checkRole(operation: NamedOperation, caller: Caller): void {
  if (rank[caller.role] >= needed[operation.access]) return;
  throw new CairnError(
    'FORBIDDEN',
    `${operation.name} needs the role ${operation.access}, this key has ${caller.role}`,
    {
      rule: 'key_role',
    },
  );
}

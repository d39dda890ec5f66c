/** The Api of a caller on a store: checks the input and the role, then runs the use case. */
import type { z } from 'zod';
import type { Api, ApiByName, CallOptions } from '../contract/api.js';
import { type Access, type Operation, readInput } from '../contract/operation.js';
import { allOperations, type NamedOperation, type Operations } from '../contract/operations.js';
import { keep } from '../domain/json-values.js';
import { CairnError } from '../model/errors.js';
import type { Caller, KeyRole } from '../model/key.js';
import { claim } from './agent-turn-claiming.js';
import * as agentTurnEnds from './agent-turn-ends.js';
import { fork } from './agent-turn-fork.js';
import * as agentTurnHydration from './agent-turn-hydration.js';
import * as agentTurnSteps from './agent-turn-steps.js';
import * as agentTurns from './agent-turns.js';
import * as agents from './agents.js';
import * as artifacts from './artifacts.js';
import { batch as readBatch } from './batches.js';
import * as boxGrants from './box-grants.js';
import * as boxViews from './box-views.js';
import * as boxes from './boxes.js';
import * as byHand from './by-hand.js';
import * as cards from './cards.js';
import * as checkpointLists from './checkpoint-lists.js';
import * as checkpoints from './checkpoints.js';
import { assemble } from './context.js';
import { accept } from './delegation-accepting.js';
import * as delegationSteps from './delegation-steps.js';
import * as delegations from './delegations.js';
import * as edgeWalks from './edge-walks.js';
import * as edges from './edges.js';
import { prune, remove as removeExecution } from './execution-end.js';
import { live } from './execution-live.js';
import * as executionTransfer from './execution-transfer.js';
import { importCheckpoint } from './execution-transfer.js';
import * as executionViews from './execution-views.js';
import * as executions from './executions.js';
import { expandArtifact, expandNote } from './expanding.js';
import { guarding, namesGuards } from './guards.js';
import { accept as acceptHandoff } from './handoff-accepting.js';
import * as handoffs from './handoffs.js';
import * as handovers from './handovers.js';
import * as jobs from './jobs.js';
import * as lifetime from './lifetime.js';
import * as locks from './locks.js';
import * as manifests from './manifests.js';
import { asPermitted } from './memory-access.js';
import { receive, stream } from './message-delivery.js';
import * as messages from './messages.js';
import * as notes from './notes.js';
import * as packets from './packets.js';
import { pack_context } from './packing.js';
import * as pmo from './pmo.js';
import * as policies from './policies.js';
import * as profiles from './profiles.js';
import { recall, remember } from './recall.js';
import type { Call, Runtime } from './runtime.js';
import * as scopeCheckpoints from './scope-checkpoints.js';
import * as scopeClosing from './scope-closing.js';
import { artifactsOf, scopesOf } from './scope-lists.js';
import * as scopes from './scopes.js';
import { query as searchAll, searchAmong } from './search.js';
import { auth, events, keys } from './system.js';
import * as trajectories from './trajectories.js';
import { batch } from './trajectory-batch.js';
import { remove } from './trajectory-end.js';
import { update } from './trajectory-moves.js';
import { tree } from './trajectory-tree.js';
import { turnsOf } from './turn-lists.js';
import * as turns from './turns.js';

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

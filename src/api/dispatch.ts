/** The Api of a caller on a store: checks role and input, then runs the use case. */
import type { z } from 'zod';
import { useCases as checkpoints } from '../checkpoints/index.js';
import { asTurnAgent, useCases as coordination, hasGuards } from '../coordination/index.js';
import { useCases as dsl } from '../dsl/index.js';
import { type Access, type Caller, type KeyRole, type Operation, readInput } from '../engine/contract.js';
import type { Call, Runtime } from '../engine/index.js';
import { useCases as facts } from '../facts/index.js';
import { asPermitted, useCases as identity } from '../identity/index.js';
import { CairnError, toImmutable } from '../kernel/index.js';
import { useCases as maintenance } from '../maintenance/index.js';
import { useCases as memory } from '../memory/index.js';
import { useCases as recall } from '../recall/index.js';
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

/** One function per entry of the table: the compiler reports a missing one. */
const useCases: UseCases = {
  ...identity,
  ...facts,
  ...memory,
  ...checkpoints,
  ...recall,
  ...coordination,
  ...dsl,
  ...maintenance,
  scopes: { ...memory.scopes, ...recall.scopes },
  artifacts: { ...memory.artifacts, ...recall.artifacts },
  notes: { ...memory.notes, ...recall.notes },
};

const rank: Record<KeyRole | Access, number> = { read: 1, write: 2, admin: 3 };

export function apiFor(runtime: Runtime, caller: Caller): Api {
  const api: Record<string, Record<string, unknown>> = {};
  for (const operation of allOperations) {
    const useCase = (useCases as unknown as ApiByName)[operation.group]?.[
      operation.verb
    ] as unknown as UseCase<Operation>;
    const group = (api[operation.group] ??= {});
    // Shared by all calls without options: most calls.
    const plain: Call = { ...runtime, operation: operation.name, caller, tenant: caller.tenant_id, options: {} };
    const writes = operation.access !== 'read';
    const begin = (input: unknown, options: CallOptions | undefined): CheckedCall => {
      checkRole(operation, caller);
      const parsed = readInput(operation, input ?? {});
      const call = options === undefined ? plain : { ...plain, options };
      const guarded = hasGuards(call.options);
      // Checks that wait give the caller time to change its input, so it is copied.
      const waits = !options?.owned && (guarded || caller.agent_id !== null);
      return { call, guarded, parsed: waits ? (toImmutable(parsed) as Record<string, unknown>) : parsed };
    };
    const run = ({ call, parsed }: CheckedCall) =>
      call.caller.agent_id === null ? useCase(call, parsed) : asAgent(operation, useCase, call, parsed);
    const guard = async (checked: CheckedCall): Promise<CheckedCall> => ({
      ...checked,
      call: await asTurnAgent(checked.call, checked.parsed, writes),
    });
    group[operation.verb] = operation.stream
      ? // A stream reports errors to its reader, not to the call that opens it.
        async function* (input: unknown, options?: CallOptions) {
          const checked = begin(input, options);
          yield* run(checked.guarded ? await guard(checked) : checked) as unknown as AsyncIterable<unknown>;
        }
      : (input: unknown, options?: CallOptions) =>
          runtime.calls.run(async () => {
            const checked = begin(input, options);
            const answer = (await run(checked.guarded ? await guard(checked) : checked)) as unknown;
            if (writes) runtime.written.add(caller.tenant_id);
            return answer;
          });
  }
  return api as unknown as Api;
}

interface CheckedCall {
  readonly call: Call;
  readonly parsed: Record<string, unknown>;
  /** Whether it names guards, which are still to be checked. */
  readonly guarded: boolean;
}

/** Runs a use case with the memory rights of an agent, and records its presence. */
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

/** Operations that change the row of an agent record its presence there. */
const recordsPresence = ({ group, access }: NamedOperation): boolean => group === 'agents' && access !== 'read';

function checkRole(operation: NamedOperation, caller: Caller): void {
  if (rank[caller.role] >= rank[operation.access]) return;
  throw new CairnError(
    'FORBIDDEN',
    `${operation.name} needs the role ${operation.access}; this key has the role ${caller.role}`,
    { rule: 'key_role' },
  );
}

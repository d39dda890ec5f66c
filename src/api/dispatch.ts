/** The Api of a caller on a store: checks role and input, then runs the use case. */
import type { z } from 'zod';
import { useCases as checkpoints } from '../checkpoints/index.js';
import { asTurnAgent, useCases as coordination, hasGuards } from '../coordination/index.js';
import { useCases as dsl } from '../dsl/index.js';
import {
  type Access,
  type Caller,
  type KeyRole,
  type Operation,
  pathParameters,
  readInput,
} from '../engine/contract.js';
import type { Call, Runtime } from '../engine/index.js';
import { useCases as facts } from '../facts/index.js';
import { asPermitted, useCases as identity, refuseForUsers } from '../identity/index.js';
import { actingUser } from '../kernel/contract.js';
import { CairnError, invalid, toImmutable } from '../kernel/index.js';
import { useCases as maintenance, withReceipt } from '../maintenance/index.js';
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
  memory: { ...recall.memory, ...maintenance.memory },
};

const rank: Record<KeyRole | Access, number> = { read: 1, write: 2, admin: 3 };

/** `ready` resolves before each call. */
export function apiFor(runtime: Runtime, caller: Caller, ready?: () => Promise<void>): Api {
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
      const { parsed, user_id } = withoutUser(operation, readInput(operation, input ?? {}), options, caller);
      const acting = user_id === caller.user_id ? plain : { ...plain, caller: { ...caller, user_id } };
      const call = options === undefined ? acting : { ...acting, options };
      const guarded = hasGuards(call.options);
      // Checks that wait give the caller time to change its input, so it is copied.
      const waits = !options?.owned && (guarded || ready !== undefined || isRestricted(call));
      return { call, guarded, parsed: waits ? (toImmutable(parsed) as Record<string, unknown>) : parsed };
    };
    const run = ({ call, parsed }: CheckedCall) =>
      isRestricted(call) ? asPermittedOnly(operation, useCase, call, parsed) : useCase(call, parsed);
    const guard = async (checked: CheckedCall): Promise<CheckedCall> => ({
      ...checked,
      call: await asTurnAgent(checked.call, checked.parsed, writes),
    });
    group[operation.verb] = operation.stream
      ? // A stream reports errors to its reader, not to the call that opens it.
        async function* (input: unknown, options?: CallOptions) {
          const checked = begin(input, options);
          if (ready) await ready();
          yield* run(checked.guarded ? await guard(checked) : checked) as unknown as AsyncIterable<unknown>;
        }
      : (input: unknown, options?: CallOptions) =>
          runtime.calls.run(async () => {
            const checked = begin(input, options);
            if (ready) await ready();
            try {
              const answer = (await run(checked.guarded ? await guard(checked) : checked)) as unknown;
              if (writes) runtime.written.add(caller.tenant_id);
              return answer;
            } catch (error) {
              throw isRestricted(checked.call)
                ? error
                : await explained(operation, checked.call, checked.parsed, error);
            }
          });
  }
  return api as unknown as Api;
}

/** Takes the user out of an input that names one: use cases find it in the caller. */
function withoutUser(
  operation: NamedOperation,
  input: Record<string, unknown>,
  options: CallOptions | undefined,
  caller: Caller,
): { readonly parsed: Record<string, unknown>; readonly user_id: string | undefined } {
  // Of some inputs another member has this name.
  const named = operation.input.shape.user === actingUser ? input.user : undefined;
  if (named === undefined && options?.user === undefined) return { parsed: input, user_id: caller.user_id };
  const { error } = actingUser.safeParse(options?.user);
  if (error) throw invalid(`\`user\` ${error.issues[0]!.message}`);
  const all = [...new Set([caller.user_id, named, options?.user].filter((one) => one !== undefined))] as string[];
  if (all.length > 1) {
    const message = `this call is made for user ${all[0]} and names user ${all[1]}: give one of them`;
    throw new CairnError('FORBIDDEN', message, { rule: 'user', user_id: all[0] });
  }
  const { user: _, ...rest } = input;
  return { parsed: named === undefined ? input : rest, user_id: all[0] };
}

interface CheckedCall {
  readonly call: Call;
  readonly parsed: Record<string, unknown>;
  /** Whether it names guards, which are still to be checked. */
  readonly guarded: boolean;
}

const isRestricted = ({ caller: { agent_id, user_id } }: Call): boolean => agent_id !== null || user_id !== undefined;

/** Runs a use case with the rights of its agent and user, and records the presence of the agent. */
function asPermittedOnly(
  operation: NamedOperation,
  useCase: UseCase<Operation>,
  call: Call,
  input: object,
): ReturnType<UseCase<Operation>> {
  refuseForUsers(call, operation);
  const permitted = () => asPermitted(call, operation.touches, input, recordsPresence(operation));
  if (!operation.stream)
    return permitted().then((own) =>
      useCase(own, input as never).catch(async (error: unknown) => {
        throw await explained(operation, own, input as Record<string, unknown>, error);
      }),
    );
  return (async function* () {
    yield* useCase(await permitted(), input as never) as unknown as AsyncIterable<unknown>;
  })() as unknown as ReturnType<UseCase<Operation>>;
}

/** An error about something that was forgotten names the receipt. */
function explained(
  operation: NamedOperation,
  call: Call,
  input: Record<string, unknown>,
  error: unknown,
): Promise<unknown> {
  const about = pathParameters(operation.path).map((name) => [name, input[name]]);
  return withReceipt(call, Object.fromEntries(about), error);
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

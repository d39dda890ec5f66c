/** Calls of every operation on a world of entities, for the generated tests of what callers may touch. */
import { CairnError } from '#cairn/kernel/index.js';
import type { Api, NamedOperation, Planted } from '../contract.js';

/** Members that say who acts: they are left out, since a key acts as its own agent. */
const ACTORS = ['agent_id', 'from_agent_id', 'source_agent_id', 'holder_agent_id', 'author_id'];
/** Here the agent is what the operation is about. */
const ABOUT_AGENTS = ['agents.', 'boxes.grant', 'boxes.ungrant', 'executions.import', 'checkpoints.import'];

/** Of operations whose example names no entity, what they could be put to. */
const MORE: Readonly<Record<string, readonly string[]>> = {
  'trajectories.create': ['parent_trajectory_id'],
  'notes.create': ['source_trajectory_ids', 'source_artifact_ids'],
  'boxes.create': ['card_ids'],
  'pmo.delegate_async': ['trajectory_id'],
  'manifests.diff': ['against'],
  'edges.traverse': ['entity_type'],
  'executions.create': ['trajectory_id'],
};

/** The example with ids of a world in place of its own, also within items. */
function filled(value: unknown, world: Planted, actors: boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => filled(one, world, actors));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => actors || !ACTORS.includes(name))
      .map(([name, member]) => [
        name,
        Object.hasOwn(world, name) && name !== 'metadata' ? world[name] : filled(member, world, actors),
      ]),
  );
}

export function inputOf(operation: NamedOperation, world: Planted): Record<string, unknown> {
  const aboutAgents = ABOUT_AGENTS.some((one) => operation.name.startsWith(one));
  const input = filled(operation.example, world, aboutAgents) as Record<string, unknown>;
  const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
  for (const name of [...inPath, ...(MORE[operation.name] ?? [])])
    if (Object.hasOwn(world, name)) input[name] = world[name];
  // The one operation that cannot do without saying who acts.
  const erased = 'wait' in operation.input.shape ? { wait: true } : {};
  const actor = operation.name === 'pmo.pack_context' ? { source_agent_id: 'coder' } : {};
  return { ...input, ...erased, ...actor, ...(Object(world[operation.name]) as object) };
}

type Verbs = Record<string, (input: object, options?: object) => unknown>;

async function answerOf(api: Api, operation: NamedOperation, input: Planted): Promise<unknown> {
  const run = (api as unknown as Record<string, Verbs>)[operation.group]![operation.verb]!;
  if (!operation.stream) return run(input);
  const items: unknown[] = [];
  const stream = run(input, { signal: AbortSignal.timeout(40) }) as AsyncIterable<unknown>;
  for await (const item of stream) items.push(item);
  return items;
}

/** What is answered, and whether that is a refusal: by right, or since it does not exist for the agent. */
export async function outcomeOf(api: Api, operation: NamedOperation, input: Planted) {
  try {
    const answer = await answerOf(api, operation, input);
    const { results } = Object(answer) as { results?: { status?: string; code?: string }[] };
    const failed = operation.verb === 'batch' && results?.find(({ status }) => status === 'error');
    return { answer, code: failed ? failed.code! : 'OK' };
  } catch (error) {
    if (!(error instanceof CairnError)) throw error;
    return { answer: { message: error.message, details: error.details }, code: error.code as string };
  }
}

export const isRefusal = (code: string): boolean =>
  code === 'FORBIDDEN' || code === 'UNKNOWN_ENTITY' || code.endsWith('_NOT_FOUND');

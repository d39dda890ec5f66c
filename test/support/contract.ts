/** What the generated tests take from the contract: the table, and inputs that work, made of its examples. */
import type { z } from 'zod';
import type { NamedOperation } from '#cairn/api/contract.js';
import type { Api } from '#cairn/api/index.js';
import { executions } from '#cairn/checkpoints/contract.js';
import { clearsByNull, inputLocation, nullIsAbsence, pathParameters } from '#cairn/engine/contract.js';
import { plantAgent } from './plant/agents.js';
import { plantContexts } from './plant/contexts.js';
import { plantDelegations } from './plant/delegations.js';
import { plantErasure } from './plant/erasures.js';
import { plantHandoffs } from './plant/handoffs.js';
import { plantLock } from './plant/locks.js';
import { plantMessage } from './plant/messages.js';
import { plantPause } from './plant/pauses.js';
import { plantPolicy } from './plant/policies.js';
import { plantMemory } from './plant/search.js';
import { plantTurns } from './plant/turns.js';

export { allOperations, type NamedOperation } from '#cairn/api/contract.js';
export type { Api } from '#cairn/api/index.js';
export {
  clearsByNull,
  inputLocation,
  namesProject,
  operationRoutes,
  pathParameters,
} from '#cairn/engine/contract.js';

/** Is in everything of a tenant that another must not see, and in no id. */
export const SECRET = 'the-secret-of-this-tenant';

/**
 * Real values for the members of an input that name something, by the member's name. Those of one operation alone, which
 * needs its entity in another state, are under the operation's name.
 */
export type Planted = Readonly<Record<string, unknown>>;

/**
 * Makes one of everything. A member of a path that is not among these names makes the generated tests fail.
 * The parts know nothing of each other, so that their writes share commits; of names that two of them give, the later
 * part's counts.
 */
export async function plant(cairn: Api, agent_id?: string): Promise<Planted> {
  const parts: readonly Planted[] = await Promise.all([
    plantRun(cairn),
    plantLock(cairn),
    plantTurns(cairn, SECRET),
    plantAgent(cairn, SECRET),
    plantHandoffs(cairn, SECRET),
    plantMessage(cairn, SECRET),
    plantPause(cairn, SECRET),
    plantPolicy(cairn, SECRET),
    plantDelegations(cairn, SECRET),
    plantContexts(cairn, SECRET),
    plantCards(cairn, agent_id),
    plantPackets(cairn),
    plantTask(cairn),
    plantMemory(cairn, SECRET),
    plantErasure(cairn, SECRET),
  ]);
  // The last, so that whoever follows the events knows by it that all were there.
  const { key_id } = await cairn.keys.create({ role: 'read', name: SECRET });
  return Object.assign({ key_id }, ...parts) as Planted;
}

async function plantCards(cairn: Api, agent_id?: string): Promise<Planted> {
  const subject_id = 'user-7';
  const content = { said: SECRET };
  const [first, spare] = await Promise.all([
    cairn.cards.add({ card_id: 'card-1', content, subject_ids: [subject_id] }),
    cairn.cards.add({ content }),
  ]);
  const second = await cairn.cards.add({ card_id: 'card-2', content, derived_from: [first.card_id] });
  const participants = [first, second].map(({ card_id }) => ({ entity_type: 'Card' as const, entity_id: card_id }));
  const [{ box_id }, { edge_id }] = await Promise.all([
    cairn.boxes.create({
      box_id: 'box-1',
      card_ids: [first.card_id, second.card_id],
      metadata: { about: SECRET },
      ...(agent_id === undefined ? {} : { agent_id }),
    }),
    cairn.edges.create({ edge_type: 'Supports', participants, metadata: { why: SECRET } }),
  ]);
  await cairn.boxes.grant({ box_id, agent_id: 'reviewer' });
  return {
    card_id: spare.card_id,
    card_ids: [first.card_id, spare.card_id],
    box_id,
    box_ids: [box_id],
    edge_id,
    participants,
    ...participants[0],
    subject_id,
  };
}

async function plantPackets(cairn: Api): Promise<Planted> {
  const tag = 'hdpe';
  const thread_id = '11111111-2222-3333-4444-555555555555';
  const common = { payload: { said: SECRET }, thread_id, tags: [tag] };
  const parent = await cairn.packets.write({ packet_type: 'event', ...common });
  const child = await cairn.packets.write({
    packet_type: 'insight',
    ...common,
    lineage: { parent_ids: [parent.packet_id] },
    confidence: { score: 0.5, rationale: SECRET },
  });
  return { packet_id: child.packet_id, parent_id: parent.packet_id, thread_id, tag };
}

/** A trajectory, and what belongs to it. */
async function plantTask(cairn: Api): Promise<Planted> {
  const { trajectory_id } = await cairn.trajectories.create({
    name: SECRET,
    description: SECRET,
    metadata: { about: SECRET },
  });
  const parts: readonly Planted[] = await Promise.all([
    plantScope(cairn, trajectory_id).then(async (scope) => ({
      ...scope,
      ...(await plantKnowledge(cairn, trajectory_id, scope.scope_id as string)),
    })),
    plantExecution(cairn, trajectory_id),
  ]);
  return Object.assign({ trajectory_id }, ...parts) as Planted;
}

async function plantScope(cairn: Api, trajectory_id: string): Promise<Planted> {
  const { scope_id } = await cairn.scopes.create({
    trajectory_id,
    name: SECRET,
    purpose: SECRET,
    metadata: { about: SECRET },
  });
  const { turn_id } = await cairn.turns.add({ scope_id, role: 'User', content: { said: SECRET } });
  const context_state = Buffer.from(SECRET).toString('base64');
  await cairn.scopes.checkpoint({ scope_id, context_state });
  return { scope_id, turn_id, context_state };
}

/** What was learned from the first turn of a scope. */
async function plantKnowledge(cairn: Api, trajectory_id: string, scope_id: string): Promise<Planted> {
  const content = { said: SECRET };
  const { artifact_id } = await cairn.artifacts.create({
    trajectory_id,
    scope_id,
    source_turn: 1,
    artifact_type: 'Fact',
    name: SECRET,
    content,
  });
  const { note_id } = await cairn.notes.create({
    note_type: 'Fact',
    title: SECRET,
    content,
    source_trajectory_ids: [trajectory_id],
    source_artifact_ids: [artifact_id],
  });
  return { artifact_id, note_id };
}

async function plantExecution(cairn: Api, trajectory_id: string): Promise<Planted> {
  const { execution_id } = await cairn.executions.create({
    execution_id: 'run-7',
    trajectory_id,
    name: SECRET,
    metadata: { about: SECRET },
  });
  const snapshot = {
    thought_chain: { steps: [] },
    context: { messages: [{ role: 'user' as const, content: SECRET }], variables: { said: SECRET } },
    tool_state: { pending: [], completed: [] },
  };
  const { id: checkpoint_id } = await cairn.checkpoints.create({ execution_id, snapshot, name: SECRET });
  return { execution_id, checkpoint_id, to: checkpoint_id };
}

/** A run of two checkpoints. It is made as the example makes one, so that making it again is no conflict. */
async function plantRun(cairn: Api): Promise<Planted> {
  const execution_id = 'run-0';
  await cairn.executions.create({ ...executions.create.example, execution_id });
  await cairn.executions.update({ execution_id, name: SECRET, metadata: { about: SECRET } });
  const snapshot = {
    thought_chain: {
      steps: [
        { id: 'thought-1', type: 'planning' as const, content: SECRET, confidence: 0.5, children: [], timestamp: 1 },
      ],
    },
    context: { messages: [{ role: 'user' as const, content: SECRET }], variables: { about: SECRET } },
    tool_state: {
      pending: [],
      completed: [
        {
          tool_id: 'shell',
          arguments: { about: SECRET },
          result: SECRET,
          success: false,
          duration_ms: 5,
          timestamp: 1,
        },
      ],
    },
  };
  const labelled = { name: SECRET, description: SECRET, labels: { about: SECRET } };
  const first = await cairn.checkpoints.create({ execution_id, snapshot, ...labelled });
  const second = await cairn.checkpoints.create({ execution_id, snapshot });
  const writes = [{ task_id: 'task-1', index: 0, channel: 'about', value: SECRET }];
  await cairn.checkpoints.write({ checkpoint_id: first.id, writes });
  return { execution_id, checkpoint_id: first.id, to: second.id };
}

/** The example of an operation with real ids in place of those that need not exist. */
export function inputOf(operation: NamedOperation, planted: Planted): Record<string, unknown> {
  const input: Record<string, unknown> = { ...operation.example };
  for (const name of [...pathParameters(operation.path), ...Object.keys(input)]) {
    if (Object.hasOwn(planted, name)) input[name] = planted[name];
  }
  const own = Object(planted[operation.name]) as Planted;
  Object.assign(input, own);
  const unknown = pathParameters(operation.path).filter(
    (name) => !Object.hasOwn(planted, name) && !Object.hasOwn(own, name),
  );
  if (unknown.length > 0) {
    throw new Error(`${operation.name}: teach plant() to make a ${unknown.join(', ')}`);
  }
  return input;
}

/** The same, and whatever else the operation takes by a name that was planted. */
export function inputWithEveryId(operation: NamedOperation, planted: Planted): Record<string, unknown> {
  const input = inputOf(operation, planted);
  for (const name of Object.keys(operation.input.shape)) {
    if (Object.hasOwn(planted, name)) input[name] = planted[name];
  }
  return input;
}

/** Values of every kind of JSON; those that a field does not take are its wrong types. */
const KINDS: readonly unknown[] = [true, 12.5, -1, '', 'no\u0000', [], [[]], {}, { a: [] }, null];

/** For each field that travels in the query or body, values that its schema does not take. */
export function wrongValues(operation: NamedOperation): [string, unknown][] {
  const inPath = pathParameters(operation.path);
  const inQuery = inputLocation(operation.method) === 'query';
  const wrong: [string, unknown][] = [];
  for (const [field, schema] of Object.entries(operation.input.shape)) {
    if (inPath.includes(field)) continue;
    // A query is text: what it says as a number or boolean is tried by the kinds that are text here.
    const candidates = inQuery ? ['no\u0000', 'x'.repeat(600), '-7', '1.5', 'true'] : KINDS;
    for (const value of candidates) {
      const read = inQuery && /^(-?[\d.]+|true|false)$/.test(String(value)) ? JSON.parse(String(value)) : value;
      const asText = (schema as z.ZodType).safeParse(value).success;
      const isAbsent = value === null && !clearsByNull(operation) && nullIsAbsence(schema as z.ZodType);
      if (!asText && !isAbsent && !(schema as z.ZodType).safeParse(read).success) wrong.push([field, value]);
    }
  }
  // A cursor has a code of its own.
  return wrong.filter(([field, value]) => !(['cursor', 'after'].includes(field) && typeof value === 'string'));
}

/** memory_access for every operation of the table that touches memory: a new operation cannot be forgotten. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MemoryAccess } from '#cairn/model/agent.js';
import { CairnError, isErrorCode } from '#cairn/model/errors.js';
import {
  type Api,
  allOperations,
  inputOf,
  type NamedOperation,
  type Planted,
  plant,
} from '../support/contract.js';
import { databases } from '../support/http.js';
import { openTarget, type TestStore } from '../support/targets.js';

const GROUPS = [
  'trajectories',
  'scopes',
  'turns',
  'artifacts',
  'notes',
  'edges',
  'executions',
  'checkpoints',
  'cards',
  'boxes',
  'packets',
  'events',
  'profiles',
  'handovers',
  'pmo',
  'agent_turns',
  'delegations',
  'handoffs',
  'context',
  'manifests',
  'search',
  'memory',
];

const CONTAINER = 'tasks and windows are where memory is, not memory itself';
const BOX = 'shows which cards there are, not what they say; a box is for its owner and by grant';
const EDGE = 'links ids, and shows no content';

const RECIPE = 'says how agents are made and contexts packed, for the whole tenant; it is not memory';
const TURN = 'within an agent_turn an agent sees what it was given, and what it puts out is its own';
const STATE = 'for the agents that it is between: how it stands, and what one tells the other';

/** Operations of these groups that touch no memory, and why. */
const WITHOUT: Readonly<Record<string, string>> = {
  'trajectories.create': CONTAINER,
  'trajectories.get': CONTAINER,
  'trajectories.list': CONTAINER,
  'trajectories.update': CONTAINER,
  'trajectories.children': CONTAINER,
  'scopes.create': CONTAINER,
  'edges.create': EDGE,
  'edges.get': EDGE,
  'edges.list': EDGE,
  'edges.traverse': EDGE,
  'edges.delete': EDGE,
  'edges.batch': EDGE,
  'boxes.load': BOX,
  'boxes.list': BOX,
  'boxes.seal': BOX,
  'boxes.fork': BOX,
  'boxes.grants': BOX,
  'boxes.grant': BOX,
  'boxes.ungrant': BOX,
  'profiles.get': RECIPE,
  'profiles.list': RECIPE,
  'profiles.delete': RECIPE,
  'handovers.save': RECIPE,
  'handovers.get': RECIPE,
  'handovers.list': RECIPE,
  'handovers.delete': RECIPE,
  'pmo.batch': STATE,
  'agent_turns.list': STATE,
  'agent_turns.get': STATE,
  'agent_turns.claim': TURN,
  'agent_turns.renew': TURN,
  'agent_turns.append': TURN,
  'agent_turns.replace_box': 'looks itself whether the agent was given the cards, or may read them',
  'agent_turns.suspend': TURN,
  'agent_turns.resume': TURN,
  'agent_turns.complete': TURN,
  'agent_turns.fail': TURN,
  'agent_turns.stop': STATE,
  'agent_turns.hydrate': TURN,
  'agent_turns.replay': TURN,
  'delegations.get': STATE,
  'delegations.list': STATE,
  'delegations.accept': STATE,
  'delegations.reject': STATE,
  'delegations.start': STATE,
  'delegations.complete': STATE,
  'delegations.cancel': STATE,
  'handoffs.get': STATE,
  'handoffs.list': STATE,
  'handoffs.accept': STATE,
  'handoffs.reject': STATE,
  'handoffs.complete': STATE,
};

const onMemory = allOperations.filter(({ memory }) => memory !== undefined);
const ofGroups = allOperations.filter(({ group }) => GROUPS.includes(group));

describe('what operations say of memory', () => {
  it('is said by every operation on it, or there is a reason', () => {
    const silent = ofGroups.filter(({ memory }) => memory === undefined).map(({ name }) => name);
    expect(silent.sort()).toEqual(Object.keys(WITHOUT).sort());
  });

  it('names members of the input', () => {
    for (const { name, memory = [], input } of onMemory)
      for (const { by, member, places = [] } of memory) {
        const named = by.endsWith('_id') ? [member ?? by] : by === 'items' ? ['items'] : places;
        for (const one of named) expect(Object.keys(input.shape), name).toContain(one);
      }
  });

  it('fits what the operation is: one for reading writes no memory', () => {
    for (const { name, memory = [], access } of onMemory)
      if (access === 'read')
        expect(
          memory.map(({ need }) => need),
          name,
        ).not.toContain('write');
  });
});

/** What lists of memory are called in answers. */
const LISTS = [
  'artifacts',
  'notes',
  'cards',
  'packets',
  'executions',
  'checkpoints',
  'thoughts',
  'tool_calls',
  'manifests',
  'results',
  'passages',
  'sources',
  'jobs',
  'summarization_policies',
];

interface Nested {
  readonly boxes?: unknown[];
  readonly scopes?: unknown[];
  readonly checkpoint?: { context_state?: unknown } | null;
}

/** What an answer lists of memory, wherever in it. */
function listedIn(answer: unknown): unknown[] {
  if (answer === null || typeof answer !== 'object') return [];
  const { nodes = [] } = answer as { nodes?: { kind?: string }[] };
  const leaves = nodes.filter(({ kind }) => kind === 'artifact' || kind === 'note');
  const lists = Object.entries(answer).flatMap(([name, value]) =>
    LISTS.includes(name) && Array.isArray(value) ? (value as unknown[]) : [],
  );
  const { boxes = [], scopes = [], checkpoint } = answer as Nested;
  const states = [checkpoint?.context_state].filter((state) => typeof state === 'string');
  return [...leaves, ...lists, ...states, ...[...boxes, ...scopes].flatMap(listedIn)];
}

/** A stream for a moment: what it gives of memory until then. */
async function glimpse(stream: AsyncIterable<{ packet?: unknown }>): Promise<object> {
  const packets: unknown[] = [];
  for await (const { packet } of stream) {
    if (packet) packets.push(packet);
    if (packets.length > 0) break;
  }
  return { packets };
}

type Verbs = Record<string, (input: object, options?: object) => unknown>;

async function run(api: Api, operation: NamedOperation, planted: Planted): Promise<unknown> {
  const verbs = (api as unknown as Record<string, Verbs>)[operation.group]!;
  const input = inputOf(operation, planted);
  if (!operation.stream) return verbs[operation.verb]!(input);
  const signal = AbortSignal.timeout(200);
  return glimpse(verbs[operation.verb]!(input, { signal }) as AsyncIterable<object>);
}

/** The rule or else the code of a refusal; an answer otherwise. */
async function outcomeOf(
  api: Api,
  operation: NamedOperation,
  planted: Planted,
): Promise<{ answer: unknown } | { refusal: string }> {
  try {
    return { answer: await run(api, operation, planted) };
  } catch (error) {
    if (!(error instanceof CairnError)) throw error;
    return { refusal: (error.details as { rule?: string } | undefined)?.rule ?? error.code };
  }
}

/** What the agent itself has: of others it may not give anything away, nor change their profiles. */
async function ownThings(api: Api, agent_id: string): Promise<Planted> {
  const given: Planted[] = [];
  for (const name of ['to delegate', 'to hand over']) {
    const { trajectory_id } = await api.trajectories.create({ name });
    const { scope_id } = await api.scopes.create({ trajectory_id, name });
    given.push({ trajectory_id, scope_id, from_agent_id: agent_id });
  }
  await api.profiles.create({ name: 'its own' });
  return {
    source_agent_id: agent_id,
    'delegations.create': given[0],
    'handoffs.create': given[1],
    'profiles.save': { name: 'its own' },
    'summarization_policies.create': { trajectory_id: given[0]!.trajectory_id },
  };
}

for (const database of databases()) {
  describe(`memory_access on ${database}`, () => {
    let test: TestStore;
    let planted: Planted;
    let coder: Api;
    // The agent of the examples that name one: its key may not name another.
    const agent_id = 'coder';
    const allow = (memory_access: MemoryAccess | null) =>
      test.cairn.agents.update({ agent_id, memory_access });

    beforeAll(async () => {
      test = await openTarget(database);
      // So that the examples of lists ask for what was planted.
      planted = {
        ...(await plant(test.cairn, agent_id)),
        agent_id,
        execution_id: 'run-0',
        confidence_below: 0.9,
      };
      coder = await test.as({ agent: agent_id });
      Object.assign(planted, await ownThings(coder, agent_id));
      const artifact = { artifact_type: 'Fact', name: 'of a scope', content: 'c' };
      await test.cairn.artifacts.create({ ...artifact, scope_id: planted.scope_id as string });
      await test.cairn.agents.register({ agent_id, agent_type: 'coder', capabilities: ['code'] });
    });
    afterAll(() => test.close());

    it('is all that counts: with an empty one every operation is refused, or lists nothing', async () => {
      await allow({ read: [], write: [] });
      for (const operation of onMemory) {
        if (operation.name === 'trajectories.batch') continue;
        const outcome = await outcomeOf(coder, operation, planted);
        const listed = operation.memory!.every(({ by }) => by === 'listed');
        // Of what it lists, an operation may also take one by its id, which this input does not name.
        const either = operation.memory!.some(({ by }) => by === 'listed');
        if ('refusal' in outcome)
          expect([operation.name, outcome.refusal]).toEqual([operation.name, 'memory_access']);
        else expect([operation.name, either, listedIn(outcome.answer)]).toEqual([operation.name, true, []]);
        if (listed) expect(outcome, operation.name).toHaveProperty('answer');
      }
    });

    it('without one nothing of memory is refused, and lists have something', async () => {
      await allow(null);
      const reading = onMemory.filter(({ access }) => access === 'read');
      for (const operation of reading) {
        const outcome = await outcomeOf(coder, operation, planted);
        expect(outcome, operation.name).toHaveProperty('answer');
        if ('answer' in outcome && operation.memory!.some(({ by }) => by === 'listed'))
          expect(listedIn(outcome.answer).length, operation.name).toBeGreaterThan(0);
      }
      // Each finds what those before it left, which may be in its way; but that is no matter of access.
      const rules: string[] = [];
      for (const operation of onMemory.filter((one) => !reading.includes(one))) {
        const outcome = await outcomeOf(coder, operation, planted);
        if ('refusal' in outcome) rules.push(outcome.refusal);
      }
      expect(rules.filter((rule) => !isErrorCode(rule) || rule === 'FORBIDDEN')).toEqual([]);
    });
  });
}

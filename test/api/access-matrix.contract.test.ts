/**
 * What agents may touch, for every operation of the table × {no rights, own, own_trajectory, all} × {own entity, foreign
 * entity}. What is expected follows from what the operation declares: a new operation cannot be forgotten.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessTo, type MemoryAccess, type MemoryUse, ruleOf, usesOf } from '#cairn/engine/contract.js';
import { allOperations, type NamedOperation, type Planted } from '../support/contract.js';
import { databases } from '../support/http.js';
import { inputOf, isRefusal, outcomeOf } from '../support/plant/calls-on-worlds.js';
import { type Owner, plantOwned } from '../support/plant/owned-world.js';
import { openTarget, type TestStore } from '../support/targets.js';

const EXTENTS = ['none', 'own', 'own_trajectory', 'all'] as const;
type Extent = (typeof EXTENTS)[number];
const SIDES = ['own', 'foreign'] as const;
type Side = (typeof SIDES)[number];

const ACCESS: Readonly<Record<Extent, MemoryAccess>> = {
  none: { read: [], write: [] },
  own: accessTo('own'),
  own_trajectory: accessTo('own_trajectory'),
  all: accessTo('all'),
};

/** A party of these, but not the one that does this: either way nothing is shown or changed that should not. */
const OTHER_PARTY = [
  'agent_turns.renew',
  'agent_turns.append',
  'agent_turns.replace_box',
  'agent_turns.suspend',
  'agent_turns.resume',
  'agent_turns.complete',
  'agent_turns.fail',
  'agent_turns.hydrate',
  'delegations.accept',
  'delegations.reject',
  'delegations.start',
  'delegations.complete',
  'handoffs.accept',
  'handoffs.reject',
  'handoffs.complete',
];

/** After these an entity is no longer what the next operation needs. */
const USES_UP = [
  'scopes.close',
  'executions.update',
  'boxes.save',
  'boxes.seal',
  'agent_turns.stop',
  'delegations.cancel',
  'pauses.answer',
  'messages.acknowledge',
  'messages.receive',
  'messages.stream',
];
const usesUp = ({ name, method }: NamedOperation): boolean => method === 'DELETE' || USES_UP.includes(name);

const isContainer = ({ type }: MemoryUse): boolean => type === 'Trajectory' || type === 'Scope';

/** Whether a use is within the rights, by the table of the design alone. */
function within(use: MemoryUse, extent: Extent, side: Side, input: Planted): boolean {
  const { by, member, places = [], where } = use;
  if (where && !where.is.includes(input[where.member])) return true;
  if (by === 'listed') return true;
  if (by === 'tenant') return extent === 'all';
  const names = (name: string) => input[name] !== undefined;
  const reached = side === 'own' || extent === 'all';
  if (by === 'made') return extent !== 'none' && (reached || !places.some(names));
  if (by === 'named') {
    // What is to be forgotten.
    if (names('ids')) return reached && extent !== 'none';
    // What the caller itself wrote it may put into its boxes, whatever its lists say.
    if (use.type === 'Card') return reached || !names('card_ids');
    if (use.type === 'Edge') return reached && extent !== 'none';
    const named = use.type === 'Trajectory' ? 'source_trajectory_ids' : 'source_artifact_ids';
    return !names(named) || (reached && (side === 'foreign' || isContainer(use) || extent !== 'none'));
  }
  if (by === 'items') return true;
  if (!names(member ?? by)) return true;
  return reached && (isContainer(use) || extent !== 'none');
}

const PARTY_IDS = ['agent_turn_id', 'delegation_id', 'handoff_id', 'message_id', 'pause_id', 'lock_id', 'batch_id'];

/** Whether the rule of an operation lets the agent do this with an entity of its own, or with a foreign one. */
function byRule({ name, path, touches, access }: NamedOperation, side: Side): boolean {
  const rule = ruleOf(touches);
  if (rule === 'tenant_key') return false;
  if (side === 'own') return true;
  // What is imported names the agent that it is of.
  if (rule === undefined) return !name.endsWith('.import');
  if (rule === 'parties')
    return !PARTY_IDS.some((id) => path.includes(`{${id}}`)) && !/^(delegations|handoffs)\.create$/.test(name);
  if (rule === 'box') return !path.includes('{box_id}');
  if (rule === 'recipe') return access === 'read' || name.endsWith('.create');
  if (rule === 'directory') return access === 'read';
  return name !== 'agents.register';
}

/** Batches answer for each item: what an item alone would be answered. */
const ALONE: Readonly<Record<string, string>> = {
  'trajectories.batch': 'trajectories.create',
  'turns.batch': 'turns.add',
  'artifacts.batch': 'artifacts.create',
  'notes.batch': 'notes.create',
  'edges.batch': 'edges.create',
};

function expected(operation: NamedOperation, extent: Extent, side: Side, input: Planted): boolean {
  const alone = allOperations.find(({ name }) => name === ALONE[operation.name]);
  if (alone) {
    const [item] = input.items as { create: Planted }[];
    return usesOf(alone.touches).every((use) => within(use, extent, side, item!.create));
  }
  return byRule(operation, side) && usesOf(operation.touches).every((use) => within(use, extent, side, input));
}

for (const database of databases()) {
  describe(`the access matrix on ${database}`, () => {
    let test: TestStore;
    let coder: Owner;
    let stranger: Owner;
    let worlds: Record<Side, Planted>;
    let covered = 0;
    // On PostgreSQL those whose conditions are the longest: what differs there is SQL, and memory-access has it by type.
    const extents = database === 'sqlite' ? EXTENTS : (['none', 'own_trajectory'] as const);
    const failures: string[] = [];
    const allow = (extent: Extent, agent_id = 'coder') =>
      test.cairn.agents.update({ agent_id, memory_access: ACCESS[extent] });

    const ownerOf = async (agent_id: string): Promise<Owner> => {
      const long = { offline_after_ms: 7 * 24 * 3_600_000 };
      await test.cairn.agents.register({ agent_id, agent_type: agent_id, capabilities: ['x'], ...long });
      return { agent_id, api: await test.as({ agent: agent_id }), secret: `the-secret-of-${agent_id}` };
    };

    beforeAll(async () => {
      test = await openTarget(database);
      coder = await ownerOf('coder');
      stranger = await ownerOf('stranger');
      worlds = { own: await plantOwned(coder, test.cairn), foreign: await plantOwned(stranger, test.cairn) };
    });
    afterAll(() => test.close());

    /** How many events the agent has caused: others come of what runs in the background. */
    const written = async () => (await test.cairn.packets.list({ agent: coder.agent_id, limit: 1 })).total;

    /** For unregistering: the agent that does it is gone after it. */
    const leaving = async (extent: Extent, side: Side) => {
      if (side === 'foreign') return undefined;
      const leaver = await ownerOf(`leaver-${extent}`);
      await allow(extent, leaver.agent_id);
      return leaver;
    };

    const check = async (operation: NamedOperation, extent: Extent, side: Side) => {
      const leaver = operation.name === 'agents.unregister' ? await leaving(extent, side) : undefined;
      const world = leaver ? { agent_id: leaver.agent_id } : worlds[side];
      const input = inputOf(operation, world);
      const before = await written();
      const { answer, code } = await outcomeOf((leaver ?? coder).api, operation, input);
      const shown = JSON.stringify(answer) ?? '';
      const wrong = (what: string) =>
        failures.push(`${operation.name} × ${extent} × ${side} ${what}: ${code} ${shown.slice(0, 300)}`);
      if (code === 'INVALID_INPUT') wrong('has no input that works');
      const either = side === 'own' && OTHER_PARTY.includes(operation.name);
      if (!either && isRefusal(code) === expected(operation, extent, side, input))
        wrong(isRefusal(code) ? 'is refused' : 'is allowed');
      if (isRefusal(code) && (await written()) !== before) wrong('wrote something');
      // By no answer or message is anything of another's shown that the rights do not open.
      const open = extent === 'all' && usesOf(operation.touches).length > 0;
      const recipe = extent === 'all' && ruleOf(operation.touches) === 'recipe';
      if (!open && !recipe && shown.includes(stranger.secret)) wrong("shows what is another's");
      covered += 1;
      if (isRefusal(code) || !usesUp(operation) || leaver) return;
      await allow('all');
      worlds[side] = await plantOwned(side === 'own' ? coder : stranger, test.cairn);
      await allow(extent);
    };

    it.each(extents)(
      'ACCESS-24 every operation holds an agent to %s, on its own and on what is foreign',
      async (extent) => {
        await allow('all');
        await allow(extent);
        for (const operation of allOperations) for (const side of SIDES) await check(operation, extent, side);
        expect(failures.splice(0)).toEqual([]);
      },
    );

    it('ACCESS-24 covers every combination', () => {
      expect(covered).toBe(allOperations.length * extents.length * SIDES.length);
      console.info(`access matrix on ${database}: ${covered} combinations`);
    });
  });
}

describe('what operations declare', () => {
  it('ACCESS-24 names members of the input', () => {
    for (const { name, touches, input } of allOperations)
      for (const { by, member, places = [] } of usesOf(touches)) {
        const named = by.endsWith('_id') ? [member ?? by] : by === 'items' ? ['items'] : places;
        for (const one of named) expect(Object.keys(input.shape), name).toContain(one);
      }
  });

  it('ACCESS-24 fits what the operation is: one for reading writes no memory', () => {
    for (const { name, touches, access } of allOperations)
      if (access === 'read')
        expect(
          usesOf(touches).map(({ need }) => need),
          name,
        ).not.toContain('write');
  });
});

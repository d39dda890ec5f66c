/** The direction of every list of the table. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { AnyMethod, Api, ApiByName } from '#cairn/api/index.js';
import {
  allOperations,
  inputOf,
  type NamedOperation,
  type Planted,
  pathParameters,
  plant,
  SECRET,
} from '../support/contract.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

/** Ranked by what was asked for, or a part of one entity: they have no direction. */
const NO_LIST = /^(search\.query|artifacts\.search|notes\.search|memory\.recall|boxes\.load)$/;
/** Lists that are answered whole. */
const WHOLE = ['keys.list', 'boxes.grants'];

const shapeOf = ({ output }: NamedOperation): object => (output as { shape?: object }).shape ?? {};
const lists = allOperations.filter(
  (one) =>
    one.method === 'GET' && !NO_LIST.test(one.name) && ('next_cursor' in shapeOf(one) || WHOLE.includes(one.name)),
);

/** More of what plant() makes one of. */
async function plantMore(cairn: Api, planted: Planted): Promise<void> {
  const { scope_id, trajectory_id, artifact_id, note_id, card_id } = planted as Record<string, string>;
  const coder = { agent_type: 'coder', capabilities: ['code'] };
  const { scope_id: watched } = await cairn.scopes.create({ trajectory_id: trajectory_id!, name: SECRET });
  for (let i = 0; i < 3; i++) {
    await cairn.turns.add({ scope_id: scope_id!, role: 'User', content: `${SECRET} ${i}` });
    const { trajectory_id: child } = await cairn.trajectories.create({
      name: SECRET,
      parent_trajectory_id: trajectory_id!,
    });
    await cairn.artifacts.create({
      trajectory_id: trajectory_id!,
      scope_id: scope_id!,
      artifact_type: 'Fact',
      name: SECRET,
      content: `${SECRET} ${i}`,
    });
    await cairn.notes.create({ note_type: 'Fact', title: SECRET, content: `${SECRET} ${i}` });
    await cairn.artifacts.update({ artifact_id: artifact_id!, content: `version ${i}` });
    await cairn.notes.update({ note_id: note_id!, content: `version ${i}` });
    await cairn.edges.create({
      edge_type: 'RelatesTo',
      participants: [
        { entity_type: 'Card', entity_id: card_id! },
        { entity_type: 'Trajectory', entity_id: child },
      ],
    });
    await cairn.cards.add({ content: i, subject_ids: ['user-7'] });
    await cairn.boxes.grant({ box_id: 'box-1', agent_id: `agent-${i}` });
    await cairn.locks.acquire({
      resource_type: 'file',
      resource_id: `f${i}`,
      holder_agent_id: 'ann',
      lease_ms: 600_000,
    });
    await cairn.agents.register({ agent_id: `coder-${i}`, ...coder });
    await cairn.messages.send({ from_agent_id: 'ann', to_agent_id: 'coder-0', message_type: 'ping', payload: `${i}` });
    await cairn.pauses.create({ execution_id: 'run-0', question: `${SECRET} ${i}` });
    await cairn.handovers.save({ name: `recipe-${i}`, handover: {} });
    await cairn.keys.create({ name: `key ${i}` });
    await cairn.summarization_policies.create({ scope_id: watched, trigger: { type: 'TurnCount', count: i + 1 } });
    const step = (id: string) => ({
      thought_chain: {
        steps: [0, 1].map((n) => ({
          id: `${id}-${n}`,
          type: 'planning' as const,
          content: id,
          confidence: 0.2,
          children: [],
          timestamp: n,
        })),
      },
      context: { messages: [], variables: {} },
      tool_state: {
        pending: [],
        completed: [0, 1].map((n) => ({
          id: `${id}-${n}`,
          tool_id: 'shell',
          arguments: {},
          result: id,
          success: false,
          duration_ms: n,
          timestamp: n,
        })),
      },
    });
    await cairn.checkpoints.create({ execution_id: 'run-0', snapshot: step(`s${i}`) });
  }
  for (let i = 0; i < 3; i++) await cairn.turns.add({ scope_id: watched, role: 'User', content: 'x' });
}

onEveryTarget('the order of lists', (test) => {
  let cairn: Api;
  let planted: Planted;
  const seen: string[] = [];

  beforeAll(async () => {
    cairn = await test().freshTenant();
    planted = await plant(cairn);
    await plantMore(cairn, planted);
  });

  interface Read {
    readonly items: unknown[];
    readonly next_cursor: string | null;
  }

  const read = async (operation: NamedOperation, more: object): Promise<Read> => {
    const all = inputOf(operation, planted);
    const needed = pathParameters(operation.path).map((name) => [name, all[name]]);
    const call = (cairn as unknown as ApiByName)[operation.group]![operation.verb] as AnyMethod;
    const answer = (await call({ ...Object.fromEntries(needed), ...more })) as Record<string, unknown>;
    const items = Object.entries(answer).find(([name, value]) => Array.isArray(value) && !name.startsWith('missing_'))!;
    // Presence is counted in moments.
    const still = JSON.parse(
      JSON.stringify(items[1]).replace(/"last_seen_at":"[^"]*"/g, '"last_seen_at":""'),
    ) as unknown[];
    return { items: still, next_cursor: (answer.next_cursor ?? null) as string | null };
  };

  describe.each(lists.map((operation) => [operation.name, operation] as const))('%s', (name, operation) => {
    it('LIST-8 runs forward by `order=asc` and backward by `order=desc`, page by page', async () => {
      const all = 'limit' in operation.input.shape ? { limit: 500 } : {};
      const forward = (await read(operation, { ...all, order: 'asc' })).items;
      const backward = (await read(operation, { ...all, order: 'desc' })).items;
      expect(backward).toEqual([...forward].reverse());
      const usual = (await read(operation, all)).items;
      expect(usual).toEqual(name === 'packets.list' ? backward : forward);
      if (forward.length > 1) seen.push(name);
      if (WHOLE.includes(name)) return;
      const walked: unknown[] = [];
      let page = await read(operation, { order: 'desc', limit: 2 });
      walked.push(...page.items);
      const [first] = [page.next_cursor];
      while (page.next_cursor !== null) {
        page = await read(operation, { order: 'desc', limit: 2, cursor: page.next_cursor });
        walked.push(...page.items);
      }
      expect(walked).toEqual(backward);
      if ('offset' in operation.input.shape)
        expect((await read(operation, { order: 'desc', limit: 1, offset: 1 })).items).toEqual(backward.slice(1, 2));
      // A cursor of one direction is none in the other.
      if (first !== null)
        expect(await refusalOf(read(operation, { order: 'asc', limit: 2, cursor: first }))).toMatchObject({
          code: 'INVALID_CURSOR',
        });
    });
  });

  it('LIST-8 was tried on every list with more than one item', () => {
    expect(lists.length).toBeGreaterThan(28);
    expect(lists.map(({ name }) => name).filter((name) => !seen.includes(name))).toEqual([]);
  });

  it('LIST-8 the last of a box or scope can be had from the end', async () => {
    const scope_id = planted.scope_id as string;
    const { turns } = await cairn.scopes.turns({ scope_id });
    const last = await cairn.scopes.turns({ scope_id, tail: 2, order: 'desc' });
    expect(last.turns).toEqual(turns.slice(-2).reverse());
  });
});

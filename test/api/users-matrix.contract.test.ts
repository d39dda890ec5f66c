/**
 * Two users of one tenant, for every operation of the table: no answer to one has anything of the other, and nothing of the
 * other changes. Once with a key that is bound to the user, once with the view of a caller without a user.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { viewsOn } from '#cairn/api/contract.js';
import { type Api, allOperations, type NamedOperation, type Planted } from '../support/contract.js';
import { databases } from '../support/http.js';
import { inputOf, isRefusal, outcomeOf } from '../support/plant/calls-on-worlds.js';
import { plantWorld } from '../support/plant/user-world.js';
import { openTarget, type TestStore } from '../support/targets.js';

/** Words that no text of the examples has: what one user says, what another says, what is about nobody. */
const SAID = { ann: 'Zanzibarium', bob: 'Quetzalcoatlus', nobody: 'Xylophonist' } as const;
type Side = keyof typeof SAID;

/** Names that Cairn or an example chose, which say nothing of a user. */
const isId = (text: string): boolean => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text);

function idsIn(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value === 'string' && isId(value)) found.add(value);
  else if (value !== null && typeof value === 'object') for (const one of Object.values(value)) idsIn(one, found);
  return found;
}

/** All that a user reads in lists. */
const allOf = async (api: Api): Promise<object[]> =>
  (
    await Promise.all([
      api.trajectories.list({ limit: 500 }),
      api.scopes.list({ limit: 500 }),
      api.artifacts.list({ limit: 500 }),
      api.notes.list({ limit: 500 }),
      api.edges.list({ limit: 500 }),
      api.cards.list({ limit: 500 }),
      api.boxes.list({ limit: 500 }),
      api.packets.list({ limit: 500 }),
      api.executions.list({ limit: 500 }),
      api.checkpoints.list({ limit: 500 }),
      api.manifests.list({ limit: 500 }),
    ])
  ).flatMap((list) => Object.values(list).find((member) => Array.isArray(member)) as object[]);

/** What is about ann, without counters of reads. */
const ownOf = async (api: Api): Promise<string> => {
  const own = (await allOf(api)).filter((one) => JSON.stringify((one as Planted).subject_ids) === '["ann"]');
  return JSON.stringify(own, (name, value) => (name.startsWith('access') ? undefined : value));
};

for (const target of [...databases(), 'http'] as const) {
  describe(`two users on ${target}`, () => {
    let test: TestStore;
    let ann: Api;
    let worlds: Record<Side, Planted>;
    let foreign: Set<string>;
    const apis: Record<'key' | 'view', Api> = {} as never;

    beforeAll(async () => {
      test = await openTarget(target);
      const { cairn } = test;
      ann = await test.as({ user: 'ann' });
      apis.key = await test.as({ user: 'bob' });
      apis.view = viewsOn(cairn).for({ user: 'bob' });
      worlds = {
        ann: await plantWorld({ api: ann, secret: SAID.ann }),
        bob: await plantWorld({ api: apis.key, secret: SAID.bob }),
        nobody: await plantWorld({ api: cairn, secret: SAID.nobody }),
      };
      // What is about nobody has parts that are about each of them, written by a user and for a user.
      const { scope_id, trajectory_id } = worlds.nobody as Record<string, string>;
      const about = { subject_ids: ['ann'] };
      const text = `${SAID.ann} is here, too.`;
      const fact = { artifact_type: 'Fact', name: text, content: text };
      await ann.turns.add({ scope_id: scope_id!, role: 'User', content: text });
      await cairn.turns.add({ scope_id: scope_id!, role: 'User', content: text, ...about });
      await ann.artifacts.create({ scope_id: scope_id!, ...fact });
      await cairn.artifacts.create({ trajectory_id: trajectory_id!, ...fact, ...about });
      await cairn.notes.create({ note_type: 'Fact', title: text, content: text, ...about });
      await cairn.cards.add({ content: text, subject_ids: ['ann', 'bob'] });
      await ann.packets.write({ packet_type: 'event', payload: { text }, thread_id: trajectory_id! });
      const seen = idsIn(await allOf(ann));
      const shared = idsIn(await allOf(apis.key));
      foreign = new Set([...seen, ...idsIn(worlds.ann)].filter((id) => !shared.has(id)));
    });
    afterAll(() => test.close());

    it('USER-1 a user finds what is about it and what is about nobody', async () => {
      for (const api of Object.values(apis)) {
        const found = async (query: string) => (await api.search.query({ query, limit: 50 })).results.length;
        expect(await found(SAID.bob)).toBeGreaterThan(3);
        expect(await found(SAID.nobody)).toBeGreaterThan(3);
        expect(await found(SAID.ann)).toBe(0);
        expect(JSON.stringify(await api.memory.recall({ query: `What about ${SAID.bob}?` }))).toContain(SAID.bob);
        expect((await api.notes.list({})).notes.length).toBeGreaterThan(0);
      }
    });

    it.each(['key', 'view'] as const)(
      'USER-2 no operation answers a %s of one user with anything of another',
      async (by) => {
        const failures: string[] = [];
        const before = await ownOf(ann);
        const check = async (operation: NamedOperation, side: Side) => {
          const input = inputOf(operation, worlds[side]);
          const { answer, code } = await outcomeOf(apis[by], operation, input);
          const given = idsIn(input);
          const shown = JSON.stringify(answer) ?? '';
          const wrong = (what: string) =>
            failures.push(`${operation.name} × ${side} ${what}: ${code} ${shown.slice(0, 400)}`);
          if (shown.includes(SAID.ann) && !JSON.stringify(input).includes(SAID.ann)) wrong('has a text of another');
          for (const id of idsIn(answer)) if (foreign.has(id) && !given.has(id)) wrong(`has the id ${id} of another`);
          const named = side === 'ann' && [...given].some((id) => foreign.has(id));
          if (named && code === 'OK' && operation.access !== 'read') wrong('is allowed');
          if (code === 'STORAGE_FAILED' || code === 'INTERNAL') wrong('fails');
        };
        // Deletions last: what is gone can no longer be shown.
        const inOrder = [...allOperations].sort(
          (a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'),
        );
        for (const side of ['ann', 'nobody', 'bob'] as const)
          for (const operation of inOrder) await check(operation, side);
        expect(failures).toEqual([]);
        expect(before.length).toBeGreaterThan(1000);
        expect((await ownOf(ann)) === before).toBe(true);
      },
    );

    it('USER-2 work between agents, keys and settings need a caller without a user', async () => {
      const refused = allOperations.filter(({ touches }) => touches === 'tenant_key' || touches === 'parties');
      for (const operation of refused) {
        const { code } = await outcomeOf(apis.key, operation, inputOf(operation, worlds.bob));
        expect(isRefusal(code), `${operation.name}: ${code}`).toBe(true);
      }
    });
  });
}

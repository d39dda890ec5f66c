/**
 * A planner and three helpers in processes of their own, one of which is killed at a random time in every run. `CAIRN_RUNS`
 * says how many runs there are on each database.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cairn, openCairn } from '#cairn/cairndb.js';
import { databases } from '../support/http.js';
import { deliverableOf, launch, saveProfile } from '../support/nouns/turns.js';
import { messageOf, sleep } from '../support/server.js';
import { freshDatabase } from '../support/targets.js';

const RUNS = Number(process.env.CAIRN_RUNS ?? 3);
const LEASE_MS = 500;
/** Nobody works longer than this on a run in which nobody dies. */
const LONGEST_MS = 400;
const ROLES = ['planner', 'helper', 'helper', 'helper'] as const;
type Role = (typeof ROLES)[number];

for (const kind of databases()) {
  describe(`a planner and three helpers on ${kind}`, () => {
    let cairn: Cairn;
    let database: string;
    let drop: () => Promise<void>;
    const team: { readonly role: Role; readonly child: ChildProcess }[] = [];

    async function joins(role: Role): Promise<void> {
      const child = fork(join(import.meta.dirname, '../support/children/team.mjs'), [role, database, String(LEASE_MS)]);
      team.push({ role, child });
      await messageOf(child);
    }

    beforeAll(async () => {
      ({ database, drop } = await freshDatabase(kind));
      cairn = await openCairn({ database });
      await saveProfile(cairn, 'helper');
      await Promise.all(ROLES.map(joins));
    });
    afterAll(async () => {
      for (const { child } of team) child.kill('SIGKILL');
      await cairn.close();
      await drop();
    });

    for (let run = 1; run <= RUNS; run++) {
      it(`WORK-8 ends run ${run} with the right result, though one of them is killed`, async () => {
        const words = ['alpha', 'beta', 'gamma'].map((word) => `${word}${run}`);
        const slow = () => Math.floor((Math.random() * LONGEST_MS) / 2);
        const id = await launch(cairn, 'planner', words.map((word) => `${word} ${slow()}`).join(', '));
        await sleep(Math.random() * LONGEST_MS);
        const [dead] = team.splice(Math.floor(Math.random() * team.length), 1);
        dead!.child.kill('SIGKILL');
        // Other helpers do its work; a planner there is but one.
        const replaced = joins(dead!.role);
        if (dead!.role === 'planner') await replaced;
        const expected = { status: 'success', words: words.map((word) => word.toUpperCase()) };
        expect(await deliverableOf(cairn, id)).toEqual(expected);
        await checkOnce(cairn, id);
        await replaced;
      });
    }
  });
}

/** Every task was dispatched once, and has one deliverable, whatever its helpers went through. */
async function checkOnce(cairn: Cairn, id: string): Promise<void> {
  const { agent_turns } = await cairn.agent_turns.list({ parent_agent_turn_id: id });
  expect(agent_turns.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
  for (const { output_box_id } of agent_turns) {
    const { cards } = await cairn.boxes.cards({ box_id: output_box_id });
    const types = cards.map(({ metadata }) => metadata?.type);
    expect(types.filter((type) => type === 'task.deliverable')).toHaveLength(1);
    expect(types.at(-1)).toBe('task.deliverable');
  }
  const { packets } = await cairn.packets.list({ packet_type: 'cairn.agent_turn.completed', limit: 500 });
  const ends = packets.map(({ payload }) => (payload as { entity: { id: string } }).entity.id);
  expect(new Set(ends).size).toBe(ends.length);
}

/** What was erased is in no byte of the file: under load, with pages that split and merge, and after a kill. */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import type { Scope } from '#cairn/memory/scopes/model.js';
import { illnesses } from '../support/inspect/audit.js';
import { someTrajectory } from '../support/nouns/scopes.js';
import { exitOf, sleep, until, within } from '../support/server.js';
import { freshDatabase, targetNames } from '../support/targets.js';

const CALLER = { tenant_id: 'default', agent_id: null, role: 'admin', key_id: null } as const;

/** A word that is nowhere else. */
const marker = (): string => `mark${randomBytes(9).toString('hex')}`;

/** Which of these words are in the bytes of a SQLite file or of its log. */
function found(database: string, words: readonly string[]): string[] {
  const files = [database, `${database}-wal`, `${database}-journal`].filter((file) => existsSync(file));
  const bytes = files.map((file) => readFileSync(file));
  return words.filter((word) => bytes.some((one) => one.includes(word)));
}

/** Text of about so many bytes with a marker at its start, in its middle and at its end. */
const around = (word: string, bytes: number): string => {
  const filler = '.'.repeat(Math.max(0, Math.floor(bytes / 2)));
  return `${word} ${filler} ${word} ${filler} ${word}`;
};

/** Says something with a new marker in every part of the turn, and tells the marker. */
async function sayMarked(api: Api, scope_id: string, bytes: number): Promise<string> {
  const word = marker();
  await api.turns.add({
    scope_id,
    role: 'Tool',
    content: around(word, bytes),
    token_count: 1,
    model_id: word,
    tool_calls: [{ id: word, arguments: { text: around(word, bytes / 4) } }],
    tool_results: [around(word, bytes / 4), { word }],
    metadata: { note: around(word, Math.min(bytes / 4, 20_000)) },
  });
  return word;
}

/** Sizes from a few rows a page to many overflow pages. */
const SIZES = [0, 40, 200, 700, 1500, 3500, 9000, 60_000, 200_000];
const sizeAt = (i: number): number => SIZES[(i * 7) % SIZES.length]!;

describe.runIf(targetNames().includes('sqlite'))('the bytes of a SQLite file', () => {
  it('TTL-4 hold no name of an artifact that expired, also when its content is pinned', async () => {
    const { database, drop } = await freshDatabase('sqlite');
    let offset = 0;
    const store = await Store.open({ database, sweep_every_ms: 0, clock_offset_ms: () => offset });
    const api = store.api(CALLER);
    const trajectory_id = await someTrajectory(api);
    const [name, content] = [marker(), marker()];
    const input = { trajectory_id, artifact_type: 'Fact', name, content, ttl: 'ShortTerm' as const };
    const { card_id } = await api.artifacts.create(input);
    await api.boxes.create({ box_id: 'pins', card_ids: [card_id] });
    await api.boxes.seal({ box_id: 'pins' });
    offset = 2 * 3_600_000;
    expect(await api.lifetime.sweep()).toMatchObject({ cards_erased: 0, memories_erased: 1, cards_kept: 1 });
    expect(found(database, [name, content])).toEqual([content]);
    await store.close();
    await drop();
  });

  it('CLOSE-7 hold nothing of a closed scope, while others write, and all of an open one', async () => {
    const { database, drop } = await freshDatabase('sqlite');
    const store = await Store.open({ database, sweep_every_ms: 0 });
    const api = store.api(CALLER);
    const trajectory_id = await someTrajectory(api);
    const open = await api.scopes.create({ trajectory_id, name: 'open', retain: 'nothing' });
    const kept: string[] = [];
    let stopping = false;
    const writers = [0, 1, 2].map(async (n) => {
      for (let i = 0; !stopping; i++) {
        // Some by the scope, some as cards and packets, so that pages of every table change all the time.
        if (i % 3 === 0) kept.push(await sayMarked(api, open.scope_id, sizeAt(i + n) % 5000));
        else if (i % 3 === 1) await api.cards.add({ content: around('card', sizeAt(i)) });
        else await api.packets.write({ packet_type: 'load', payload: { text: around('packet', 300) } });
        await sleep(1);
      }
    });
    try {
      for (let round = 0; round < 6; round++) {
        const scope = await api.scopes.create({ trajectory_id, name: `round ${round}`, retain: 'nothing' });
        const { scope_id } = scope;
        const state = marker();
        const words: string[] = [];
        for (let i = 0; i < 60; i++) words.push(await sayMarked(api, scope_id, sizeAt(i + round)));
        const context_state = Buffer.from(state.repeat(400)).toString('base64');
        await api.scopes.checkpoint({ scope_id, context_state, recoverable: false });
        const stateWord = context_state.slice(0, 40);
        expect(found(database, [...words, stateWord])).toEqual([...words, stateWord]);
        const { erasure } = await api.scopes.close({ scope_id, wait: true });
        expect(erasure).toEqual({ state: 'done', erased: 60, kept: 0 });
        expect(found(database, [...words, stateWord]), `round ${round}`).toEqual([]);
      }
    } finally {
      stopping = true;
      await Promise.all(writers);
    }
    expect(kept.length).toBeGreaterThan(10);
    expect(found(database, kept)).toEqual(kept);
    await store.close();
    expect(found(database, kept)).toEqual(kept);
    expect(await illnesses(database)).toEqual([]);
    await drop();
  });

  it('CLOSE-7 hold nothing of the checkpoint of a scope without turns', async () => {
    const { database, drop } = await freshDatabase('sqlite');
    const store = await Store.open({ database, sweep_every_ms: 0 });
    const api = store.api(CALLER);
    const trajectory_id = await someTrajectory(api);
    const { scope_id } = await api.scopes.create({ trajectory_id, name: 'empty', retain: 'nothing' });
    const context_state = Buffer.from(marker().repeat(400)).toString('base64');
    const word = context_state.slice(0, 40);
    await api.scopes.checkpoint({ scope_id, context_state, recoverable: false });
    expect(found(database, [word])).toEqual([word]);
    expect((await api.scopes.close({ scope_id, wait: true })).erasure!.state).toBe('done');
    expect(found(database, [word])).toEqual([]);
    await store.close();
    await drop();
  });

  it('TRAJ-12, TRAJ-13, EDGE-7 hold nothing of a deleted trajectory and what was below it, nor of its edges', async () => {
    const { database, drop } = await freshDatabase('sqlite');
    const store = await Store.open({ database, sweep_every_ms: 0 });
    const api = store.api(CALLER);
    const words: string[] = [];
    const word = () => words[words.push(marker()) - 1]!;
    const { trajectory_id } = await api.trajectories.create({
      name: word(),
      description: word(),
      metadata: { note: word() },
    });
    const child = await api.trajectories.create({ name: word(), parent_trajectory_id: trajectory_id });
    const below = { trajectory_id: child.trajectory_id };
    const scope = { ...below, name: word(), purpose: word(), metadata: { note: word() } };
    const { scope_id } = await api.scopes.create(scope);
    const said = { scope_id, role: 'User', content: word(), token_count: 1 } as const;
    const { turn_id } = await api.turns.add(said);
    const state = Buffer.from(marker().repeat(400)).toString('base64');
    await api.scopes.checkpoint({ scope_id, context_state: state });
    words.push(state.slice(0, 40));
    const first = { artifact_type: 'Code', name: word(), content: word(), metadata: { note: word() } };
    const { artifact_id } = await api.artifacts.create({ ...below, ...first });
    await api.artifacts.update({ artifact_id, name: word(), content: word() });
    const { note_id } = await api.notes.create({ note_type: 'Fact', title: 'stays', content: 'stays' });
    const ends = [
      ['Trajectory', trajectory_id],
      ['Scope', scope_id],
      ['Turn', turn_id],
      ['Artifact', artifact_id],
    ] as const;
    for (const [entity_type, entity_id] of ends) {
      await api.edges.create({
        edge_type: 'Supports',
        participants: [
          { entity_type, entity_id, role: word() },
          { entity_type: 'Note', entity_id: note_id, role: word() },
        ],
        metadata: { quote: around(word(), 300) },
      });
    }
    expect(found(database, words)).toEqual(words);
    await api.trajectories.delete({ trajectory_id, wait: true });
    expect(found(database, words)).toEqual([]);
    await store.close();
    expect(found(database, words)).toEqual([]);
    await drop();
  });

  it('CLOSE-7 hold nothing of scopes whose turns lay between those of others, in pages that merged since', async () => {
    const { database, drop } = await freshDatabase('sqlite');
    const store = await Store.open({ database, sweep_every_ms: 0 });
    const api = store.api(CALLER);
    const trajectory_id = await someTrajectory(api);
    const scopes = await Promise.all(
      Array.from({ length: 8 }, async (_, i) => ({
        ...(await api.scopes.create({ trajectory_id, name: `scope ${i}`, retain: 'nothing' })),
        words: [] as string[],
      })),
    );
    // In one go, so that every page has rows of several scopes: erasing one makes pages merge, which moves the others.
    for (let i = 0; i < 80; i++)
      await Promise.all(
        scopes.map(async ({ scope_id, words }) => words.push(await sayMarked(api, scope_id, sizeAt(i) % 1500))),
      );
    const gone: string[] = [];
    for (const [i, { scope_id, words }] of scopes.entries()) {
      expect(found(database, words)).toEqual(words);
      const { erasure } = await api.scopes.close({ scope_id, wait: true });
      expect(erasure).toMatchObject({ state: 'done', erased: 80 });
      gone.push(...words);
      expect(found(database, gone), `scope ${i}`).toEqual([]);
    }
    await store.close();
    expect(found(database, gone)).toEqual([]);
    await drop();
  });

  it('CLOSE-8 hold nothing after an erasure was killed and the store opened again, which goes on by itself', async () => {
    const TURNS = 3000;
    const { database, drop } = await freshDatabase('sqlite');
    let cut = 0;
    // A kill that comes too late shows nothing: then there are more of them.
    for (let round = 0; round < 3 || (cut === 0 && round < 12); round++) {
      const word = marker();
      const setup = await Store.open({ database, sweep_every_ms: 0 });
      const scope_id = await fill(setup.api(CALLER), word, TURNS);
      await setup.close();
      expect(found(database, [word])).toEqual([word]);

      const target = Math.floor((Math.random() * TURNS) / 2);
      await closeAndKill(database, scope_id, target);
      const state = await readScope(database, scope_id);
      expect(state.is_active).toBe(false);
      if (state.erasure!.state === 'pending') cut++;
      console.log(`killed at ${target} of ${TURNS}: ${JSON.stringify(state.erasure)}`);

      const store = await Store.open({ database });
      const api = store.api(CALLER);
      expect((await api.scopes.turns({ scope_id })).turns).toEqual([]);
      await until('the erasure', async () => (await api.scopes.get({ scope_id })).erasure!.state === 'done');
      expect((await api.scopes.get({ scope_id })).erasure).toEqual({ state: 'done', erased: TURNS, kept: 0 });
      expect(found(database, [word])).toEqual([]);
      const { packets } = await api.packets.list({ packet_type: 'cairn.lifetime.erased' });
      const about = packets.filter(({ payload }) => (payload!.entity as { id: string }).id === scope_id);
      expect(about).toHaveLength(1);
      await store.close();
      expect(found(database, [word])).toEqual([]);
      expect(await illnesses(database)).toEqual([]);
    }
    expect(cut, 'kills before the erasure was done').toBeGreaterThan(0);
    await drop();
  });
});

/** A scope with many turns that all have one word. */
async function fill(api: Api, word: string, turns: number): Promise<string> {
  const { scope_id } = await api.scopes.create({
    trajectory_id: await someTrajectory(api),
    name: 'large',
    retain: 'nothing',
  });
  for (let n = 0; n < turns; n += 500) {
    const items = Array.from({ length: 500 }, (_, i) => ({
      create: { scope_id, role: 'User', content: around(`${word} ${n + i}`, (i % 10) * 40), token_count: 1 },
    }));
    await api.turns.batch({ items, atomic: true });
  }
  return scope_id;
}

/** Closes a scope in a process of its own, and kills that when so many turns are erased. */
async function closeAndKill(database: string, scope_id: string, erased: number): Promise<void> {
  const child = fork(join(import.meta.dirname, '../support/children/writes.mjs'), ['close', database, scope_id]);
  const exited = exitOf(child);
  const failures: string[] = [];
  child.on('message', (report: { ready?: true; failed?: string; erasure?: { erased: number } }) => {
    if (report.ready) child.send('go');
    if (report.failed) failures.push(report.failed);
    if (report.erasure && report.erasure.erased >= erased) child.kill('SIGKILL');
  });
  await within(60_000, exited, 'the process to be killed');
  expect(failures).toEqual([]);
}

async function readScope(database: string, scope_id: string): Promise<Scope> {
  const store = await Store.open({ database, sweep_every_ms: 0 });
  const scope = await store.api(CALLER).scopes.get({ scope_id });
  await store.close();
  return scope;
}

describe.runIf(targetNames().includes('sqlite'))('the log of an SQLite file', () => {
  it('CLOSE-7 is emptied beside writers that never pause', async () => {
    const { database, drop } = await freshDatabase('sqlite');
    const store = await Store.open({ database, sweep_every_ms: 0 });
    const api = store.api(CALLER);
    let over = false;
    const write = async () => {
      while (!over) await api.cards.add({ content: 'x' });
    };
    try {
      const writers = Array.from({ length: 4 }, write);
      for (let round = 0; round < 10; round++) expect(await store.driver.scrub()).toBe(true);
      over = true;
      await Promise.all(writers);
    } finally {
      over = true;
      await store.close();
      await drop();
    }
  });
});

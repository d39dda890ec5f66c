/**
 * Random histories of locks, messages and agent_turns from several processes, some of which are killed, recorded and
 * checked. `CAIRN_HISTORIES=200` for as many as a release is held to; fewer in the suite, since each takes its time.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, Store } from '#cairn/api/index.js';
import { type Call, type Final, faultsOf } from '../support/inspect/history.js';
import { freshDatabase, targetNames } from '../support/targets.js';

const HISTORIES = Number(process.env.CAIRN_HISTORIES ?? 8);
const NAMES = ['p0', 'p1', 'p2'] as const;
const ROUNDS = 5;

interface Process {
  readonly child: ChildProcess;
  run(message: object): Promise<void>;
  /** Resolves when it is gone. */
  end(signal?: 'SIGKILL'): Promise<void>;
}

async function start(database: string, file: string, name: string): Promise<Process> {
  // One that is killed before its first call has written nothing.
  appendFileSync(file, '');
  const child = fork(join(import.meta.dirname, '../support/children/history.mjs'), [database, file, name]);
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve) => child.once('message', () => resolve()));
  return {
    child,
    run: (message) =>
      new Promise((resolve, reject) => {
        child.once('message', (answer: { failed?: string }) =>
          answer.failed === undefined ? resolve() : reject(new Error(answer.failed)),
        );
        child.once('exit', () => resolve());
        child.send(message);
      }),
    end: (signal) => {
      if (signal) child.kill(signal);
      else child.send('end');
      return gone;
    },
  };
}

/** The calls of a history, put together from what each process wrote. */
function callsOf(files: readonly string[], history: string): Call[] {
  const calls = new Map<string, Call>();
  for (const file of files) {
    // A killed process may have left half a line behind.
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      if (!line.endsWith('}')) continue;
      const { id, ...rest } = JSON.parse(line) as Call & { id: string; history?: string };
      if (rest.history !== undefined ? rest.history === history : calls.has(id))
        calls.set(id, { ...calls.get(id), ...rest });
    }
  }
  return [...calls.values()];
}

async function finalOf(api: Api): Promise<Final> {
  const { messages } = await api.messages.list({ unacknowledged: true, limit: 500 });
  const { agent_turns } = await api.agent_turns.list({ limit: 500 });
  const turns: Record<string, { status: string; marks: string[] }> = {};
  for (const { agent_turn_id, output_box_id, status } of agent_turns) {
    const { cards } = await api.boxes.cards({ box_id: output_box_id, limit: 500 });
    const marks = cards.filter(({ metadata }) => metadata.type === undefined).map(({ content }) => content as string);
    turns[agent_turn_id] = { status, marks };
  }
  return { unacknowledged: messages.map(({ message_id }) => message_id), turns };
}

for (const kind of targetNames().filter((name) => name !== 'http')) {
  describe(`histories on ${kind}`, () => {
    let folder: string;
    let database: string;
    let drop: () => Promise<void>;
    let store: Store;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'cairn-history-'));
      ({ database, drop } = await freshDatabase(kind as 'sqlite' | 'postgres'));
      // It notices what is over, as a server does.
      store = await Store.open({ database, sweep_every_ms: 60_000 });
    });
    afterAll(async () => {
      await store.close();
      await drop();
      rmSync(folder, { recursive: true, force: true });
    });

    it(`LOCK-1 MSG-19 ATURN-15 ${HISTORIES} random histories with kills are as promised`, async () => {
      const fileOf = (name: string) => join(folder, `${name}.log`);
      const processes = new Map<string, Process>();
      const ensure = async (name: string) => {
        if (!processes.has(name)) processes.set(name, await start(database, fileOf(name), name));
        return processes.get(name)!;
      };
      let checked = 0;
      for (let h = 0; h < HISTORIES; h++) {
        const history = `h${h}`;
        await store.ensureTenant(history);
        const api = store.api({ tenant_id: history, agent_id: null, role: 'admin', key_id: null });
        await api.profiles.create({ name: 'worker' });
        for (const agent_id of NAMES) {
          await api.agents.register({ agent_id, agent_type: 'worker', capabilities: ['work'] });
        }
        const all = await Promise.all(NAMES.map(ensure));
        const seed = Number(process.env.CAIRN_SEED ?? Math.floor(Math.random() * 2 ** 31)) + h;
        const running = all.map((one, i) => one.run({ history, seed: seed * 3 + i, rounds: ROUNDS }));
        const victim = h % 2 === 0 ? NAMES[h % 3]! : undefined;
        if (victim !== undefined) {
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 400));
          await processes.get(victim)!.end('SIGKILL');
          processes.delete(victim);
        }
        await Promise.all(running);
        const calls = callsOf([...NAMES].map(fileOf), history);
        expect(faultsOf(calls, await finalOf(api)), `seed ${seed}`).toEqual([]);
        checked += calls.length;
      }
      await Promise.all([...processes.values()].map((one) => one.end()));
      expect(checked).toBeGreaterThan(HISTORIES * 50);
    }, 600_000);
  });
}

/** The command `cairn`, run as its users do. */
import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { allOperations, groups } from '#cairn/api/contract.js';
import { openCairn } from '#cairn/cairndb.js';
import { program } from '#cairn/cli/main.js';
import { SqliteConnection } from '#cairn/driver/index.js';
import { state, toolCall } from '../support/nouns/checkpoints.js';
import {
  cairn as cairnProcess,
  commandsOfOneProcess,
  inFolder,
  type Ran,
  ROOT,
  run,
  serveCairn,
  startCairn,
} from '../support/run.js';

const cairn = commandsOfOneProcess();

/** A refusal is one line on stderr, starts with the name of the command, and ends with 1. */
function expectOneLine({ code, stdout, stderr }: Ran, ...parts: string[]): void {
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  expect(stderr).toMatch(/^cairn: /);
  for (const part of parts) expect(stderr).toContain(part);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
}

const json = ({ code, stdout, stderr }: Ran): Record<string, unknown> => {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Record<string, unknown>;
};

/** A command and all below it, with the words that lead to it. */
function* commandsOf(command: Command, words = [command.name()]): Generator<[string, Command]> {
  yield [words.join(' '), command];
  for (const child of command.commands) if (child.name() !== 'help') yield* commandsOf(child, [...words, child.name()]);
}

describe('help', () => {
  it('is there for every operation', () => {
    const names = [...commandsOf(program())].map(([name]) => name);
    for (const { group, verb, stream } of allOperations)
      if (!stream) expect(names).toContain(`cairn ${group.replaceAll('_', '-')} ${verb.replaceAll('_', '-')}`);
  });

  for (const [name, command] of commandsOf(program())) {
    it(`of ${name} has an example`, () => {
      let help = '';
      command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
      expect(help).toMatch(new RegExp(`Examples?:\\n  \\$ ${name}`));
    });
  }

  for (const [name, command] of commandsOf(program())) {
    const group = name.replace('cairn ', '').replaceAll('-', '_');
    if (!Object.hasOwn(groups, group)) continue;
    it(`of ${name} shows an example of one of its commands`, () => {
      const linesOf = (of: Command): string[] => {
        let help = '';
        of.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
        return help.split('\n').filter((line) => line.startsWith('  $ '));
      };
      const [example] = linesOf(command);
      expect(command.commands.flatMap(linesOf)).toContain(example);
    });
  }

  const whole = program();
  const generated = new Set(
    allOperations.map(({ group, verb }) => `cairn ${group.replaceAll('_', '-')} ${verb.replaceAll('_', '-')}`),
  );
  for (const [name, command] of commandsOf(whole)) {
    if (!generated.has(name)) continue;
    it(`of ${name} has an example that the command takes`, async () => {
      let help = '';
      command.configureOutput({ writeOut: (text) => (help += text), writeErr: () => {} }).outputHelp();
      const line = help.split(/Examples?:\n {2}\$ cairn /)[1]!.split('\n')[0]!;
      const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);
      let isTaken = false;
      command.exitOverride().action(() => {
        isTaken = true;
      });
      await whole.parseAsync(words, { from: 'user' });
      expect(isTaken).toBe(true);
    });
  }

  it('is printed by --help', () =>
    inFolder(async (cwd) => {
      const { code, stdout } = await cairnProcess(['keys', 'create', '--help'], { cwd });
      expect(code).toBe(0);
      expect(stdout).toMatch(/Usage: cairn keys create[\s\S]*Example:\n {2}\$ cairn keys create/);
    }));
});

/** What the commands answer that a server shows when it starts. */
async function tried(printed: string, options: Parameters<typeof run>[2]): Promise<unknown[]> {
  const commands = printed.split('Try it:\n')[1]!.replaceAll('curl ', 'curl --silent ');
  const { stdout } = await run('bash', ['-c', commands.replace(/'$/gm, "'; echo")], options);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
}
const TRIED = [{ entity_type: 'Note' }, { passages: [{ name: 'Anna prefers green tea to coffee.' }] }];

describe('serve', () => {
  it('prints its address, its data and a curl that works; SIGTERM ends it with 0', () =>
    inFolder(async (cwd) => {
      const server = await serveCairn([], { cwd });
      expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      expect(server.printed).toContain(join(cwd, 'cairn.db'));
      expect(await tried(server.printed, { cwd })).toMatchObject(TRIED);
      expect(await server.stop()).toMatchObject({ code: 0, stderr: '' });
      // Once it has ended, the file alone holds everything.
      copyFileSync(join(cwd, 'cairn.db'), join(cwd, 'copy.db'));
      expect(json(await cairnProcess(['notes', 'list', '-d', 'copy.db'], { cwd }))).toMatchObject({ total: 1 });
    }));

  it('prints a curl that works with a key, once there are keys', () =>
    inFolder(async (cwd) => {
      const { key } = json(await cairnProcess(['keys', 'create'], { cwd }));
      const server = await serveCairn([], { cwd });
      const env = { CAIRN_KEY: key as string };
      expect(await tried(server.printed, { cwd, env })).toMatchObject(TRIED);
      await server.stop('SIGINT');
    }));

  it('says on one line that its port is busy', () =>
    inFolder(async (cwd) => {
      const other = createServer();
      const port = await new Promise<number>((done) =>
        other.listen(0, '127.0.0.1', () => done((other.address() as { port: number }).port)),
      );
      const busy = await cairnProcess(['serve', '--port', String(port)], { cwd });
      other.close();
      expectOneLine(busy, `127.0.0.1:${port} is in use`, '--port');
    }));

  it('refuses an address that others can reach while there are no keys', () =>
    inFolder(async (cwd) => {
      const args = ['--port', '0', '--host', '0.0.0.0'];
      expectOneLine(await cairnProcess(['serve', ...args], { cwd }), '0.0.0.0', 'cairn keys create');
      await cairnProcess(['keys', 'create', '--role', 'admin'], { cwd });
      const server = await serveCairn(['--host', '0.0.0.0'], { cwd });
      const port = new URL(server.url).port;
      expect((await fetch(`http://127.0.0.1:${port}/api/v1/whoami`)).status).toBe(401);
      await server.stop();
    }));

  it('takes its settings from the environment, and flags before it', () =>
    inFolder(async (cwd) => {
      const env = { CAIRN_DATABASE: './other.db', CAIRN_PORT: '1', CAIRN_MAX_CARD_BYTES: '1024' };
      const server = await serveCairn([], { cwd, env });
      expect(server.printed).toContain(join(cwd, 'other.db'));
      const body = JSON.stringify({ packet_type: 'event', payload: { text: 'x'.repeat(2000) } });
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${server.url}/api/v1/memory/packet`, { method: 'POST', headers, body });
      expect(answer.status).toBe(413);
      await server.stop();
    }));
});

describe('mistakes', () => {
  const mistakes: readonly (readonly [string[], string[]])[] = [
    [
      ['serve', '--bogus'],
      ["'--bogus'", '--help'],
    ],
    [
      ['serve', '--port', 'x'],
      ['--port', '0 to 65535'],
    ],
    [['serve', '--database', '.'], ['unable to open']],
    [
      ['serve', '--database', 'postgres://127.0.0.1:9/x'],
      ['cannot be reached', 'DATABASE_UNAVAILABLE'],
    ],
    [['bogus'], ["'bogus'", '--help']],
    [
      ['cards', 'add', '--card-id', 'x'],
      ["'--card-id'", '--card'],
    ],
    [['cards', 'get'], ['card_id']],
    [
      ['cards', 'delete', 'nope'],
      ['nope', 'CARD_NOT_FOUND'],
    ],
    [
      ['recall', 'tea', '--database', 'typo/typo.db'],
      ['there is no file typo/typo.db', 'remember'],
    ],
    [
      ['dsl', 'export', '--database', 'typo.db'],
      ['there is no file typo.db', 'create it, for example with `cairn dsl apply`'],
    ],
    [['tree', '--database', 'typo.db'], ['there is no file typo.db']],
    [['tail', '--database', 'typo.db'], ['there is no file typo.db']],
    [['migrate', '--restored', '--database', 'typo.db'], ['there is no file typo.db']],
    [
      ['remember', 'tea', '--database', 'mysql://db.example/x'],
      ['postgres://', 'mysql://'],
    ],
    [
      ['remember', ''],
      ['text: must not be empty', 'INVALID_INPUT'],
    ],
    [
      ['summarization-policies', 'create', '--name', 'x', '--trigger', '{type:Manual}'],
      ['--trigger must be JSON', 'position 1'],
    ],
    [
      ['search', 'query', '--query', 'x', '--filters', '{bad', '--url', 'http://127.0.0.1:9'],
      ['--filters must be JSON'],
    ],
    [
      ['cards', 'list', '--url', 'localhost:8080'],
      ['localhost:8080', 'http://'],
    ],
    [
      ['keys', 'create', '--role', 'boss'],
      ['boss', 'admin'],
    ],
    [
      ['keys', 'create', '--tenant', 'a/b'],
      ['a/b', 'INVALID_INPUT'],
    ],
    [['packets', 'write', '--packet-type', 'event'], ['--payload']],
    [['packets', 'write', '--packet-type', 'event', '--payload', 'x'], ['--payload must be JSON']],
    [['packets', 'write', '--packet-type', 'cairn.x', '--payload', '{}'], ['RESERVED_TYPE']],
    [
      ['executions', 'delete', '--wait', 'run'],
      ['--wait', 'true or false'],
    ],
    [['doctor', '--database', 'typo.db'], ['there is no file typo.db']],
    [
      ['cards', 'list', '--url', 'http://127.0.0.1:9'],
      ['SERVER_UNREACHABLE', 'cairn serve'],
    ],
  ];
  for (const [args, parts] of mistakes) {
    it(`cairn ${args.join(' ')} is answered with one line`, () =>
      inFolder(async (cwd) => {
        // A server that started after all would go on.
        const command = args[0] === 'serve' ? cairnProcess : cairn;
        expectOneLine(await command(args, { cwd }), ...parts);
        // What is not there is not made by a typo.
        expect(readdirSync(cwd).filter((name) => name.startsWith('typo'))).toEqual([]);
      }));
  }

  it('--debug shows the stack', () =>
    inFolder(async (cwd) => {
      const { code, stderr } = await cairnProcess(['cards', 'delete', 'nope', '--debug'], { cwd });
      expect(code).toBe(1);
      expect(stderr).toMatch(/CARD_NOT_FOUND/);
      expect(stderr).toMatch(/^ {4}at /m);
    }));
});

describe('users', () => {
  it('USER-3 is named by --user, and a key is bound to one', () =>
    inFolder(async (cwd) => {
      const ran = async (...args: string[]) => json(await cairnProcess(args, { cwd }));
      await ran('remember', 'The office in Munich is old', '--user', 'anna', '--json');
      await ran('remember', 'The office in Hamburg is new', '--user', 'ben', '--json');
      const texts = async (...args: string[]) =>
        ((await ran('recall', 'office', '--json', ...args)).passages as { text: string }[]).map(({ text }) => text);
      expect(await texts('--user', 'anna')).toEqual(['The office in Munich is old']);
      expect((await texts()).sort()).toEqual(['The office in Hamburg is new', 'The office in Munich is old']);
      const created = await ran('keys', 'create', '--user', 'ben');
      expect(created).toMatchObject({ user_id: 'ben', agent_id: null });
      const server = await serveCairn([], { cwd });
      const remote = ['--url', server.url, '--key', created.key as string];
      expect(await texts(...remote)).toEqual(['The office in Hamburg is new']);
      expectOneLine(await cairnProcess(['recall', 'office', '--user', 'anna', ...remote], { cwd }), 'ben');
      await server.stop();
    }));
});

describe('keys', () => {
  it('are made, listed and revoked on the file, and a running server follows at once', () =>
    inFolder(async (cwd) => {
      const server = await serveCairn([], { cwd });
      const ask = (key?: string, method = 'GET', path = '/api/v1/whoami') =>
        fetch(`${server.url}${path}`, {
          method,
          headers: { 'content-type': 'application/json', ...(key ? { authorization: `Bearer ${key}` } : {}) },
          ...(method === 'POST' ? { body: '{"packet_type":"event","payload":{}}' } : {}),
        });
      expect((await ask()).status).toBe(200);

      const args = ['--tenant', 'acme', '--agent', 'scout', '--role', 'read'];
      const created = json(await cairnProcess(['keys', 'create', ...args], { cwd }));
      expect(created).toMatchObject({ tenant_id: 'acme', agent_id: 'scout', role: 'read' });
      const key = created.key as string;
      expect((await ask()).status).toBe(401);
      expect(await (await ask(key)).json()).toMatchObject({ tenant_id: 'acme', agent_id: 'scout' });
      expect((await ask(key, 'POST', '/api/v1/memory/packet')).status).toBe(403);

      const { stdout } = await cairnProcess(['keys', 'list', '--tenant', 'acme'], { cwd });
      expect(stdout).toContain(created.key_id);
      expect(stdout).not.toContain(key);
      expect(json(await cairnProcess(['keys', 'list'], { cwd }))).toEqual({ keys: [] });

      const id = created.key_id as string;
      expectOneLine(await cairnProcess(['keys', 'revoke', id], { cwd }), 'KEY_NOT_FOUND');
      expect((await cairnProcess(['keys', 'revoke', id, '--tenant', 'acme'], { cwd })).code).toBe(0);
      expect((await ask(key)).status).toBe(401);
      await server.stop();
    }));
});

describe('migrate and doctor', () => {
  it('migrate says what it did; --restored begins a new epoch', () =>
    inFolder(async (cwd) => {
      expect((await cairn(['migrate'], { cwd })).stdout).toMatch(/cairn\.db: applied baseline; .* version 1/);
      expect((await cairn(['migrate'], { cwd })).stdout).toContain('nothing to apply');
      const epoch = async () => {
        const file = await SqliteConnection.open(join(cwd, 'cairn.db'));
        const [row] = file.all<{ value: string }>("SELECT value FROM store_meta WHERE name = 'store_epoch'");
        file.close();
        return row?.value;
      };
      await cairn(['cards', 'list'], { cwd });
      const before = await epoch();
      expect((await cairn(['migrate', '--restored'], { cwd })).stdout).toContain('STREAM_RESET');
      expect(await epoch()).not.toBe(before);
    }));

  it('doctor finds a healthy store healthy, and names what is broken', () =>
    inFolder(async (cwd) => {
      await cairn(['cards', 'add', '--card', 'altered', '--content', 'true'], { cwd });
      await cairn(['boxes', 'create', '--box', 'short', '--card-ids', 'altered'], { cwd });
      const healthy = await cairn(['doctor'], { cwd });
      expect(healthy).toMatchObject({ code: 0, stderr: '' });
      expect(healthy.stdout).toContain('The store is healthy.');

      const file = await SqliteConnection.open(join(cwd, 'cairn.db'));
      file.run("UPDATE cards SET content = 'false' WHERE card_id = 'altered'");
      file.run("DELETE FROM box_entries WHERE box_id = 'short'");
      file.run('DELETE FROM packet_store WHERE seq = 1');
      file.close();
      const sick = await cairn(['doctor'], { cwd });
      expect(sick.code).toBe(1);
      expect(sick.stdout).toMatch(/✗ default: cards hold what their hashes say\n +altered\n/);
      expect(sick.stdout).toMatch(/✗ .*length of a box.*\n +box short says 1, has 0\n/);
      expect(sick.stdout).toMatch(/✗ .*the stream has no hole.*\n/);
      expect(sick.stdout).toContain('3 check(s) failed.');

      const findings = (await cairn(['doctor', '--json'], { cwd })).stdout.trim().split('\n');
      expect(findings.map((line) => JSON.parse(line) as { ok: boolean }).filter(({ ok }) => !ok)).toHaveLength(3);
    }));
});

describe('clock', () => {
  it('CLOCK-2 recover says what it did, and doctor and serve what it is for', () =>
    inFolder(async (cwd) => {
      const ahead = await openCairn({ database: join(cwd, 'cairn.db'), clock_offset_ms: () => 400 * 86_400_000 });
      await ahead.remember('from the future');
      await ahead.close();
      const sick = await cairn(['doctor'], { cwd });
      expect(sick.code).toBe(1);
      expect(sick.stdout).toMatch(/✗ default: recorded times are not ahead of the clock\n +.*400 days ahead/);
      const server = await serveCairn([], { cwd });
      expect((await server.stop()).stderr).toMatch(/^warning: .*400 days ahead.*`cairn clock recover`\n$/);
      const recovered = await cairn(['clock', 'recover'], { cwd });
      expect(recovered).toMatchObject({ code: 0, stderr: '' });
      expect(recovered.stdout).toMatch(
        /^default: continues at \S+Z; as_of from then until \S+Z fails with AMBIGUOUS_TIME\n/,
      );
      expect(recovered.stdout).toContain('STREAM_RESET');
      expect((await cairn(['clock', 'recover'], { cwd })).stdout).toContain('nothing to recover');
      expect((await cairn(['doctor'], { cwd })).stdout).toContain('The store is healthy.');
      expectOneLine(await cairn(['clock', 'recover', '-d', 'typo.db'], { cwd }), 'there is no file typo.db');
    }));
});

describe('tail', () => {
  it('shows history and what other processes write, one line each, and ends with 0', () =>
    inFolder(async (cwd) => {
      await cairnProcess(['cards', 'add', '--content', 'hello'], { cwd });
      const tail = startCairn(['tail', '--after', '0'], { cwd });
      await tail.until(/#1 cairn\.card\.added Card /);
      await cairn(
        ['packets', 'write', '--packet-type', 'event', '--payload', '{"n":1}', '--tags', 'a', '--tags', 'b'],
        { cwd },
      );
      await tail.until(/#2 event \[a, b\] \{"n":1\}\n/);
      const { code, stdout } = await tail.stop('SIGINT');
      expect(code).toBe(0);
      expect(stdout.trimEnd().split('\n')).toHaveLength(2);
    }));

  it('follows a server, filtered by type, as JSON', () =>
    inFolder(async (cwd) => {
      const server = await serveCairn([], { cwd });
      const env = { CAIRN_URL: server.url };
      const tail = startCairn(['tail', '--after', '0', '--type', 'cairn.box.*', '--json'], { cwd, env });
      await cairnProcess(['cards', 'add', '--content', 'hello'], { cwd, env });
      await cairnProcess(['boxes', 'create'], { cwd, env });
      const line = (await tail.until(/\n/)).trim();
      expect(JSON.parse(line)).toMatchObject({ packet_type: 'cairn.box.created', seq: 2 });
      expect((await tail.stop()).code).toBe(0);
      await server.stop();
    }));
});

describe('generated commands', () => {
  it(
    'write and read cards, boxes and packets, on a file and through a server',
    () =>
      inFolder(async (cwd) => {
        const server = await serveCairn(['--database', 'served.db'], { cwd });
        for (const env of [{}, { CAIRN_URL: server.url }] as Record<string, string>[]) {
          const ok = async (...args: string[]) => json(await cairn(args, { cwd, env }));
          const card = await ok('cards', 'add', '--content', 'hello', '--author', '42', '--ttl-seconds', '60');
          expect(card).toMatchObject({ content: 'hello', author_id: '42', ttl_seconds: 60 });
          await ok('cards', 'add', '--card', 'c2', '--content', '{"a":[1]}', '--metadata', '{"role":"user"}');
          expect(await ok('cards', 'get', 'c2')).toMatchObject({ content: { a: [1] } });
          await ok('boxes', 'create', '--box', 'b', '--card-ids', `${String(card.card_id)},c2`);
          expect(await ok('boxes', 'load', 'b', '--limit', '1')).toMatchObject({ length: 2, card_ids: ['c2'] });
          const write = ['packets', 'write', '--packet-type', 'event', '--payload', '{}'];
          const first = await ok(...write, '--tags', 'x', '--idempotency-key', 'once');
          expect(await ok(...write, '--tags', 'x', '--idempotency-key', 'once')).toEqual(first);
          expect(await ok('packets', 'list', '--tag', 'x')).toMatchObject({ total: 1 });
          expect(await ok('packets', 'get', first.packet_id as string)).toMatchObject({ packet_type: 'event' });
          expect(await cairn(['cards', 'delete', 'c2'], { cwd, env })).toMatchObject({ code: 0, stdout: '' });
        }
        await server.stop();
      }),
    90_000,
  );
});

describe('flags of generated commands', () => {
  it('are true alone, and take false', () =>
    inFolder(async (cwd) => {
      const ok = async (...args: string[]) => json(await cairn(args, { cwd }));
      await ok('executions', 'create', '--execution', 'run');
      for (const [id, success] of [
        ['went-well', true],
        ['failed', false],
      ] as const) {
        const snapshot = state({ completed: [toolCall('shell', { success })] });
        const args = ['--checkpoint', id, '--name', id, '--snapshot', JSON.stringify(snapshot)];
        await ok('checkpoints', 'create', '--execution', 'run', ...args);
      }
      const list = ['checkpoints', 'list', '--tool', 'shell'];
      expect(await ok(...list, '--tool-success', 'false')).toMatchObject({ checkpoints: [{ id: 'failed' }] });
      expect(await ok(...list, '--tool-success=false')).toMatchObject({ total: 1 });
      expect(await ok(...list, '--tool-success')).toMatchObject({ checkpoints: [{ id: 'went-well' }] });
      const prune = ['executions', 'prune', 'run', '--dry-run'];
      expect(await ok(...prune, '--keep-named')).toMatchObject({ removed: 0 });
      expect(await ok(...prune, '--keep-named', 'false')).toMatchObject({ removed_checkpoint_ids: ['went-well'] });
    }));
});

describe('demo and tree', () => {
  it('fill a store with a run, and draw it with its budgets', () =>
    inFolder(async (cwd) => {
      const env = { CAIRN_DATABASE: './cairn-demo.db' };
      await cairn(['migrate'], { cwd, env });
      const empty = await cairn(['tree'], { cwd, env });
      expect(empty.stdout).toContain('There is no trajectory yet.');
      const filled = await cairn(['demo'], { cwd });
      expect(filled).toMatchObject({ code: 0, stderr: '' });
      expect(filled.stdout).toContain('cairn tree --database ./cairn-demo.db');
      const drawn = await cairn(['tree'], { cwd, env });
      expect(drawn).toMatchObject({ code: 0, stderr: '' });
      // A guide shows this picture.
      const guide = readFileSync(join(ROOT, 'docs/guides/embedding.md'), 'utf8');
      expect(guide).toContain(drawn.stdout.trimEnd());
      const id = /[0-9a-f-]{36}/.exec((await cairn(['tree', '--ids'], { cwd, env })).stdout)![0];
      expect((await cairn(['tree', id], { cwd, env })).stdout).toBe(drawn.stdout);
      const doctor = await cairn(['doctor'], { cwd, env });
      expect(doctor.stdout).toContain('The store is healthy.');
      expectOneLine(await cairn(['tree', 'no-uuid'], { cwd, env }), 'trajectory_id', 'must be a UUID');
    }));

  it('CLI-4 demo leaves the store of the user alone, and refuses to fill its own a second time', () =>
    inFolder(async (cwd) => {
      await cairn(['remember', 'mine'], { cwd });
      const mine = json(await cairn(['packets', 'list'], { cwd }));
      const env = { CAIRN_DATABASE: './cairn.db', CAIRN_URL: 'http://127.0.0.1:9', CAIRN_TENANT: 'mine' };
      expect(await cairn(['demo'], { cwd, env })).toMatchObject({ code: 0, stderr: '' });
      expect(json(await cairn(['packets', 'list'], { cwd }))).toEqual(mine);
      const file = ['--database', './cairn-demo.db'];
      const before = json(await cairn(['packets', 'list', ...file], { cwd }));
      expectOneLine(
        await cairn(['demo'], { cwd }),
        './cairn-demo.db already holds the demo',
        '--database',
        'STATE_CONFLICT',
      );
      expect(json(await cairn(['packets', 'list', ...file], { cwd }))).toEqual(before);
      // One that was named is filled beside what it has, without rules for all of it, and once as well.
      expect(await cairn(['demo', '-d', 'cairn.db'], { cwd })).toMatchObject({ code: 0, stderr: '' });
      expectOneLine(await cairn(['demo', '-d', 'cairn.db'], { cwd }), 'cairn.db already holds the demo');
      const { stdout: source } = await cairn(['dsl', 'export'], { cwd });
      expect(source).toMatch(/^profile tester \{[\s\S]*^handover Trial \{/m);
      expect(source).not.toMatch(/settings|policy/);
    }));

  it('CLI-4 demo changes no agent or profile that has the name of one of its own', () =>
    inFolder(async (cwd) => {
      const agent = ['--agent', 'builder', '--agent-type', 'mason', '--capabilities', 'build'];
      await cairn(['agents', 'register', ...agent], { cwd });
      const before = (await cairn(['dsl', 'export'], { cwd })).stdout;
      expectOneLine(
        await cairn(['demo', '-d', 'cairn.db'], { cwd }),
        'cairn.db already has another agent builder',
        'STATE_CONFLICT',
      );
      expect((await cairn(['dsl', 'export'], { cwd })).stdout).toBe(before);
    }));

  it('CLI-5 every agent_turn of the demo can be replayed, and the command that demo shows does it', () =>
    inFolder(async (cwd) => {
      const { stdout } = await cairn(['demo'], { cwd });
      const file = ['--database', './cairn-demo.db'];
      const { agent_turns } = json(await cairn(['agent-turns', 'list', ...file], { cwd })) as {
        agent_turns: { agent_turn_id: string }[];
      };
      expect(agent_turns).toHaveLength(4);
      for (const { agent_turn_id } of agent_turns) {
        const replayed = json(await cairn(['agent-turns', 'replay', agent_turn_id, ...file], { cwd }));
        expect(JSON.stringify(replayed.messages)).toMatch(/Review the login link|Log in with/);
      }
      const shown = / {2}cairn (agent-turns replay .*)\n/.exec(stdout)![1]!;
      expect(json(await cairn(shown.split(' '), { cwd }))).toMatchObject({ step: 1 });
    }));
});

describe('pauses', () => {
  it('CLI-6 are listed as lines, and answered with the action as an argument', () =>
    inFolder(async (cwd) => {
      await cairn(['executions', 'create', '--execution', 'run-1'], { cwd });
      const words = ['--question', 'Deploy to production?', '--choices', 'yes,no', '--timeout-ms', '3600000'];
      const asked = await cairn(['pauses', 'create', '--execution', 'run-1', ...words], { cwd });
      const { pause_id } = json(asked) as { pause_id: string };
      const { stdout } = await cairn(['pauses', 'list', '--status', 'open'], { cwd });
      expect(stdout.split('\n')).toEqual([
        expect.stringMatching(
          `^${pause_id} {2}open {2}asked by agent \\d+ s ago, manual, 59 min left, then it expires$`,
        ),
        '  Deploy to production?',
        '  of execution run-1',
        '  choices: yes, no',
        '  answers: approve, reject, modify, continue, retry, cancel',
        '',
      ]);
      expectOneLine(
        await cairn(['pauses', 'answer', pause_id, 'maybe'], { cwd }),
        'Allowed choices are approve, reject',
      );
      expectOneLine(await cairn(['pauses', 'answer', pause_id, 'approve'], { cwd }), 'choice is required');
      const given = ['--value', '{"to":"staging"}', '--comment', 'Not yet.'];
      const answered = await cairn(['pauses', 'answer', pause_id, 'modify', ...given], { cwd });
      expect(answered.stdout).toMatch(/ {2}modify: \{"to":"staging"\}: Not yet\. by a person, 20/);
      expectOneLine(await cairn(['pauses', 'answer', pause_id, '--choice', 'yes'], { cwd }), 'already answered');
      expect(json(await cairn(['pauses', 'list', '--json'], { cwd }))).toMatchObject({
        pauses: [{ pause_id, answer: { action: 'modify', value: { to: 'staging' }, comment: 'Not yet.' } }],
      });
      expect(await cairn(['pauses', 'list', '--status', 'open'], { cwd })).toMatchObject({ stdout: 'no pauses\n' });
    }));

  const askedOn = async (details: unknown, more: readonly string[] = []): Promise<string[]> => {
    let lines: string[] = [];
    await inFolder(async (cwd) => {
      await cairn(['executions', 'create', '--execution', 'run-1', '--agent', 'builder'], { cwd });
      const words = ['--question', 'May I?', '--trigger', 'tool_confirmation', '--details', JSON.stringify(details)];
      const asked = await cairn(['pauses', 'create', '--execution', 'run-1', ...words, ...more], { cwd });
      expect(asked).toMatchObject({ code: 0, stderr: '' });
      const { stdout } = await cairn(['pauses', 'list'], { cwd });
      lines = stdout.trimEnd().split('\n');
    });
    return lines;
  };

  it('CLI-6 show what is to be approved: tool and arguments, run, and who is asked', async () => {
    const [head, ...lines] = await askedOn(
      { tool: 'deploy', arguments: { branch: 'main', force: true }, thread_id: 't-7', interrupt_id: 'i-1' },
      ['--to-agent-type', 'lead'],
    );
    expect(head).toMatch(/asked by \w+ \d+ s ago, tool_confirmation$/);
    expect(lines).toEqual([
      '  May I?',
      '  of execution run-1',
      '  to any agent of type lead',
      '  arguments: {"branch":"main","force":true}',
      '  interrupt_id: i-1',
      '  thread_id: t-7',
      '  tool: deploy',
      expect.stringMatching(/^ {2}answers: approve/),
    ]);
  });

  it('CLI-6 show details within bounds, say what is left out, and repeat no question', async () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`field_${i + 10}`, i]));
    const lines = await askedOn({ value: 'May I?', a: 'x'.repeat(5000), ['b'.repeat(500)]: 1, ...many });
    const details = lines.slice(3, -1);
    expect(details[0]).toMatch(/^ {2}a: x{499}… \(5,000 characters\)$/);
    expect(details[1]).toMatch(/^ {2}b{59}…: 1$/);
    expect(details.slice(2, 20)).toEqual(Array.from({ length: 18 }, (_, i) => `  field_${i + 10}: ${i}`));
    expect(details.slice(20)).toEqual(['  … and 12 more: --json prints all']);
  });

  it('CLI-6 details control no terminal, break no line and turn no text around', async () => {
    const lines = await askedOn({
      arguments: { note: '\u2066x\u2069\u009b1m' },
      file: 'exe.\u202egnp\u202c',
      'to\u001b[2Jol': 'a\n  answers: approve\u001b[31m',
    });
    expect(lines.slice(3, -1)).toEqual([
      '  arguments: {"note":"\ufffdx\ufffd\ufffd1m"}',
      '  file: exe.\ufffdgnp\ufffd',
      '  to\ufffd[2Jol: a\ufffd  answers: approve\ufffd[31m',
    ]);
  });

  it('CLI-6 control no terminal: neither a question nor an error that quotes its choices', () =>
    inFolder(async (cwd) => {
      await cairn(['executions', 'create', '--execution', 'run-1'], { cwd });
      const words = ['--question', 'Go \u001b[2Jon?', '--choices', '\u001b[31myes'];
      const { pause_id } = json(await cairn(['pauses', 'create', '--execution', 'run-1', ...words], { cwd })) as {
        pause_id: string;
      };
      const shown = await cairn(['pauses', 'list'], { cwd });
      const refused = await cairn(['pauses', 'answer', pause_id, '--choice', 'no'], { cwd });
      expectOneLine(refused, 'must be one of \ufffd[31myes');
      expect(`${shown.stdout}${refused.stderr}`).not.toContain('\u001b');
    }));
});

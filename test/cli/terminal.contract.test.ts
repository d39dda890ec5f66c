/** What commands print, and to whom: colours only where they are wanted, and quiet when the reader goes. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { redrawsLines, showsColors } from '#cairn/cli/terminal.js';
import { cairn, inFolder, ROOT, run } from '../support/run.js';

const CAIRN = join(ROOT, 'bin/cairn.js');
const ESCAPE = '\u001b';

/** Runs a command whose output nobody reads: both ends of the pipe are closed before it writes. */
function unread(args: readonly string[], cwd: string): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [CAIRN, ...args], { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdout.destroy();
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), 25_000);
  return new Promise((done) =>
    child.once('close', (code) => {
      clearTimeout(timer);
      // How far it is, is said there as well.
      done({ code, stderr: stderr.replace(/^\d+ %, .*\n/gm, '') });
    }),
  );
}

describe('CLI-1 colours', () => {
  it('CLI-1 are for terminals, but not with NO_COLOR or TERM=dumb', () => {
    const terminal = { isTTY: true };
    expect(showsColors(terminal, {})).toBe(true);
    expect(showsColors(terminal, { TERM: 'xterm' })).toBe(true);
    // As no-color.org has it: an empty one is none.
    expect(showsColors(terminal, { NO_COLOR: '' })).toBe(true);
    for (const NO_COLOR of ['1', '0', 'false']) expect(showsColors(terminal, { NO_COLOR })).toBe(false);
    expect(showsColors(terminal, { TERM: 'dumb' })).toBe(false);
    expect(showsColors({}, {})).toBe(false);
    expect(redrawsLines(terminal, { NO_COLOR: '1' })).toBe(true);
    expect(redrawsLines(terminal, { TERM: 'dumb' })).toBe(false);
    expect(redrawsLines({ isTTY: false }, {})).toBe(false);
  });

  it.skipIf(!existsSync('/usr/bin/script'))('CLI-1 of every command that has some, on a real terminal', () =>
    inFolder(async (cwd) => {
      await cairn(['demo'], { cwd });
      const database = ['--database', 'cairn-demo.db'];
      const commands = [
        ['tree', ...database],
        ['recall', 'login link', ...database],
        ['reindex', ...database],
        ['demo', '--database', 'other.db'],
      ];
      for (const [i, args] of commands.entries()) {
        const shown = async (env: Record<string, string>) => {
          const words = args.map((word) => `'${word}'`).join(' ');
          const line = `'${process.execPath}' '${CAIRN}' ${words}${args[0] === 'demo' ? `${JSON.stringify(env).length}` : ''}`;
          const { stdout } = await run('/usr/bin/script', ['-qec', line, '/dev/null'], {
            cwd,
            env: { TERM: 'xterm', NO_COLOR: '', ...env },
          });
          return stdout;
        };
        expect(await shown({}), args.join(' ')).toContain(ESCAPE);
        expect(await shown({ TERM: 'dumb' }), args.join(' ')).not.toContain(ESCAPE);
        // A bar is drawn over without a colour.
        // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for
        expect(await shown({ NO_COLOR: '1' }), `${i}`).not.toMatch(/\u001b\[[\d;]*m/);
      }
    }),
  );
});

describe('CLI-2 a reader that goes', () => {
  const commands: readonly string[][] = [
    ['doctor'],
    ['doctor', '--json'],
    ['tree'],
    ['tree', '--ids'],
    ['tail', '--after', '0'],
    ['tail', '--after', '0', '--json'],
    ['notes', 'list'],
    ['packets', 'list'],
    ['recall', 'login link'],
    ['remember', 'a thing'],
    ['keys', 'list'],
    ['migrate'],
    ['reindex'],
    ['demo', '--tenant', 'another'],
    ['executions', 'list'],
    ['serve', '--port', '0'],
    ['--help'],
    ['--version'],
    ['notes', '--help'],
  ];
  it(
    'CLI-2 ends every command quietly, with 0 and its work done',
    () =>
      inFolder(async (cwd) => {
        await cairn(['demo'], { cwd });
        const file = ['--database', 'cairn-demo.db'];
        for (const args of commands) {
          const all = args.some((word) => /^--(help|version)$/.test(word)) ? args : [...args, ...file];
          expect({ args, ...(await unread(all, cwd)) }).toEqual({ args, code: 0, stderr: '' });
        }
        const { stdout } = await cairn(['tree', '--tenant', 'another', ...file], { cwd });
        expect(stdout).toContain('a tester');
      }),
    240_000,
  );

  it('CLI-2 ends mcp, too', () =>
    inFolder(async (cwd) => {
      const child = spawn(process.execPath, [CAIRN, 'mcp'], { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
      child.stdout.destroy();
      let stderr = '';
      child.stderr.on('data', (chunk) => {
        stderr += chunk;
      });
      const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
      const timer = setTimeout(() => child.kill('SIGKILL'), 25_000);
      const code = await new Promise((done) => child.once('close', done));
      clearTimeout(timer);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    }));
});

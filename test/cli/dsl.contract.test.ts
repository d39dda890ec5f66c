/** `cairn dsl`, run as its users do. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mistakeLines } from '#cairn/cli/source-mistakes.js';
import { cairn as cairnProcess, commandsOfOneProcess, inFolder, ROOT, run } from '../support/run.js';

const cairn = commandsOfOneProcess();

const TEAM = `// A team
agent Lead { capabilities: [plan], can_delegate_to: [Coder] }
profile Coder { system_prompt: "You write code." }
`;

const FORMATTED = `// A team
agent Lead {
  capabilities: [plan]
  can_delegate_to: [Coder]
}

profile Coder {
  system_prompt: "You write code."
}
`;

const WRONG = 'agent A { capabilities: [a] }\nagnet B {}\n';

describe('cairn dsl', () => {
  it('CLI-7 validates files and stdin without a store', () =>
    inFolder(async (cwd) => {
      writeFileSync(join(cwd, 'team.cairn'), TEAM);
      writeFileSync(join(cwd, 'wrong.cairn'), WRONG);
      expect(await cairnProcess(['dsl', 'validate', 'team.cairn'], { cwd })).toMatchObject({
        code: 0,
        stdout: 'team.cairn: valid, 2 definition(s)\n',
        stderr: '',
      });
      const wrong = '2:1: unknown kind `agnet`: did you mean `agent`?\n';
      expect(await cairnProcess(['dsl', 'validate', 'wrong.cairn', 'team.cairn'], { cwd })).toMatchObject({
        code: 1,
        stdout: 'team.cairn: valid, 2 definition(s)\n',
        stderr: `wrong.cairn:${wrong}`,
      });
      for (const args of [[], ['-']])
        expect(await cairnProcess(['dsl', 'validate', ...args], { cwd, input: WRONG })).toMatchObject({
          code: 1,
          stderr: `stdin:${wrong}`,
        });
      expect(await cairnProcess(['dsl', 'validate'], { cwd, input: ' \n' })).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^cairn: stdin is empty.*\(INVALID_INPUT\)\n$/),
      });
      expect(await cairnProcess(['dsl', 'validate', 'nowhere.cairn'], { cwd })).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^cairn: [^\n]*nowhere\.cairn[^\n]*\n$/),
      });
      expect(existsSync(join(cwd, 'cairn.db'))).toBe(false);
    }));

  it('CLI-7 names files that cannot be read, checks the others, and changes no file that is not UTF-8', () =>
    inFolder(async (cwd) => {
      const latin = Buffer.from('agent "M\xfcller" { capabilities: [x] }', 'latin1');
      writeFileSync(join(cwd, 'latin'), latin);
      writeFileSync(join(cwd, 'nul'), 'agent A { capabilities: [x]\0 }');
      writeFileSync(join(cwd, 'ok'), 'agent A { capabilities: [x] }\n');
      mkdirSync(join(cwd, 'folder'));
      const checked = await cairn(['dsl', 'validate', 'latin', 'folder', 'missing', 'nul', 'ok'], { cwd });
      expect(checked).toMatchObject({ code: 1, stdout: 'ok: valid, 1 definition(s)\n' });
      expect(checked.stderr.trim().split('\n')).toEqual([
        'cairn: latin is not UTF-8: save it in this encoding (INVALID_INPUT)',
        'cairn: folder cannot be read: it is a folder (INVALID_INPUT)',
        'cairn: missing cannot be read: it does not exist (INVALID_INPUT)',
        expect.stringMatching(/^nul:1:28: unexpected U\+0000: remove it/),
      ]);
      const formatted = await cairn(['dsl', 'format', '--write', 'latin', 'ok'], { cwd });
      expect(formatted).toMatchObject({ code: 1, stdout: 'ok\n' });
      expect(readFileSync(join(cwd, 'latin')).equals(latin)).toBe(true);
    }));

  it.skipIf(!existsSync('/dev/zero'))('CLI-7 reads no more of a file than a source may have', () =>
    inFolder(async (cwd) => {
      writeFileSync(join(cwd, 'long'), `#${'x'.repeat(1024 * 1024)}`);
      writeFileSync(join(cwd, 'longest'), `#${'\u4e16'.repeat(1024 * 1024 - 1)}`);
      const checked = await cairnProcess(['dsl', 'validate', '/dev/zero', 'long', 'longest'], { cwd });
      expect(checked).toMatchObject({
        code: 1,
        stdout: 'longest: valid, 0 definition(s)\n',
        stderr: ['/dev/zero', 'long']
          .map((name) => `cairn: ${name} is longer than 1,048,576 characters: split it (INVALID_INPUT)\n`)
          .join(''),
      });
    }),
  );

  it('CLI-7 a caret stands under the mistake', () => {
    const mistake = { line: 2, column: 4, code: 'syntax', message: 'wrong \u001b[31m' } as const;
    expect(mistakeLines('f', 'a\n\t世x y\n', [mistake], true)).toEqual([
      'f:2:4: wrong \ufffd[31m',
      '  2 |  世x y',
      '    |     ^',
    ]);
    const [, line, caret] = mistakeLines('f', `${'a'.repeat(5000)}b`, [{ ...mistake, line: 1, column: 5001 }], true);
    expect(line!.length).toBeLessThan(120);
    expect(line![caret!.indexOf('^')]).toBe('b');
    expect(mistakeLines('f', '', [mistake], true)).toHaveLength(3);
    expect(mistakeLines('f', 'a', [mistake], false)).toEqual(['f:2:4: wrong \ufffd[31m']);
  });

  it.skipIf(!existsSync('/usr/bin/script'))('CLI-7 on a real terminal', () =>
    inFolder(async (cwd) => {
      writeFileSync(join(cwd, 'wrong.cairn'), WRONG);
      const line = `'${process.execPath}' '${join(ROOT, 'bin/cairn.js')}' dsl validate wrong.cairn`;
      const { stdout } = await run('/usr/bin/script', ['-qec', line, '/dev/null'], { cwd, env: { TERM: 'xterm' } });
      expect(stdout.replaceAll('\r', '')).toContain('  2 | agnet B {}\n    | ^\n');
    }),
  );

  it('CLI-7 parses files and stdin without a store', () =>
    inFolder(async (cwd) => {
      writeFileSync(join(cwd, 'team.cairn'), TEAM);
      const parsed = await cairn(['dsl', 'parse', 'team.cairn'], { cwd });
      expect(parsed).toMatchObject({ code: 0, stderr: '' });
      const { definitions, comments } = JSON.parse(parsed.stdout) as {
        definitions: { kind: string; name: string; line: number }[];
        comments: unknown[];
      };
      expect(definitions).toMatchObject([
        { kind: 'agent', name: 'Lead', line: 2 },
        { kind: 'profile', name: 'Coder', line: 3 },
      ]);
      expect(comments).toEqual([{ text: '// A team', line: 1, column: 1 }]);
      for (const args of [[], ['-']])
        expect(await cairn(['dsl', 'parse', ...args], { cwd, input: TEAM })).toEqual(parsed);
      // What it means is not checked.
      expect(await cairn(['dsl', 'parse'], { cwd, input: WRONG })).toMatchObject({ code: 0 });
      expect(await cairn(['dsl', 'parse'], { cwd, input: 'agent A {' })).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/^stdin:1:10: /),
      });
      expect(existsSync(join(cwd, 'cairn.db'))).toBe(false);
    }));

  it('CLI-7 the help shows a command that works', () =>
    inFolder(async (cwd) => {
      const { stdout } = await cairn(['dsl', '--help'], { cwd });
      const words = /Example:\n {2}\$ cairn (dsl .*)\n/.exec(stdout)![1]!.split(' ');
      writeFileSync(join(cwd, words.at(-1)!), TEAM);
      expect(await cairn(words, { cwd })).toMatchObject({ code: 0, stdout: expect.stringContaining('2 definition') });
    }));

  it('CLI-8 without a database, plan names the command that makes one', () =>
    inFolder(async (cwd) => {
      writeFileSync(join(cwd, 'team.cairn'), TEAM);
      expect(await cairn(['dsl', 'plan', 'team.cairn'], { cwd })).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/there is no file \.\/cairn\.db.*`cairn dsl apply`/),
      });
      expect(existsSync(join(cwd, 'cairn.db'))).toBe(false);
    }));

  it('CLI-7 formats, checks and rewrites', () =>
    inFolder(async (cwd) => {
      const file = join(cwd, 'team.cairn');
      writeFileSync(file, TEAM);
      expect(await cairn(['dsl', 'format', 'team.cairn'], { cwd })).toMatchObject({ code: 0, stdout: FORMATTED });
      expect(await cairn(['dsl', 'format'], { cwd, input: TEAM })).toMatchObject({ code: 0, stdout: FORMATTED });
      expect(await cairn(['dsl', 'format', '--check', 'team.cairn'], { cwd })).toMatchObject({
        code: 1,
        stdout: 'team.cairn\n',
      });
      expect(readFileSync(file, 'utf8')).toBe(TEAM);
      expect(await cairn(['dsl', 'format', '--write', 'team.cairn'], { cwd })).toMatchObject({ code: 0 });
      expect(readFileSync(file, 'utf8')).toBe(FORMATTED);
      expect(await cairn(['dsl', 'format', '--check', 'team.cairn'], { cwd })).toMatchObject({ code: 0, stdout: '' });
      writeFileSync(file, 'agent {');
      expect(await cairn(['dsl', 'format', '--write', 'team.cairn'], { cwd })).toMatchObject({ code: 1 });
      expect(readFileSync(file, 'utf8')).toBe('agent {');
    }));

  it('CLI-8, CLI-9 plans, applies, prunes and exports', () =>
    inFolder(async (cwd) => {
      writeFileSync(join(cwd, 'team.cairn'), TEAM);
      const created = '+ profile Coder\n+ agent Lead\n2 to create, 0 to change, 0 to delete, 0 unchanged\n';
      expect(await cairn(['dsl', 'apply', 'team.cairn'], { cwd })).toMatchObject({
        code: 0,
        stdout: `${created}applied\n`,
        stderr: '',
      });
      expect(await cairn(['dsl', 'apply', 'team.cairn'], { cwd })).toMatchObject({
        code: 0,
        stdout: '0 to create, 0 to change, 0 to delete, 2 unchanged\nnothing to do\n',
      });
      const source = 'agent Lead { capabilities: [lead] }';
      const plan =
        '~ agent Lead\n    capabilities: ["plan"] → ["lead"]\n- profile Coder\n0 to create, 1 to change, 1 to delete, 0 unchanged\n';
      expect(await cairn(['dsl', 'plan', '--prune'], { cwd, input: source })).toMatchObject({ code: 0, stdout: plan });
      expect(await cairn(['dsl', 'apply', '--prune'], { cwd, input: source })).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/cannot be undone: confirm it with --yes/),
      });
      expect(await cairn(['dsl', 'apply', '--prune', '--yes'], { cwd, input: source })).toMatchObject({
        code: 0,
        stdout: `${plan}applied\n`,
      });
      const exported = await cairn(['dsl', 'export'], { cwd });
      expect(exported).toMatchObject({ code: 0, stderr: '' });
      expect(exported.stdout).toContain('agent Lead {\n  capabilities: [lead]\n');
      expect(await cairn(['dsl', 'export', '--out', 'all.cairn'], { cwd })).toMatchObject({
        code: 0,
        stdout: 'all.cairn: 1 definition(s)\n',
      });
      expect(readFileSync(join(cwd, 'all.cairn'), 'utf8')).toBe(exported.stdout);
      expect(await cairn(['dsl', 'plan', '--json'], { cwd, input: WRONG })).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/^stdin:2:1: /),
      });
    }));

  it.skipIf(!existsSync('/usr/bin/script'))('CLI-8 asks on a terminal before it deletes', () =>
    inFolder(async (cwd) => {
      writeFileSync(join(cwd, 'team.cairn'), TEAM);
      await cairn(['dsl', 'apply', 'team.cairn'], { cwd });
      writeFileSync(join(cwd, 'less.cairn'), 'agent Lead { capabilities: [plan] }');
      const line = `'${process.execPath}' '${join(ROOT, 'bin/cairn.js')}' dsl apply less.cairn --prune`;
      const answering = (answer: string) =>
        run('/usr/bin/script', ['-qec', line, '/dev/null'], { cwd, env: { TERM: 'xterm' }, input: `${answer}\n` });
      const refused = await answering('n');
      expect(refused.stdout).toContain('cannot be undone. Continue? [y/N]');
      expect(refused.stdout).toContain('nothing was changed');
      expect((await cairn(['profiles', 'list'], { cwd })).stdout).toContain('Coder');
      expect((await answering('y')).stdout).toContain('applied');
      expect((await cairn(['profiles', 'list'], { cwd })).stdout).not.toContain('Coder');
    }),
  );

  it('DSL-17 the demo, exported, applied to an empty tenant and exported again is identical', () =>
    inFolder(async (cwd) => {
      await cairn(['demo'], { cwd });
      const { stdout: source } = await cairn(['dsl', 'export', '--database', 'cairn-demo.db'], { cwd });
      const heads = source.match(/^\w.*(?= \{$)/gm);
      expect(heads).toEqual([
        'settings',
        'profile tester',
        'agent builder',
        'agent reviewer',
        'handover Trial',
        'policy LongConversations',
      ]);
      const other = ['--database', 'other.db'];
      expect(await cairn(['dsl', 'apply', ...other], { cwd, input: source })).toMatchObject({ code: 0 });
      expect((await cairn(['dsl', 'export', ...other], { cwd })).stdout).toBe(source);
      const again = await cairn(['dsl', 'apply', '--prune', ...other], { cwd, input: source });
      expect(again.stdout).toBe('0 to create, 0 to change, 0 to delete, 6 unchanged\nnothing to do\n');
    }));

  it('DSL-17, CLI-9 the export of an empty tenant can be applied', () =>
    inFolder(async (cwd) => {
      await cairn(['dsl', 'apply'], { cwd, input: '// nothing yet' });
      const { stdout: source } = await cairn(['dsl', 'export'], { cwd });
      expect(source).toBe('// no definitions\n');
      expect(await cairn(['dsl', 'apply'], { cwd, input: source })).toMatchObject({
        code: 0,
        stdout: '0 to create, 0 to change, 0 to delete, 0 unchanged\nnothing to do\n',
      });
    }));
});

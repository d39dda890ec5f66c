/** Every example runs as it stands, and the README shows parts of them word for word. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cairn, inFolder, ROOT, run, serveCairn } from '../support/run.js';
import { chatEndpoint } from '../support/stand-ins/chat-endpoint.js';

const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');

const outputs: Readonly<Record<string, readonly (string | RegExp)[]>> = {
  'agent-loop.mjs': ['calls free_hours', 'Free: 9:00, 11:00. Known: No meetings before ten.'],
  'remember.mjs': ['Anna prefers green tea to coffee.', 'it has anna, and is about drink'],
  'first-memory.mjs': [
    'sealed at revision 2 with 2 cards',
    'user: Which pipe material resists chlorine?',
    'assistant: HDPE does.',
    'user: Above 60 °C, too?',
  ],
  'packets.mjs': [
    'came from: event',
    'in the thread: event of generation 0',
    'in the thread: insight of generation 1',
    'with the tag hdpe: event',
  ],
  'over-http.mjs': [
    '1 card about user-7: The user prefers metric units',
    'the same card again: true',
    'refused: CARD_NOT_FOUND',
  ],
  'resume.mjs': [
    'at step 2, 2 messages',
    'step 3 of 4: blog',
    'step 4 of 4: about',
    'done after 4 steps, 480 tokens, 4 checkpoints',
  ],
  'survives-a-kill.mjs': ['Still known: Migrate first, then restart one server at a time.'],
  'task.mjs': ['17 of 8000 tokens used', '2 turns are erased', 'Success, with 1 artifact'],
  'knowledge.mjs': [
    'then: The API answers 500 for auth failures, not 401.',
    'now, version 2: Since May it answers 403.',
    '1 note, from 0 tasks',
  ],
  'context-window.mjs': [
    'full after 5 turns: 90 of 100 tokens',
    'fresh: 0 tokens used, and still known: Wants exports every Monday, and would pay for them.',
  ],
  'branches.mjs': [
    '1 branch: messages changed; variable "index" added; variable "cache" true → false',
    '4 checkpoints elsewhere',
  ],
  'delegation.mjs': [
    'delegation.offered: Review names.sql: is the migration safe?',
    'Completed: It is safe. review.md says: Safe: the column only gets wider.',
  ],
  'langgraph.mjs': ['paused: May I?', 'Migrate, then restart: yes', '4 checkpoints, the last of step 2'],
  'fork-join.mjs': ['completed: Hallo Welt wieder'],
  'follow-events.mjs': ['1 event', '2 event', 'resume', '3 cairn.card.added'],
};

/** Of those whose first run is killed, what it prints until then. */
const killed: Readonly<Record<string, string>> = {
  'resume.mjs': 'at step 0, 0 messages\nstep 1 of 4: pricing\nstep 2 of 4: docs\n',
  'survives-a-kill.mjs': '',
};

describe('examples', () => {
  it('are all listed here', () => {
    expect(readdirSync(join(ROOT, 'examples')).sort()).toEqual(Object.keys(outputs).sort());
  });

  for (const [name, lines] of Object.entries(outputs)) {
    it(`${name} runs, is short, and prints what it should`, () =>
      inFolder(async (cwd) => {
        const path = join(ROOT, 'examples', name);
        expect(readFileSync(path, 'utf8').split('\n').length).toBeLessThan(40);
        const server = name === 'over-http.mjs' ? await serveCairn([], { cwd }) : undefined;
        const endpoint = name === 'agent-loop.mjs' ? await chatEndpoint() : undefined;
        const env: Record<string, string> = {
          ...(server ? { CAIRN_URL: server.url } : {}),
          ...(endpoint ? { OPENAI_BASE_URL: endpoint.url } : {}),
        };
        if (name in killed)
          expect(await run(process.execPath, [path], { cwd })).toMatchObject({
            code: null,
            stdout: killed[name],
          });
        const { code, stdout, stderr } = await run(process.execPath, [path], { cwd, env });
        await server?.stop();
        await endpoint?.close();
        expect({ code, stderr, lines: stdout.trimEnd().split('\n') }).toEqual({ code: 0, stderr: '', lines });
      }));
  }
});

/** What stands between `// #region name` and `// #endregion`, without its indentation. */
function regionOf(path: string, name: string): string {
  const source = readFileSync(join(ROOT, path), 'utf8');
  const region = new RegExp(`^( *)// #region ${name}\\n([\\s\\S]*?)^ *// #endregion`, 'm').exec(source);
  if (!region) throw new Error(`${path} has no region ${name}`);
  return region[2]!.replaceAll(new RegExp(`^${region[1]}`, 'gm'), '').trimEnd();
}

describe('README.md', () => {
  it('shows code from the examples only, word for word', () => {
    const marked = [...readme.matchAll(/<!-- from (\S+)#(\S+) -->\n```js\n([\s\S]*?)\n```/g)];
    expect(marked.length).toBeGreaterThanOrEqual(4);
    expect(readme.match(/```(ts|js|typescript|javascript)\n/g)).toHaveLength(marked.length);
    for (const [, path, name, code] of marked) expect(code).toBe(regionOf(path!, name!));
  });

  it('has curls that work as they stand', () =>
    inFolder(async (cwd) => {
      const curls = [...readme.matchAll(/```sh\n(curl -X POST [\s\S]*?)\n```/g)].map(([, curl]) => curl!);
      const server = await serveCairn([], { cwd });
      const answers: unknown[] = [];
      for (const curl of curls) {
        expect(curl).toContain('http://localhost:8080/');
        const { stdout } = await run('bash', ['-c', curl.replace('http://localhost:8080', server.url)], {
          cwd,
        });
        answers.push(JSON.parse(stdout));
      }
      await server.stop();
      expect(answers).toMatchObject([
        { entity_type: 'Note' },
        { passages: [{ text: 'Anna prefers green tea to coffee.' }] },
        { status: 'ok', error_message: null },
        { name: 'tidy' },
        { results: [] },
      ]);
    }));

  it('lists every setting and every command', () =>
    inFolder(async (cwd) => {
      const texts = await Promise.all(
        [['--help'], ['serve', '--help'], ['cards', 'add', '--help']].map((args) => cairn(args, { cwd })),
      );
      const help = texts.map(({ stdout }) => stdout).join('\n');
      for (const name of new Set(help.match(/\bCAIRN_\w+/g))) expect(readme).toContain(`\`${name}\``);
      const commands = texts[0]!.stdout.split('Commands:')[1]!.matchAll(/^ {2}(\w+) /gm);
      for (const [, name] of commands) if (name !== 'help') expect(readme).toContain(`\`cairn ${name}`);
    }));
});

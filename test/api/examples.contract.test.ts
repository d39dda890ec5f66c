/** Every example compiles under `strict` and runs; README and guides show parts of them word for word. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { inFolder, ROOT, run, serveCairn } from '../support/run.js';
import { chatEndpoint } from '../support/stand-ins/chat-endpoint.js';

/** The pages whose code is tested, with their text. */
const pages = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs/guides'))
    .sort()
    .map((name) => `docs/guides/${name}`),
].map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));

const outputs: Readonly<Record<string, readonly (string | RegExp)[]>> = {
  'agent-loop.ts': ['calls free_hours', 'Free: 9:00, 11:00. Known: No meetings before ten.'],
  'remember.ts': ['Anna prefers green tea to coffee.', 'matched anna; related drink'],
  'updating.ts': ['superseded Hamburg', 'Lena lives in Munich now. (since 2026-03-01; before: Hamburg)'],
  'users.ts': ['Ben reads: The office in Munich closes at eight.', 'acme knows 0 passages', 'Anna reads 2 passages'],
  'forget.ts': ['verified: 2 versions of a Note', 'nothing of it is left', 'CONTENT_ERASED, with the receipt: true'],
  'first-memory.ts': [
    'sealed at revision 2 with 2 cards',
    'user: Which pipe material resists chlorine?',
    'assistant: HDPE does.',
    'user: Above 60 °C, too?',
  ],
  'packets.ts': [
    'derived from: event',
    'in the thread: event of generation 0',
    'in the thread: insight of generation 1',
    'with the tag hdpe: event',
  ],
  'over-http.ts': [
    '1 card about user-7: The user prefers metric units',
    'the same card again: true',
    'error: CARD_NOT_FOUND',
  ],
  'resume.ts': [
    'at step 2, 2 messages',
    'step 3 of 4: blog',
    'step 4 of 4: about',
    'done after 4 steps, 480 tokens, 4 checkpoints',
  ],
  'survives-a-kill.ts': ['Found again: Migrate first, then restart one server at a time.'],
  'task.ts': ['17 of 8000 tokens used', '2 turns erased', 'Success, with 2 artifacts'],
  'knowledge.ts': [
    'then: The API answers 500 for auth failures, not 401.',
    'now, version 2: Since May it answers 403.',
    '1 note, from 0 tasks',
  ],
  'context-window.ts': [
    'full after 5 turns: 90 of 100 tokens',
    'new scope: 0 tokens used; kept: Wants exports every Monday, and would pay for them.',
  ],
  'branches.ts': [
    '1 branch: messages changed; variable "index" added; variable "cache" true → false',
    '4 checkpoints elsewhere',
  ],
  'delegation.ts': [
    'delegation.offered: Review names.sql: is the migration safe?',
    'Completed: It is safe. review.md says: Safe: the column only gets wider.',
  ],
  'langgraph.ts': ['paused: May I?', 'Migrate, then restart: yes', '4 checkpoints, the last of step 2'],
  'approval.ts': ['Deploy version 7? staging or production?', 'completed: deployed to staging'],
  'fork-join.ts': ['completed: Hallo Welt wieder'],
  'follow-events.ts': ['1 event', '2 event', 'resume', '3 cairn.card.added'],
};

/** Examples whose first run is killed, with its output until then. */
const killed: Readonly<Record<string, string>> = {
  'resume.ts': 'at step 0, 0 messages\nstep 1 of 4: pricing\nstep 2 of 4: docs\n',
  'survives-a-kill.ts': '',
};

/** Node 20 does not run TypeScript, so the examples are compiled first, against the declarations that the package ships. */
const compiled = join(ROOT, '.cache/examples');

async function compileExamples(): Promise<void> {
  rmSync(compiled, { recursive: true, force: true });
  mkdirSync(compiled, { recursive: true });
  const options = ['--ignoreConfig', '--strict', '--noUncheckedIndexedAccess', '--types', 'node'];
  const form = ['--module', 'nodenext', '--target', 'es2023', '--rootDir', 'examples', '--outDir', compiled];
  const sources = Object.keys(outputs).map((name) => join('examples', name));
  const tsc = [join(ROOT, 'node_modules/typescript/bin/tsc'), ...options, ...form, ...sources];
  expect(await run(process.execPath, tsc, { cwd: ROOT, timeout_ms: 100_000 })).toMatchObject({ code: 0, stdout: '' });
}

describe('examples', () => {
  beforeAll(compileExamples, 120_000);

  it('are all listed here', () => {
    expect(readdirSync(join(ROOT, 'examples')).sort()).toEqual(Object.keys(outputs).sort());
  });

  for (const [name, lines] of Object.entries(outputs)) {
    it(`${name} runs, is short, and prints what it should`, () =>
      inFolder(async (cwd) => {
        const source = readFileSync(join(ROOT, 'examples', name), 'utf8');
        expect(source.split('\n').length).toBeLessThan(40);
        const path = join(compiled, name.replace(/\.ts$/, '.js'));
        const server = name === 'over-http.ts' ? await serveCairn([], { cwd }) : undefined;
        const endpoint = name === 'agent-loop.ts' ? await chatEndpoint() : undefined;
        const env: Record<string, string> = {
          ...(server ? { CAIRN_URL: server.url } : {}),
          ...(endpoint ? { OPENAI_BASE_URL: endpoint.url } : {}),
        };
        if (name in killed)
          expect(await run(process.execPath, [path], { cwd })).toMatchObject({ code: null, stdout: killed[name] });
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

describe('README and guides', () => {
  it('show code from the examples only, word for word', () => {
    const marker = /<!-- from (\S+)#(\S+) -->\n```ts\n([\s\S]*?)\n```/g;
    const marked = pages.flatMap(({ text }) => [...text.matchAll(marker)]);
    const fences = pages.flatMap(({ text }) => text.match(/```(ts|js|typescript|javascript)\n/g) ?? []);
    expect(marked.length).toBeGreaterThanOrEqual(10);
    expect(fences).toHaveLength(marked.length);
    for (const [, path, name, code] of marked) expect(code).toBe(regionOf(path!, name!));
  });

  it('have curls that work as they stand', () =>
    inFolder(async (cwd) => {
      const curls = pages.flatMap(({ path, text }) =>
        [...text.matchAll(/```sh\n(curl -X POST [\s\S]*?)\n```/g)].map(([, curl]) => ({ path, curl: curl! })),
      );
      const server = await serveCairn([], { cwd });
      const answers: Record<string, unknown[]> = {};
      for (const { path, curl } of curls) {
        expect(curl).toContain('http://localhost:8080/');
        const local = curl.replaceAll('http://localhost:8080', server.url);
        const { stdout } = await run('bash', ['-c', local], { cwd });
        (answers[path] ??= []).push(JSON.parse(stdout));
      }
      await server.stop();
      expect(answers).toMatchObject({
        'docs/guides/context-windows.md': [{ name: 'tidy' }, { results: [] }],
        'docs/guides/server.md': [
          { entity_type: 'Note' },
          { passages: [{ text: 'Anna prefers green tea to coffee.' }] },
          { status: 'ok', error_message: null },
        ],
      });
    }));
});

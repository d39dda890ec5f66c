/** `cairn mcp` on a real file: the official client over stdio, both handshakes, several processes, every way to end. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCairn } from '#cairn/cairndb.js';
import { toolsIn } from '#cairn/mcp/tools.js';
import { type Connected, connectMcp, sayToMcp, textOf, withMcp } from '../support/mcp.js';
import { cairn, inFolder, serveCairn } from '../support/run.js';

const REVISION = '2026-07-28';
const remembering = (text: string) => ({ name: 'remember', arguments: { text } });

/** What a file has, read by the library. */
async function textsIn(folder: string): Promise<string[]> {
  const store = await openCairn({ database: join(folder, 'cairn.db') });
  try {
    const { notes } = await store.notes.list({ limit: 500 });
    return notes.map(({ content }) => content as string).sort();
  } finally {
    await store.close();
  }
}

describe('tools', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'cairn-mcp-'));
  let mcp: Connected;
  beforeAll(async () => {
    mcp = await connectMcp({ cwd, revision: REVISION });
  });
  afterAll(async () => {
    await mcp.client.close();
    rmSync(cwd, { recursive: true, force: true });
  });

  it('MCP-1 are those of the table, the same by either handshake', async () => {
    const old = await withMcp({ cwd }, ({ client }) => client.listTools());
    const now = await mcp.client.listTools();
    expect(mcp.client.getServerVersion()).toMatchObject({ name: 'cairn' });
    expect(mcp.client.getInstructions()).toContain('Recall before');
    expect(now.tools).toEqual(old.tools);
    expect(now.tools.map(({ name }) => name)).toEqual(toolsIn().map(({ mcp }) => mcp.tool));
    const tool = (name: string) => now.tools.find((one) => one.name === name)!;
    expect(tool('remember')).toMatchObject({
      inputSchema: { type: 'object', required: ['text'], additionalProperties: false },
      outputSchema: { type: 'object' },
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
    });
    expect(tool('recall').annotations).toMatchObject({ readOnlyHint: true, idempotentHint: true });
  });

  it('MCP-2 answer as text and as data that their schema fits', async () => {
    // The client checks data by the schemas that it has seen.
    await mcp.client.listTools();
    const kept = await mcp.call('remember', { text: 'Anna prefers tea', tags: ['people'] });
    expect(kept.isError).toBeUndefined();
    expect(kept.structuredContent).toMatchObject({ entity_type: 'Note' });
    const { id } = kept.structuredContent as { id: string };
    expect(textOf(kept)).toContain(id);
    const found = await mcp.call('recall', { query: 'which tea does Anna drink' });
    const { passages } = found.structuredContent as { passages: object[] };
    expect(passages[0]).toMatchObject({ id, text: 'Anna prefers tea' });
    expect(textOf(found)).toMatch(new RegExp(`^1. Anna prefers tea\\n.*${id}.*score`));
    const { trajectory_id } = kept.structuredContent as { trajectory_id: string };
    for (const format of ['markdown', 'messages']) {
      const context = await mcp.call('assemble', { trajectory_id, format, user_input: 'Which tea?' });
      const { manifest_id } = context.structuredContent as { manifest_id: string };
      for (const part of ['Anna prefers tea', 'Which tea?', manifest_id]) expect(textOf(context)).toContain(part);
    }
    for (const { mcp: tool, example } of toolsIn())
      expect(textOf(await mcp.call(tool.tool, { ...example }))).not.toBe('');
  });

  it('UPD-1 UPD-2 MCP-2 tell a model what a new value replaced, when remembered and when recalled', async () => {
    const first = await mcp.call('remember', { text: 'Lena lives in Hamburg.', occurred_at: '2024-05-01' });
    expect(textOf(first)).toMatch(/^Remembered as note \S+: added\.$/);
    const { id } = first.structuredContent as { id: string };
    const second = await mcp.call('remember', { text: 'Lena lives in Munich now.', occurred_at: '2026-03-01' });
    expect(textOf(second)).toMatch(/: superseded\.\nIt replaces "Hamburg" \(2024-05-01, note (\S+)\)\.$/);
    expect(textOf(second)).toContain(id);
    const found = await mcp.call('recall', { query: 'where does Lena live' });
    expect(textOf(found)).toContain('1. Lena lives in Munich now. (since 2026-03-01; before: Hamburg)');
  });

  it('FORGET-7 MCP-2 show a model what a query finds beside its id, and tell what was forgotten', async () => {
    const kept = await mcp.call('remember', { text: 'The code of the garage is 4711.' });
    const { id } = kept.structuredContent as { id: string };
    const found = await mcp.call('forget', { query: 'garage code', dry_run: true });
    const lines = textOf(found).split('\n');
    expect(lines[0]).toBe('Nothing is erased yet. Forget these by their ids, and only those that are meant:');
    expect(lines[1]).toMatch(new RegExp(`^note ${id}, confidence [\\d.]+: The code of the garage is 4711\\.$`));
    const planned = await mcp.call('forget', { ids: [id], dry_run: true });
    const day = new Date().toISOString().slice(0, 10);
    expect(textOf(planned)).toBe(
      `Nothing is erased yet. Would erase: 1 note.\nnote ${id} (named), ${day}, The code of the garage is 4711.`,
    );
    const forgotten = await mcp.call('forget', { ids: [id] });
    expect(textOf(forgotten)).toMatch(/^Forgot 1 note \((verified|pending)\)\.\nnot covered: .*\nreceipt \S+$/);
  });

  it('MCP-3 name what is wrong with an input, and go on', async () => {
    const before = await textsIn(cwd);
    const refused = await mcp.call('remember', { txt: 'Anna prefers tea', tags: 7 });
    expect(refused.isError).toBe(true);
    for (const part of ['INVALID_INPUT', 'text', '"txt"', 'tags']) expect(textOf(refused)).toContain(part);
    expect(refused._meta).toMatchObject({ 'cairn/error': { code: 'INVALID_INPUT' } });
    expect((await mcp.call('remember', { text: 'x'.repeat(2 ** 21) })).isError).toBe(true);
    await expect(mcp.call('lose')).rejects.toThrow(/no tool "lose": the tools are remember, recall, forget, assemble/);
    expect((await mcp.call('remember', { text: 'still here' })).isError).toBeUndefined();
    expect(await textsIn(cwd)).toEqual([...before, 'still here'].sort());
  });
});

describe('several at once', () => {
  it('MCP-4 lose nothing that was acknowledged, though all of them are killed', () =>
    inFolder(async (cwd) => {
      const editors = await Promise.all(
        Array.from({ length: 4 }, (_, i) => connectMcp(i % 2 ? { cwd } : { cwd, revision: REVISION })),
      );
      const texts = editors.map((_, i) => Array.from({ length: 20 }, (_, n) => `fact ${n} of editor ${i}`));
      const answers = await Promise.all(
        editors.flatMap(({ call }, i) => texts[i]!.map((text) => call('remember', { text }))),
      );
      for (const { pid } of editors) process.kill(pid, 'SIGKILL');
      expect(answers.filter(({ isError }) => isError).map(textOf)).toEqual([]);
      expect(await textsIn(cwd)).toEqual(texts.flat().sort());
      await Promise.all(editors.map(({ client }) => client.close()));
    }));
});

describe('ending', () => {
  const texts = Array.from({ length: 20 }, (_, i) => `fact ${String(i).padStart(2, '0')}`);

  it('MCP-5 answers all that was asked before its input ended, and ends with 0', () =>
    inFolder(async (cwd) => {
      const { code, answers, stderr } = await sayToMcp(cwd, texts.map(remembering));
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(answers.map(({ id }) => id).sort((a, b) => a - b)).toEqual([0, ...texts.map((_, i) => i + 1)]);
      expect(await textsIn(cwd)).toEqual(texts);
    }));

  it('MCP-5 answers all that it has read when it is told to end', () =>
    inFolder(async (cwd) => {
      const { code, answers, stderr } = await sayToMcp(cwd, texts.map(remembering), 'SIGTERM');
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const acknowledged = answers.filter(({ id, result }) => id > 0 && !result?.isError);
      expect(acknowledged).toHaveLength(texts.length);
      expect(await textsIn(cwd)).toEqual(texts);
    }));
});

describe('settings', () => {
  it('MCP-6 lead to a server as well, and what is wrong there is an answer', () =>
    inFolder(async (cwd) => {
      const server = await serveCairn([], { cwd });
      await withMcp({ cwd, args: ['--url', server.url] }, async ({ call }) => {
        expect((await call('remember', { text: 'Anna prefers tea' })).isError).toBeUndefined();
        await server.stop();
        const refused = await call('recall', { query: 'tea' });
        expect(refused.isError).toBe(true);
        expect(textOf(refused)).toMatch(/^SERVER_UNREACHABLE: .*cannot be reached/);
      });
      expect(await textsIn(cwd)).toEqual(['Anna prefers tea']);
    }));

  it('MCP-7 say which agent calls and in which trajectory', () =>
    inFolder(async (cwd) => {
      const store = await openCairn({ database: join(cwd, 'cairn.db') });
      const { trajectory_id } = await store.trajectories.create({ name: 'tea' });
      const args = ['--agent', 'editor', '--trajectory', trajectory_id, '--database', '~/cairn.db'];
      await withMcp({ cwd: tmpdir(), args, env: { HOME: cwd } }, async ({ call }) => {
        const kept = await call('remember', { text: 'Anna prefers tea' });
        expect(kept.structuredContent).toMatchObject({ trajectory_id });
        expect(textOf(await call('recall', { query: 'tea' }))).toContain('Anna prefers tea');
        expect((await call('assemble', { query: 'tea' })).structuredContent).toMatchObject({ trajectory_id });
      });
      await store.remember('Ben prefers tea');
      const { notes } = await store.notes.list({ trajectory_id });
      await store.close();
      expect(notes).toMatchObject([{ content: 'Anna prefers tea', agent_id: 'editor' }]);
    }));

  it('MCP-7, USER-3 say for which user the tools are', () =>
    inFolder(async (cwd) => {
      const store = await openCairn({ database: join(cwd, 'cairn.db') });
      await store.remember('Ben prefers tea', { user: 'ben' });
      await withMcp({ cwd, args: ['--user', 'anna'] }, async ({ call }) => {
        await call('remember', { text: 'Anna prefers tea' });
        const recalled = textOf(await call('recall', { query: 'tea' }));
        expect(recalled).toContain('Anna prefers tea');
        expect(recalled).not.toContain('Ben');
        expect(await call('recall', { query: 'tea', user: 'ben' })).toMatchObject({ isError: true });
      });
      const { notes } = await store.notes.list({}, { user: 'anna' });
      await store.close();
      expect(notes).toMatchObject([{ content: 'Anna prefers tea', subject_ids: ['anna'] }]);
    }));

  it('MCP-7 that make no sense are refused in a line, with nothing on stdout', () =>
    inFolder(async (cwd) => {
      const wrong = [
        ['--agent', 'a', '--url', 'http://127.0.0.1:1'],
        ['--database', '.'],
        ['--trajectory', 'nope'],
      ];
      const ran = await Promise.all(wrong.map((args) => cairn(['mcp', ...args], { cwd })));
      for (const { code, stdout, stderr } of ran) {
        expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
        expect(stderr).toMatch(/^cairn: [^\n]*\n$/);
      }
    }));
});

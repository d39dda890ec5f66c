/** What files of checkpoints rest on: names that are safe, writes that are whole, an order that has parents first. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { writeAtomically } from '#cairn/api/files/atomic-file.js';
import { importCheckpoints } from '#cairn/api/files/checkpoint-files.js';
import { fileNameFor } from '#cairn/api/files/file-names.js';
import { parentsFirst } from '#cairn/checkpoints/index.js';
import { anyId } from '#cairn/kernel/contract.js';
import { inFolder } from '../support/run.js';

const ids = fc.oneof(
  fc.constantFrom('a', 'A', 'a.', 'a/b', 'a\\b', '../a', '...', '~', 'con', 'nul.x', 'ä', 'a~', 'x'.repeat(200)),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }).filter((id) => anyId.safeParse(id).success),
);

describe('fileNameFor', () => {
  it('FILE-10 is the id where that is a safe name', () => {
    for (const id of ['cp-1', '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a60', '1f0.0123456789ab', 'a_b', 'x'.repeat(120)])
      expect(fileNameFor(id)).toBe(id);
  });

  it('stays in its directory, is short, and shows some of the id', () => {
    expect(fileNameFor('../../etc/passwd')).toMatch(/^-etc-passwd~[0-9a-f]{32}$/);
    expect(fileNameFor('CP-1')).toMatch(/^CP-1~[0-9a-f]{32}$/);
    fc.assert(
      fc.property(ids, (id) => {
        const path = join('dir', `${fileNameFor(id)}.json`);
        expect([dirname(path), basename(path)]).toEqual(['dir', `${fileNameFor(id)}.json`]);
        expect(path).toMatch(/^dir\/[\w~.-]{1,130}\.json$/);
        expect(path).not.toMatch(/^dir\/(\.|(con|nul)\.)/);
      }),
    );
  });

  it('FILE-10 is never that of another id, also where case makes no difference', () => {
    fc.assert(
      fc.property(ids, ids, (a, b) => {
        fc.pre(a !== b);
        expect(fileNameFor(a).toLowerCase()).not.toBe(fileNameFor(b).toLowerCase());
      }),
      { numRuns: 1000 },
    );
  });
});

describe('writeAtomically', () => {
  it('FILE-10 makes the directory, replaces the file and leaves nothing else', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'a', 'b', 'file.json');
      await writeAtomically(path, 'first, and longer');
      await writeAtomically(path, 'second');
      expect(readFileSync(path, 'utf8')).toBe('second');
      expect(readdirSync(dirname(path))).toEqual(['file.json']);
    }));

  it('FILE-10 leaves nothing behind when it fails', () =>
    inFolder(async (folder) => {
      mkdirSync(join(folder, 'taken'));
      await expect(writeAtomically(join(folder, 'taken'), 'x')).rejects.toThrow();
      expect(readdirSync(folder)).toEqual(['taken']);
    }));

  it('FILE-10 shows a reader one of several whole texts, whoever writes at the same time', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'file');
      const texts = Array.from({ length: 8 }, (_, i) => String(i).repeat(100_000));
      await writeAtomically(path, texts[0]!);
      let writing = true;
      const writes = Promise.all(texts.map((text) => writeAtomically(path, text))).finally(() => {
        writing = false;
      });
      let looks = 0;
      while (writing) {
        expect(texts).toContain(readFileSync(path, 'utf8'));
        looks++;
        await new Promise(setImmediate);
      }
      await writes;
      expect(looks).toBeGreaterThan(0);
    }));
});

describe('parentsFirst', () => {
  const one = (id: string, parent_id?: string, timestamp = 0) => ({ id, parent_id, timestamp });

  it('FILE-11 has every parent before its children, and the same order for the same checkpoints', () => {
    const forests = fc
      .array(fc.record({ parent: fc.nat(), at: fc.nat(3) }), { maxLength: 12 })
      .map((all) =>
        all.map(({ parent, at }, i) =>
          one(`cp-${i}`, parent % (i + 1) === i ? undefined : `cp-${parent % (i + 1)}`, at),
        ),
      );
    fc.assert(
      fc.property(forests, fc.infiniteStream(fc.nat()), (all, numbers) => {
        const keys = new Map(all.map(({ id }) => [id, numbers.next().value as number]));
        const shuffled = all.toSorted((a, b) => keys.get(a.id)! - keys.get(b.id)!);
        const ordered = parentsFirst(shuffled);
        const place = new Map(ordered.map(({ id }, i) => [id, i]));
        expect(place.size).toBe(all.length);
        for (const { id, parent_id } of all) {
          if (parent_id !== undefined) expect(place.get(parent_id)).toBeLessThan(place.get(id)!);
        }
        expect(parentsFirst(all)).toEqual(ordered);
      }),
    );
  });

  it('leaves parents alone that are elsewhere, and takes long lines', () => {
    expect(parentsFirst([one('b', 'elsewhere', 2), one('a', undefined, 1)]).map(({ id }) => id)).toEqual(['a', 'b']);
    const line = Array.from({ length: 20_000 }, (_, i) => one(`${i}`, i === 0 ? undefined : `${i - 1}`, -i));
    expect(parentsFirst(line).map(({ id }) => id)).toEqual(line.map(({ id }) => id));
  });

  it('refuses a circle', () => {
    expect(() => parentsFirst([one('a', 'b'), one('b', 'c'), one('c', 'a')])).toThrow(/descends from itself/);
    expect(() => parentsFirst([one('a', 'a')])).toThrow(/checkpoint a descends from itself/);
  });
});

describe('importCheckpoints checks before it asks the store for anything', () => {
  // Whatever is called on it would end the test with another error than the one expected.
  const untouched = {} as Parameters<typeof importCheckpoints>[0];
  const checkpoint = (more: object = {}) =>
    JSON.stringify({
      version: '1.0.0',
      id: 'cp-1',
      timestamp: 0,
      execution_id: 'run-1',
      agent_id: 'coder',
      metadata: { step_number: 1, tokens_used: 0, duration_ms: 0, checkpoint_reason: 'manual' },
      snapshot: {
        thought_chain: { steps: [] },
        context: { messages: [], variables: {} },
        tool_state: { pending: [], completed: [] },
      },
      ...more,
    });

  it.each<[string, Record<string, string>, string, RegExp]>([
    ['what is no JSON', { 'a.json': checkpoint(), 'b.json': '{' }, 'INVALID_JSON', /b\.json is not JSON/],
    [
      'a wrong field',
      { 'a.json': checkpoint(), 'b.json': checkpoint({ id: 'x', timestamp: -1 }) },
      'INVALID_INPUT',
      /b\.json: .*timestamp/,
    ],
    [
      'an unknown version',
      { 'a.json': checkpoint({ version: '3.0.0' }) },
      'UNSUPPORTED_VERSION',
      /a\.json: .*"3\.0\.0".*0\.9\.0, 1\.0\.0/,
    ],
    [
      'an id twice',
      { 'a.json': checkpoint(), 'b.json': checkpoint() },
      'INVALID_INPUT',
      /a\.json and .*b\.json both have checkpoint cp-1/,
    ],
    [
      'a whole execution',
      { 'a.json': '{"format":"cairn.execution","version":"1.0.0"}' },
      'INVALID_INPUT',
      /a\.json is an execution.*cairn executions import/,
    ],
    [
      'a circle',
      { 'a.json': checkpoint({ parent: { checkpoint_id: 'cp-1' } }) },
      'INVALID_INPUT',
      /descends from itself/,
    ],
  ])('refuses %s, and names the file', (_, files, code, message) =>
    inFolder(async (folder) => {
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
      await expect(importCheckpoints(untouched, folder)).rejects.toMatchObject({
        code,
        message: expect.stringMatching(message),
      });
    }),
  );

  it('refuses bytes that are not UTF-8, and a file that is not there', () =>
    inFolder(async (folder) => {
      const file = join(folder, 'x.json');
      writeFileSync(file, Buffer.from([0x22, 0xff, 0x22]));
      await expect(importCheckpoints(untouched, file)).rejects.toMatchObject({ code: 'INVALID_JSON' });
      await expect(importCheckpoints(untouched, join(folder, 'none'))).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: `there is no file or directory ${join(folder, 'none')}`,
      });
    }));

  it('finds nothing to do in a directory without such files', () =>
    inFolder(async (folder) => {
      for (const name of ['notes.txt', '.hidden.json', '.1234.tmp']) writeFileSync(join(folder, name), '{');
      expect(await importCheckpoints(untouched, folder)).toEqual({ imported: [], present: [] });
    }));
});

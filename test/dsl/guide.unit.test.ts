/** The guide of the language: every block of code is a valid source. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openCairn } from '#cairn/cairndb.js';
import { inFolder, ROOT } from '../support/run.js';

const guide = readFileSync(join(ROOT, 'docs/guides/dsl.md'), 'utf8');
const blocks = [...guide.matchAll(/```cairn\n(.*?)```/gs)].map(([, source]) => source!);

describe('the guide of the DSL', () => {
  it('DSL-1 shows valid sources only', () =>
    inFolder(async (folder) => {
      const cairn = await openCairn({ database: join(folder, 'guide.db') });
      expect(blocks.length).toBeGreaterThan(5);
      for (const source of blocks) {
        const { errors } = await cairn.dsl.validate({ source });
        expect({ source, errors }).toEqual({ source, errors: [] });
      }
      await cairn.close();
    }));
});

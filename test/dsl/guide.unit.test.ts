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

  it.each<[string, RegExp]>([
    ['a comment up to the end of its line', /^\/\/ \w/m],
    ['one of the other sort', /^# \w/m],
    ['one over several lines', /^\/\*[^*]*\n[^*]*\*\//m],
    ['a comment behind something', /\S \/\/ /],
    ['a quoted name of a definition', /^profile "\w+ \w+" \{/m],
    ['a quoted name of a field', /^ +"\w+ \w+": /m],
    ['a text over several lines', /"""\n[\s\S]*?"""/],
    ['escapes of quotes, backslashes, line breaks and by code', /\\".*\\\\.*\\n.*\\u[\da-f]{4}/],
    ['a negative number', /: -\d/],
    ['a fraction', /: \d\.\d/],
    ['an exponent', /: \de-\d/],
    ['a duration', /: \d+[smhd]\b/],
    ['a word with a meaning of its own', /: (?:true|null)/],
    ['a list', /\[\w+, /],
    ['a block without a colon', /^ +\w+ \{/m],
    ['`extends`', /^agent \w+ extends \w+ \{/m],
    ['anyone', /[[ ]\*[\],:]/],
  ])('DSL-1 shows %s', (_what, pattern) => {
    expect(blocks.filter((source) => pattern.test(source))).not.toEqual([]);
  });
});

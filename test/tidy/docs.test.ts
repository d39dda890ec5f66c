/** Docs and code say the same: sizes, error codes, the ids of the spec, and the paths that pages name. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorCodes } from '#cairn/kernel/index.js';
import { conformanceSuites, titlesOf } from './reading/titles.js';
import { foundIn, plant, ROOT, readFiles, readTree, source, type Tree } from './reading/tree.js';

const pages: Tree = new Map([
  ...readFiles(readdirSync(ROOT).filter((name) => name.endsWith('.md'))),
  ...readTree('docs', '.md'),
  ...readTree('src', '.md'),
]);
const tests = readTree('test');

const bytesAbove = (text: string, most: number): number => Math.max(0, Buffer.byteLength(text) - most);

describe('sizes', () => {
  it.each([
    ['README.md', 10 * 1024],
    ['ARCHITECTURE.md', 12 * 1024],
  ])('of %s are at most %i bytes', (page, most) => {
    expect(bytesAbove(pages.get(page)!, most)).toBe(0);
    expect(bytesAbove('é'.repeat(most / 2), most)).toBe(0);
    expect(bytesAbove(`${'é'.repeat(most / 2)}.`, most)).toBe(1);
  });
});

describe('error codes', () => {
  const coded = Object.entries(errorCodes).map(([code, { status, meaning }]) => `${code} ${status} ${meaning}`);
  const documented = (page: string): string[] =>
    [...page.matchAll(/^\| `([A-Z_]+)`\s*\| (\d+)\s*\| (.+?)\s*\| (.+?)\s*\|$/gm)].map(
      ([, code, status, meaning]) => `${code} ${status} ${meaning!.replaceAll('`', '')}`,
    );

  it('are in docs/errors.md with their status and meaning, and nothing else is', () => {
    const page = pages.get('docs/errors.md')!;
    expect(documented(page).sort()).toEqual([...coded].sort());
    expect(documented(`${page}\n| \`PLANTED\` | 418 | what | why |\n`)).toContain('PLANTED 418 what');
  });

  const unused = (codes: readonly string[]): string[] => {
    const text = [...source.values()].join('\n').replace(/\bconst errorCodes = \{[\s\S]*?\} as const;/, '');
    // `notFound(call, 'noun', …)` names the code by its noun; artifacts and notes give it as their kind.
    const nouns = [...text.matchAll(/\b(?:(?:notFound|present)\(\s*[^,]+,\s*|kind: )'([a-z_]+)'/g)];
    const thrown = new Set(nouns.map(([, noun]) => `${noun!.toUpperCase()}_NOT_FOUND`));
    return codes.filter((code) => !thrown.has(code) && !text.includes(`'${code}'`));
  };

  it('are each used', () => {
    expect(unused(Object.keys(errorCodes))).toEqual([]);
    expect(unused(['PLANTED_CODE'])).toEqual(['PLANTED_CODE']);
  });
});

describe('paths in docs', () => {
  /** What commands write. */
  const outputs = ['bench/results.json'];
  /** An ADR tells of its own day, and docs/cli.md shows resources of callers. A path may have wildcards or a placeholder: only what is before it is looked for. */
  const lostPaths = (tree: Tree): string[] =>
    [...tree]
      .filter(([path]) => !path.startsWith('docs/adr/') && !['CHANGELOG.md', 'docs/cli.md'].includes(path))
      .flatMap(([path, text]) =>
        [...text.matchAll(/(?<![\w/.~-])(?:src|test|scripts|bench|examples|docs)\/[\w./<>*-]+/g)]
          .map(([named]) => named.replace(/[^/]*[<*].*$/, '').replace(/[./]+$/, ''))
          .filter((named) => !outputs.includes(named) && !existsSync(join(ROOT, named)))
          .map((named) => `${path} names ${named}`),
      );

  it('lead to files', () => {
    expect(lostPaths(pages)).toEqual([]);
    const planted = { 'docs/planted.md': 'See `test/nowhere/x.test.ts`, `src/kernel/` and `src/*/SPEC.md`.' };
    expect(foundIn(lostPaths, planted, pages)).toEqual(['docs/planted.md names test/nowhere/x.test.ts']);
  });
});

describe('the spec', () => {
  /** A rule is a line that begins with its id, in a list, a table, a heading or in bold. */
  const idsOf = (tree: Tree): string[] =>
    [...tree]
      .filter(([path]) => path === 'SPEC.md' || /^src\/\w+\/SPEC\.md$/.test(path))
      .flatMap(([, text]) => [...text.matchAll(/^[\s|>#*-]*\**`?([A-Z][A-Z0-9]*-\d+)\b/gm)])
      .map((match) => match[1]!);
  const ids = idsOf(pages);

  const idsOfTitle = (title: string): string[] => {
    const head = /^(?:[A-Z][A-Z0-9]*-\d+(?:,\s*|\s+|$))+/.exec(title)?.[0] ?? '';
    return [...head.matchAll(/[A-Z][A-Z0-9]*-\d+/g)].map(([id]) => id);
  };

  const repeated = (tree: Tree): string[] => {
    const all = idsOf(tree);
    return all.filter((id, i) => all.indexOf(id) !== i);
  };

  it('has ids, and each once', () => {
    expect(ids.length).toBeGreaterThan(100);
    expect(repeated(pages)).toEqual([]);
    expect(foundIn(repeated, { 'src/facts/SPEC.md': `- **${ids[0]}** Planted.` }, pages)).toEqual([ids[0]]);
  });

  const wrongTitles = (tree: Tree): string[] =>
    titlesOf(conformanceSuites(tree)).filter((title) => {
      const named = idsOfTitle(title);
      return named.length === 0 || named.some((id) => !ids.includes(id));
    });

  it('knows the id that every title of the conformance suites begins with', () => {
    expect(titlesOf(conformanceSuites(tests)).length).toBeGreaterThan(1000);
    expect(wrongTitles(tests)).toEqual([]);
    const planted = [
      "it('has no id', () => {});",
      "it.each(cases)('NOSUCH-1 has an id that is not there', () => {});",
      "it.each([\n  [1],\n])('CARD-1, NOSUCH-2 has two', () => {});",
      "it('CARD-1 is fine', () => {});",
    ].join('\n');
    expect(foundIn(wrongTitles, { 'test/facts/planted.test.ts': planted }, tests)).toEqual([
      'has no id',
      'NOSUCH-1 has an id that is not there',
      'CARD-1, NOSUCH-2 has two',
    ]);
    const others = ['unit', 'property', 'contract', 'fault'].map((kind) => `test/facts/planted.${kind}.test.ts`);
    expect(foundIn(wrongTitles, Object.fromEntries(others.map((path) => [path, planted])), tests)).toEqual([]);
  });

  const untested = (tree: Tree): string[] => {
    const tested = new Set(titlesOf(tests).flatMap(idsOfTitle));
    return idsOf(tree).filter((id) => !tested.has(id));
  };

  it('has no rule without a test', () => {
    expect(untested(pages)).toEqual([]);
    const planted = plant(pages, { 'src/facts/SPEC.md': '- **PLANTED-1** A rule that no test has.' });
    expect(untested(planted)).toEqual(['PLANTED-1']);
  });
});

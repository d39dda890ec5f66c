/** Measured figures in pages come from the newest file in bench/history, and runs are merged and compared rightly. */
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { wantedOf } from '../../bench/recall/targets.mjs';
import { compare, merge, newest, read } from '../../bench/support/history.mjs';
import { withFigures, withoutFigures } from '../../scripts/figures.mjs';
import { foundIn, ROOT, readFiles, readTree, type Tree } from './reading/tree.js';

const pages: Tree = new Map([
  ...readFiles(readdirSync(ROOT).filter((name) => name === 'README.md')),
  ...readTree('docs', '.md'),
]);
const measured = read(newest()!);
const run = (...figures: object[]) => ({ commit: 'c', machine: { cores: 2 }, databases: {}, figures });
const figure = (what: string, ratio: number, more: object = {}) => ({ target: 'sqlite', what, ratio, ...more });

describe('figures in pages', () => {
  const outdated = (tree: Tree): string[] =>
    [...tree].filter(([, text]) => withFigures(text, measured) !== text).map(([path]) => path);

  it('are those of the newest file in bench/history', () => {
    expect(outdated(pages)).toEqual([]);
    const marked = '<!-- bench:packets.write, 64 callers:sqlite -->99.99 of the rate\n';
    expect(foundIn(outdated, { 'docs/planted.md': marked }, pages)).toEqual(['docs/planted.md']);
    const table = '<!-- table:packets -->\n| packets.write | 99 |\n<!-- /table -->\n';
    expect(foundIn(outdated, { 'docs/planted.md': table }, pages)).toEqual(['docs/planted.md']);
    expect(() => withFigures('<!-- bench:nothing:sqlite -->1', measured)).toThrow('there is no figure sqlite: nothing');
  });

  it('of recall have the targets of the bench, whatever their file says', () => {
    const target = wantedOf('locomo: R@10')!.at_least!;
    const missed = figure('locomo: R@10', 0, {
      item: 'recall',
      ratio: undefined,
      ours: target - 1,
      unit: ' %',
      at_least: 1,
      met: true,
    });
    const table = (name: string) => withFigures(`<!-- table:${name} -->\n<!-- /table -->`, run(missed));
    expect(table('recall')).toContain(`≥ ${target}`);
    expect(table('recall')).not.toMatch(/≥ 1\b/);
    expect(table('missed')).toMatch(new RegExp(`≥ ${target} % *\\| ${target - 1} %`));
  });

  /** Versions, names of parts, what others published, and percentages of them are no figures of ours. */
  const PUBLISHED = /### Published figures[\s\S]*|\| FTS5 with stemming[^|]*\||FTS5 with stemming[^|]*/g;
  const NO_FIGURES = /`[^`\n]*`|```[\s\S]*?```|\b\d+\.\d+\.\d+\b|\b(Node |PostgreSQL |Apache-)\d+\.\d+/g;
  const unmarked = (tree: Tree): string[] =>
    [...tree]
      .filter(([path]) => ['README.md', 'docs/benchmarks.md', 'docs/planted.md'].includes(path))
      .flatMap(([path, text]) =>
        [
          ...withoutFigures(text)
            .replace(PUBLISHED, '')
            .replace(NO_FIGURES, '')
            .matchAll(/\d+\.\d+.{0,20}/g),
        ].map(([found]) => `${path} states ${found}`),
      );

  it('are marked with the figure that they come from', () => {
    expect(unmarked(pages)).toEqual([]);
    const planted = { 'docs/planted.md': 'A write takes 1.25 ms on Node 20.19.' };
    expect(foundIn(unmarked, planted, pages)).toEqual(['docs/planted.md states 1.25 ms on .']);
  });
});

describe('results of the bench', () => {
  it('are merged on one commit and machine: a newer figure replaces the older', () => {
    const before = run(figure('a', 1), figure('b', 2));
    expect(merge(before, run(figure('b', 3), figure('c', 4))).figures).toMatchObject([
      { what: 'a', ratio: 1 },
      { what: 'b', ratio: 3 },
      { what: 'c', ratio: 4 },
    ]);
    expect(merge({ ...before, commit: 'other' }, run(figure('c', 4))).figures).toHaveLength(1);
    expect(merge({ ...before, machine: { cores: 4 } }, run(figure('c', 4))).figures).toHaveLength(1);
  });

  it('move when they change by more than their noise', () => {
    const before = run(figure('a', 1, { noise: 0.1 }), figure('b', 1, { noise: 0.3 }), figure('c', 1));
    const now = run(
      figure('a', 1.2, { noise: 0.1 }),
      figure('b', 1.2, { noise: 0.1 }),
      figure('c', 0.7),
      figure('d', 1),
      figure('e', 1, { skipped: 'it cannot be installed' }),
    );
    expect(compare(before, now).map(({ key, state }) => [key, state])).toEqual([
      ['sqlite: a', 'moved'],
      ['sqlite: b', ''],
      ['sqlite: c', 'moved'],
      ['sqlite: d', 'new'],
    ]);
    expect(compare(before, now)[0]!.change).toBeCloseTo(0.2);
  });
});

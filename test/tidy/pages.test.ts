/** Pages: those that are generated match the code, links lead somewhere, and every command line that they show exists. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { program } from '#cairn/cli/main.js';
import { ROOT, run } from '../support/run.js';

function markdownIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join(folder, path));
}

const paths = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...markdownIn('docs'),
  ...markdownIn('src'),
];
const pages = new Map(paths.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));

/** Without code: a link in it is none. */
const proseOf = (text: string): string => text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '');

/** As GitHub makes them of headings. */
function anchorsOf(text: string): string[] {
  const headings = text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
}

function brokenLinks(path: string, text: string): string[] {
  const links = [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [file, anchor] = link.split('#') as [string, string?];
    const target = file === '' ? path : relative(ROOT, resolve(ROOT, dirname(path), file));
    if (!existsSync(join(ROOT, target))) return true;
    return anchor !== undefined && !anchorsOf(pages.get(target) ?? '').includes(anchor);
  });
}

/** The lines of a page's shell blocks that call `cairn`, each as its words. */
function commandLines(text: string): string[][] {
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block]) => block!);
  return blocks
    .flatMap((block) => block.replaceAll(/\\\n\s*/g, '').split('\n'))
    .flatMap((line) => line.replace(/\s#.*$/, '').split(' && '))
    .map((line) => [...line.matchAll(/'[^']*'|"[^"]*"|\S+/g)].map(([word]) => word))
    .map((words) => (words[0] === 'npx' ? words.slice(1) : words))
    .filter(([first]) => first === 'cairn')
    .map((words) => words.slice(1));
}

/** What is wrong with a command line: an unknown command or flag. */
function faultOf(words: readonly string[], cairn: Command): string | undefined {
  let command = cairn;
  for (const word of words) {
    const next = command.commands.find((child) => child.name() === word);
    if (!next) break;
    command = next;
  }
  if (command.commands.length > 0) return `no command: cairn ${words.join(' ')}`;
  const known = [...command.options, ...cairn.options].flatMap(({ long, short }) => [long, short]);
  const flag = words.find((word) => word.startsWith('-') && word !== '-' && !known.includes(word.split('=')[0]!));
  return flag === undefined ? undefined : `no flag ${flag}: cairn ${words.join(' ')}`;
}

describe('pages', () => {
  it('that are generated match the code', async () => {
    const check = await run(process.execPath, ['scripts/docs.mjs', '--check'], { cwd: ROOT });
    expect(check).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('link to files and headings that exist', () => {
    const broken = [...pages].flatMap(([path, text]) => brokenLinks(path, text).map((link) => `${path}: ${link}`));
    expect(broken).toEqual([]);
    const planted = '[a](docs/nothing.md) [b](docs/errors.md#no-such) [c](docs/errors.md) [d](#here)\n# Here';
    expect(brokenLinks('README.md', planted)).toEqual(['docs/nothing.md', 'docs/errors.md#no-such', '#here']);
  });

  it('show commands that exist, with their flags', () => {
    const cairn = program();
    const lines = [...pages.values()].flatMap(commandLines);
    expect(lines.length).toBeGreaterThan(100);
    expect(lines.map((words) => faultOf(words, cairn)).filter(Boolean)).toEqual([]);
    const planted = '```sh\nnpx cairn serve --prot 1 # a comment\ncairn boxes apend b\ncairn doctor\n```';
    expect(commandLines(planted).map((words) => faultOf(words, cairn))).toEqual([
      'no flag --prot: cairn serve --prot 1',
      'no command: cairn boxes apend b',
      undefined,
    ]);
  });
});

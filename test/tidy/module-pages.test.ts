/** ARCHITECTURE.md and the modules' READMEs name files, folders and rooms that exist. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const src = join(root, 'src');
const modules = readdirSync(src).filter((name) => statSync(join(src, name)).isDirectory());
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Names in a page that look like files of a folder, and are none. */
function missingFiles(text: string, folder: string): string[] {
  return [...text.matchAll(/`([\w./-]+\/[\w.-]*\.(?:ts|mjs|md)|[\w./-]+\/)`/g)]
    .map(([, path]) => path!)
    .filter((path) => ![folder, root, src].some((base) => existsSync(join(base, path))));
}

const isRoom = (module: string, name: string): boolean => statSync(join(src, module, name)).isDirectory();

describe('pages about the code', () => {
  it('name files and folders that exist', () => {
    const pages = modules.map((module) => ({ path: `src/${module}/README.md`, folder: join(src, module) }));
    for (const { path, folder } of [...pages, { path: 'ARCHITECTURE.md', folder: src }])
      expect([path, missingFiles(read(path), folder)]).toEqual([path, []]);
    expect(missingFiles('`memory/turns/` and `memory/nowhere.ts`', src)).toEqual(['memory/nowhere.ts']);
  });

  it.each(modules)('%s lists all its rooms', (module) => {
    const rooms = readdirSync(join(src, module)).filter((name) => isRoom(module, name));
    const page = read(`src/${module}/README.md`);
    expect(rooms.filter((room) => !page.includes(`\`${room}/\``))).toEqual([]);
  });
});

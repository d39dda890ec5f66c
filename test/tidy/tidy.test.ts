/** Style as a test: who imports whom, that every statement names its tenant, and that docs and code say the same. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorCodes } from '#cairn/kernel/errors.js';
import { ORDER, OUTSIDE } from './reading/modules.js';
import { looseChanges, statementsOf, unnamedStatements } from './reading/statements.js';

const root = resolve(import.meta.dirname, '../..');
const src = join(root, 'src');

function filesIn(folder: string, extension = '.ts'): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(extension))
    .map((name) => join(folder, name))
    .sort();
}

const read = (file: string): string => readFileSync(file, 'utf8');
const shown = (file: string): string => relative(root, file);
const modules = filesIn(src);
const tests = filesIn(join(root, 'test'), '.test.ts').filter((file) => dirname(file) !== import.meta.dirname);
const isConformance = (file: string): boolean => /^[^.]+\.test\.ts$/.test(basename(file));

/** What is loaded beside the event loop. */
const THREADS = ['driver/sqlite/long-thread.ts', 'recall/search/job.ts'];

const layerOf = (file: string): string => {
  const path = relative(src, file);
  return path.includes('/') ? path.split('/')[0]! : '.';
};

function importsOf(text: string): string[] {
  const found = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\s(?:[^;'"]*?\sfrom\s+)?['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]/g,
  );
  return [...found].map((match) => (match[1] ?? match[2])!);
}

/** The first cycle found, from a file back to itself. */
function cycleIn(targets: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    path.push(file);
    for (const target of targets.get(file) ?? []) {
      const cycle = visit(target);
      if (cycle) return cycle;
    }
    path.pop();
    done.add(file);
    return undefined;
  };
  for (const file of targets.keys()) {
    const cycle = visit(file);
    if (cycle) return cycle;
  }
  return undefined;
}

describe('imports', () => {
  it('go one way', () => {
    const wrong: string[] = [];
    for (const file of modules) {
      const rank = ORDER.indexOf(layerOf(file));
      for (const target of importsOf(read(file))) {
        if (!target.startsWith('.')) continue;
        const other = layerOf(resolve(dirname(file), target));
        if (rank !== -1 && (OUTSIDE.includes(other) || ORDER.indexOf(other) > rank))
          wrong.push(`${shown(file)} imports ${target}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(modules.length).toBeGreaterThan(40);
  });

  it('bring no schemas to a thread that reads: the first search waits until all of them are loaded', () => {
    const waiting = THREADS.map((path) => join(src, path));
    const seen = new Set<string>();
    const wrong: string[] = [];
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      if (seen.has(file)) continue;
      seen.add(file);
      for (const [, target] of read(file).matchAll(/^(?:import|export)(?! type\b)[^;]*?from '([^']+)'/gm)) {
        if (target === 'zod') wrong.push(shown(file));
        if (target!.startsWith('.')) waiting.push(resolve(dirname(file), target!).replace(/\.js$/, '.ts'));
      }
    }
    expect(wrong).toEqual([]);
    expect(seen.size).toBeGreaterThan(40);
  });

  it('lead to files that are there, so that none was misread', () => {
    const targets = modules.flatMap((file) =>
      importsOf(read(file))
        .filter((target) => target.startsWith('.'))
        .map((target) => resolve(dirname(file), target).replace(/\.js$/, '.ts')),
    );
    expect(targets.filter((target) => !modules.includes(target))).toEqual([]);
    expect(targets.length).toBeGreaterThan(100);
  });

  it('of the kernel are zod and canonical JSON alone, and nothing of Node where a browser may run it', () => {
    const wrong: string[] = [];
    const waiting = ['client/index.ts', 'runtime/index.ts'].map((path) => join(src, path));
    const seen = new Set<string>();
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      if (seen.has(file)) continue;
      seen.add(file);
      for (const [, target] of read(file).matchAll(/^(?:import|export)(?! type\b)[^;]*?from '([^']+)'/gm)) {
        if (target!.startsWith('node:')) wrong.push(`${shown(file)} imports ${target}`);
        if (target!.startsWith('.')) waiting.push(resolve(dirname(file), target!).replace(/\.js$/, '.ts'));
      }
    }
    expect(wrong).toEqual([]);
    expect(seen.size).toBeGreaterThan(40);
  });

  it('form no cycle, types included', () => {
    const targets = new Map(
      modules.map((file) => [
        file,
        importsOf(read(file))
          .filter((target) => target.startsWith('.'))
          .map((target) => resolve(dirname(file), target).replace(/\.js$/, '.ts')),
      ]),
    );
    expect(cycleIn(targets)).toBeUndefined();
    targets.set(modules[0]!, [modules[1]!]).set(modules[1]!, [modules[0]!]);
    expect(cycleIn(targets)).toEqual([modules[0], modules[1], modules[0]]);
  });

  it('know every folder', () => {
    const folders = new Set(modules.map(layerOf));
    expect([...folders].filter((folder) => !['.', ...ORDER, ...OUTSIDE].includes(folder))).toEqual([]);
  });
});

describe('files of src', () => {
  it('say in a first line what they own', () => {
    expect(modules.filter((file) => !read(file).startsWith('/**')).map(shown)).toEqual([]);
  });

  it('have named exports only', () => {
    const wrong = modules.filter((file) => /^export (default\b|\{[^}]*\bas default\b)/m.test(read(file)));
    expect(wrong.map(shown)).toEqual([]);
  });

  it('put signals together in one way: Node 20 forgets time-outs in the other', () => {
    const wrong = modules.filter((file) => /\bAbortSignal\.any\b/.test(read(file)));
    expect(wrong.map(shown)).toEqual(['src/kernel/signals.ts']);
  });

  it('LIB-1 start threads in one place, which hands on no flags of the process', () => {
    const wrong = modules.filter((file) => /\bnew Worker\(/.test(read(file)));
    expect(wrong.map(shown)).toEqual(['src/driver/thread.ts']);
  });

  it('have at most 400 lines', () => {
    const long = modules
      .map((file) => ({ file: shown(file), lines: read(file).trimEnd().split('\n').length }))
      .filter(({ lines }) => lines > 400);
    expect(long).toEqual([]);
  });
});

describe('statements', () => {
  it('name the tenant, unless they rightly cross tenants', () => {
    const files = modules.filter((file) => !file.includes('/driver/'));
    expect(
      files.flatMap((file) => unnamedStatements(read(file)).map((one) => `${shown(file)}: ${one}`)),
    ).toEqual([]);
    const all = files.flatMap((file) => statementsOf(read(file)));
    expect(all.filter(({ touches }) => touches).length).toBeGreaterThan(40);
  });

  it('that change rows begin their condition with the tenant', () => {
    const files = modules.filter((file) => !file.includes('/driver/'));
    expect(files.flatMap((file) => looseChanges(read(file)).map((one) => `${shown(file)}: ${one}`))).toEqual(
      [],
    );
    const source = [
      'const a = sql`UPDATE jobs SET x = 1 WHERE tenant_id = #{tenant} AND y = 2`;',
      'const b = sql`UPDATE jobs SET x = (SELECT 1 WHERE tenant_id = #{tenant}) WHERE y = 2`;',
      'const c = sql`DELETE FROM jobs WHERE y IN (SELECT y FROM z WHERE tenant_id = #{tenant})`;',
      'const d = sql`DELETE FROM jobs`;',
      'const e = sql`UPDATE jobs AS j SET x = 1 WHERE j.tenant_id = #{tenant}`;',
    ]
      .join('\n')
      .replaceAll('#', '$');
    expect(looseChanges(source)).toEqual(['line 2', 'line 3', 'line 4']);
  });

  it('would be found if they did not', () => {
    const source = [
      'const a = sql`SELECT * FROM cards WHERE card_id = #{id}`;',
      'const b = sql`SELECT * FROM cards WHERE tenant_id = #{tenant} AND x IN (#{join(xs.map((x) => sql`#{x}`), ", ")})`;',
      'const c = acrossTenants`SELECT * FROM tenants`;',
      'const d = sql`c.erased_at IS NULL`;',
      'const where = (tenant: string) => sql`tenant_id = #{tenant}`;',
      'const e = sql`DELETE FROM cards WHERE #{where(tenant)}`;',
      'const f = sql`UPDATE cards SET x = #{`y#{id}`} WHERE #{d}`;',
    ]
      .join('\n')
      .replaceAll('#', '$');
    expect(unnamedStatements(source)).toEqual(['line 1', 'line 7']);
    expect(statementsOf(source).map(({ line }) => line)).toEqual([1, 2, 2, 3, 4, 5, 6, 7]);
  });
});

describe('error codes', () => {
  it('are in docs/errors.md with their status, and nothing else is', () => {
    const rows = [
      ...read(join(root, 'docs/errors.md')).matchAll(
        /^\| `([A-Z_]+)`\s*\| (\d+)\s*\| (.+?)\s*\| (.+?)\s*\|$/gm,
      ),
    ];
    const documented = rows.map(([, code, status]) => `${code} ${status}`);
    const coded = Object.entries(errorCodes).map(([code, { status }]) => `${code} ${status}`);
    expect([...documented].sort()).toEqual([...coded].sort());
  });

  it('are each used', () => {
    const text = modules
      .filter((file) => shown(file) !== 'src/kernel/errors.ts')
      .map(read)
      .join('\n');
    expect(Object.keys(errorCodes).filter((code) => !text.includes(`'${code}'`))).toEqual([]);
  });
});

describe('SPEC.md', () => {
  const file = join(root, 'SPEC.md');
  // A rule is a line that begins with its id, in a list, a table, a heading or in bold.
  const ids = existsSync(file)
    ? [...read(file).matchAll(/^[\s|>#*-]*\**`?([A-Z][A-Z0-9]*-\d+)\b/gm)].map((match) => match[1]!)
    : [];
  // A title stands behind `it(`, `it.each(cases)(`, or the end of a table written in place: `])(`.
  const titlesIn = (files: readonly string[]): string[] =>
    files.flatMap((one) =>
      [
        ...read(one).matchAll(
          /(?:\b(?:it|test)(?:\.\w+(?:\([^)]*\))?)*|\]\))\(\s*(['"`])((?:\\.|(?!\1).)*)\1/g,
        ),
      ].map((match) => match[2]!),
    );
  const idsOf = (title: string): string[] => {
    const head = /^(?:[A-Z][A-Z0-9]*-\d+(?:,\s*|\s+|$))+/.exec(title)?.[0] ?? '';
    return [...head.matchAll(/[A-Z][A-Z0-9]*-\d+/g)].map(([id]) => id);
  };

  it.skipIf(!existsSync(file))('has ids, and each once', () => {
    expect(ids.length).toBeGreaterThan(0);
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([]);
  });

  it.skipIf(!existsSync(file))('knows the id that every title of the conformance suites begins with', () => {
    const titles = titlesIn(tests.filter(isConformance));
    expect(titles.length).toBeGreaterThan(0);
    const wrong = titles.filter((title) => {
      const named = idsOf(title);
      return named.length === 0 || named.some((id) => !ids.includes(id));
    });
    expect(wrong).toEqual([]);
  });

  it.skipIf(!existsSync(file))('has no rule without a test', () => {
    const tested = new Set(titlesIn(tests).flatMap(idsOf));
    expect(ids.filter((id) => !tested.has(id))).toEqual([]);
  });
});

/** The published types: they agree with the table, reject wrong input, stay small, and document themselves in an editor. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allOperations, shorthands, wholeShorthands } from '#cairn/api/contract.js';
import { ROOT, run } from '../support/run.js';
import { type LanguageServer, startLanguageServer } from './language-server.js';

const LIMIT_BYTES = 400 * 1024;
const dist = join(ROOT, 'dist');
const fixtures = join(ROOT, 'test/api/types');
/** Inside the package: generated files can import both `cairndb` and the source. */
const folder = join(ROOT, '.cache/api-types');

const published = () => readFileSync(join(dist, 'types.d.ts'), 'utf8');

async function node(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(process.execPath, args, { cwd: ROOT, timeout_ms: 100_000 });
  if (code !== 0) throw new Error(`node ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`);
  return stdout;
}

/** The compiler's errors for a folder with a tsconfig.json. */
async function errorsIn(project: string): Promise<string[]> {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const args = [tsc, '-p', project, '--pretty', 'false'];
  const { stdout } = await run(process.execPath, args, { cwd: ROOT, timeout_ms: 200_000 });
  return stdout.split('\n').filter((line) => line.includes('error TS'));
}

/** The exported types of a declaration file. Types that contain the Api differ by its refinements, so they are left out. */
const typesIn = (file: string) =>
  [...readFileSync(file, 'utf8').matchAll(/^export (?:type|interface) (\w+)(?= )[\s\S]*?^(?:\}.*|.*;)$/gm)]
    .filter(([text]) => !/\b(?:Api|CairnView|WorkerTurn)\b|\.Hydrated\b/.test(text))
    .map(([, name]) => name!);

/** Type-level comparison. `Whole` makes members required, so that a missing optional member is found. */
const COMPARING = `
type Whole<T> = T extends readonly (infer E)[] ? Whole<E>[]
  : T extends Uint8Array ? T
  : T extends object ? { [K in keyof T]-?: Whole<T[K]> }
  : T;
export type Fits<A, B> = [A] extends [B] ? ([Whole<A>] extends [Whole<B>] ? true : 'a member is missing') : false;
type Given<M> = M extends (input: infer I, ...rest: never[]) => unknown ? I : never;
type Answer<M> = M extends (...all: never[]) => infer R ? (R extends AsyncIterable<infer I> ? I : Awaited<R>) : never;
/** Z is inferred by zod, P is generated, and L has string for enumerations, as some inputs of the source do. */
export type Agree<Z, P, L> = {
  answered_as_generated: Fits<Answer<Z>, Answer<P>>;
  generated_as_answered: Fits<Answer<P>, Answer<Z>>;
  generated_is_taken: Fits<Given<P>, Given<Z>>;
  taken_is_generated: Fits<Given<Z>, Given<L>>;
};
export declare const agree: { [K in keyof Agree<0, 0, 0>]: true };
`;

/** A module that compares operations of the source with those of a generated module. */
const comparison = (generated: string, operations = allOperations) => `
import type { Api as Zod } from '../../src/api/index.js';
import { type Agree, agree } from './comparing.js';
import type { Api as Plain } from './${generated}.js';
import type { Api as Loose } from './${generated}-loose.js';
${operations
  .map(({ name, group, verb }) => {
    const [z, p, l] = ['Zod', 'Plain', 'Loose'].map((api) => `${api}['${group}']['${verb}']`);
    return `export const ${name.replace('.', '_')}: Agree<${z}, ${p}, ${l}> = agree;\n`;
  })
  .join('')}`;

const loosened = (text: string) => text.replace(/(?<=[:|<(] |<)'[^'\n]*'/g, 'string');

/** Planted disagreements: the operation, a pattern in the generated text, and its replacement. */
const PLANTED = [
  ['locks.acquire', /(interface LockInput \{[^}]*?)\n {2}\/\*\*[^/]*\*\/\n {2}lease_ms\?[^;]*;/, '$1'],
  ['turns.get', /(interface Turn \{[^}]*?token_count: )number/, '$1string'],
  ['turns.get', /(interface Turn \{[^}]*?model_id: string) \| null/, '$1'],
  ['turns.add', /(interface TurnInput \{[^}]*?scope_id): string/, '$1?: string | undefined'],
  ['cards.add', /(interface Card \{[^}]*?\n)/, '$1  colour: string;\n'],
  ['agents.list', /(interface AgentListInput \{[^}]*?limit\?: )number/, '$1string'],
] as const;

type Files = Readonly<Record<string, string>>;

const agreement = (plain: string): Files => ({
  'comparing.ts': COMPARING,
  'plain.ts': plain,
  'plain-loose.ts': loosened(plain),
  'agreement.ts': comparison('plain'),
});

const disagreements = (plain: string): Files =>
  Object.assign(
    {},
    ...PLANTED.map(([name, pattern, instead], i) => {
      const text = plain.replace(pattern, instead);
      if (text === plain) throw new Error(`${name} has nothing like ${pattern}`);
      const operations = allOperations.filter((one) => one.name === name);
      return {
        [`planted${i}.ts`]: text,
        [`planted${i}-loose.ts`]: loosened(text),
        [`disagreement${i}.ts`]: comparison(`planted${i}`, operations),
      };
    }),
  ) as Files;

/** Compares the types of all other published modules with the source. */
function modules(): Files {
  const types = readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.d.ts') && !path.startsWith('api/') && path !== 'types.d.ts')
    .flatMap((path) => typesIn(join(dist, path)).map((name) => [path.replace(/\.d\.ts$/, '.js'), name]));
  if (types.length < 40) throw new Error(`only ${types.length} types are published`);
  const lines = types.map(
    ([module, name], i) => `
import type { ${name} as A${i} } from '../../src/${module}';
import type { ${name} as B${i} } from '../../dist/${module}';
export const check${i}: [Fits<A${i}, B${i}>, Fits<B${i}, A${i}>] = [true, true];`,
  );
  return { 'modules.ts': `import type { Fits } from './comparing.js';${lines.join('')}` };
}

const nameList = () => [...published().matchAll(/^export (?:type|interface) (\w+)/gm)].map(([, name]) => name!);

const entries = (): Files => ({
  'entry-library.ts': `export type { ${nameList().join(', ')} } from 'cairndb';\n`,
  'entry-client.ts': `export type { ${nameList().join(', ')} } from 'cairndb/client';\n`,
});

/** The examples in the doc comments of methods. */
const exampleList = () =>
  [...published().matchAll(/ \* ```ts\n([\s\S]*?) \* ```\n[^*]*\*\/\n {2}\w+/g)].map(([, text]) =>
    text!.replace(/^ +\* ?/gm, ''),
  );

const examples = (): Files => ({
  'methods.ts': `import type { Cairn } from 'cairndb';
declare const cairn: Cairn;
${exampleList()
  .map((text, i) => `export const example${i} = async () => {\n${text}};\n`)
  .join('')}`,
});

describe('the published types', () => {
  /** The compiler's errors for the generated files. */
  let errors: readonly string[];
  beforeAll(async () => {
    const generated = await node('scripts/types/api.mjs', '--plain');
    const plain = generated.replaceAll("from './", "from '../../src/");
    const project = {
      extends: '../../tsconfig.json',
      compilerOptions: { incremental: false, tsBuildInfoFile: null },
      include: ['*.ts', '../../examples/*.ts'],
    };
    const files = {
      'tsconfig.json': JSON.stringify(project),
      ...agreement(plain),
      ...disagreements(plain),
      ...modules(),
      ...entries(),
      ...examples(),
    };
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
    errors = (await errorsIn(folder)).map((line) => line.replace('.cache/api-types/', ''));
  }, 240_000);

  const isPlanted = (line: string) => line.startsWith('disagreement');
  const errorsOf = (...prefixes: string[]) =>
    errors.filter((line) => prefixes.some((prefix) => line.startsWith(prefix)));

  it('PKG-5 are up to date with the table and the source', async () => {
    await node('scripts/declarations.mjs', '--check');
  });

  it('PKG-5 agree with the types that zod infers, for every operation, in both directions', () => {
    expect(errorsOf('agreement', 'plain', 'comparing')).toEqual([]);
  });

  it('PKG-5 a planted disagreement of each kind is found', () => {
    const found = errors.filter(isPlanted).map((line) => line.split('(')[0]);
    expect(found).toEqual(PLANTED.map((_, i) => `disagreement${i}.ts`));
  });

  it('PKG-5 agree with the source in the runtime and in options', () => {
    expect(errorsOf('modules')).toEqual([]);
  });

  it('PKG-6 accept right input and reject wrong input, in a strict project without skipLibCheck', async () => {
    expect(await errorsIn(fixtures)).toEqual([]);
  }, 120_000);

  it('PKG-6 are exported by name from both entries', () => {
    const nouns = ['Turn', 'TurnInput', 'Scope', 'ScopeInput', 'Lock', 'Checkpoint', 'ExecutionRecord', 'Api'];
    expect(nameList()).toEqual(expect.arrayContaining(nouns));
    expect(errorsOf('entry')).toEqual([]);
  });

  it('PKG-6 fit the examples of the package', () => {
    expect(errorsOf('examples/')).toEqual([]);
  });

  it('PKG-7 have an example for every method, and it compiles', () => {
    const short = [...Object.keys(shorthands), ...Object.keys(wholeShorthands)];
    expect(exampleList()).toHaveLength(allOperations.length + short.length);
    expect(errorsOf('methods')).toEqual([]);
  });

  it('compile without any other error', () => {
    expect(errors.filter((line) => !isPlanted(line))).toEqual([]);
  });

  it('PKG-8 are under 400 KB in the package', async () => {
    const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
    const { stdout } = await run('npm', args, { cwd: ROOT, timeout_ms: 100_000 });
    const [{ files }] = JSON.parse(stdout) as [{ files: { path: string; size: number }[] }];
    const declarations = files.filter(({ path }) => /\.d\.[cm]?ts$/.test(path));
    expect(declarations.map(({ path }) => path)).toContain('dist/types.d.ts');
    const bytes = declarations.reduce((sum, { size }) => sum + size, 0);
    expect(bytes).toBeGreaterThan(100 * 1024);
    expect(bytes).toBeLessThan(LIMIT_BYTES);
  }, 120_000);
});

describe('the hover text in an editor', () => {
  const file = join(fixtures, 'hovers.ts');
  let server: LanguageServer;
  beforeAll(async () => {
    server = await startLanguageServer();
  });
  afterAll(() => server?.close());

  const callOptions = 'options?: CallOptions';

  it.each([
    ['turns.add', `TurnsApi.add(input: TurnInput, ${callOptions}): Promise<AddedTurn>`],
    ['memory.remember', `MemoryApi.remember(input: RememberInput, ${callOptions}): Promise<Remembered>`],
    ['checkpoints.create', `CheckpointsApi.create(input: CheckpointInput, ${callOptions}): Promise<CheckpointSummary>`],
    ['locks.acquire', `LocksApi.acquire(input: LockInput, ${callOptions}): Promise<Lock>`],
    [
      'context.assemble',
      `ContextApi.assemble<"messages">(input?: ContextInput<"messages"> | undefined, ${callOptions})`,
    ],
  ])('PKG-7 of %s shows its types, its documentation and an example', async (name, signature) => {
    const operation = allOperations.find((one) => one.name === name)!;
    const shown = await server.hover(file, `cairn.${name}`);
    expect(shown).toContain(signature);
    expect(shown.replace(/\s+/g, ' ')).toContain(operation.summary);
    expect(shown).toContain(`Needs the role \`${operation.access}\``);
    expect(shown).toContain('@example');
    expect(shown).toContain(`await cairn.${name}({`);
    for (const member of Object.keys(operation.example)) expect(shown).toContain(`${member}: `);
  });

  it('PKG-7 of a member shows its values and its documentation', async () => {
    const role = await server.hover(file, 'role');
    expect(role).toContain('TurnInput.role: "');
    for (const one of ['User', 'Assistant', 'System', 'Tool']) expect(role).toContain(`"${one}"`);
    expect(await server.hover(file, 'lease_ms')).toMatch(/LockInput\.lease_ms\?: number[\s\S]*An integer from/);
    expect(await server.hover(file, 'cairn.recall')).toMatch(/recall\(query: string[\s\S]*@example/);
  });
});

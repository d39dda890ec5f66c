/** Every table has one owner, and SQL names only tables of its own module or of lower ones. */
import { describe, expect, it } from 'vitest';
import { parts, schema } from '#cairn/api/index.js';
import type { SchemaPart } from '#cairn/driver/index.js';
import { bootstrapTables, statementsOf } from '#cairn/driver/index.js';
import { MODULES, moduleOf, ORDER } from './reading/modules.js';
import { tablesNamed } from './reading/tables-named.js';
import { foundIn, plant, source, type Tree } from './reading/tree.js';

const byModule: readonly (readonly [string, SchemaPart])[] = Object.entries(parts);
const owned = byModule.flatMap(([module, { tables }]) => tables.map((table) => [table, module] as const));
const owners = new Map<string, string>([...bootstrapTables.map((table) => [table, 'driver'] as const), ...owned]);

/** Whether code of a module may name a table of another; what is outside may name none. */
const mayName = (module: string, owner: string): boolean => ORDER.indexOf(owner) <= ORDER.indexOf(module);

function wrongTables(module: string, source: string): string[] {
  return [...tablesNamed(source)].filter((word) => {
    const owner = owners.get(word);
    return owner !== undefined && !mayName(module, owner);
  });
}

const statements = (part: SchemaPart): string[] =>
  (['sqlite', 'postgres'] as const).flatMap((dialect) => statementsOf({ version: 0, name: 'part', ...part }, dialect));
const captured = (texts: readonly string[], pattern: RegExp): string[] => [
  ...new Set(texts.flatMap((text) => pattern.exec(text)?.[1] ?? [])),
];

/** Tables that several modules own. */
function sharedTables(some: typeof byModule): string[] {
  const modules = new Map<string, string[]>(bootstrapTables.map((table) => [table, ['driver']]));
  for (const [module, { tables }] of some)
    for (const table of tables) modules.set(table, [...(modules.get(table) ?? []), module]);
  return [...modules].filter(([, all]) => all.length > 1).map(([table, all]) => `${table} is of ${all.join(' and ')}`);
}

/** Modules that create tables without a schema.ts, or have a schema.ts whose part is not composed. */
function wrongSchemas(some: typeof byModule, tree: Tree): string[] {
  const modules = ['driver', ...some.map(([module]) => module), 'api'];
  const missing = modules.filter((module) => !tree.has(`src/${module}/schema.ts`));
  const files = [...tree.keys()].filter((path) => /^src\/\w+\/schema\.ts$/.test(path)).map(moduleOf);
  const unused = files.filter((module) => !modules.includes(module));
  return [
    ...missing.map((module) => `${module} has no schema.ts`),
    ...unused.map((module) => `${module} is not composed`),
  ];
}

describe('tables', () => {
  it('are owned by one module each, which has them in its schema.ts', () => {
    expect(sharedTables(byModule)).toEqual([]);
    expect(owners.size).toBeGreaterThan(50);
    const modules = byModule.map(([module]) => module);
    expect(modules).toEqual(ORDER.filter((module) => modules.includes(module)));
    expect(wrongSchemas(byModule, source)).toEqual([]);
  });

  it('would be found if two modules owned one, or one had it outside of its schema.ts', () => {
    const part: SchemaPart = { tables: ['cards', 'store_meta', 'planted'], statements: () => [] };
    expect(sharedTables([...byModule, ['recall', part]])).toEqual([
      'store_meta is of driver and recall',
      'cards is of facts and recall',
    ]);
    expect(wrongSchemas([...byModule, ['text', part]], source)).toEqual(['text has no schema.ts']);
    const file = { 'src/text/schema.ts': '/** Planted. */' };
    expect(wrongSchemas(byModule, plant(source, file))).toEqual(['text is not composed']);
  });

  it.each(byModule)('of %s are those that its schema creates, on both databases', (_, part) => {
    for (const dialect of ['sqlite', 'postgres'] as const) {
      const texts = statementsOf({ version: 0, name: 'part', ...part }, dialect);
      const created = captured(texts, /^CREATE (?:VIRTUAL )?TABLE (\w+)/);
      expect(created.sort()).toEqual([...part.tables].sort());
    }
    expect(part.tables).toEqual(expect.arrayContaining([...(part.unprotected ?? [])]));
  });

  it.each(byModule)(
    'of other modules have no index of %s, and its statements name none of higher ones',
    (module, part) => {
      const texts = statements(part);
      const indexed = captured(texts, /^CREATE (?:UNIQUE )?INDEX \w+\s+ON (\w+)/);
      expect(indexed.filter((table) => !part.tables.includes(table))).toEqual([]);
      expect(wrongTables(module, texts.join(';\n'))).toEqual([]);
    },
  );

  it('of the schema have their versions in order, from 1 on', () => {
    expect(schema.map(({ version }) => version)).toEqual(schema.map((_, i) => i + 1));
    expect(schema.flatMap(({ tables }) => tables).sort()).toEqual(owned.map(([table]) => table).sort());
  });
});

describe('SQL', () => {
  const wrongIn = (tree: Tree): string[] =>
    [...tree].flatMap(([path, text]) => wrongTables(moduleOf(path), text).map((table) => `${path} names ${table}`));

  it('names tables of its own module and of lower ones', () => {
    expect(wrongIn(source)).toEqual([]);
    expect(source.size).toBeGreaterThan(400);
    const modules = [...source.keys()].map(moduleOf).filter((module) => module !== '.');
    expect(modules.filter((module) => !MODULES.includes(module))).toEqual([]);
    const planted = { 'src/facts/planted.ts': 'const a = sql`SELECT 1 FROM cards c JOIN scopes s ON x`;' };
    expect(foundIn(wrongIn, planted)).toEqual(['src/facts/planted.ts names scopes']);
  });

  it('names every table somewhere, or the names are not found as they should be', () => {
    const named = new Set(
      [...source]
        .filter(([path]) => path !== `src/${moduleOf(path)}/schema.ts`)
        .flatMap(([, text]) => [...tablesNamed(text)]),
    );
    expect([...owners.keys()].filter((table) => !named.has(table))).toEqual([]);
  });

  it('would be found if it named others', () => {
    const planted: readonly (readonly [string, string])[] = [
      ['facts', 'const a = sql`SELECT * FROM scopes s WHERE s.tenant_id = #{tenant}`;'],
      ['facts', 'const a = sql`SELECT 1 FROM cards c JOIN jobs j ON j.card_id = c.card_id`;'],
      ['facts', 'const a = sql`SELECT 1 FROM cards c, boxes AS b, locks l WHERE c.tenant_id = b.tenant_id`;'],
      ['engine', 'const a = sql`UPDATE agents SET status = 1`;'],
      ['engine', 'const a = sql`DELETE FROM api_keys WHERE tenant_id = #{tenant}`;'],
      ['index', 'const a = sql`INSERT INTO cards (tenant_id) VALUES (#{tenant})`;'],
      ['driver', 'const a = byDialect({ sqlite: sql`edge_participants p INDEXED BY x`, postgres: sql`p` });'],
      ['driver', 'const a = sql`tenants`;'],
      ['driver', "const a = `ANALYZE vector_docs`; const b = 'x';"],
      ['driver', "const a = acrossTenants`SELECT to_regclass('vector_docs')`;"],
      ['driver', "const a = `WHERE i.indrelid = 'vector_docs'::regclass`;"],
      ['identity', "const table: Table = { name: 'cards', columns: { tenant_id: 'text' } };"],
      ['identity', "const a = sql`SELECT 1 FROM #{verbatim('cards')}`;"],
      ['index', '`CREATE TRIGGER t AFTER UPDATE ON cards BEGIN DELETE FROM search_docs; END`'],
      ['cli', 'const a = sql`SELECT 1 FROM tenants`;'],
    ];
    for (const [module, source] of planted)
      expect([source, wrongTables(module, source.replaceAll('#', '$'))]).toEqual([source, [expect.any(String)]]);
    const fine: readonly (readonly [string, string])[] = [
      ['facts', 'const a = sql`SELECT * FROM packet_store p JOIN cards c ON c.card_id = p.entity_id`;'],
      ['facts', '// What is read FROM scopes is not of here.'],
      ['facts', '/** UPDATE jobs */\nconst a = sql`x.checkpoints = #{checkpoints} AND deliveries = 1`;'],
      ['api', 'const a = sql`SELECT 1 FROM locks`;'],
    ];
    for (const [module, source] of fine) expect([source, wrongTables(module, source)]).toEqual([source, []]);
  });
});

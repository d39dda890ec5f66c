/** What the code does without, so that a database can be distributed by tenant: triggers, backend ids, advisory locks. */
import { describe, expect, it } from 'vitest';
import { schema } from '#cairn/api/index.js';
import type { Schema } from '#cairn/driver/index.js';
import { statementsOf } from '#cairn/driver/index.js';
import { codeOf } from './reading/code.js';
import { foundIn, source, type Tree } from './reading/tree.js';

/** The files whose code, strings included and comments not, matches. */
const filesWith =
  (pattern: RegExp) =>
  (tree: Tree): string[] =>
    [...tree].filter(([, text]) => pattern.test(codeOf(text).text)).map(([path]) => path);

const TRIGGER = /\bCREATE\s+(?:OR\s+REPLACE\s+)?(?:CONSTRAINT\s+)?(?:TEMP(?:ORARY)?\s+)?TRIGGER\b/i;

const triggersOf = (some: Schema): string[] =>
  (['sqlite', 'postgres'] as const).flatMap((dialect) =>
    some.flatMap((migration) => statementsOf(migration, dialect)).filter((text) => TRIGGER.test(text)),
  );

/** What it is, the files that may have it, and code that has it. */
const rules: readonly (readonly [string, RegExp, readonly string[], readonly string[]])[] = [
  [
    'ids of backends, and what other sessions do',
    /\bpg_(?:stat_activity|backend_pid|locks|cancel_backend|terminate_backend|blocking_pids)\b/i,
    [],
    ['const a = sql`SELECT pid FROM pg_stat_activity`;', "await client.query('SELECT pg_backend_pid()');"],
  ],
  [
    'triggers',
    TRIGGER,
    [],
    [
      'const a = `CREATE TRIGGER t AFTER UPDATE ON cards BEGIN SELECT 1; END`;',
      "const a = 'create or replace trigger t BEFORE INSERT ON cards';",
      'const a = `CREATE\n  CONSTRAINT TRIGGER t`;',
    ],
  ],
  [
    'advisory locks, except where a migration runs and where an index of vectors is built',
    /\bpg_(?:try_)?advisory_/i,
    ['src/driver/postgres/migrate.ts', 'src/driver/postgres/vectors.ts'],
    [
      'const a = sql`SELECT pg_advisory_xact_lock(1)`;',
      "await client.query('SELECT pg_try_advisory_lock($1)');",
      'const a = acrossTenants`SELECT PG_ADVISORY_LOCK_SHARED(1)`;',
    ],
  ],
  [
    'the tenant by set_config: a constant of SET LOCAL can be sent with the first statement',
    /\bset_config\s*\(\s*\\?['"]cairn\./i,
    [],
    [
      "const a = sql`SELECT set_config('cairn.tenant_id', #{tenant}, true)`;",
      "await client.query('SELECT set_config(\\'cairn.tenant_id\\', $1, true)');",
      "await client.query(`SELECT set_config(\n  'cairn.tenant_id', $1, true)`);",
    ],
  ],
];

describe('src has', () => {
  it.each(rules)('no %s', (_, pattern, allowed, planted) => {
    const found = filesWith(pattern);
    expect(found(source)).toEqual(allowed);
    for (const text of planted)
      for (const path of ['src/facts/planted.ts', 'src/driver/postgres/planted.ts'])
        expect([text, foundIn(found, { [path]: text.replaceAll('#', '$') })]).toEqual([text, [path]]);
    const fine = [
      `// ${planted[0]!.replaceAll('\n', ' ')}`,
      "const a = 'the trigger of a policy'; // set_config('cairn.x')",
    ];
    for (const text of fine) expect(foundIn(found, { 'src/facts/planted.ts': text })).toEqual([]);
  });
});

describe('the composed schema', () => {
  it('has no trigger on either database', () => {
    expect(triggersOf(schema)).toEqual([]);
    const statements = () => ['CREATE TRIGGER t AFTER UPDATE ON cards BEGIN SELECT 1; END'];
    const planted = { version: 2, name: 'planted', tables: [], statements };
    expect(triggersOf([...schema, planted])).toEqual([...statements(), ...statements()]);
  });
});

/** SQL statements name their tenant. */
import { describe, expect, it } from 'vitest';
import { looseChanges, statementsOf, unnamedStatements } from './reading/statements.js';
import { foundIn, source, type Tree } from './reading/tree.js';

/** The driver's statements are about the database itself. */
const files = (tree: Tree): [string, string][] => [...tree].filter(([path]) => !path.startsWith('src/driver/'));

const inFiles =
  (rule: (text: string) => string[]) =>
  (tree: Tree): string[] =>
    files(tree).flatMap(([path, text]) => rule(text).map((one) => `${path}: ${one}`));

const unnamed = inFiles(unnamedStatements);
const loose = inFiles(looseChanges);

describe('statements', () => {
  it('name the tenant, unless they rightly cross tenants', () => {
    expect(unnamed(source)).toEqual([]);
    const all = files(source).flatMap(([, text]) => statementsOf(text));
    expect(all.filter(({ touches }) => touches).length).toBeGreaterThan(40);
  });

  it('that change rows begin their condition with the tenant', () => {
    expect(loose(source)).toEqual([]);
    const planted = [
      'const a = sql`UPDATE jobs SET x = 1 WHERE tenant_id = #{tenant} AND y = 2`;',
      'const b = sql`UPDATE jobs SET x = (SELECT 1 WHERE tenant_id = #{tenant}) WHERE y = 2`;',
      'const c = sql`DELETE FROM jobs WHERE y IN (SELECT y FROM z WHERE tenant_id = #{tenant})`;',
      'const d = sql`DELETE FROM jobs`;',
      'const e = sql`UPDATE jobs AS j SET x = 1 WHERE j.tenant_id = #{tenant}`;',
    ]
      .join('\n')
      .replaceAll('#', '$');
    expect(looseChanges(planted)).toEqual(['line 2', 'line 3', 'line 4']);
    expect(foundIn(loose, { 'src/recall/planted.ts': planted })).toEqual(
      [2, 3, 4].map((line) => `src/recall/planted.ts: line ${line}`),
    );
  });

  it('would be found if they did not', () => {
    const planted = [
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
    expect(unnamedStatements(planted)).toEqual(['line 1', 'line 7']);
    expect(statementsOf(planted).map(({ line }) => line)).toEqual([1, 2, 2, 3, 4, 5, 6, 7]);
    expect(foundIn(unnamed, { 'src/facts/planted.ts': planted })).toEqual(
      [1, 7].map((line) => `src/facts/planted.ts: line ${line}`),
    );
  });
});

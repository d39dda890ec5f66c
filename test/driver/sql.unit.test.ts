/** The sql tag: one text for both dialects, parameters in order, fragments put together. */
import { describe, expect, it } from 'vitest';
import { acrossTenants, compile, join, Sql, sql } from '#cairn/driver/sql.js';

describe('the sql tag', () => {
  it('numbers parameters for PostgreSQL and marks them for SQLite', () => {
    const query = sql`SELECT * FROM cards WHERE tenant_id = ${'t'} AND card_id = ${'c'} LIMIT ${10}`;
    expect(compile(query, 'postgres')).toEqual({
      text: 'SELECT * FROM cards WHERE tenant_id = $1 AND card_id = $2 LIMIT $3',
      params: ['t', 'c', 10],
    });
    expect(compile(query, 'sqlite')).toEqual({
      text: 'SELECT * FROM cards WHERE tenant_id = ? AND card_id = ? LIMIT ?+0',
      params: ['t', 'c', 10],
    });
  });

  it('never puts a value into the text', () => {
    const evil = "'; DROP TABLE cards; --";
    for (const dialect of ['sqlite', 'postgres'] as const) {
      const { text, params } = compile(sql`SELECT ${evil} AS a, ${sql`${evil}`} AS b`, dialect);
      expect(text).not.toContain('DROP');
      expect(params).toEqual([evil, evil]);
    }
  });

  it('numbers the parameters of nested fragments in the order of the text', () => {
    const inner = sql`b = ${2} AND ${sql`c = ${3}`}`;
    const query = sql`SELECT ${1} WHERE ${inner} AND d = ${4}${sql``}${sql` ORDER BY ${new Sql(['e'], [])} ${sql`DESC`}`} LIMIT ${5}`;
    expect(compile(query, 'postgres')).toEqual({
      text: 'SELECT $1 WHERE b = $2 AND c = $3 AND d = $4 ORDER BY e DESC LIMIT $5',
      params: [1, 2, 3, 4, 5],
    });
    expect(compile(query, 'sqlite').text).toBe('SELECT ? WHERE b = ? AND c = ? AND d = ? ORDER BY e DESC LIMIT ?+0');
  });

  it('takes a fragment at the start, at the end, alone and twice', () => {
    const twice = sql`x = ${7}`;
    expect(compile(sql`${twice}`, 'postgres')).toEqual({ text: 'x = $1', params: [7] });
    expect(compile(sql`${twice} OR ${twice}`, 'postgres')).toEqual({ text: 'x = $1 OR x = $2', params: [7, 7] });
    expect(compile(sql`${sql`${sql`${twice}`}`}${twice}`, 'sqlite')).toEqual({ text: 'x = ?x = ?', params: [7, 7] });
  });

  it('joins fragments, one and none included', () => {
    const parts = [sql`a = ${1}`, sql`b IS NULL`, sql`c = ${3}`];
    expect(compile(sql`WHERE ${join(parts, ' AND ')} LIMIT ${9}`, 'postgres')).toEqual({
      text: 'WHERE a = $1 AND b IS NULL AND c = $2 LIMIT $3',
      params: [1, 3, 9],
    });
    expect(compile(sql`WHERE ${join(parts.slice(0, 1), ' AND ')}`, 'postgres').text).toBe('WHERE a = $1');
    expect(compile(sql`WHERE (${join([], ' AND ')})`, 'sqlite')).toEqual({ text: 'WHERE ()', params: [] });
    expect(compile(join(parts, ' OR '), 'sqlite').text).toBe('a = ? OR b IS NULL OR c = ?');
  });

  it('says a list, a row lock and a comparison with NULL in the words of each dialect', () => {
    const ids = ['a', 'b'];
    const query = sql`SELECT * FROM boxes WHERE tenant_id = ${'t'} AND box_id = ANY(${ids}) FOR UPDATE`;
    expect(compile(query, 'postgres')).toEqual({
      text: 'SELECT * FROM boxes WHERE tenant_id = $1 AND box_id = ANY($2) FOR UPDATE',
      params: ['t', ids],
    });
    expect(compile(query, 'sqlite')).toEqual({
      text: 'SELECT * FROM boxes WHERE tenant_id = ? AND box_id IN (SELECT value FROM json_each(?))',
      params: ['t', ids],
    });
    const nested = sql`SELECT 1 WHERE ${sql`x = ANY(${[1, 2]})`} AND y IS NOT DISTINCT FROM ${null}`;
    expect(compile(nested, 'sqlite').text).toBe('SELECT 1 WHERE x IN (SELECT value FROM json_each(?)) AND y IS ?');
    expect(compile(nested, 'postgres').text).toBe('SELECT 1 WHERE x = ANY($1) AND y IS NOT DISTINCT FROM $2');
  });

  it('gives the same text for every call of one template, with the parameters of that call', () => {
    const find = (id: string) => sql`SELECT 1 FROM cards WHERE tenant_id = ${'t'} AND card_id = ${id}`;
    for (const dialect of ['sqlite', 'postgres'] as const) {
      const [one, two] = [compile(find('a'), dialect), compile(find('b'), dialect)];
      expect(one.text).toBe(two.text);
      expect([one.params[1], two.params[1]]).toEqual(['a', 'b']);
    }
  });

  it('is the same tag for statements that cross tenants', () => {
    const query = acrossTenants`SELECT 1 FROM tenants WHERE seq > ${3}`;
    expect(query).toBeInstanceOf(Sql);
    expect(compile(query, 'postgres')).toEqual({ text: 'SELECT 1 FROM tenants WHERE seq > $1', params: [3] });
  });
});

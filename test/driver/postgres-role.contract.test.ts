/** What the user of a PostgreSQL URL needs: the role cairn_app, granted; no superuser, no CREATEROLE. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { migrateStore } from '#cairn/api/index.js';
import { openTarget, targetNames } from '../support/targets.js';

describe.runIf(targetNames().includes('postgres'))('a plain owner of a database', () => {
  it('is told what an administrator has to run, and then migrates, again and again', async () => {
    // Opening any store makes the role, which belongs to the whole server.
    await (await openTarget('postgres')).close();
    const base = new URL(process.env.CAIRN_TEST_POSTGRES!);
    const name = `plain_${randomUUID().replaceAll('-', '')}`;
    const admin = new pg.Client({ connectionString: base.toString() });
    await admin.connect();
    try {
      await admin.query(`CREATE ROLE ${name} LOGIN`);
      await admin.query(`CREATE DATABASE ${name} OWNER ${name}`);
      const url = new URL(base);
      url.username = name;
      url.pathname = `/${name}`;
      const database = url.toString();
      await expect(migrateStore({ database })).rejects.toThrow(`GRANT cairn_app TO ${name};`);
      await admin.query(`GRANT cairn_app TO ${name}`);
      expect(await migrateStore({ database })).toMatchObject({ applied: ['baseline'] });
      expect(await migrateStore({ database, restored: true })).toMatchObject({ applied: [] });
    } finally {
      await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await admin.query(`DROP ROLE IF EXISTS ${name}`);
      await admin.end();
    }
  });
});

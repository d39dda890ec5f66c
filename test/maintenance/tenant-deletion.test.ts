/** Deleting a tenant is forgetting all of it; nothing else of the store changes. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { deleteStoreTenant, listStoreTenants, Store } from '#cairn/api/index.js';
import { plant, SECRET } from '../support/contract.js';
import { illnesses } from '../support/inspect/audit.js';
import { contentsOf } from '../support/inspect/contents.js';
import { foldAll } from '../support/nouns/search-index.js';
import { freshDatabase, targetNames } from '../support/targets.js';

const callerOf = (tenant_id: string) => ({ tenant_id, agent_id: null, role: 'admin', key_id: null }) as const;

const kinds = targetNames().filter((name) => name !== 'http');
describe.each(kinds)('a deleted tenant on %s', (kind) => {
  it('FORGET-13 leaves nothing but its receipt, and nothing else changes', async () => {
    const { database, drop } = await freshDatabase(kind);
    const first = await Store.open({ database, sweep_every_ms: 0, count_every_ms: 0 });
    await first.ensureTenant('acme');
    await first.ensureTenant('other');
    await plant(first.api(callerOf('acme')));
    await foldAll(first, 'acme', 20);
    const other = first.api(callerOf('other'));
    await other.memory.remember({ text: 'The other tenant stays as it is.' });
    const before = await contentsOf(first, 'other');
    await first.close();
    expect((await listStoreTenants({ database })).map(({ tenant_id }) => tenant_id)).toEqual([
      'acme',
      'default',
      'other',
    ]);

    const receipt = await deleteStoreTenant({ database, tenant: 'acme' });
    expect(receipt).toMatchObject({ status: 'verified', selected_by: 'tenant' });
    expect((await listStoreTenants({ database })).map(({ tenant_id }) => tenant_id)).toEqual(['default', 'other']);
    await expect(deleteStoreTenant({ database, tenant: 'acme' })).rejects.toMatchObject({ code: 'UNKNOWN_ENTITY' });
    if (kind === 'sqlite') expect(readFileSync(database).includes(SECRET)).toBe(false);
    expect(await illnesses(database)).toEqual([]);

    const again = await Store.open({ database, sweep_every_ms: 0, count_every_ms: 0 });
    try {
      expect(await contentsOf(again, 'other')).toBe(before);
      expect(await contentsOf(again, 'acme')).not.toContain(SECRET);
      const acme = again.api(callerOf('acme'));
      expect((await acme.notes.list({})).total).toBe(0);
      expect((await acme.keys.list({})).keys).toEqual([]);
      const { erasures } = await acme.erasures.list({});
      expect(erasures.map(({ erasure_id }) => erasure_id)).toContain(receipt.erasure_id);
      const { id } = await acme.memory.remember({ text: 'A tenant of this name begins anew.' });
      const { passages } = await acme.memory.recall({ query: 'tenant name' });
      expect(passages.map((one) => one.id)).toEqual([id]);
    } finally {
      await again.close();
    }
    expect(await illnesses(database)).toEqual([]);
    await drop();
  });
});

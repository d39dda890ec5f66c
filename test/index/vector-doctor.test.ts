/** The doctor on vectors: nothing to say of healthy ones, and each of its questions finds what it is for. */
import { expect, it } from 'vitest';
import { type Sql, sql } from '#cairn/driver/index.js';
import { vectorChecks } from '#cairn/index/vectors/doctor.js';
import type { Embedder } from '#cairn/providers/index.js';
import { tenantOf } from '../support/nouns/hierarchy.js';
import { vectorOf } from '../support/stand-ins/embedder.js';
import { onEveryTarget } from '../support/targets.js';

const embedder: Embedder = {
  name: 'm',
  embed: async (texts) => texts.map((text) => Float32Array.from(vectorOf(text))),
};

onEveryTarget(
  'the doctor on vectors',
  (test) => {
    it.each<[string, (tenant: string) => Sql, string[]]>([
      ['healthy ones', (tenant) => sql`SELECT ${tenant} AS tenant_id`, []],
      [
        'a document whose vector is missing',
        (tenant) => sql`DELETE FROM vectors WHERE tenant_id = ${tenant}`,
        ['the vector of document <no> by m'],
      ],
      [
        'a vector of what cannot be found',
        (tenant) => sql`UPDATE vector_docs SET doc_no = doc_no + 1000000 WHERE tenant_id = ${tenant}`,
        ['document <no>'],
      ],
      [
        'a vector that nothing has',
        (tenant) => sql`UPDATE vector_docs SET content_hash = NULL, bits = NULL WHERE tenant_id = ${tenant}`,
        ['a vector without a document by m'],
      ],
    ])('EMB-11 finds %s', async (_, harm, expected) => {
      const cairn = await test().freshTenant();
      const tenant = await tenantOf(cairn);
      const { store } = test();
      await cairn.cards.add({ content: 'a hound' });
      expect(await store.embedded()).toBe(0);
      await store.driver.write(tenant, async (tx) => void (await tx.run(harm(tenant))));
      const found: string[] = [];
      for (const { broken } of vectorChecks)
        for (const { what } of await store.driver.at(tenant).all<{ what: string }>(broken()))
          found.push(what.replace(/document \d+/, 'document <no>'));
      expect(found).toEqual(expected);
    });
  },
  { embedder },
);

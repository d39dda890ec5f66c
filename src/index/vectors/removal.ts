/** Removes the vectors of hidden documents, in the transaction that hides them. */
import { sql, TENANT, type Tx } from '../../driver/index.js';

interface Link {
  readonly model: string;
  readonly content_hash: string | null;
}

/** A vector goes with the last document that has its text. */
export async function forgetVectors(tx: Tx, doc_nos: readonly number[]): Promise<void> {
  const links = await tx.all<Link>(
    sql`SELECT model, content_hash FROM vector_docs WHERE tenant_id = ${TENANT} AND doc_no = ANY(${doc_nos})`,
  );
  if (links.length === 0) return;
  // Overwritten before it is deleted: SQLite may copy what is left of a deleted row to another page.
  if (tx.dialect === 'sqlite')
    await tx.send(
      sql`UPDATE vector_docs SET bits = hex(zeroblob(length(bits) / 2)) WHERE tenant_id = ${TENANT} AND doc_no = ANY(${doc_nos}) AND bits IS NOT NULL`,
    );
  await tx.send(sql`DELETE FROM vector_docs WHERE tenant_id = ${TENANT} AND doc_no = ANY(${doc_nos})`);
  const hashes = new Map<string, Set<string>>();
  for (const { model, content_hash } of links) {
    if (content_hash === null) continue;
    const known = hashes.get(model);
    if (known) known.add(content_hash);
    else hashes.set(model, new Set([content_hash]));
  }
  for (const [model, some] of hashes) await removeUnused(tx, model, [...some].sort());
}

async function removeUnused(tx: Tx, model: string, hashes: readonly string[]): Promise<void> {
  const ofTexts = sql`model = ${model} AND content_hash = ANY(${hashes})`;
  // Locked before the check for other links: writers of links lock them too, so that the check sees their links.
  if (tx.dialect === 'postgres')
    await tx.all(
      sql`SELECT content_hash FROM vectors WHERE tenant_id = ${TENANT} AND ${ofTexts} ORDER BY content_hash FOR UPDATE`,
    );
  const unused = sql`${ofTexts} AND NOT EXISTS (SELECT 1 FROM vector_docs o
    WHERE o.tenant_id = ${TENANT} AND o.model = ${model} AND o.content_hash = vectors.content_hash)`;
  if (tx.dialect === 'sqlite') {
    await tx.send(
      sql`UPDATE vectors SET vector = hex(zeroblob(length(vector) / 2)) WHERE tenant_id = ${TENANT} AND ${unused}`,
    );
    // For the cached bits, which SQLite alone needs.
    await tx.send(
      sql`UPDATE vector_progress SET removed = removed + ${hashes.length}
          WHERE tenant_id = ${TENANT} AND model = ${model}`,
    );
  }
  await tx.send(sql`DELETE FROM vectors WHERE tenant_id = ${TENANT} AND ${unused}`);
}

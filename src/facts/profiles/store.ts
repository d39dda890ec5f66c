/** profiles: names of boxes with a sys.profile card. */
import { type KeysetPage, keyset, type Query, type Sql, sql, TENANT, type Tx } from '../../driver/index.js';

export interface ProfileRow {
  readonly name: string;
  readonly box_id: string;
  readonly card_id: string;
  /** JSON of its sys.profile card; null when that was deleted. */
  readonly content: string | null;
  /** The agent that made it: the owner of its box. */
  readonly agent_id: string | null;
  readonly created_at: number;
  readonly updated_at: number;
}

const PROFILE: Sql = sql`SELECT p.name, p.box_id, p.card_id, CASE WHEN c.deleted_at IS NULL THEN c.content END AS content,
    b.agent_id, p.created_at, p.updated_at FROM profiles p
  JOIN cards c ON c.tenant_id = p.tenant_id AND c.card_id = p.card_id
  JOIN boxes b ON b.tenant_id = p.tenant_id AND b.box_id = p.box_id`;

export const findProfile = (query: Query, name: string): Promise<ProfileRow | undefined> =>
  query.get(sql`${PROFILE} WHERE p.tenant_id = ${TENANT} AND p.name = ${name}`);

/** findProfile that locks the name until the commit. */
export async function lockProfile(tx: Tx, name: string): Promise<ProfileRow | undefined> {
  await tx.get(sql`SELECT name FROM profiles WHERE tenant_id = ${TENANT} AND name = ${name} FOR UPDATE`);
  return findProfile(tx, name);
}

/** A profile without its content, which may be large. */
export interface ProfileHash extends Pick<ProfileRow, 'name'> {
  /** Null when its card was deleted. */
  readonly content_hash: string | null;
}

const HASH: Sql = sql`SELECT p.name, CASE WHEN c.deleted_at IS NULL AND c.erased_at IS NULL THEN c.content_hash END AS content_hash
  FROM profiles p JOIN cards c ON c.tenant_id = p.tenant_id AND c.card_id = p.card_id`;

/** Several profiles, locked in the order of their names if `locks`. */
export async function profileHashes(query: Query, names: readonly string[], locks: boolean): Promise<ProfileHash[]> {
  if (locks)
    await query.all(
      sql`SELECT name FROM profiles WHERE tenant_id = ${TENANT} AND name = ANY(${names}) ORDER BY name FOR UPDATE`,
    );
  return query.all(sql`${HASH} WHERE p.tenant_id = ${TENANT} AND p.name = ANY(${names}) ORDER BY p.name`);
}

export const listProfileHashes = (query: Query, page: KeysetPage): Promise<ProfileHash[]> =>
  query.all(sql`${HASH} WHERE p.tenant_id = ${TENANT}${keyset(sql`p.name`, page)}`);

type ProfileContent = Pick<ProfileRow, 'name' | 'box_id' | 'card_id'>;

export const insertProfile = (tx: Tx, { name, box_id, card_id }: ProfileContent, now: number): Promise<void> =>
  tx.send(
    sql`INSERT INTO profiles (tenant_id, name, box_id, card_id, created_at, updated_at)
        VALUES (${TENANT}, ${name}, ${box_id}, ${card_id}, ${now}, ${now})`,
  );

export const updateProfile = (tx: Tx, { name, box_id, card_id }: ProfileContent, now: number): Promise<void> =>
  tx.send(
    sql`UPDATE profiles SET box_id = ${box_id}, card_id = ${card_id}, updated_at = ${now}
        WHERE tenant_id = ${TENANT} AND name = ${name}`,
  );

export const deleteProfile = (tx: Tx, name: string): Promise<void> =>
  tx.send(sql`DELETE FROM profiles WHERE tenant_id = ${TENANT} AND name = ${name}`);

export const listProfiles = (query: Query, page: KeysetPage): Promise<ProfileRow[]> =>
  query.all(sql`${PROFILE} WHERE p.tenant_id = ${TENANT}${keyset(sql`p.name`, page)}`);

export const countProfiles = (): Sql => sql`SELECT COUNT(*) AS total FROM profiles WHERE tenant_id = ${TENANT}`;

/** Use cases of profiles: boxes with a sys.profile card, found by name. */
import type { z } from 'zod';
import type { profiles as operations } from '../contract/profiles.js';
import type { Query, Tx } from '../driver/driver.js';
import { toIso } from '../model/common.js';
import { CairnError } from '../model/errors.js';
import { newId } from '../model/ids.js';
import type { Json, JsonObject } from '../model/json.js';
import type { Profile } from '../model/profile.js';
import { insertEntries } from '../store/box-entries.js';
import { lockBox } from '../store/boxes.js';
import {
  countProfiles,
  deleteProfile,
  findProfile,
  insertProfile,
  listProfiles,
  lockProfile,
  type ProfileRow,
  updateProfile,
} from '../store/profiles.js';
import { ownerOf } from './box-access.js';
import { makeBox } from './box-making.js';
import { replaceEntries } from './boxes.js';
import { addCard, type PreparedCard, prepareCard } from './cards.js';
import { listPage } from './pages.js';
import type { Call } from './runtime.js';
import { change, event } from './write.js';

type In<V extends keyof typeof operations> = z.output<(typeof operations)[V]['input']>;
type Out<V extends keyof typeof operations> = z.output<(typeof operations)[V]['output']>;

const toProfile = (row: ProfileRow): Profile => ({
  ...((row.content === null ? { name: row.name } : JSON.parse(row.content)) as { name: string }),
  box_id: row.box_id,
  card_id: row.card_id,
  created_at: toIso(row.created_at),
  updated_at: toIso(row.updated_at),
});

export const noProfile = (name: string): CairnError =>
  new CairnError('PROFILE_NOT_FOUND', `there is no profile "${name}": create it, or see profiles.list`);

/** The profile of this name, or a refusal. */
export async function openProfile(call: Call, query: Query, name: string): Promise<ProfileRow> {
  const row = await findProfile(query, call.tenant, name);
  if (!row) throw noProfile(name);
  return row;
}

const read = async (call: Call, query: Query, name: string): Promise<Profile> =>
  toProfile(await openProfile(call, query, name));

/** Absent members are not stored, so that a profile reads as it was written. */
const prepare = (call: Call, input: In<'create'>): PreparedCard => {
  const content = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  const metadata = { type: 'sys.profile', role: 'system' };
  return prepareCard(call, { content: content as JsonObject, metadata });
};

async function make(call: Call, tx: Tx, name: string, prepared: PreparedCard, now: number): Promise<void> {
  const { card } = await addCard(call, tx, prepared, now);
  const box_id = newId();
  const agent_id = ownerOf(call, undefined);
  await makeBox(call, tx, { box_id, agent_id, metadata: '{}', sent_hash: null, length: 1 }, now);
  await insertEntries(tx, call.tenant, box_id, { position: 1, behind: 0, revision: 1 }, [card.card_id]);
  const row = { name, box_id, card_id: card.card_id, created_at: now, updated_at: now };
  await insertProfile(tx, call.tenant, row);
  tx.journal(event(call, now, 'cairn.profile.created', 'profile', name, { box_id, card_id: card.card_id }));
}

export async function create(call: Call, input: In<'create'>): Promise<Profile> {
  const prepared = prepare(call, input);
  return change(call, {
    input,
    bytes: prepared.bytes,
    work: async (tx, now) => {
      const existing = await lockProfile(tx, call.tenant, input.name);
      if (existing && existing.content !== prepared.content) {
        throw new CairnError(
          'ENTITY_ALREADY_EXISTS',
          `profile "${input.name}" exists and says something else: change it with profiles.save, or use another name`,
        );
      }
      if (!existing) await make(call, tx, input.name, prepared, now);
      return read(call, tx, input.name);
    },
    remember: () => input.name,
    again: (query, kept) => read(call, query, kept as string),
  });
}

export async function save(call: Call, input: In<'save'>): Promise<Profile> {
  const { tenant } = call;
  const prepared = prepare(call, input);
  return change(call, {
    input,
    bytes: prepared.bytes,
    work: async (tx, now) => {
      const existing = await lockProfile(tx, tenant, input.name);
      if (!existing) await make(call, tx, input.name, prepared, now);
      else if (existing.content !== prepared.content) {
        const { card } = await addCard(call, tx, prepared, now);
        const box = await lockBox(tx, tenant, existing.box_id);
        const { revision } = await replaceEntries(call, tx, box!, [card.card_id], false, now);
        await updateProfile(tx, tenant, { name: input.name, card_id: card.card_id, updated_at: now });
        const facts = { box_id: existing.box_id, card_id: card.card_id, revision };
        tx.journal(event(call, now, 'cairn.profile.saved', 'profile', input.name, facts));
      }
      return read(call, tx, input.name);
    },
    remember: () => input.name,
    again: (query, kept) => read(call, query, kept as string),
  });
}

export const get = (call: Call, input: In<'get'>): Promise<Profile> =>
  read(call, call.driver.at(call.tenant), input.name);

export async function list(call: Call, input: In<'list'>): Promise<Out<'list'>> {
  const { driver, tenant } = call;
  const { rows, ...page } = await listPage<ProfileRow, string>(call, {
    input,
    filters: null,
    key: 'string',
    keyOf: ({ name }) => name,
    read: (request) => listProfiles(driver.at(tenant), tenant, request),
    bytesOf: ({ content }) => content?.length ?? 0,
    count: countProfiles(tenant),
  });
  return { profiles: rows.map(toProfile), ...page };
}

async function remove(call: Call, input: In<'delete'>): Promise<void> {
  await change<Json>(call, {
    input,
    work: async (tx, now) => {
      if (!(await deleteProfile(tx, call.tenant, input.name))) throw noProfile(input.name);
      tx.journal(event(call, now, 'cairn.profile.deleted', 'profile', input.name, {}));
      return null;
    },
    remember: () => null,
    again: async () => null,
  });
}

export { remove as delete };

/** What a profile says, as far as agents made from it are concerned. */
export const profileContent = (row: ProfileRow): JsonObject =>
  row.content === null ? {} : (JSON.parse(row.content) as JsonObject);

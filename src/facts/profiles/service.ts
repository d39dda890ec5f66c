/** Use cases of profiles: boxes with a sys.profile card, found by name. */
import type { Query } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { appendEvent, type Call, change, listPage, type Work } from '../../engine/index.js';
import { findAgent, mayReadRecipe } from '../../identity/index.js';
import { type Json, type JsonObject, newId } from '../../kernel/contract.js';
import { CairnError, notFound, toIso } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { mayUse, ownerOf } from '../boxes/access.js';
import { makeBox } from '../boxes/creation.js';
import { insertEntries } from '../boxes/entries.js';
import { replaceEntries } from '../boxes/service.js';
import { type BoxRow, lockBox } from '../boxes/store.js';
import { addCard, type PreparedCard, prepareCard } from '../cards/service.js';
import type { Profile } from './model.js';
import {
  countProfiles,
  deleteProfile,
  findProfile,
  insertProfile,
  listProfiles,
  lockProfile,
  type ProfileRow,
  updateProfile,
} from './store.js';

/** Every agent sees the name and description of a profile; the rest only if it may read recipes of its owner. */
const toProfile = (call: Call, row: ProfileRow): Profile => ({
  ...shownContent(call, row),
  box_id: row.box_id,
  card_id: row.card_id,
  created_at: toIso(row.created_at),
  updated_at: toIso(row.updated_at),
});

function shownContent(call: Call, { name, content, agent_id }: ProfileRow): { name: string } {
  if (content === null) return { name };
  const parsed = JSON.parse(content) as { name: string; description?: string };
  if (mayReadRecipe(call, agent_id)) return parsed;
  return { name, ...(parsed.description === undefined ? {} : { description: parsed.description }) };
}

function existing(query: Query, name: string, row: ProfileRow | undefined): ProfileRow {
  if (!row) throw notFound(query, 'profile', `"${name}"`, ': create it, or see profiles.list');
  return row;
}

export const openProfile = async (query: Query, name: string): Promise<ProfileRow> =>
  existing(query, name, await findProfile(query, name));

/** openProfile for a caller that gets its content: an agent may also read the profile that it was made from. */
export async function readableProfile(call: Call, query: Query, name: string): Promise<ProfileRow> {
  const row = await openProfile(query, name);
  if (mayReadRecipe(call, row.agent_id)) return row;
  const agent_id = call.caller.agent_id!;
  const agent = await findAgent(query, agent_id);
  if (agent?.typed === 1 && agent.profile_name === name) return row;
  throw new CairnError(
    'FORBIDDEN',
    `agent ${agent_id} may not read the content of profile "${name}": its memory_access does not let it read all cards`,
    { rule: 'memory_access', memory_type: 'Card', need: 'read' },
  );
}

const read = async (call: Call, query: Query, name: string): Promise<Profile> => {
  const row = await openProfile(query, name);
  profileContent(row);
  return toProfile(call, row);
};

/** Absent members are not stored, so that a profile reads as it was written. */
const prepare = (call: Call, input: In<'profiles.create'>): PreparedCard => {
  const content = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  return prepareCard(call, { content: content as JsonObject, metadata: { type: 'sys.profile', role: 'system' } });
};

/** The hash that the card of a profile with this content has. */
export const profileHash = (content: JsonObject): string => sha256(canonical(content));

/** The rights of agents made from a profile: only an administrator sets them, as for agents themselves. */
const RIGHTS = ['agent_type', 'memory_access', 'can_delegate_to'] as const;

function checkRights(call: Call, input: In<'profiles.save'>, before: ProfileRow | undefined): void {
  const { agent_id, role } = call.caller;
  // A key without an agent may set them in a new profile, as when it registers an agent.
  if (agent_id === null && (role === 'admin' || before === undefined)) return;
  const content = before?.content == null ? {} : (JSON.parse(before.content) as JsonObject);
  const text = (value: unknown): string => canonical((value ?? null) as Json);
  const fields = RIGHTS.filter((name) => text(input[name]) !== text(content[name]));
  if (fields.length === 0) return;
  const names = fields.join(', ');
  const [rule, message] =
    agent_id === null
      ? ['key_role', `changing ${names} of a profile needs the role admin, this key has ${role}`]
      : ['own_rights', `agent ${agent_id} may not set ${names} in a profile: use a key without an agent`];
  throw new CairnError('FORBIDDEN', message, { rule, fields });
}

/** Locks the box of a profile. An agent changes only profiles that it created. */
async function ownBox({ call, tx }: Work, { name, box_id }: ProfileRow): Promise<BoxRow> {
  const box = (await lockBox(tx, box_id))!;
  if (await mayUse(call, tx, box, 'own')) return box;
  throw new CairnError(
    'FORBIDDEN',
    `agent ${call.caller.agent_id} may not change profile "${name}", whose box is not its own: create one with another name`,
    { rule: 'box_owner_or_grant', box_id },
  );
}

/** Creates a box with the card of a profile. */
async function makeProfileBox({ tx, now }: Work, card_id: string, agent_id: string | null): Promise<BoxRow> {
  const box = await makeBox(tx, { box_id: newId(), agent_id, metadata: '{}', sent_hash: null, length: 1 }, now);
  await insertEntries(tx, box.box_id, { position: 1, behind: 0, revision: 1 }, [card_id]);
  return box;
}

async function addProfile(work: Work, name: string, prepared: PreparedCard): Promise<void> {
  const { card_id } = (await addCard(work, prepared)).card;
  const { box_id } = await makeProfileBox(work, card_id, ownerOf(work.call, undefined));
  await insertProfile(work.tx, { name, box_id, card_id }, work.now);
  appendEvent(work, 'cairn.profile.created', { type: 'profile', id: name }, { box_id, card_id });
}

/** Replaces the card of a profile. A sealed box stays as it is; the profile gets a new one. */
async function replaceProfile(work: Work, before: ProfileRow, prepared: PreparedCard): Promise<void> {
  const { tx, now } = work;
  const { name } = before;
  const box = await ownBox(work, before);
  const { card_id } = (await addCard(work, prepared)).card;
  const { box_id, revision } =
    box.sealed_at === null
      ? await replaceEntries(tx, box, [card_id], false, now)
      : await makeProfileBox(work, card_id, box.agent_id);
  await updateProfile(tx, { name, box_id, card_id }, now);
  appendEvent(work, 'cairn.profile.saved', { type: 'profile', id: name }, { box_id, card_id, revision });
}

/** Writes a profile in a transaction, unless it has this content already. */
export async function writeProfileIn(
  work: Work,
  input: In<'profiles.save'>,
  replaces: boolean,
  prepared = prepare(work.call, input),
): Promise<Profile> {
  const { call, tx } = work;
  const { name } = input;
  const before = await lockProfile(tx, name);
  if (before && !replaces && before.content !== prepared.content) {
    throw new CairnError(
      'ENTITY_ALREADY_EXISTS',
      `profile "${name}" already exists with different content: change it with profiles.save, or use another name`,
    );
  }
  if (before?.content !== prepared.content) {
    checkRights(call, input, before);
    if (before) await replaceProfile(work, before, prepared);
    else await addProfile(work, name, prepared);
  }
  return read(call, tx, name);
}

function write(call: Call, input: In<'profiles.save'>, replaces: boolean): Promise<Profile> {
  const prepared = prepare(call, input);
  return change(call, {
    input,
    bytes: prepared.bytes,
    work: (work) => writeProfileIn(work, input, replaces, prepared),
    remember: () => input.name,
    again: (query, kept) => read(call, query, kept as string),
  });
}

export const create = (call: Call, input: In<'profiles.create'>): Promise<Profile> => write(call, input, false);

export const save = (call: Call, input: In<'profiles.save'>): Promise<Profile> => write(call, input, true);

export const get = (call: Call, input: In<'profiles.get'>): Promise<Profile> =>
  read(call, call.driver.at(call.tenant), input.name);

export async function list(call: Call, input: In<'profiles.list'>): Promise<Out<'profiles.list'>> {
  const { driver, tenant } = call;
  const { rows, ...page } = await listPage<ProfileRow, string>(call, {
    input,
    filters: null,
    key: 'string',
    keyOf: ({ name }) => name,
    read: (request) => listProfiles(driver.at(tenant), request),
    bytesOf: ({ content }) => content?.length ?? 0,
    count: countProfiles(),
  });
  return { profiles: rows.map((row) => toProfile(call, row)), ...page };
}

/** Deletes the name of a profile in a transaction. */
export async function deleteProfileIn(work: Work, name: string): Promise<null> {
  const { tx } = work;
  await ownBox(work, existing(tx, name, await lockProfile(tx, name)));
  await deleteProfile(tx, name);
  appendEvent(work, 'cairn.profile.deleted', { type: 'profile', id: name }, {});
  return null;
}

async function remove(call: Call, input: In<'profiles.delete'>): Promise<void> {
  await change<Json>(call, {
    input,
    work: (work) => deleteProfileIn(work, input.name),
    remember: () => null,
    again: async () => null,
  });
}

export { remove as delete };

/** The content of a profile. Refuses one without: it is unknown what agents made from it may do. */
export function profileContent({ name, card_id, content }: ProfileRow): JsonObject {
  if (content !== null) return JSON.parse(content) as JsonObject;
  const message = `the content of profile "${name}" was deleted with its card ${card_id}: save it again`;
  throw new CairnError('CONTENT_ERASED', message, { card_ids: [card_id] });
}

/** Use cases of profiles: boxes with a sys.profile card, found by name. */
import type { Query, Tx } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { appendEvent, type Call, change, listPage, type Work } from '../../engine/index.js';
import { findAgent, mayReadRecipe } from '../../identity/index.js';
import { type Json, type JsonObject, newId } from '../../kernel/contract.js';
import { CairnError, toIso } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
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

/** Every agent sees that a profile is there and what it is for; what it says is for those who may read it. */
const toProfile = (call: Call, row: ProfileRow): Profile => ({
  ...shownContent(call, row),
  box_id: row.box_id,
  card_id: row.card_id,
  created_at: toIso(row.created_at),
  updated_at: toIso(row.updated_at),
});

function shownContent(call: Call, { name, content, agent_id }: ProfileRow): { name: string } {
  if (content === null) return { name };
  const said = JSON.parse(content) as { name: string; description?: string };
  if (mayReadRecipe(call, agent_id)) return said;
  return { name, ...(said.description === undefined ? {} : { description: said.description }) };
}

export const noProfile = (name: string): CairnError =>
  new CairnError('PROFILE_NOT_FOUND', `there is no profile "${name}": create it, or see profiles.list`);

/** The profile of this name, or a refusal. */
export async function openProfile(query: Query, name: string): Promise<ProfileRow> {
  const row = await findProfile(query, name);
  if (!row) throw noProfile(name);
  return row;
}

/** The same, for a caller that is shown what it says: an agent also sees the profile that it was made from. */
export async function readableProfile(call: Call, query: Query, name: string): Promise<ProfileRow> {
  const row = await openProfile(query, name);
  if (mayReadRecipe(call, row.agent_id)) return row;
  const agent_id = call.caller.agent_id!;
  const agent = await findAgent(query, agent_id);
  if (agent?.typed === 1 && agent.profile_name === name) return row;
  throw new CairnError(
    'FORBIDDEN',
    `agent ${agent_id} may not read what the profile "${name}" says: its memory_access does not let it read all cards`,
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
  const metadata = { type: 'sys.profile', role: 'system' };
  return prepareCard(call, { content: content as JsonObject, metadata });
};

/** What agents made from a profile may do is said by whoever administers the tenant, as it is of agents themselves. */
const RIGHTS = ['agent_type', 'memory_access', 'can_delegate_to'] as const;

function checkRights(call: Call, input: In<'profiles.save'>, existing: ProfileRow | undefined): void {
  const { agent_id, role } = call.caller;
  // A key without an agent says so when it makes one, as when it registers an agent.
  if (agent_id === null && (role === 'admin' || existing === undefined)) return;
  const before = existing?.content == null ? {} : (JSON.parse(existing.content) as JsonObject);
  const text = (value: unknown): string => canonical((value ?? null) as Json);
  const fields = RIGHTS.filter((name) => text(input[name]) !== text(before[name]));
  if (fields.length === 0) return;
  const what = fields.join(', ');
  throw agent_id === null
    ? new CairnError('FORBIDDEN', `changing ${what} of a profile needs the role admin, this key has ${role}`, {
        rule: 'key_role',
        fields,
      })
    : new CairnError(
        'FORBIDDEN',
        `agent ${agent_id} may not set ${what} in a profile: this takes a key without an agent`,
        { rule: 'own_rights', fields },
      );
}

/** An agent changes the profiles that it made, and no others. */
async function ownBox({ call, tx }: Work, { name, box_id }: ProfileRow): Promise<BoxRow> {
  const box = (await lockBox(tx, box_id))!;
  if (await mayUse(call, tx, box, 'own')) return box;
  throw new CairnError(
    'FORBIDDEN',
    `agent ${call.caller.agent_id} may not change the profile "${name}", whose box is not its own: make one of another name`,
    { rule: 'box_owner_or_grant', box_id },
  );
}

/** A new box with a profile's card. */
async function boxWith(tx: Tx, card_id: string, agent_id: string | null, now: number): Promise<BoxRow> {
  const new_box = { box_id: newId(), agent_id, metadata: '{}', sent_hash: null, length: 1 };
  const box = await makeBox(tx, new_box, now);
  await insertEntries(tx, box.box_id, { position: 1, behind: 0, revision: 1 }, [card_id]);
  return box;
}

async function make(work: Work, name: string, prepared: PreparedCard): Promise<void> {
  const { call, tx, now } = work;
  const { card } = await addCard(work, prepared);
  const { box_id } = await boxWith(tx, card.card_id, ownerOf(call, undefined), now);
  const row = { name, box_id, card_id: card.card_id, created_at: now, updated_at: now };
  await insertProfile(tx, row);
  appendEvent(work, 'cairn.profile.created', { type: 'profile', id: name }, { box_id, card_id: card.card_id });
}

export async function create(call: Call, input: In<'profiles.create'>): Promise<Profile> {
  const prepared = prepare(call, input);
  return change(call, {
    input,
    bytes: prepared.bytes,
    work: async (work) => {
      const { tx } = work;
      const existing = await lockProfile(tx, input.name);
      if (existing && existing.content !== prepared.content) {
        throw new CairnError(
          'ENTITY_ALREADY_EXISTS',
          `profile "${input.name}" exists and says something else: change it with profiles.save, or use another name`,
        );
      }
      if (!existing) {
        checkRights(call, input, undefined);
        await make(work, input.name, prepared);
      }
      return read(call, tx, input.name);
    },
    remember: () => input.name,
    again: (query, kept) => read(call, query, kept as string),
  });
}

export async function save(call: Call, input: In<'profiles.save'>): Promise<Profile> {
  const prepared = prepare(call, input);
  return change(call, {
    input,
    bytes: prepared.bytes,
    work: async (work) => {
      const { tx } = work;
      const existing = await lockProfile(tx, input.name);
      const same = existing?.content === prepared.content;
      if (!same) checkRights(call, input, existing);
      if (!existing) await make(work, input.name, prepared);
      else if (!same) await replace(work, existing, prepared);
      return read(call, tx, input.name);
    },
    remember: () => input.name,
    again: (query, kept) => read(call, query, kept as string),
  });
}

/** Puts a new card in the place of the old one; a box that was sealed stays as it is, and gives way to a new one. */
async function replace(work: Work, existing: ProfileRow, prepared: PreparedCard): Promise<void> {
  const { tx, now } = work;
  const { name } = existing;
  const box = await ownBox(work, existing);
  const { card } = await addCard(work, prepared);
  const { card_id } = card;
  const { box_id, revision } =
    box.sealed_at === null
      ? await replaceEntries(tx, box, [card_id], false, now)
      : await boxWith(tx, card_id, box.agent_id, now);
  await updateProfile(tx, { name, box_id, card_id, updated_at: now });
  appendEvent(work, 'cairn.profile.saved', { type: 'profile', id: name }, { box_id, card_id, revision });
}

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

async function remove(call: Call, input: In<'profiles.delete'>): Promise<void> {
  await change<Json>(call, {
    input,
    work: async (work) => {
      const { tx } = work;
      const existing = await lockProfile(tx, input.name);
      if (!existing) throw noProfile(input.name);
      await ownBox(work, existing);
      await deleteProfile(tx, input.name);
      appendEvent(work, 'cairn.profile.deleted', { type: 'profile', id: input.name }, {});
      return null;
    },
    remember: () => null,
    again: async () => null,
  });
}

export { remove as delete };

/** What a profile says. Without it nobody knows what agents made from it may do, so there are none. */
export function profileContent({ name, card_id, content }: ProfileRow): JsonObject {
  if (content !== null) return JSON.parse(content) as JsonObject;
  throw new CairnError(
    'CONTENT_ERASED',
    `what the profile "${name}" said was deleted with its card ${card_id}: save it anew`,
    { card_ids: [card_id] },
  );
}

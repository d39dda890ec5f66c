/** What a tenant has, read as the inputs of the operations that would create it. */
import { type HandoverRow, handoversNamed, listHandovers } from '../../coordination/index.js';
import type { KeysetPage, Query, Tx } from '../../driver/index.js';
import { findProfile, listProfileHashes, type ProfileHash, profileHashes } from '../../facts/index.js';
import {
  AGENT_ORIGINS,
  type AgentRow,
  agentsNamed,
  declarableAgents,
  findSettings,
  lockSettings,
  membersOf,
  toAgent,
} from '../../identity/index.js';
import type { JsonObject } from '../../kernel/contract.js';
import { lockTenantPolicies, tenantPolicies, toPolicy } from '../../recall/index.js';
import type { KindName } from '../checks/kind-names.js';

export interface Stored {
  readonly name: string;
  /** As the input of the operation that creates it; of a profile empty: `fieldsOf` reads them. */
  readonly fields: JsonObject;
  /** Of a profile, which may be large: the hash of its content, null if that was deleted. */
  readonly content_hash?: string | null;
  /** Of a policy. */
  readonly policy_id?: string;
  /** An agent that was created with its key and has not registered yet. */
  readonly unfinished?: true;
  /** Why a source cannot declare it as it is. */
  readonly problem?: string;
  /** Whether a source can declare it despite the problem, in part. */
  readonly is_partial?: true;
  /** Why a source cannot change it. */
  readonly conflict?: string;
}

/** Whether an export writes it. */
export const isExported = ({ problem, is_partial }: Stored): boolean => problem === undefined || is_partial === true;

interface Reader {
  /** Locks the rows if `locks`, in a transaction. */
  readonly named: (query: Query, names: readonly string[], locks: boolean) => Promise<Stored[]>;
  /** What a source could declare, by name. */
  readonly page: (query: Query, page: KeysetPage) => Promise<Stored[]>;
}

const present = (fields: object): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null)) as JsonObject;

function storedAgent(row: AgentRow): Stored {
  const { agent_type, capabilities, memory_access, can_delegate_to, profile_name, offline_after_ms, metadata } =
    toAgent(row, row.last_seen_at);
  const own = row.typed === 0;
  const fields = present({
    // A type that the agent chose itself grants nothing; declaring it would grant what it stands for.
    agent_type: own ? undefined : agent_type,
    profile_name,
    capabilities,
    memory_access,
    can_delegate_to,
    offline_after_ms,
    metadata,
  });
  const name = row.agent_id;
  if (row.unregistered_at !== null)
    return { name, fields, conflict: 'was unregistered, and ids are never reused: use another name' };
  if (row.made === AGENT_ORIGINS.for_task)
    return { name, fields, conflict: 'was made by a dispatch for its task: use another name' };
  if (row.made === AGENT_ORIGINS.with_key)
    return { name, fields, unfinished: true, problem: 'it has a key and has not registered yet' };
  if (!own) return { name, fields };
  const problem = `its type "${agent_type}" was chosen by itself: without a type, the new agent has its name as type`;
  return { name, fields, problem, is_partial: true };
}

const storedProfile = ({ name, content_hash }: ProfileHash): Stored => ({
  name,
  fields: {},
  content_hash,
  ...(content_hash === null ? { problem: 'its card was deleted' } : {}),
});

const storedHandover = ({ name, recipe }: HandoverRow): Stored => ({ name, fields: JSON.parse(recipe) as JsonObject });

/** Policies of the whole tenant; those without a name by their id. */
async function storedPolicies(query: Query): Promise<Stored[]> {
  const policies = (await tenantPolicies(query)).map(toPolicy);
  return policies.map((policy) => {
    const { policy_id, name, trigger, source_level, target_level, max_sources, max_tokens } = policy;
    const { create_edges, actions, enabled } = policy;
    const fields = { trigger, source_level, target_level, max_sources, max_tokens, create_edges, actions, enabled };
    if (name === null) return { name: policy_id, fields, policy_id, problem: 'it has no name' };
    const isShared = policies.filter((one) => one.name === name).length > 1;
    if (!isShared) return { name, fields, policy_id };
    const shared = 'another policy of the tenant has the same name';
    return { name, fields, policy_id, problem: shared, conflict: `is ambiguous: ${shared}; rename or delete one` };
  });
}

const byName = (a: Stored, b: Stored): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

/** Of kinds that have few rows: all in one page. */
const whole =
  (read: (query: Query) => Promise<Stored[]>): Reader['page'] =>
  async (query, { after }) =>
    after === undefined ? (await read(query)).sort(byName) : [];

async function storedSettings(query: Query, locks = false): Promise<Stored[]> {
  const fields = present(membersOf(await (locks ? lockSettings(query as Tx) : findSettings(query))));
  return Object.keys(fields).length === 0 ? [] : [{ name: '', fields }];
}

export const readers: Readonly<Record<KindName, Reader>> = {
  settings: { named: (query, _, locks) => storedSettings(query, locks), page: whole(storedSettings) },
  profile: {
    named: async (...request) => (await profileHashes(...request)).map(storedProfile),
    page: async (query, page) => (await listProfileHashes(query, page)).map(storedProfile),
  },
  agent: {
    named: async (...request) => (await agentsNamed(...request)).map(storedAgent),
    page: async (query, page) => (await declarableAgents(query, page)).map(storedAgent),
  },
  handover: {
    named: async (...request) => (await handoversNamed(...request)).map(storedHandover),
    page: async (query, page) => (await listHandovers(query, page)).map(storedHandover),
  },
  policy: {
    named: async (query, names, locks) => {
      if (locks) await lockTenantPolicies(query as Tx);
      return (await storedPolicies(query)).filter(({ name }) => names.includes(name));
    },
    page: whole(storedPolicies),
  },
};

/** The fields of what is stored; those of a profile are read now. */
export async function fieldsOf(query: Query, { name, fields, content_hash }: Stored): Promise<JsonObject> {
  if (content_hash === undefined) return fields;
  const content = (await findProfile(query, name))?.content;
  if (content == null) return {};
  const { name: _, ...members } = JSON.parse(content) as JsonObject;
  return members;
}

/** Few at a time: an agent or handover has up to 64 KiB. */
export const READ_AT_ONCE = 50;

/** All that a source could declare of a kind, in pages. */
export async function* allStored(query: Query, kind: KindName): AsyncGenerator<readonly Stored[]> {
  for (let after: string | undefined; ; ) {
    const page = await readers[kind].page(query, { after, limit: READ_AT_ONCE });
    if (page.length === 0) return;
    yield page;
    after = page.at(-1)!.name;
  }
}

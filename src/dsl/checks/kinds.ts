/** The kinds of definitions. Fields, types and limits are those of the operations that store them. */
import { z } from 'zod';
import { handovers, INSTRUCTION_HANDOVER } from '../../coordination/contract.js';
import { accessTo, type GrantedAccess, grantedAccess, type MemoryAccess } from '../../engine/contract.js';
import { profiles } from '../../facts/contract.js';
import { agents, settings } from '../../identity/contract.js';
import { checkSettings } from '../../identity/index.js';
import { anyId, type Json, type JsonObject, profileName } from '../../kernel/contract.js';
import { invalid } from '../../kernel/index.js';
import { summarization_policies } from '../../recall/contract.js';
import { checkPolicy } from '../../recall/index.js';
import { KIND_NAMES, type KindName } from './kind-names.js';

/** What a bare name may refer to; `type` is the type of an agent or profile. */
export type Target = 'agent' | 'profile' | 'type';

export interface Kind {
  /** Absent for the one kind without a name. */
  readonly name?: z.ZodType;
  readonly fields: z.ZodObject;
  /** Fields whose value names other definitions, as paths. */
  readonly references: Readonly<Record<string, readonly Target[]>>;
  /** Fields that are written as a duration and stored in milliseconds. */
  readonly durations: readonly string[];
  /** The member of the operation's input, where its name differs. */
  readonly renamed: Readonly<Record<string, string>>;
  /** Refuses values that do not fit together. */
  readonly check?: (name: string, input: JsonObject) => void;
}

type Shape = Readonly<Record<string, z.ZodType>>;

const without = (shape: Shape, names: readonly string[]): Shape =>
  Object.fromEntries(Object.entries(shape).filter(([name]) => !names.includes(name)));

/** Members that Cairn computes are no fields of a definition. */
const given = (shape: Shape): Shape =>
  Object.fromEntries(Object.entries(shape).filter(([, member]) => member.meta()?.readOnly !== true));

/** The fields under the names of the language: short, and without the unit that a duration carries itself. */
function fieldsOf(shape: Shape, renamed: Readonly<Record<string, string>>, first: Shape = {}): z.ZodObject {
  const short = new Map(Object.entries(renamed).map(([name, member]) => [member, name]));
  const fields = Object.entries(shape).map(([member, schema]) => [short.get(member) ?? member, schema]);
  return z.strictObject({ ...(Object.fromEntries(fields) as Shape), ...first });
}

const RENAMED = { type: 'agent_type', profile: 'profile_name', offline_after: 'offline_after_ms' };
const DELEGATES: readonly Target[] = ['agent', 'profile', 'type'];
const access = grantedAccess.optional();

export const kinds: Readonly<Record<KindName, Kind>> = {
  settings: {
    fields: fieldsOf(settings.update.input.shape, {}),
    references: {},
    durations: [],
    renamed: {},
    check: (_, input) => checkSettings(input),
  },
  profile: {
    name: profileName,
    fields: fieldsOf(
      without(given(profiles.save.input.shape), ['name']),
      { type: RENAMED.type },
      { memory_access: access },
    ),
    references: { can_delegate_to: DELEGATES },
    durations: [],
    renamed: { type: RENAMED.type },
  },
  agent: {
    name: anyId,
    fields: fieldsOf(without(agents.register.input.shape, ['agent_id']), RENAMED, {
      type: agents.register.input.shape.agent_type.optional(),
      memory_access: access,
    }),
    references: { profile: ['profile'], can_delegate_to: DELEGATES },
    durations: ['offline_after'],
    renamed: RENAMED,
  },
  handover: {
    name: handovers.save.input.shape.name,
    fields: handovers.save.input.shape.handover,
    references: { 'target_profile_config.profile_name': ['profile'] },
    durations: [],
    renamed: {},
    check: (name) => {
      if (name === INSTRUCTION_HANDOVER)
        throw invalid(`handover "${name}" is built in and read-only: use another name`);
    },
  },
  policy: {
    name: summarization_policies.create.input.shape.name.unwrap().unwrap(),
    fields: fieldsOf(
      without(given(summarization_policies.create.input.shape), [
        'name',
        'policy_id',
        'trajectory_id',
        'scope_id',
        'agent_id',
      ]),
      {},
    ),
    references: {},
    durations: [],
    renamed: {},
    check: (_, input) => checkPolicy(input),
  },
};

export const kindNames: ReadonlySet<string> = new Set(KIND_NAMES);
export const isKind = (word: string): word is KindName => kindNames.has(word);

const NOTHING: MemoryAccess = { read: [], write: [] };

/** `memory_access: own` as rules. */
export const rulesOf = (access: GrantedAccess): MemoryAccess => {
  if (typeof access !== 'string') return access;
  return access === 'none' ? NOTHING : accessTo(access);
};

/** The fields of a definition as members of the operation's input. */
export const toInput = (kind: KindName, fields: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([field, value]) => [
        kinds[kind].renamed[field] ?? field,
        field === 'memory_access' ? (rulesOf(value as GrantedAccess) as Json) : value,
      ]),
  );

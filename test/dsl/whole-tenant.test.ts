/** A tenant that has every field of every kind: its export recreates all of it. */
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { KIND_NAMES, type KindName } from '#cairn/dsl/checks/kind-names.js';
import { kinds } from '#cairn/dsl/checks/kinds.js';
import type { MemoryType } from '#cairn/engine/contract.js';
import type { JsonObject } from '#cairn/kernel/contract.js';
import { onEveryTarget } from '../support/targets.js';

const TYPES: readonly MemoryType[] = ['Turn', 'Artifact', 'Note', 'Card', 'Packet', 'Checkpoint', '*'];
const SCOPES = ['own', 'own_trajectory', 'all'] as const;
/** Every type of memory, and every scope. */
const RULES = { read: TYPES.map((memory_type, i) => ({ memory_type, scope: SCOPES[i % 3]! })), write: [] };
const TTLS = ['Persistent', 'Permanent', 'Session', 'ShortTerm', 'MediumTerm', 'LongTerm'] as const;
const CAPABILITIES = ['write_code', 'run tests', '*', 'true', '5m', '"'];
const JSON_VALUE = { a: [1, -0.5, 1e300, true, null, 'text', { '': '\n', 'a b': [] }], extends: {}, '*': '//' };

/** By kind, the inputs of the operations; each kind has all its fields in one definition. */
const WHOLE = {
  settings: [
    {
      artifact_ttls: { ...Object.fromEntries(TTLS.map((ttl) => [ttl, ttl])), Scope: 'Scope', '*': { Duration: 1 } },
      note_ttls: { Fact: { Duration: 90 * 86_400_000 }, 'free words': 'Session', Procedure: 'Permanent' },
      retain: 'digest',
      context_token_budget: 1234,
      context_sections: [
        { name: 'notes', priority: 95, share: 0.3, min_tokens: 10 },
        { name: 'turns', priority: 0 },
        { name: 'profile' },
      ],
    },
  ],
  profile: [
    {
      name: 'Coder',
      description: 'Writes code.',
      agent_type: 'coder',
      capabilities: CAPABILITIES,
      memory_access: RULES,
      can_delegate_to: ['Reader', 'coder', 'Coder', 'someone outside', '*'],
      system_prompt: 'You write code.\n\n  Indented """ and \\ and "quoted" \t\n',
      tools: [{ name: 'diff', input_schema: { type: 'object', properties: JSON_VALUE } }, {}],
      llm_config: JSON_VALUE,
    },
    { name: 'Empty' },
  ],
  agent: [
    {
      agent_id: 'Lead',
      agent_type: 'planner',
      capabilities: CAPABILITIES,
      memory_access: RULES,
      can_delegate_to: ['Reader', 'Coder', 'someone outside'],
      profile_name: 'Coder',
      offline_after_ms: 90_061_001,
      metadata: JSON_VALUE,
    },
    { agent_id: 'Reader', agent_type: 'Reader', capabilities: ['read'], memory_access: { read: [], write: [] } },
    ...SCOPES.map((scope) => {
      const rules = [{ memory_type: '*', scope }];
      return {
        agent_id: `Of ${scope}`,
        agent_type: 'x',
        capabilities: ['x'],
        memory_access: { read: rules, write: rules },
      };
    }),
    {
      agent_id: 'Twice',
      agent_type: 'x',
      capabilities: ['x'],
      can_delegate_to: [],
      memory_access: {
        write: [
          { memory_type: 'Note', scope: 'own' },
          { memory_type: 'Note', scope: 'all' },
        ],
      },
    },
  ],
  handover: [
    {
      target_profile_config: { profile_name: 'Coder' },
      context_packing_config: {
        pack_arguments: [{ arg_key: 'instruction', as_card_type: 'task.instruction', card_metadata: JSON_VALUE }, null],
        inherit_context: { include_boxes_from_args: ['input_box_ids', 'a b'], include_parent: true },
        instruction_last: true,
      },
    },
  ],
  policy: [
    {
      name: 'Every "twenty"',
      trigger: { type: 'TurnCount', count: 20 },
      source_level: 'L0',
      target_level: 'L1',
      max_sources: 7,
      max_tokens: 123,
      create_edges: false,
      actions: ['extract', 'summarize'],
      enabled: false,
    },
    { name: 'dosage', trigger: { type: 'DosageThreshold', percent: 80 } },
    { name: 'close', trigger: { type: 'ScopeClose' } },
    { name: 'artifacts', trigger: { type: 'ArtifactCount', count: 3 }, source_level: 'L1' },
    { name: 'manual', trigger: { type: 'Manual' } },
  ],
} as const satisfies Record<KindName, readonly object[]>;

async function fill(cairn: Api): Promise<void> {
  await cairn.settings.update(WHOLE.settings[0] as never);
  for (const one of WHOLE.profile) await cairn.profiles.save(one as never);
  for (const one of WHOLE.agent) await cairn.agents.register(one as never);
  for (const [i, handover] of WHOLE.handover.entries())
    await cairn.handovers.save({ name: `Review ${i}`, handover: handover as never });
  for (const one of WHOLE.policy) await cairn.summarization_policies.create(one as never);
}

const TIMES_AND_IDS = new Set([
  'created_at',
  'updated_at',
  'registered_at',
  'last_seen_at',
  'policy_id',
  'box_id',
  'card_id',
]);

/** What the operations answer, without times and ids. */
async function contentOf(cairn: Api): Promise<JsonObject> {
  const { profiles } = await cairn.profiles.list({});
  const { handovers } = await cairn.handovers.list({});
  const { summarization_policies } = await cairn.summarization_policies.list({});
  const all = {
    settings: await cairn.settings.get({}),
    profiles: await Promise.all(profiles.map(({ name }) => cairn.profiles.get({ name }))),
    agents: (await cairn.agents.list({ order: 'asc' })).agents.sort((a, b) => (a.agent_id < b.agent_id ? -1 : 1)),
    handovers: await Promise.all(handovers.map(({ name }) => cairn.handovers.get({ name }))),
    policies: summarization_policies.sort((a, b) => (a.name! < b.name! ? -1 : 1)),
  };
  return JSON.parse(JSON.stringify(all, (key, value) => (TIMES_AND_IDS.has(key) ? undefined : value))) as JsonObject;
}

onEveryTarget('a whole tenant', (test) => {
  it.each(KIND_NAMES)('DSL-4, DSL-17 has every field of the kind %s', (kind) => {
    const { fields, renamed } = kinds[kind];
    const members = Object.keys(fields.shape).map((field) => renamed[field] ?? field);
    const [first] = WHOLE[kind] as readonly object[];
    expect(Object.keys(first!)).toEqual(expect.arrayContaining(members));
  });

  it('DSL-11, DSL-17 is recreated by its export, which is then the same', async () => {
    const cairn = await test().freshTenant();
    await fill(cairn);
    const exported = await cairn.dsl.export({});
    const definitions = 2 + WHOLE.profile.length + WHOLE.agent.length + WHOLE.policy.length;
    expect(exported).toMatchObject({ definitions, left_out: [] });
    expect(await cairn.dsl.format({ source: exported.source })).toMatchObject({ changed: false });
    const before = await contentOf(cairn);
    const nothing = { create: 0, update: 0, unchanged: definitions, delete: 0 };
    expect((await cairn.dsl.apply({ source: exported.source, prune: true })).counts).toEqual(nothing);
    expect(await contentOf(cairn)).toEqual(before);

    const other = await test().freshTenant();
    const created = { create: definitions, update: 0, unchanged: 0, delete: 0 };
    expect((await other.dsl.apply({ source: exported.source })).counts).toEqual(created);
    expect(await other.dsl.export({})).toEqual(exported);
    expect(await contentOf(other)).toEqual(before);
    expect((await other.dsl.apply({ source: exported.source, prune: true })).counts).toEqual(nothing);
    // A source of comments alone defines nothing: prune deletes it all.
    expect((await other.dsl.apply({ source: '// nothing', prune: true })).counts).toMatchObject({
      delete: definitions,
    });
    // A comment, since a blank source cannot be applied.
    const empty = { source: '// no definitions\n', definitions: 0, left_out: [] };
    expect(await other.dsl.export({})).toEqual(empty);
    expect((await other.dsl.export({ kind: 'policy' })).source).toBe('// no definitions of the kind policy\n');
    expect(await other.dsl.format({ source: empty.source })).toMatchObject({ changed: false });
    expect((await other.dsl.apply({ source: empty.source, prune: true })).counts).toEqual({ ...nothing, unchanged: 0 });
    // The ids of unregistered agents are not free again.
    expect((await cairn.dsl.plan({ source: exported.source })).counts).toEqual(nothing);
  });
});

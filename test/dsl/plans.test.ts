import { describe, expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { onEveryTarget, refusalOf, type TestStore } from '../support/targets.js';

const TEAM = `
settings { retain: digest, artifact_ttls { ErrorLog: 7d, *: Persistent } }
profile Coder { system_prompt: "You write code.", llm_config { temperature: 0.2 }, memory_access: own }
agent Lead {
  type: planner
  capabilities: [plan, review, plan]
  can_delegate_to: [Coder, "x y", *]
  memory_access { read { Note: all, Artifact: own_trajectory } write: [] }
  offline_after: 5m
  metadata { team: "a" }
}
agent Worker { capabilities: [write_code], profile: Coder }
handover Review {
  context_packing_config { pack_arguments: [{ arg_key: instruction, as_card_type: task.instruction }] }
}
policy EveryTwenty { trigger { type: TurnCount, count: 20 } actions: [summarize, extract] }
`;

const UNCHANGED = { create: 0, update: 0, unchanged: 6, delete: 0 };

const tenantOf = async (cairn: Api): Promise<string> => (await cairn.auth.whoami()).tenant_id;

/** The types of all events, oldest first. */
async function eventsOf(cairn: Api): Promise<string[]> {
  const { packets, next_cursor } = await cairn.packets.list({ order: 'asc', limit: 200 });
  expect(next_cursor).toBeNull();
  // A client over HTTP has a key.
  return packets.map(({ packet_type }) => packet_type).filter((type) => type !== 'cairn.key.created');
}

const changesOf = ({ changes }: { changes: readonly { action: string; kind: string; name: string }[] }): string[] =>
  changes.map(({ action, kind, name }) => `${action} ${kind} ${name}`.trim());

async function teamOf(test: TestStore): Promise<Api> {
  const cairn = await test.freshTenant();
  await cairn.dsl.apply({ source: TEAM });
  return cairn;
}

onEveryTarget('plans', (test) => {
  it('DSL-10 a plan says what would be created, and changes nothing', async () => {
    const cairn = await test().freshTenant();
    const plan = await cairn.dsl.plan({ source: TEAM });
    expect(changesOf(plan)).toEqual([
      'create settings',
      'create profile Coder',
      'create agent Lead',
      'create agent Worker',
      'create handover Review',
      'create policy EveryTwenty',
    ]);
    expect(plan.counts).toEqual({ create: 6, update: 0, unchanged: 0, delete: 0 });
    expect(plan.plan_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(await eventsOf(cairn)).toEqual([]);
    expect((await cairn.agents.list({})).agents).toEqual([]);
  });

  it('DSL-10 a plan names the fields that change, as they are written', async () => {
    const cairn = await teamOf(test());
    const plan = await cairn.dsl.plan({
      source: 'agent Lead { type: boss, capabilities: [plan], offline_after: 2h } settings { retain: nothing }',
    });
    expect(plan.changes).toEqual([
      {
        action: 'update',
        kind: 'settings',
        name: '',
        fields: [{ field: 'retain', before: 'digest', after: 'nothing' }],
      },
      {
        action: 'update',
        kind: 'agent',
        name: 'Lead',
        fields: [
          { field: 'type', before: 'planner', after: 'boss' },
          { field: 'capabilities', before: ['plan', 'review'], after: ['plan'] },
          { field: 'offline_after', before: '5m', after: '2h' },
        ],
      },
    ]);
  });

  it.each(['plan', 'apply'] as const)('DSL-10 %s refuses a source with mistakes', async (verb) => {
    const cairn = await test().freshTenant();
    const refusal = await refusalOf(cairn.dsl[verb]({ source: 'agent A { capabilities: [a] }\nagnet B {}' }));
    expect(refusal).toMatchObject({
      code: 'INVALID_SOURCE',
      status: 400,
      message: 'line 2, column 1: unknown kind `agnet`: did you mean `agent`?',
      details: { errors: [{ line: 2, column: 1, code: 'unknown_kind' }] },
    });
    expect(await eventsOf(cairn)).toEqual([]);
  });

  it('DSL-11 apply stores what the source says, with the event of each noun and one of its own', async () => {
    const cairn = await test().freshTenant();
    const applied = await cairn.dsl.apply({ source: TEAM });
    expect(applied.counts).toEqual({ create: 6, update: 0, unchanged: 0, delete: 0 });
    expect(await cairn.settings.get({})).toMatchObject({
      retain: 'digest',
      artifact_ttls: { ErrorLog: { Duration: 7 * 86_400_000 }, '*': 'Persistent' },
    });
    expect(await cairn.profiles.get({ name: 'Coder' })).toMatchObject({
      system_prompt: 'You write code.',
      llm_config: { temperature: 0.2 },
      memory_access: { read: [{ memory_type: '*', scope: 'own' }], write: [{ memory_type: '*', scope: 'own' }] },
    });
    expect(await cairn.agents.get({ agent_id: 'Lead' })).toMatchObject({
      agent_type: 'planner',
      capabilities: ['plan', 'review'],
      can_delegate_to: ['Coder', 'x y', '*'],
      memory_access: {
        read: [
          { memory_type: 'Note', scope: 'all' },
          { memory_type: 'Artifact', scope: 'own_trajectory' },
        ],
        write: [],
      },
      offline_after_ms: 300_000,
      metadata: { team: 'a' },
      status: 'idle',
    });
    expect(await cairn.agents.get({ agent_id: 'Worker' })).toMatchObject({
      agent_type: 'Worker',
      profile_name: 'Coder',
    });
    expect((await cairn.handovers.get({ name: 'Review' })).handover).toEqual({
      context_packing_config: { pack_arguments: [{ arg_key: 'instruction', as_card_type: 'task.instruction' }] },
    });
    const { summarization_policies } = await cairn.summarization_policies.list({});
    expect(summarization_policies).toMatchObject([
      { name: 'EveryTwenty', trigger: { type: 'TurnCount', count: 20 }, actions: ['extract', 'summarize'] },
    ]);
    expect((await eventsOf(cairn)).filter((type) => !/^cairn\.(card|box)\./.test(type))).toEqual([
      'cairn.settings.updated',
      'cairn.profile.created',
      'cairn.agent.registered',
      'cairn.agent.registered',
      'cairn.handover.saved',
      'cairn.summarization_policy.created',
      'cairn.dsl.applied',
    ]);
  });

  it('DSL-11 applying it again changes nothing and appends no event', async () => {
    const cairn = await teamOf(test());
    const before = await eventsOf(cairn);
    expect((await cairn.dsl.apply({ source: TEAM })).counts).toEqual(UNCHANGED);
    expect((await cairn.dsl.apply({ source: TEAM, prune: true })).counts).toEqual(UNCHANGED);
    expect(await eventsOf(cairn)).toEqual(before);
  });

  it('DSL-11 if one definition is refused, nothing is applied', async () => {
    const cairn = await test().freshTenant();
    // The checks of the source cannot know that the type of its agent is taken.
    await cairn.agents.register({ agent_id: 'busy', agent_type: 'x', capabilities: ['x'] });
    await cairn.agents.update({ agent_id: 'busy', status: 'busy' });
    const before = await eventsOf(cairn);
    const refusal = await refusalOf(cairn.dsl.apply({ source: TEAM, prune: true }));
    expect(refusal).toMatchObject({ status: 409, message: expect.stringMatching(/^agent "busy": /) });
    expect(await eventsOf(cairn)).toEqual(before);
    expect((await cairn.agents.list({})).agents).toHaveLength(1);
    expect((await cairn.settings.get({})).updated_at).toBeNull();
  });

  it('DSL-13 a plan with more than 20 policies is refused; prune makes room first', async () => {
    const cairn = await test().freshTenant();
    const policies = (name: string, count: number) =>
      Array.from({ length: count }, (_, i) => `policy ${name}${i} { trigger { type: ScopeClose } }`).join('\n');
    const tooMany = await refusalOf(cairn.dsl.plan({ source: policies('P', 21) }));
    expect(tooMany).toMatchObject({ status: 409, message: expect.stringMatching(/21 policies.*at most 20/) });
    await cairn.dsl.apply({ source: policies('P', 20) });
    const both = await refusalOf(cairn.dsl.apply({ source: policies('Q', 1) }));
    expect(both).toMatchObject({ status: 409, message: expect.stringMatching(/21 policies/) });
    const replaced = await cairn.dsl.apply({ source: policies('Q', 20), prune: true });
    expect(replaced.counts).toEqual({ create: 20, update: 0, unchanged: 0, delete: 20 });
  });

  it('DSL-11 a repeated Idempotency-Key gets the same answer', async () => {
    const cairn = await teamOf(test());
    const request = { source: 'agent Lead { capabilities: [lead] }', prune: true };
    const first = await cairn.dsl.apply(request, { idempotency_key: 'apply-1' });
    expect(changesOf(first)).toEqual([
      'delete policy EveryTwenty',
      'update agent Lead',
      'delete handover Review',
      'delete agent Worker',
      'delete profile Coder',
      'delete settings',
    ]);
    const events = await eventsOf(cairn);
    const second = await cairn.dsl.apply(request, { idempotency_key: 'apply-1' });
    const named = (changes: typeof first.changes) => changes.filter(({ kind }) => kind !== 'policy');
    expect(named(second.changes)).toEqual(named(first.changes));
    expect(second.counts).toEqual(first.counts);
    expect(await eventsOf(cairn)).toEqual(events);
  });

  it('DSL-11 of applications at the same time, one creates everything', async () => {
    const cairn = await test().freshTenant();
    const answers = await Promise.all(Array.from({ length: 5 }, () => cairn.dsl.apply({ source: TEAM })));
    expect(answers.map(({ counts }) => counts.create).sort()).toEqual([0, 0, 0, 0, 6]);
    expect((await eventsOf(cairn)).filter((type) => type === 'cairn.dsl.applied')).toHaveLength(1);
  });

  it('DSL-12 profiles and handovers are replaced, agents, policies and settings keep other fields', async () => {
    const cairn = await teamOf(test());
    await cairn.dsl.apply({
      source: `
        settings { context_token_budget: 500 }
        profile Coder { description: "Writes code" }
        agent Lead { capabilities: [lead] }
        policy EveryTwenty { trigger { type: TurnCount, count: 30 } }`,
    });
    expect(await cairn.settings.get({})).toMatchObject({ retain: 'digest', context_token_budget: 500 });
    const profile = await cairn.profiles.get({ name: 'Coder' });
    expect(profile).toMatchObject({ description: 'Writes code' });
    expect(profile).not.toHaveProperty('system_prompt');
    expect(await cairn.agents.get({ agent_id: 'Lead' })).toMatchObject({
      agent_type: 'planner',
      capabilities: ['lead'],
      offline_after_ms: 300_000,
    });
    const { summarization_policies } = await cairn.summarization_policies.list({});
    expect(summarization_policies).toMatchObject([{ trigger: { count: 30 }, actions: ['extract', 'summarize'] }]);
  });

  it('DSL-12 an agent that has only a key is registered', async () => {
    const cairn = await test().freshTenant();
    await cairn.keys.create({ role: 'write', agent_id: 'Lead', access: 'own' });
    const source = 'agent Lead { type: planner, capabilities: [plan] }';
    expect(changesOf(await cairn.dsl.apply({ source }))).toEqual(['update agent Lead']);
    expect(await cairn.agents.get({ agent_id: 'Lead' })).toMatchObject({
      agent_type: 'planner',
      capabilities: ['plan'],
      memory_access: { read: [{ memory_type: '*', scope: 'own' }] },
    });
    expect((await cairn.dsl.apply({ source })).counts).toMatchObject({ unchanged: 1, update: 0 });
  });

  it('DSL-13 conflicts are refused together', async () => {
    const cairn = await teamOf(test());
    await cairn.agents.register({ agent_id: 'Gone', agent_type: 'x', capabilities: ['x'] });
    await cairn.agents.unregister({ agent_id: 'Gone' });
    for (const count of [1, 2])
      await cairn.summarization_policies.create({ name: 'Twice', trigger: { type: 'TurnCount', count } });
    const source = `
      profile Other {}
      agent Gone { capabilities: [a] }
      agent Worker { capabilities: [write_code], profile: Other }
      policy Twice { trigger { type: ScopeClose } }`;
    const calls = [cairn.dsl.plan({ source }), cairn.dsl.apply({ source })];
    for (const refusal of await Promise.all(calls.map(refusalOf))) {
      expect(refusal).toMatchObject({
        code: 'STATE_CONFLICT',
        status: 409,
        details: {
          conflicts: [
            'agent "Gone" was unregistered, and ids are never reused: use another name',
            'agent "Worker" is registered with the profile "Coder", which cannot be changed: use another name',
            'policy "Twice" is ambiguous: another policy of the tenant has the same name; rename or delete one',
          ],
        },
      });
      expect(refusal.message).toBe(
        'agent "Gone" was unregistered, and ids are never reused: use another name (and 2 more)',
      );
    }
    expect((await cairn.profiles.list({})).profiles.map(({ name }) => name)).toEqual(['Coder']);
  });

  it('DSL-14 prune deletes what the source does not define, and nothing else', async () => {
    const cairn = await teamOf(test());
    const { trajectory_id } = await cairn.trajectories.create({ name: 'task', agent_id: 'Lead' });
    await cairn.summarization_policies.create({ trajectory_id, trigger: { type: 'ScopeClose' } });
    await cairn.summarization_policies.create({ trigger: { type: 'ScopeClose' } });
    const source = 'settings { retain: digest } agent Lead { capabilities: [lead] }';
    const kept = await cairn.dsl.apply({ source });
    expect(kept.counts).toMatchObject({ delete: 0 });
    const plan = await cairn.dsl.plan({ source, prune: true });
    expect(changesOf(plan)).toEqual([
      'delete policy EveryTwenty',
      'update settings',
      'unchanged agent Lead',
      'delete handover Review',
      'delete agent Worker',
      'delete profile Coder',
    ]);
    expect(changesOf(await cairn.dsl.apply({ source, prune: true }))).toEqual(changesOf(plan));
    expect(await cairn.settings.get({})).toMatchObject({ retain: 'digest', artifact_ttls: {} });
    expect((await cairn.agents.list({})).agents.map(({ agent_id }) => agent_id)).toEqual(['Lead']);
    const { summarization_policies } = await cairn.summarization_policies.list({});
    expect(summarization_policies).toHaveLength(2);
    expect((await cairn.profiles.list({})).profiles).toEqual([]);
  });

  it('DSL-14 prune refuses to unregister an agent at work, and then changes nothing', async () => {
    const cairn = await teamOf(test());
    await cairn.agents.update({ agent_id: 'Worker', status: 'busy' });
    const before = await eventsOf(cairn);
    const refusal = await refusalOf(cairn.dsl.apply({ source: 'agent New { capabilities: [a] }', prune: true }));
    expect(refusal).toMatchObject({
      code: 'STATE_CONFLICT',
      message: expect.stringMatching(/^agent "Worker": .*busy/),
    });
    expect(await eventsOf(cairn)).toEqual(before);
  });

  it('DSL-15 a plan of deletions is another one once their content has changed', async () => {
    const cairn = await teamOf(test());
    const source = 'agent Lead { capabilities: [lead] }';
    const { plan_hash } = await cairn.dsl.plan({ source, prune: true });
    await cairn.profiles.save({ name: 'Coder', description: 'new' });
    const refusal = await refusalOf(cairn.dsl.apply({ source, prune: true, plan_hash }));
    expect(refusal).toMatchObject({
      code: 'STATE_CONFLICT',
      message: expect.stringContaining('plan the source again'),
    });
    expect(await cairn.profiles.get({ name: 'Coder' })).toMatchObject({ description: 'new' });
  });

  it('DSL-12, DSL-16 an agent that has only a key keeps what came with it', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const source = 'agent bot { capabilities: [a] }';
    await cairn.keys.create({
      role: 'write',
      agent_id: 'bot',
      access: 'own',
      agent_type: 'worker',
      can_delegate_to: ['x'],
    });
    const writer = await test().as({ tenant, role: 'write' });
    for (const field of ['type: boss', 'memory_access: all', 'can_delegate_to: [*]']) {
      const refusal = await refusalOf(writer.dsl.apply({ source: `agent bot { capabilities: [a], ${field} }` }));
      expect(refusal).toMatchObject({ status: 403, details: { rule: 'key_role' } });
    }
    const claimed = { agent_id: 'bot', agent_type: 'worker', capabilities: ['a'], can_delegate_to: ['*'] };
    expect(await refusalOf(writer.agents.register(claimed))).toMatchObject({ status: 403 });
    const { changes } = await writer.dsl.plan({ source });
    expect(changes).toEqual([
      { action: 'update', kind: 'agent', name: 'bot', fields: [{ field: 'capabilities', before: [], after: ['a'] }] },
    ]);
    await writer.dsl.apply({ source });
    expect(await cairn.agents.get({ agent_id: 'bot' })).toMatchObject({
      agent_type: 'worker',
      memory_access: { read: [{ scope: 'own' }], write: [{ scope: 'own' }] },
      can_delegate_to: ['x'],
    });
    await cairn.keys.create({ role: 'write', agent_id: 'untyped', access: 'own' });
    const untyped = await cairn.dsl.plan({ source: 'agent untyped { capabilities: [a] }' });
    expect(untyped.changes[0]!.fields.map(({ field, after }) => [field, after])).toEqual([
      ['type', 'untyped'],
      ['capabilities', ['a']],
    ]);
  });

  it('DSL-15 apply refuses another plan than the one that was shown', async () => {
    const cairn = await teamOf(test());
    const source = 'agent Lead { capabilities: [lead] }';
    const { plan_hash } = await cairn.dsl.plan({ source });
    await cairn.agents.update({ agent_id: 'Lead', capabilities: ['other'] });
    const refusal = await refusalOf(cairn.dsl.apply({ source, plan_hash }));
    expect(refusal).toMatchObject({ code: 'STATE_CONFLICT', status: 409, message: expect.stringMatching(/plan/) });
    expect((await cairn.agents.get({ agent_id: 'Lead' })).capabilities).toEqual(['other']);
    const { plan_hash: next } = await cairn.dsl.plan({ source });
    expect((await cairn.dsl.apply({ source, plan_hash: next })).counts).toMatchObject({ update: 1 });
  });

  it('DSL-16 apply does what the key may do', async () => {
    const cairn = await teamOf(test());
    const tenant = await tenantOf(cairn);
    const reader = await test().as({ tenant, role: 'read' });
    const writer = await test().as({ tenant, role: 'write' });
    const agent = await test().as({ tenant, agent: 'ann', role: 'admin' });
    const source = 'agent New { capabilities: [a] }';
    expect((await reader.dsl.plan({ source })).counts).toMatchObject({ create: 1 });
    expect(await refusalOf(reader.dsl.apply({ source }))).toMatchObject({ code: 'FORBIDDEN', status: 403 });
    const calls = [agent.dsl.plan({ source }), agent.dsl.apply({ source }), agent.dsl.export({})];
    for (const refusal of await Promise.all(calls.map(refusalOf)))
      expect(refusal).toMatchObject({ code: 'FORBIDDEN', details: { rule: 'key_agent' } });
    for (const [forbidden, message] of [
      [`${source} settings { retain: nothing }`, /^settings: .*role admin/],
      [`${source} agent Lead { type: boss, capabilities: [plan, review] }`, /^agent "Lead": .*agent_type.*role admin/],
      [`${source} profile Coder { memory_access: all }`, /^profile "Coder": .*memory_access.*role admin/],
    ] as const) {
      const refusal = await refusalOf(writer.dsl.apply({ source: forbidden }));
      expect(refusal).toMatchObject({ code: 'FORBIDDEN', status: 403, message: expect.stringMatching(message) });
    }
    expect(await refusalOf(cairn.agents.get({ agent_id: 'New' }))).toMatchObject({ status: 404 });
    // What stays as it is needs no right.
    expect((await writer.dsl.apply({ source: `${source}${TEAM}` })).counts).toMatchObject({ create: 1, unchanged: 6 });
  });

  it('DSL-16 tenants see and change nothing of each other', async () => {
    const cairn = await teamOf(test());
    const other = await test().freshTenant();
    expect((await other.dsl.export({})).source).toBe('// no definitions\n');
    await other.dsl.apply({ source: 'agent Lead { capabilities: [theirs] }', prune: true });
    expect((await cairn.dsl.plan({ source: TEAM })).counts).toEqual(UNCHANGED);
  });
});

onEveryTarget('exports', (test) => {
  it('DSL-17 an export changes nothing in its tenant and recreates it in another', async () => {
    const cairn = await teamOf(test());
    await cairn.profiles.save({ name: 'a "name"', tools: [{ name: 'x', deep: { '': [null, 1.5, 'true', '*'] } }] });
    await cairn.agents.register({ agent_id: 'true', agent_type: 'null', capabilities: ['*', '5m', 'a, b'] });
    const exported = await cairn.dsl.export({});
    expect(exported).toMatchObject({ definitions: 8, left_out: [] });
    expect((await cairn.dsl.format({ source: exported.source })).changed).toBe(false);
    expect((await cairn.dsl.apply({ source: exported.source, prune: true })).counts).toEqual({
      create: 0,
      update: 0,
      unchanged: 8,
      delete: 0,
    });
    const other = await test().freshTenant();
    expect((await other.dsl.apply({ source: exported.source })).counts).toMatchObject({ create: 8 });
    expect(await other.dsl.export({})).toEqual(exported);
    const strip = ({ registered_at: _r, updated_at: _u, last_seen_at: _l, ...agent }: Record<string, unknown>) => agent;
    const agentsOf = async (api: Api) => (await api.agents.list({})).agents.map(strip);
    expect(await agentsOf(other)).toEqual(await agentsOf(cairn));
  });

  it('DSL-17 references are bare if they are in the export', async () => {
    const cairn = await teamOf(test());
    const { source } = await cairn.dsl.export({ kind: 'agent' });
    expect(source).toContain('profile: "Coder"');
    expect(source).not.toContain('settings');
    expect((await cairn.dsl.export({})).source).toContain('profile: Coder');
  });

  it('DSL-18 an export names what it leaves out', async () => {
    const cairn = await test().freshTenant();
    const tenant = await tenantOf(cairn);
    const { policy_id } = await cairn.summarization_policies.create({ trigger: { type: 'ScopeClose' } });
    for (const count of [1, 2])
      await cairn.summarization_policies.create({ name: 'Twice', trigger: { type: 'TurnCount', count } });
    const { card_id } = await cairn.profiles.save({ name: 'Empty', description: 'x' });
    await cairn.cards.delete({ card_id });
    await cairn.keys.create({ role: 'write', agent_id: 'ann', access: 'own' });
    await cairn.keys.create({ role: 'write', agent_id: 'key-only', access: 'own', agent_type: 'worker' });
    const ann = await test().as({ tenant, agent: 'ann', role: 'write' });
    await ann.agents.register({ agent_id: 'ann', agent_type: 'boss', capabilities: ['a'] });
    const { source, left_out } = await cairn.dsl.export({});
    expect(left_out.map(({ kind, name, reason }) => `${kind} ${name}: ${reason}`)).toEqual([
      'profile Empty: its card was deleted',
      'agent ann: its type "boss" was chosen by itself: without a type, the new agent has its name as type',
      'agent key-only: it has a key and has not registered yet',
      ...[
        `policy ${policy_id}: it has no name`,
        'policy Twice: another policy of the tenant has the same name',
        'policy Twice: another policy of the tenant has the same name',
      ].sort(),
    ]);
    expect(source).toBe('agent ann {\n  capabilities: [a]\n  memory_access: own\n  can_delegate_to: [*]\n}\n');
    const again = await cairn.dsl.plan({ source, prune: true });
    expect(again.counts).toEqual({ create: 0, update: 0, unchanged: 1, delete: 0 });
    const other = await test().freshTenant();
    await other.dsl.apply({ source });
    expect(await other.dsl.export({})).toMatchObject({ source, left_out: [] });
    const granted = await cairn.dsl.plan({ source: 'agent ann { type: boss, capabilities: [a] }' });
    expect(granted.changes).toMatchObject([
      { action: 'update', fields: [{ field: 'type', before: null, after: 'boss' }] },
    ]);
  });

  describe('of a large tenant', () => {
    it('DSL-18 a definition with more tokens than a source may have is left out', async () => {
      const cairn = await test().freshTenant();
      const many = Array.from({ length: 15_000 }, (_, i) => i % 10);
      await cairn.profiles.save({ name: 'Long', llm_config: { many } });
      await cairn.agents.register({
        agent_id: 'user',
        agent_type: 'user',
        capabilities: ['a'],
        can_delegate_to: ['Long'],
      });
      const { source, definitions, left_out } = await cairn.dsl.export({});
      expect(definitions).toBe(1);
      expect(left_out).toMatchObject([
        { kind: 'profile', name: 'Long', reason: expect.stringContaining('20,000 tokens') },
      ]);
      expect((await cairn.dsl.plan({ source })).counts).toEqual({ create: 0, update: 0, unchanged: 1, delete: 0 });
    });

    it('DSL-18 more than 200,000 tokens are refused', async () => {
      const cairn = await test().freshTenant();
      const many = Array.from({ length: 9500 }, (_, i) => i % 10);
      for (let i = 0; i < 11; i++) await cairn.profiles.save({ name: `P${i}`, llm_config: { many } });
      const refusal = await refusalOf(cairn.dsl.export({}));
      expect(refusal).toMatchObject({ code: 'STATE_CONFLICT', message: expect.stringMatching(/200,000 tokens.*kind/) });
      await cairn.profiles.delete({ name: 'P10' });
      const { source, definitions } = await cairn.dsl.export({});
      expect(definitions).toBe(10);
      expect((await cairn.dsl.plan({ source })).counts).toMatchObject({ unchanged: 10 });
    });

    it('DSL-10 a plan shows the beginning of a long value', async () => {
      const cairn = await test().freshTenant();
      await cairn.profiles.save({ name: 'P', llm_config: { list: Array.from({ length: 5000 }, (_, i) => i) } });
      const { changes } = await cairn.dsl.plan({ source: 'profile P { description: "d" }' });
      const [, config] = changes[0]!.fields;
      expect(config).toMatchObject({ field: 'llm_config', before: expect.stringMatching(/^\{"list":\[0,1,.{970,}…$/) });
      expect(config!.before).toHaveLength(1000);
    });

    it('DSL-18 more than 1,000 definitions are refused', { timeout: 120_000 }, async () => {
      const cairn = await test().freshTenant();
      const agents = Array.from({ length: 1000 }, (_, i) => `agent A${i} { capabilities: [a] }`);
      await cairn.dsl.apply({ source: agents.join('\n') });
      expect((await cairn.dsl.export({})).definitions).toBe(1000);
      await cairn.agents.register({ agent_id: 'last', agent_type: 'x', capabilities: ['x'] });
      const refusal = await refusalOf(cairn.dsl.export({}));
      expect(refusal).toMatchObject({ code: 'STATE_CONFLICT', message: expect.stringMatching(/1000.*kind/) });
      expect((await cairn.dsl.export({ kind: 'profile' })).source).toBe('// no definitions of the kind profile\n');
    });
  });
});

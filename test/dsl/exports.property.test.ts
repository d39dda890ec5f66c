/** Tenants with random content: an export changes nothing in its tenant, and recreates it in another. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import type { JsonObject } from '#cairn/kernel/contract.js';
import { openTarget, type TestStore } from '../support/targets.js';

/** CAIRN_TEST_SEED=… repeats a run. */
const seed = Number(process.env.CAIRN_TEST_SEED ?? Math.trunc(Math.random() * 2 ** 31));

/** Texts that a careless writer of sources would get wrong. */
const tricky = fc.oneof(
  fc.constantFrom(
    'true',
    'null',
    'extends',
    '*',
    '5m',
    '-1',
    '__proto__',
    'constructor',
    '"',
    '\\',
    '"""',
    'a\\',
    'x"',
  ),
  fc.constantFrom(
    '  lead',
    'trail  ',
    'a\nb',
    '\n\na\n',
    'a\r\nb',
    '\tx',
    '// no',
    '/* no */',
    '# no',
    '{',
    ']',
    'é',
    '😀',
    '\u2028',
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ maxLength: 20 }),
);

/** Without NUL and half surrogates, which the API refuses. */
const stored = tricky.map((text) => text.replaceAll('\0', '').toWellFormed());
const filled = stored.filter((text) => text.trim() !== '');
/** Without backslashes: after a name `\\`, JSON.parse of Node 24 (V8 13.6) reads the name `"` as another `\\`. */
const memberName = stored.filter((text) => !text.includes('\\'));
const word = fc.oneof(fc.stringMatching(/^[A-Za-z][\w.-]{0,8}$/), filled);
/** Ids and names of the API are printable. */
const name = word.filter(
  (text) => /^[\p{L}\p{N}\p{P}\p{S} ]{1,50}$/u.test(text) && text.trim() === text && text !== '.' && text !== '..',
);

const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    stored,
    fc.boolean(),
    fc.constant(null),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value)),
    fc.integer(),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(memberName, tie('json'), { maxKeys: 3 }),
  ),
}));
const object = fc.dictionary(memberName, json, { maxKeys: 3 }) as fc.Arbitrary<JsonObject>;

const scope = fc.constantFrom('all', 'own', 'own_trajectory');
const memory_type = fc.constantFrom('Note', 'Artifact', 'Turn', 'Card', '*');
const rules = fc.array(fc.record({ memory_type, scope }), { maxLength: 3 });
const access = fc.record({ read: rules, write: rules }, { requiredKeys: [] });
const delegates = fc.array(word, { maxLength: 3 });

const agent = fc.record(
  {
    agent_id: name,
    agent_type: word,
    capabilities: fc.array(word, { minLength: 1, maxLength: 3 }),
    memory_access: access,
    can_delegate_to: delegates,
    profile_name: name,
    offline_after_ms: fc.integer({ min: 1000, max: 604_800_000 }),
    metadata: object,
  },
  { requiredKeys: ['agent_id', 'agent_type', 'capabilities'] },
);
const profile = fc.record(
  {
    name,
    description: stored,
    agent_type: word,
    capabilities: fc.array(word, { minLength: 1, maxLength: 3 }),
    memory_access: access,
    can_delegate_to: delegates,
    system_prompt: stored,
    tools: fc.array(object, { maxLength: 2 }),
    llm_config: object,
  },
  { requiredKeys: ['name'] },
);
const ttl = fc.oneof(
  fc.constantFrom('Persistent', 'LongTerm', 'Session', 'Duration(5000)'),
  fc.integer({ min: 1, max: 10_000_000 }).map((Duration) => ({ Duration })),
);
const ttls = fc.dictionary(
  word.filter((text) => !text.includes('\\')),
  ttl,
  { maxKeys: 3 },
);
const settings = fc.record(
  {
    artifact_ttls: ttls,
    note_ttls: ttls,
    retain: fc.constantFrom('digest', 'nothing'),
    context_token_budget: fc.integer({ min: 1, max: 1_000_000 }),
    context_sections: fc.uniqueArray(
      fc.record(
        {
          name: fc.constantFrom('notes', 'turns', 'profile'),
          priority: fc.integer({ min: 0, max: 1000 }),
          share: fc.double({ min: 0, max: 1, noNaN: true }).map((value) => (value === 0 ? 0 : value)),
        },
        { requiredKeys: ['name'] },
      ),
      { selector: ({ name }) => name, maxLength: 3 },
    ),
  },
  { requiredKeys: [] },
);
const policy = fc.record(
  {
    name: filled,
    trigger: fc.oneof(
      fc.constant({ type: 'ScopeClose' as const }),
      fc.record({ type: fc.constant('TurnCount' as const), count: fc.integer({ min: 1, max: 1000 }) }),
    ),
    actions: fc.uniqueArray(fc.constantFrom('summarize', 'extract'), { minLength: 1, maxLength: 2 }),
    enabled: fc.boolean(),
    max_tokens: fc.integer({ min: 16, max: 1000 }),
  },
  { requiredKeys: ['name', 'trigger'] },
);

const handover = fc.record({
  name,
  handover: fc.record(
    {
      context_packing_config: fc.record({
        pack_arguments: fc.array(fc.record({ arg_key: word, as_card_type: word }), { minLength: 1, maxLength: 3 }),
      }),
      target_profile_config: fc.record({ profile_name: name }),
    },
    { requiredKeys: ['context_packing_config'] },
  ),
});

const tenant = fc.record({
  handovers: fc.uniqueArray(handover, { selector: ({ name }) => name, maxLength: 2 }),
  agents: fc.uniqueArray(agent, { selector: ({ agent_id }) => agent_id, maxLength: 3 }),
  profiles: fc.uniqueArray(profile, { selector: ({ name }) => name, maxLength: 3 }),
  policies: fc.uniqueArray(policy, { selector: ({ name }) => name, maxLength: 2 }),
  settings,
});
type Tenant = typeof tenant extends fc.Arbitrary<infer T> ? T : never;
const EMPTY: Tenant = { handovers: [], agents: [], profiles: [], policies: [], settings: {} };

async function fill(cairn: Api, { agents, profiles, handovers, policies, settings }: Tenant): Promise<void> {
  if (Object.keys(settings).length > 0) await cairn.settings.update(settings as never);
  for (const one of profiles) await cairn.profiles.save(one as never);
  for (const one of handovers) await cairn.handovers.save(one as never);
  for (const one of agents) await cairn.agents.register(one as never);
  for (const one of policies) await cairn.summarization_policies.create(one as never);
}

describe('exports of random tenants', () => {
  let test: TestStore;
  beforeAll(async () => {
    test = await openTarget('sqlite');
  });
  afterAll(() => test.close());

  it('DSL-17 change nothing in their tenant, and recreate it in another', { timeout: 120_000 }, () =>
    fc.assert(
      fc.asyncProperty(tenant, async (content) => {
        const cairn = await test.as({ tenant: `t-${randomUUID()}` });
        await fill(cairn, content);
        const exported = await cairn.dsl.export({});
        expect(exported.left_out).toEqual([]);
        const { source } = exported;
        expect(await cairn.dsl.validate({ source })).toMatchObject({ valid: true, errors: [] });
        expect((await cairn.dsl.format({ source })).source).toBe(source);
        const again = await cairn.dsl.plan({ source, prune: true });
        expect(again.changes.filter(({ action }) => action !== 'unchanged')).toEqual([]);
        const other = await test.as({ tenant: `t-${randomUUID()}` });
        await other.dsl.apply({ source });
        expect(await other.dsl.export({})).toEqual(exported);
      }),
      { seed, numRuns: 200, examples: [[EMPTY]] },
    ),
  );
});

import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const DEFAULTS = {
  artifact_ttls: {},
  note_ttls: {},
  retain: 'digest',
  context_token_budget: 8000,
  context_sections: [],
} as const;

/** The payloads of the events about settings. */
async function changesOf(cairn: Api) {
  const { packets } = await cairn.packets.list({ packet_type: 'cairn.settings.updated', order: 'asc' });
  return packets.map(({ payload }) => payload as { fields: string[]; entity: object });
}

onEveryTarget('settings', (test) => {
  it('SET-1 a tenant that set nothing has every default', async () => {
    const cairn = await test().freshTenant();
    expect(await cairn.settings.get({})).toEqual({ ...DEFAULTS, updated_at: null });
  });

  it('SET-2 a patch replaces whole members, null restores a default, and absent members stay', async () => {
    const cairn = await test().freshTenant();
    const first = await cairn.settings.update({
      note_ttls: { Fact: 'longterm', '*': { Duration: 60_000 } },
      artifact_ttls: { Code: 'Duration(5000)' },
      retain: 'nothing',
      context_token_budget: 500,
      context_sections: [{ name: 'notes', priority: 95, share: 0.5, min_tokens: 10 }, { name: 'turns' }],
    });
    expect(first).toEqual({
      note_ttls: { Fact: 'LongTerm', '*': { Duration: 60_000 } },
      artifact_ttls: { Code: 'Duration(5000)' },
      retain: 'nothing',
      context_token_budget: 500,
      context_sections: [{ name: 'notes', priority: 95, share: 0.5, min_tokens: 10 }, { name: 'turns' }],
      updated_at: expect.any(String),
    });
    expect(await cairn.settings.get({})).toEqual(first);
    const second = await cairn.settings.update({ note_ttls: { Insight: 'ShortTerm' }, context_token_budget: null });
    expect(second).toEqual({
      ...first,
      note_ttls: { Insight: 'ShortTerm' },
      context_token_budget: 8000,
      updated_at: expect.any(String),
    });
    const cleared = { note_ttls: null, artifact_ttls: null, retain: null, context_sections: null };
    expect(await cairn.settings.update(cleared)).toMatchObject(DEFAULTS);
    expect(await cairn.settings.get({})).toMatchObject(DEFAULTS);
  });

  it.each<[string, object, RegExp]>([
    ['an empty patch', {}, /at least one setting/],
    ['an unknown member', { note_ttl: { '*': 'Session' } }, /note_ttl/],
    ['a computed member', { updated_at: '2026-01-01T00:00:00Z' }, /updated_at/],
    ['an unknown way to retain', { retain: 'everything' }, /retain/],
    ['a budget of nothing', { context_token_budget: 0 }, /context_token_budget/],
  ])('SET-2 %s is refused', async (_, patch, message) => {
    const cairn = await test().freshTenant();
    const refusal = await refusalOf(cairn.settings.update(patch));
    expect(refusal).toMatchObject({ code: 'INVALID_INPUT', status: 400, message: expect.stringMatching(message) });
    expect(await cairn.settings.get({})).toEqual({ ...DEFAULTS, updated_at: null });
  });

  it('SET-3 a change appends one event with the names of the members; equal content appends none', async () => {
    const cairn = await test().freshTenant();
    const { tenant_id } = await cairn.auth.whoami();
    const patch = { note_ttls: { Secret: 'Session', '*': 'LongTerm' }, retain: 'nothing' } as const;
    const first = await cairn.settings.update(patch);
    // Another order of the members, and another spelling.
    const same = { retain: 'Nothing', note_ttls: { '*': 'longterm', Secret: 'session' } } as unknown as typeof patch;
    expect(await cairn.settings.update(same)).toEqual(first);
    expect(await cairn.settings.update({ artifact_ttls: null })).toEqual(first);
    const changes = await changesOf(cairn);
    expect(changes.map(({ fields }) => fields)).toEqual([['note_ttls', 'retain']]);
    expect(changes[0]!.entity).toEqual({ type: 'Settings', id: tenant_id });
    expect(JSON.stringify(changes)).not.toContain('Secret');
    await cairn.settings.update({ retain: 'digest', context_token_budget: 100 });
    expect((await changesOf(cairn)).at(-1)!.fields).toEqual(['retain', 'context_token_budget']);
  });

  it('SET-3 a member that is set to its default is set', async () => {
    const cairn = await test().freshTenant();
    const { updated_at, ...settings } = await cairn.settings.update({ retain: 'digest' });
    expect(settings).toEqual(DEFAULTS);
    expect(updated_at).not.toBeNull();
    expect((await changesOf(cairn)).map(({ fields }) => fields)).toEqual([['retain']]);
    await cairn.settings.update({ retain: null });
    expect((await changesOf(cairn)).map(({ fields }) => fields)).toEqual([['retain'], ['retain']]);
  });

  it('SET-3 a repeated Idempotency-Key changes nothing again', async () => {
    const cairn = await test().freshTenant();
    const options = { idempotency_key: 'settings-1' };
    const first = await cairn.settings.update({ retain: 'nothing' }, options);
    expect(await cairn.settings.update({ retain: 'nothing' }, options)).toEqual(first);
    expect(await changesOf(cairn)).toHaveLength(1);
    const refusal = await refusalOf(cairn.settings.update({ retain: 'digest' }, options));
    expect(refusal).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT', status: 409 });
  });

  it.each<[string, object, RegExp]>([
    ['a note that ends with a scope', { note_ttls: { '*': 'Scope' } }, /note_ttls\.\*.*no scope/],
    ['an ephemeral note', { note_ttls: { Fact: 'Ephemeral' } }, /note_ttls\.Fact/],
    ['a procedure that ends', { note_ttls: { Procedure: 'LongTerm' } }, /note_ttls\.Procedure.*permanent/],
    ['no form of ttl', { artifact_ttls: { Code: 'soon' } }, /artifact_ttls.*Persistent/],
    ['an empty type', { artifact_ttls: { '': 'Session' } }, /artifact_ttls/],
    [
      'too many types',
      { artifact_ttls: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`T${i}`, 'Session'])) },
      /at most 100/,
    ],
    ['a section twice', { context_sections: [{ name: 'notes' }, { name: 'notes' }] }, /"notes" is repeated/],
    ['an unknown section', { context_sections: [{ name: 'footer' }] }, /context_sections/],
    ['a share of more than all', { context_sections: [{ name: 'notes', share: 2 }] }, /share/],
  ])('SET-4 %s is refused', async (_, patch, message) => {
    const cairn = await test().freshTenant();
    const refusal = await refusalOf(cairn.settings.update(patch));
    expect(refusal).toMatchObject({ code: 'INVALID_INPUT', status: 400, message: expect.stringMatching(message) });
    expect(await cairn.settings.get({})).toEqual({ ...DEFAULTS, updated_at: null });
  });

  it('SET-4 an artifact may end with its scope, and a procedure may be permanent', async () => {
    const cairn = await test().freshTenant();
    const ttls = { artifact_ttls: { '*': 'Scope' }, note_ttls: { Procedure: 'Permanent' } } as const;
    expect(await cairn.settings.update(ttls)).toMatchObject(ttls);
  });

  it('SET-5 settings belong to the tenant', async () => {
    const { as, freshTenant } = test();
    const cairn = await freshTenant();
    const { tenant_id: tenant } = await cairn.auth.whoami();
    await cairn.settings.update({ retain: 'nothing' });
    const reader = await as({ tenant, role: 'read' });
    expect(await reader.settings.get({})).toMatchObject({ retain: 'nothing' });
    const writer = await as({ tenant, role: 'write' });
    expect(await refusalOf(writer.settings.update({ retain: 'digest' }))).toMatchObject({ status: 403 });
    const agent = await as({ tenant, agent: 'ann', role: 'admin' });
    const calls = [agent.settings.get({}), agent.settings.update({ retain: 'digest' })];
    for (const refusal of await Promise.all(calls.map(refusalOf)))
      expect(refusal).toMatchObject({ code: 'FORBIDDEN', status: 403, details: { rule: 'key_agent' } });
    const other = await freshTenant();
    expect(await other.settings.get({})).toEqual({ ...DEFAULTS, updated_at: null });
    await other.settings.update({ context_token_budget: 77 });
    expect(await cairn.settings.get({})).toMatchObject({ retain: 'nothing', context_token_budget: 8000 });
  });
});

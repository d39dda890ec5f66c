/** What a context takes from the settings of the tenant. */
import { expect, it } from 'vitest';
import { note, sayAll, someTask } from '../../support/nouns/contexts.js';
import { onEveryTarget, refusalOf } from '../../support/targets.js';

const LONG = 'The column is too short for long names. '.repeat(200);

interface Recorded {
  readonly token_budget: number;
  readonly sections: readonly { readonly name: string; readonly priority: number; readonly share: number }[];
  readonly from_settings?: readonly string[];
}

onEveryTarget('settings of contexts', (test) => {
  it('CTX-23 a request without a budget has that of the tenant, and the manifest says so', async () => {
    const cairn = await test().freshTenant();
    const { trajectory_id, scope_id } = await someTask(cairn);
    await sayAll(cairn, scope_id, [LONG, LONG, LONG, LONG]);
    const parametersOf = async (manifest_id: string) =>
      (await cairn.manifests.get({ manifest_id })).parameters as unknown as Recorded;
    const before = await cairn.context.assemble({ trajectory_id });
    expect(before.token_budget).toBe(8000);
    expect(await parametersOf(before.manifest_id)).not.toHaveProperty('from_settings');
    await cairn.settings.update({ context_token_budget: 900 });
    const { token_budget, token_count, manifest_id, content_hash } = await cairn.context.assemble({ trajectory_id });
    expect(token_budget).toBe(900);
    expect(token_count).toBeLessThanOrEqual(900);
    expect(await parametersOf(manifest_id)).toMatchObject({ token_budget: 900, from_settings: ['token_budget'] });
    const own = await cairn.context.assemble({ trajectory_id, token_budget: 5000 });
    expect(own.token_budget).toBe(5000);
    expect(await parametersOf(own.manifest_id)).not.toHaveProperty('from_settings');
    // The record has the numbers, so that later settings change no replay.
    await cairn.settings.update({ context_token_budget: 300 });
    expect(await cairn.manifests.replay({ manifest_id })).toMatchObject({ content_hash, token_count });
    const tooLong = cairn.context.assemble({ trajectory_id, instructions: LONG });
    expect(await refusalOf(tooLong)).toMatchObject({ code: 'CONTEXT_BUDGET_TOO_SMALL' });
  });

  it('CTX-23 a request without sections has those of the tenant, and one with sections only its own', async () => {
    const cairn = await test().freshTenant();
    const { trajectory_id, scope_id } = await someTask(cairn);
    await note(cairn, 'Login', 'The login fails for long names.', { source_trajectory_ids: [trajectory_id] });
    await note(cairn, 'Rule', 'Always check a login.', { abstraction_level: 'L2' });
    await sayAll(cairn, scope_id, ['The login fails.']);
    const headings = async (more: object = {}) => {
      const asked = { trajectory_id, format: 'markdown', user_input: 'Why does the login fail?', ...more } as const;
      const { text, manifest_id } = await cairn.context.assemble(asked);
      const { parameters } = await cairn.manifests.get({ manifest_id });
      const shown = [...text!.matchAll(/^## (Principles|Notes)$/gm)].map(([, name]) => name);
      return { shown, recorded: parameters as unknown as Recorded };
    };
    expect((await headings()).shown).toEqual(['Principles', 'Notes']);
    await cairn.settings.update({ context_sections: [{ name: 'notes', priority: 95, share: 0.5 }] });
    const { shown, recorded } = await headings();
    expect(shown).toEqual(['Notes', 'Principles']);
    expect(recorded.from_settings).toEqual(['sections']);
    expect(recorded.sections[0]).toMatchObject({ name: 'notes', priority: 95, share: 0.5, firm: true });
    expect((await headings({ sections: [{ name: 'principles', priority: 99 }] })).shown).toEqual([
      'Principles',
      'Notes',
    ]);
    expect((await headings({ sections: [] })).shown).toEqual(['Principles', 'Notes']);
    await cairn.settings.update({ context_sections: [{ name: 'notes', share: 0 }] });
    expect((await headings()).shown).toEqual(['Principles']);
  });

  it('CTX-23 a repeated request is answered with the settings of its first time', async () => {
    const cairn = await test().freshTenant();
    const { trajectory_id, scope_id } = await someTask(cairn);
    await sayAll(cairn, scope_id, [LONG, 'Hello.']);
    const options = { idempotency_key: 'context-1' };
    await cairn.settings.update({ context_token_budget: 700 });
    const first = await cairn.context.assemble({ trajectory_id }, options);
    await cairn.settings.update({ context_token_budget: 7000 });
    expect(await cairn.context.assemble({ trajectory_id }, options)).toEqual(first);
  });
});

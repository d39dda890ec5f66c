/** One context: every part leads to its reason, in any format, and also when its content is gone. */
import { beforeAll, describe, expect, it } from 'vitest';
import { withInspector } from '../support/browser.js';

/** So high that every part is in view: lists hold only what is. */
const tall = { viewport: { width: 1280, height: 6000 } };

describe('a context in the inspector', () => {
  const inspector = withInspector({ demo: false });
  let scope_id: string;

  beforeAll(async () => {
    const api = inspector.api();
    const { trajectory_id } = await api.trajectories.create({ name: 'Move the orders' });
    ({ scope_id } = await api.scopes.create({ trajectory_id, name: 'Cutover', token_budget: 20_000 }));
    const call = (id: string, replica: string) => ({
      id,
      type: 'function',
      function: { name: 'replica_lag', arguments: JSON.stringify({ replica }) },
    });
    await api.turns.add({ scope_id, role: 'System', content: 'You are careful.\n## Notes\nAsk first.' });
    await api.turns.add({ scope_id, role: 'User', content: 'Is the replica of the orders behind?' });
    await api.turns.add({ scope_id, role: 'Assistant', content: '', tool_calls: [call('a', 'one'), call('b', 'two')] });
    await api.turns.add({
      scope_id,
      role: 'Tool',
      tool_results: [
        { tool_call_id: 'a', content: '{"seconds":1.4}' },
        { tool_call_id: 'b', content: '{"seconds":0.3}' },
      ],
    });
    await api.turns.add({ scope_id, role: 'Assistant', content: 'No, both replicas of the orders are close.' });
    await api.remember('The orders move on Thursday.');
    await api.notes.create({
      note_type: 'Gotcha',
      title: 'Fence',
      content: 'Of the orders:\n### A heading\n```\nx\n```',
    });
    await api.artifacts.create({
      trajectory_id,
      artifact_type: 'Plan',
      name: 'plan.md',
      content: '# Orders\n## Conversation\n- move',
    });
  });

  const assembled = async (format: 'messages' | 'markdown' | 'xml' | 'json') =>
    await inspector
      .api()
      .context.assemble({
        scope_id,
        format,
        token_budget: 4000,
        user_input: 'When do the orders move?',
        instructions: 'Be short.\n\n## Notes\n\n### Not a note',
      });

  it.each(['messages', 'markdown', 'xml', 'json'] as const)(
    'UI-11 every part leads to its reason, as %s',
    async (format) => {
      const { manifest_id } = await assembled(format);
      const { entries } = await inspector.api().manifests.get({ manifest_id });
      const shown = entries.filter(({ place }) => place !== null);
      expect(shown.length).toBeGreaterThan(9);
      await inspector.visit(async ({ page, go }) => {
        await go(`/contexts/${manifest_id}`);
        const seen = page.getByRole('list', { name: 'Messages' });
        const parts = seen.getByRole('button', { name: /^Why is part/ });
        // What is told from its card is known once the cards are there. The results of two calls are one turn.
        await expect
          .poll(
            async () => new Set(await parts.evaluateAll((all) => all.map(({ textContent }) => Number(textContent)))),
          )
          .toEqual(new Set(shown.map(({ place }) => place)));
        const fence = seen.getByRole('listitem').filter({ hasText: 'A heading' });
        await fence.getByRole('button', { name: /\(Notes\)$/ }).click();
        await page.waitForURL(/entry=\d+/);
        const entry = entries[Number(new URL(page.url()).searchParams.get('entry'))]!;
        expect(entry).toMatchObject({ section: 'notes', entity_type: 'Note' });
        expect((await inspector.api().notes.get({ note_id: entry.id })).title).toBe('Fence');
      }, tall);
    },
  );

  it('UI-11 what no budget had room for is grouped by its limit, and opens', async () => {
    const api = inspector.api();
    for (let i = 0; i < 6; i++)
      await api.notes.create({
        note_type: 'Fact',
        title: `Order ${i}`,
        content: `Orders of type ${i} ${'move '.repeat(40)}`,
      });
    const { manifest_id } = await api.context.assemble({
      scope_id,
      token_budget: 300,
      user_input: 'When do the orders move?',
    });
    await inspector.visit(async ({ page, go }) => {
      await go(`/contexts/${manifest_id}`);
      const group = page.getByRole('button', { name: /notes: (no room|share used up)/ }).first();
      await group.click();
      await expect.poll(() => page.locator('.entry.out').count()).toBeGreaterThan(0);
      await page.locator('.entry.out').getByRole('button').first().click();
      await page.getByRole('link', { name: 'Every context it was in' }).click();
      await page.waitForURL(/\/ui\/contexts\?card=/);
      await page.getByRole('heading', { name: 'No context fits these filters' }).waitFor();
    }, tall);
  });

  it('UI-11 a context with erased content keeps its reasons', async () => {
    const api = inspector.api();
    const { note_id } = await api.notes.create({ note_type: 'Fact', title: 'Badge', content: 'Otto has badge 4711.' });
    const { manifest_id } = await api.context.assemble({
      scope_id,
      token_budget: 4000,
      user_input: 'Which badge has Otto?',
    });
    await api.memory.forget({ ids: [note_id] });
    await inspector.visit(
      async ({ page, go }) => {
        await go(`/contexts/${manifest_id}`);
        await page.getByRole('heading', { name: 'This context can no longer be replayed' }).waitFor();
        await page.getByRole('list', { name: 'Erased cards' }).getByRole('button', { name: /^part/ }).click();
        await page.getByText(/^The query found it\./).waitFor();
      },
      { expected: /status of 410/ },
    );
  });
});

describe('a store without contexts', () => {
  const inspector = withInspector({ demo: false });

  it('UI-19 shows the command that fills it, and then fills by itself', async () => {
    await inspector.visit(async ({ page, go }) => {
      await go('/');
      await page.getByText(`npx cairn demo --url ${inspector.server().url}`, { exact: true }).waitFor();
      await inspector.api().remember('Anna drinks green tea.');
      await page.getByRole('heading', { name: 'No context was made yet' }).waitFor();
      await inspector.api().context.assemble({ user_input: 'What does Anna drink?' });
      await page.getByRole('list', { name: 'Contexts' }).getByRole('link', { name: 'memory' }).first().waitFor();
    });
  });
});

/** What people come for: why an agent knew something, what changed, and putting it right. On the store of `cairn demo`. */
import { describe, expect, it } from 'vitest';
import { withInspector } from '../support/browser.js';

describe('journeys through the inspector', () => {
  const inspector = withInspector();

  const taskId = async () => {
    const { trajectories } = await inspector.api().trajectories.list({ top_level: true, order: 'asc', limit: 1 });
    return trajectories[0]!.trajectory_id;
  };
  /** The two contexts that the demo assembled, the older first. */
  const contexts = async () => {
    const { manifests } = await inspector.api().manifests.list({ kind: 'assembly', order: 'asc' });
    return [manifests[0]!.manifest_id, manifests[1]!.manifest_id] as const;
  };

  it('UI-10 turns of a running task appear without reloading', async () => {
    await inspector.visit(async ({ page, go }) => {
      const { scopes } = await inspector.api().scopes.list({ trajectory_id: await taskId(), name: 'Roll-out' });
      const { scope_id } = scopes[0]!;
      await go(`/scopes/${scope_id}`);
      await page.getByText('They stay valid until the end of the month.').waitFor();
      // Marks the document: a reload would lose the mark.
      await page.evaluate('globalThis.notReloaded = true');
      await inspector.api().turns.add({ scope_id, role: 'User', content: 'Start on Monday, please.' });
      await page.getByText('Start on Monday, please.').waitFor();
      expect(await page.evaluate('globalThis.notReloaded')).toBe(true);
    });
  });

  it('UI-11 a context shows what the model saw, why each part is in it, and what was left out', async () => {
    await inspector.visit(async ({ page, go }) => {
      await go('/contexts');
      await page.getByRole('link', { name: 'Log in by a link' }).first().click();
      await page.waitForURL(/\/ui\/contexts\/[0-9a-f-]{36}/);
      const seen = page.locator('section', { has: page.getByRole('heading', { name: 'As the model saw it' }) });
      await seen.getByText('Lena lives in Munich now.').first().waitFor();
      const why = page.getByRole('list', { name: 'Why each part is here, and what was left out' });
      await why.getByText('Lena lives in Munich now.').first().waitFor();
      await page
        .getByRole('heading', { name: /left out/ })
        .first()
        .waitFor();
    });
  });

  it('UI-11 two contexts are shown side by side with what was added', async () => {
    await inspector.visit(async ({ page, go }) => {
      const [older, newer] = await contexts();
      await go(`/contexts/${newer}`);
      await page.getByRole('button', { name: 'Compare', exact: true }).click();
      await page.getByRole('dialog', { name: 'Compare with' }).locator('button.choice').first().click();
      await page.waitForURL(new RegExp(`/ui/contexts/(${newer}/compare/${older}|${older}/compare/${newer})`));
      await page.getByRole('heading', { name: 'Two contexts' }).waitFor();
      await page.getByText('Lena lives in Munich now.').first().waitFor();
    });
  });

  it('UI-12 a card names the contexts that it was in', async () => {
    await inspector.visit(async ({ page, go }) => {
      const { notes } = await inspector.api().notes.list({ title: 'Lena lives in Munich now.' });
      await go(`/memory/note/${notes[0]!.note_id}`);
      await page.getByRole('heading', { name: 'In one context' }).waitFor();
    });
  });

  it('UI-13 two checkpoints are compared, and a branch is made from one', async () => {
    await inspector.visit(async ({ page, go }) => {
      const { executions } = await inspector.api().executions.list({ limit: 1, order: 'asc' });
      const { execution_id } = executions[0]!;
      await go(`/runs/${execution_id}`);
      await page.getByText('the token works').first().click();
      await page.waitForURL(/step=/);
      await page.getByLabel('Compared with').selectOption({ index: 1 });
      await page.waitForURL(/against=/);
      await page
        .getByText(/thoughts? added/)
        .first()
        .waitFor();
      await page.getByRole('button', { name: 'Branch' }).click();
      const dialog = page.getByRole('dialog', { name: 'Branch from this step' });
      await dialog.getByLabel('Reason').fill('try a code instead of a link');
      await dialog.getByRole('button', { name: 'Branch' }).click();
      await page.getByRole('list', { name: 'Checkpoints' }).getByText('try a code instead of a link').waitFor();
      const { nodes } = await inspector.api().executions.tree({ execution_id });
      expect(nodes.map(({ branch_reason }) => branch_reason)).toContain('try a code instead of a link');
    });
  });

  it('UI-14 a note is corrected, another is forgotten with a receipt, and search finds it no more', async () => {
    const wrong = await inspector
      .api()
      .notes.create({ note_type: 'Fact', title: 'Office', content: 'The office opens at nine.' });
    const secret = await inspector
      .api()
      .notes.create({ note_type: 'Fact', title: 'Badge', content: 'The badge of Otto is number 4711.' });
    await inspector.visit(async ({ page, go }) => {
      await go(`/memory/note/${wrong.note_id}`);
      await page.getByRole('button', { name: 'Correct' }).click();
      const correct = page.getByRole('dialog', { name: 'Correct this memory' });
      await correct.getByLabel('Text').fill('The office opens at eight.');
      await correct.getByRole('button', { name: 'Save the correction' }).click();
      await page.getByText('The office opens at eight.').first().waitFor();
      await expect
        .poll(() => inspector.api().notes.get({ note_id: wrong.note_id }))
        .toMatchObject({ version: 2, content: 'The office opens at eight.' });

      await go('/memory?q=badge%20of%20Otto');
      const results = page.getByRole('list', { name: 'Results' });
      await results.getByText('4711').first().waitFor();
      await go(`/memory/note/${secret.note_id}`);
      await page.getByRole('button', { name: 'Forget' }).click();
      const forget = page.getByRole('dialog', { name: 'Forget this memory' });
      await forget.getByText('Badge').first().waitFor();
      await forget.getByRole('button', { name: /^Forget / }).click();
      await page.getByRole('heading', { name: 'A forgotten memory' }).waitFor();
      await go('/memory?q=badge%20of%20Otto');
      await expect.poll(() => page.getByText('4711').count()).toBe(0);
      const { results: found } = await inspector.api().search.query({ query: 'badge of Otto 4711' });
      expect(found.map(({ id }) => id)).not.toContain(secret.note_id);
      await go('/store?tab=erasures');
      await page.getByRole('table', { name: 'Erasures' }).getByRole('row').nth(1).waitFor();
    });
  });

  it('UI-15 a packet leads to its ancestors and descendants', async () => {
    await inspector.visit(async ({ page, go }) => {
      const { packets } = await inspector.api().packets.list({ packet_type: 'ci.built', limit: 1 });
      await go(`/lineage/packet/${packets[0]!.packet_id}`);
      await page.locator('.react-flow__node', { hasText: 'ci.pushed' }).waitFor();
      await expect.poll(() => page.locator('.react-flow__node', { hasText: 'ci.tested' }).count()).toBe(3);
      // The panel beside the graph walks on, to what lies outside of the window, too.
      await page.getByRole('button', { name: 'ci.tested' }).last().click();
      await page.getByRole('button', { name: 'ci.deployed' }).last().click();
      await page.getByRole('heading', { name: 'ci.deployed' }).waitFor();
    });
  });

  it('UI-16 a question that waits for a person is answered where it is seen', async () => {
    const api = inspector.api();
    const { execution_id } = await api.executions.create({ name: 'Deploy', agent_id: 'builder' });
    const { pause_id } = await api.pauses.create({
      execution_id,
      trigger: 'human_review',
      question: 'May the link go to everybody?',
      choices: ['yes', 'no'],
      timeout_ms: 600_000,
    });
    await inspector.visit(async ({ page, go }) => {
      await go('/live');
      const panel = page.locator('section', { has: page.getByRole('heading', { name: 'Waiting for an answer' }) });
      await panel.getByText('May the link go to everybody?').waitFor();
      await panel.getByLabel('yes', { exact: true }).check();
      await panel.getByRole('button', { name: 'Approve' }).click();
      await expect.poll(async () => (await api.pauses.get({ pause_id })).status).toBe('answered');
    });
  });
});

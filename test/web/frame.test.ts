/** The frame of the inspector: navigation, keys, palette, sign-in. */
import { beforeAll, describe, expect, it } from 'vitest';
import { seriousIssues, withInspector } from '../support/browser.js';

const VIEWS = ['Contexts', 'Memory', 'Live', 'Tasks', 'Runs', 'Lineage', 'Agents', 'Store'];

describe('the frame of the inspector', () => {
  const inspector = withInspector();

  it('UI-5 leads to every view, by pointer and by key', async () => {
    await inspector.visit(async ({ page, go }) => {
      await go('/');
      for (const [index, name] of VIEWS.entries()) {
        await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name }).click();
        await expect.poll(() => page.locator('nav a[aria-current=page]').allTextContents()).toEqual([name]);
        await page.keyboard.press('g');
        await page.keyboard.press('cmltrias'[(index + 1) % VIEWS.length]!);
        const next = VIEWS[(index + 1) % VIEWS.length]!;
        await expect.poll(() => page.locator('nav a[aria-current=page]').allTextContents()).toEqual([next]);
      }
    });
  });

  it('UI-6 finds a memory by a question in the palette, and opens it', async () => {
    await inspector.visit(async ({ page, go }) => {
      await go('/');
      await page.keyboard.press('/');
      await page.getByPlaceholder('A question, an id, a view').fill('how long is a login link valid');
      await page
        .getByRole('option', { name: /login-link/ })
        .first()
        .click();
      await page.waitForURL(/\/ui\/memory\/\w+\/[0-9a-f-]{36}$/);
    });
  });

  it.each(['light', 'dark'] as const)('UI-7 has no serious issue for axe in any view, %s', async (colorScheme) => {
    await inspector.visit(
      async ({ page, go }) => {
        for (const path of [
          '/contexts',
          '/memory',
          '/live',
          '/trajectories',
          '/runs',
          '/lineage',
          '/coordination',
          '/store',
        ]) {
          await go(path);
          await page.waitForLoadState('networkidle');
          expect(await seriousIssues(page), path).toEqual([]);
        }
      },
      { colorScheme },
    );
  });

  it('UI-8 fits a phone: no view is wider than 375 pixels', async () => {
    await inspector.visit(
      async ({ page, go }) => {
        for (const path of [
          '/contexts',
          '/memory',
          '/live',
          '/trajectories',
          '/runs',
          '/lineage',
          '/coordination',
          '/store',
        ]) {
          await go(path);
          await page.waitForLoadState('networkidle');
          const width = await page.evaluate(
            'Math.max(document.documentElement.scrollWidth, document.getElementById("view").scrollWidth)',
          );
          expect(width, path).toBeLessThanOrEqual(375);
        }
      },
      { viewport: { width: 375, height: 740 } },
    );
  });
});

describe('a store with keys', () => {
  const inspector = withInspector({ demo: false });
  let key: string;
  beforeAll(async () => {
    ({ key } = await inspector.api().keys.create({ role: 'read', name: 'reader' }));
  });

  /** A refused key is a failed request, which Chromium logs. */
  const expected = /status of 401/;
  const stored = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])';

  it('UI-9 asks for a key, refuses a wrong one, and keeps none in the address or the storage', async () => {
    await inspector.visit(
      async ({ page, go }) => {
        await go('/store');
        const field = page.getByLabel('Key', { exact: true });
        await field.fill('cairn_wrong');
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('alert').getByText('UNAUTHORIZED').waitFor();
        await field.fill(key);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByText('Read only').waitFor();
        expect(page.url()).not.toContain(key);
        expect(await page.evaluate(stored)).not.toContain(key);
        await page.reload();
        await field.waitFor();
      },
      { expected },
    );
  });

  it('UI-9 keeps a key until the tab closes with consent, and forgets it at sign-out', async () => {
    await inspector.visit(
      async ({ page, go }) => {
        await go('/contexts');
        const field = page.getByLabel('Key', { exact: true });
        await field.fill(key);
        await page.getByLabel('Keep the key until this tab closes').check();
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByText('Read only').waitFor();
        await page.reload();
        await page.getByText('Read only').waitFor();
        await page.getByRole('button', { name: 'Sign out' }).click();
        await field.waitFor();
        expect(await page.evaluate(stored)).not.toContain(key);
      },
      { expected },
    );
  });
});

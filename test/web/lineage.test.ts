/** Lineage: walking, expanding, and a graph of thousands. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { seriousIssues, withInspector } from '../support/browser.js';

describe('lineage in the inspector', () => {
  const inspector = withInspector();
  const packet = async (packet_type: string) =>
    (await inspector.api().packets.list({ packet_type, limit: 1 })).packets[0]!.packet_id;

  it('UI-15 arrow keys walk to what is before and after', async () => {
    const built = await packet('ci.built');
    await inspector.visit(async ({ page, go }) => {
      await go('/lineage');
      await page.getByRole('list', { name: 'Packets' }).getByRole('link', { name: 'ci.built' }).click();
      await page.waitForURL(new RegExp(`/ui/lineage/packet/${built}`));
      const panel = page.getByRole('complementary', { name: 'Details' });
      await panel.getByRole('heading', { name: 'ci.built' }).waitFor();
      await page.getByRole('application', { name: /^Graph/ }).focus();
      for (const [key, type] of [
        ['ArrowLeft', 'ci.pushed'],
        ['ArrowRight', 'ci.built'],
        ['ArrowRight', 'ci.tested'],
        ['ArrowRight', 'ci.deployed'],
      ] as const) {
        await page.keyboard.press(key);
        await panel.getByRole('heading', { name: type }).waitFor();
      }
      expect(new URL(page.url()).searchParams.get('focus')).toBe(`Packet:${await packet('ci.deployed')}`);
      expect(await seriousIssues(page)).toEqual([]);
    });
  });

  it('UI-20 memories and edges have a graph that can be expanded', async () => {
    const { edges } = await inspector.api().edges.list({ edge_type: 'Contradicts', limit: 1 });
    const { edge_id, participants } = edges[0]!;
    await inspector.visit(async ({ page, go }) => {
      await go(`/lineage/edge/${edge_id}`);
      const panel = page.getByRole('complementary', { name: 'Details' });
      await panel.getByRole('heading', { name: 'contradicts' }).waitFor();
      expect(await page.locator('.react-flow__node').count()).toBe(2);
      await panel.getByRole('list').first().getByRole('button').first().click();
      await page.waitForURL(new RegExp(`focus=Note%3A${participants[0]!.entity_id}`));
      await panel.getByRole('button', { name: 'Expand' }).click();
      await page
        .getByRole('status')
        .getByText(/^[3-9] nodes/)
        .waitFor();
    });
  });

  it('UI-20 of 1,900 packets only those in view are in the document, and new ones appear', async () => {
    const api = inspector.api();
    const ids = Array.from({ length: 1900 }, () => randomUUID());
    // The one in the middle has 999 ancestors and 900 descendants, each with four neighbours farther out.
    const MIDDLE = 999;
    const parentsOf = (i: number): string[] => {
      if (i > MIDDLE) return [ids[MIDDLE + Math.floor((i - MIDDLE - 1) / 4)]!];
      const steps = [1, 2, 3, 4].map((step) => MIDDLE - ((MIDDLE - i) * 4 + step));
      return steps.filter((parent) => parent >= 0).map((parent) => ids[parent]!);
    };
    const all = ids.map((packet_id, i) => ({
      packet_id,
      packet_type: 'crawl.page',
      payload: { i },
      lineage: { parent_ids: parentsOf(i) },
    }));
    for (let from = 0; from < all.length; from += 1000)
      await api.packets.write_batch({ packets: all.slice(from, from + 1000) });
    await inspector.visit(async ({ page, go }) => {
      await go(`/lineage/packet/${ids[MIDDLE]}`);
      const nodes = page.locator('.react-flow__node');
      await nodes.first().waitFor();
      await page.getByText('1,900 nodes').waitFor();
      expect(await nodes.count()).toBeLessThan(200);
      await page.getByRole('button', { name: 'Show everything' }).click();
      await expect.poll(() => nodes.count()).toBe(0);
      expect(await page.locator('canvas.lineage-far').count()).toBe(1);
      await api.packets.write({ packet_type: 'crawl.done', payload: {}, lineage: { parent_ids: [ids[MIDDLE]!] } });
      await page.getByText('1,901 nodes').waitFor();
    });
  });
});

import { expect, it } from 'vitest';
import { onEveryTarget, openTarget, refusalOf } from '../support/targets.js';

onEveryTarget('closing', (test) => {
  it('TX-8 closing waits for what is under way, reads too, and refuses what comes after', async (context) => {
    if (test().target === 'http') return context.skip('about the store itself');
    const opened = await openTarget(test().target);
    const { cairn, store } = opened;
    await cairn.cards.add({ content: 'x' });
    const underWay = [cairn.cards.list(), cairn.lifetime.stats(), cairn.cards.add({ content: 'y' })];
    await store.close();
    for (const call of underWay) await call;
    expect(await refusalOf(cairn.cards.list())).toMatchObject({ code: 'SHUTTING_DOWN', status: 503 });
    await opened.close();
  });
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { shiftedTimes } from '#cairn/maintenance/clock-recovery.js';

const NOW = 1000;
const times = fc.array(fc.integer({ min: NOW + 1, max: NOW + 40 }), { maxLength: 20 });

it('CLOCK-2 times that are brought back keep what was deleted after a seal, and nothing else', () => {
  fc.assert(
    fc.property(times, times, (sealed, deleted) => {
      const back = shiftedTimes(NOW, sealed, deleted);
      for (const seal of sealed) {
        expect(back.get(seal)).toBeGreaterThanOrEqual(NOW);
        expect(back.get(seal)).toBeLessThanOrEqual(seal);
        for (const deletion of deleted)
          expect(back.get(deletion)! > back.get(seal)!, `${seal} and ${deletion}`).toBe(deletion > seal);
      }
      // Behind a seal of the present moment, and behind no later one than there was.
      for (const deletion of deleted) {
        expect(back.get(deletion)).toBeGreaterThan(NOW);
        expect(back.get(deletion)).toBeLessThanOrEqual(deletion);
      }
    }),
  );
});

it('CLOCK-2 as few moments are used as there are deletions behind seals', () => {
  expect([...shiftedTimes(NOW, [2000, 3000, 5000], [4000, 4500, 6000])]).toEqual([
    [2000, NOW],
    [3000, NOW],
    [4000, NOW + 1],
    [4500, NOW + 1],
    [5000, NOW + 1],
    [6000, NOW + 2],
  ]);
});

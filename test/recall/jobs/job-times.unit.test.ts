/** The times of jobs: none is held, or noticed, later than what is kept for it. */
import { describe, expect, it } from 'vitest';
import { defaultLimits } from '#cairn/engine/index.js';
import { heldUntil, isUrgent, noticedAt, providerTime, takenOverAt } from '#cairn/recall/jobs/times.js';

const NOW = 1_000_000;
const KEPT_MS = defaultLimits.max_closing_ms;

describe('a job that turns are kept for', () => {
  const job = { pinned_until: NOW + KEPT_MS };

  it('SUM-30 is never held or left alone beyond their time', () => {
    for (let at = NOW; at < job.pinned_until; at += 777) {
      expect(heldUntil(defaultLimits, job, at)).toBeLessThanOrEqual(job.pinned_until);
      expect(heldUntil(defaultLimits, job, at)).toBeGreaterThan(at);
      expect(noticedAt(defaultLimits, job, 10_000, at)).toBeLessThanOrEqual(job.pinned_until);
      expect(noticedAt(defaultLimits, job, 10_000, at)).toBeGreaterThan(at);
    }
  });

  it('SUM-32 leaves time for the offline way behind any provider, and for another that takes it over', () => {
    for (let at = NOW; at < job.pinned_until; at += 777) {
      const asked_until = at + Math.max(0, providerTime(defaultLimits, job, at));
      if (!isUrgent(defaultLimits, job, at)) {
        expect(asked_until).toBeLessThan(heldUntil(defaultLimits, job, at));
        expect(heldUntil(defaultLimits, job, at)).toBe(takenOverAt(defaultLimits, job.pinned_until));
      } else expect(providerTime(defaultLimits, job, at)).toBeLessThanOrEqual(0);
    }
    // One that is under way when its scope ends has asked by then.
    expect(providerTime(defaultLimits, { pinned_until: null }, NOW)).toBeLessThan(KEPT_MS);
  });
});

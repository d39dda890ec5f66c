/** Who is granted next; and that SQLite finds a line by its resource, however many others there are. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LockMode } from '#cairn/coordination/locks/model.js';
import { grantable } from '#cairn/coordination/locks/rules.js';
import { notePlans, type Plans } from '../support/inspect/plans.js';

const modes = (letters: string): LockMode[] => [...letters].map((letter) => (letter === 'x' ? 'Exclusive' : 'Shared'));

describe('who is granted next', () => {
  it.each([
    ['', '', 0],
    ['', 'x', 1],
    ['', 'xx', 1],
    ['', 's', 1],
    ['', 'sssxs', 3],
    ['', 'xss', 1],
    ['s', 'x', 0],
    ['s', 'xs', 0],
    ['ss', 'ssx', 2],
    ['x', 's', 0],
    ['x', 'x', 0],
  ])('held by "%s", waited for by "%s": %i', (holders, line, count) => {
    expect(grantable(modes(holders), modes(line))).toBe(count);
  });

  it('nobody is alone with others, nobody overtakes, and a free resource does not stay free', () => {
    const letters = fc.string({ unit: fc.constantFrom('s', 'x'), maxLength: 8 });
    fc.assert(
      fc.property(letters, letters, (held, line) => {
        const holders = /x/.test(held) ? ['Exclusive' as const] : modes(held);
        const after = [...holders, ...modes(line).slice(0, grantable(holders, modes(line)))];
        expect(after.filter((mode) => mode === 'Exclusive').length === 0 || after.length === 1).toBe(true);
        expect(after.length > 0 || line === '').toBe(true);
        const next = modes(line)[after.length - holders.length];
        if (next) expect(after.includes('Exclusive') || next === 'Exclusive').toBe(true);
      }),
    );
  });
});

describe('locks are found by what they are of', () => {
  let noted: Plans;
  const asked = { resource_type: 'file', resource_id: 'a', holder_agent_id: 'ann' };
  beforeAll(async () => {
    noted = await notePlans();
  });
  afterAll(() => noted.close());

  const walks = (lines: readonly string[]): string[] =>
    lines.filter(
      (line) =>
        (/^SCAN /.test(line) && !/^SCAN (q|CONSTANT ROW)/.test(line)) ||
        (/\(tenant_id=\?\)/.test(line) && !/^SEARCH tenants /.test(line)),
    );

  it('by acquiring, waiting, extending and releasing', async () => {
    const { cairn } = noted;
    const lines = await noted.plansOf(async () => {
      const { lock_id } = await cairn.locks.acquire(asked);
      await cairn.locks.acquire({ ...asked, holder_agent_id: 'bob', timeout_ms: 20 }).catch(() => undefined);
      await cairn.locks.extend({ lock_id, additional_ms: 1000 });
      await cairn.locks.get({ lock_id });
      await cairn.locks.list({ resource_type: 'file', resource_id: 'a' });
      await cairn.locks.list({ holder_agent_id: 'ann' });
      await cairn.locks.release({ lock_id });
    });
    expect(lines.length).toBeGreaterThan(20);
    expect(walks(lines)).toEqual([]);
  });
});

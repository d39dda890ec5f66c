import { describe, expect, it } from 'vitest';
import { DriverError } from '#cairn/driver/driver.js';
import { commitGroup, type Write } from '#cairn/driver/group.js';

describe('a group that cannot begin', () => {
  it('is refused at once as a whole when the lock was not to be had, with those who wait behind it', async () => {
    let begins = 0;
    const refusals: unknown[] = [];
    const behind: unknown[] = [];
    const write = (): Write => ({
      tenant: 't',
      work: async () => undefined,
      entity: undefined,
      resolve: () => refusals.push('resolved'),
      reject: (error) => refusals.push((error as { code: string }).code),
    });
    await commitGroup(
      {
        journal: { append: async () => undefined, landed: async () => false },
        begin: async () => {
          begins++;
          throw new DriverError('busy', 'another process holds the lock');
        },
        committed: () => undefined,
        wake: () => undefined,
        unreachable: (error) => behind.push((error as { code: string }).code),
      },
      [write(), write(), write()],
    );
    expect(begins).toBe(1);
    expect(refusals).toEqual(['OVERLOADED', 'OVERLOADED', 'OVERLOADED']);
    expect(behind).toEqual(['OVERLOADED']);
  });
});

import { describe, expect, it } from 'vitest';
import type { Channel } from '#cairn/driver/channel.js';
import { DriverError } from '#cairn/driver/driver.js';
import { commitGroup, type GroupHost, type Write } from '#cairn/driver/group.js';

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

describe('a group that loses its connection at COMMIT', () => {
  /** Runs one write whose first commit is lost; what is woken, and which step of what happens. */
  async function losing({ journals, landed }: { journals: boolean; landed: () => boolean }) {
    const steps: string[] = [];
    let commits = 0;
    const channel: Channel = {
      dialect: 'postgres',
      all: async () => [],
      run: async () => 1,
      send: async () => undefined,
      insert: async () => undefined,
      savepoint: () => undefined,
      release: async () => undefined,
      rollbackTo: async () => undefined,
      commit: async () => {
        if (++commits === 1) throw new DriverError('connection', 'lost');
        steps.push('committed');
      },
      rollback: async () => undefined,
      lost: () => false,
      locksRows: true,
      sharing: () => undefined,
      ending: () => undefined,
    };
    const host: GroupHost = {
      journal: {
        append: async () => undefined,
        landed: async () => {
          steps.push('looked');
          return landed();
        },
      },
      begin: async () => channel,
      committed: () => undefined,
      announce: async (_channel, keys) => {
        steps.push(`announced ${[...keys.get('t')!]}`);
      },
      wake: (keys) => {
        steps.push(`woken ${[...keys.get('t')!]}`);
      },
      commitLost: () => {
        steps.push('lost');
      },
    };
    const write: Write = {
      tenant: 't',
      work: async (tx) => {
        tx.wake('lock:a');
        tx.wake('lock:b');
        if (journals) tx.journal({ packet_id: 'p' });
      },
      entity: undefined,
      resolve: () => steps.push('resolved'),
      reject: (error) => steps.push((error as { code: string }).code),
    };
    await commitGroup(host, [write]);
    return steps;
  }
  const announced = 'announced lock:a,lock:b';
  const woken = 'woken lock:a,lock:b';

  it('wakes when it turns out to have landed', async () => {
    const steps = await losing({ journals: true, landed: () => true });
    expect(steps).toEqual([announced, 'lost', 'looked', woken, 'resolved']);
  });

  it('wakes after it was run again, when it had not landed', async () => {
    const steps = await losing({ journals: true, landed: () => false });
    expect(steps).toEqual([announced, 'lost', 'looked', announced, 'committed', woken, 'resolved']);
  });

  it('wakes at once when nothing can tell whether it landed, and again after it was run again', async () => {
    const steps = await losing({ journals: false, landed: () => true });
    expect(steps).toEqual([announced, 'lost', woken, announced, 'committed', woken, 'resolved']);
  });
});

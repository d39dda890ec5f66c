import { describe, expect, it } from 'vitest';
import type { Channel } from '#cairn/driver/channel.js';
import { DriverError, type Joint, type Tx } from '#cairn/driver/driver.js';
import { commitGroup, type GroupHost, type Write } from '#cairn/driver/group.js';
import { sql, TENANT } from '#cairn/driver/sql.js';

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

describe('writes of one key', () => {
  /** Runs writes as one group; the work that was done, and what was answered. */
  async function running(writes: readonly Pick<Write, 'work' | 'joint'>[], given: Partial<Channel> = {}) {
    const steps: string[] = [];
    const channel: Channel = {
      dialect: 'sqlite',
      all: async () => [],
      run: async () => 1,
      send: async () => undefined,
      insert: async () => undefined,
      savepoint: () => void steps.push('savepoint'),
      release: async () => undefined,
      rollbackTo: async () => undefined,
      commit: async () => void steps.push('commit'),
      rollback: async () => void steps.push('rollback'),
      lost: () => false,
      locksRows: false,
      sharing: () => undefined,
      ending: () => undefined,
      ...given,
    };
    const host: GroupHost = {
      journal: { append: async () => undefined, landed: async () => false },
      begin: async () => channel,
      committed: () => undefined,
      wake: () => undefined,
    };
    const answers: unknown[] = [];
    const group = writes.map(
      (write, i): Write => ({
        tenant: 't',
        entity: undefined,
        ...write,
        resolve: (value) => void (answers[i] = value),
        reject: (error) => void (answers[i] = (error as Error).message),
      }),
    );
    return { steps, answers, run: () => commitGroup(host, group) };
  }

  /** Says in `steps` what runs. */
  const told = (steps: string[], item: string, joint?: Joint['work']) => ({
    work: async () => {
      steps.push(`alone ${item}`);
      return item;
    },
    joint: {
      key: item[0]!,
      item,
      work:
        joint ??
        (async (_tx: Tx, items: readonly unknown[]) => {
          steps.push(`together ${items.join(' ')}`);
          return items.map((value) => ({ status: 'fulfilled' as const, value }));
        }),
    },
  });

  it('run as one, each with its own answer', async () => {
    const steps: string[] = [];
    const items = ['a1', 'b1', 'a2', 'a3'];
    const { answers, run } = await running(items.map((item) => told(steps, item)));
    await run();
    expect(steps).toEqual(['together a1 a2 a3', 'alone b1']);
    expect(answers).toEqual(items);
  });

  it('do not pass a write between them that is not joint', async () => {
    const steps: string[] = [];
    const { work } = told(steps, 'x');
    const { answers, run } = await running([told(steps, 'a1'), told(steps, 'a2'), { work }, told(steps, 'a3')]);
    await run();
    expect(steps).toEqual(['together a1 a2', 'alone x', 'alone a3']);
    expect(answers).toEqual(['a1', 'a2', 'x', 'a3']);
  });

  it('are refused one by one', async () => {
    const refuse: Joint['work'] = async () => [
      { status: 'fulfilled', value: 'first' },
      { status: 'rejected', reason: new Error('no') },
    ];
    const { answers, run, steps } = await running([told([], 'a1', refuse), told([], 'a2', refuse)]);
    await run();
    expect(answers).toEqual(['first', 'no']);
    expect(steps).toEqual(['commit']);
  });

  it('run one by one if they cannot run as one', async () => {
    const steps: string[] = [];
    const never: Joint['work'] = async () => undefined;
    const { answers, run } = await running([told(steps, 'a1', never), told(steps, 'a2', never)]);
    await run();
    expect(steps).toEqual(['alone a1', 'alone a2']);
    expect(answers).toEqual(['a1', 'a2']);
  });

  it('run again one by one, each in a savepoint, if they failed after a change', async () => {
    const fail: Joint['work'] = async (tx) => {
      await tx.send(sql`UPDATE cards SET held_by = NULL WHERE tenant_id = ${TENANT}`);
      throw new Error('failed');
    };
    const alone: string[] = [];
    const changes = (item: string) => ({
      ...told([], item, fail),
      work: async (tx: Tx) => {
        await tx.send(sql`UPDATE cards SET held_by = NULL WHERE tenant_id = ${TENANT}`);
        alone.push(item);
        return item;
      },
    });
    const { answers, run, steps } = await running([changes('a1'), changes('a2')]);
    await run();
    expect(alone).toEqual(['a1', 'a2']);
    expect(answers).toEqual(['a1', 'a2']);
    expect(steps).toEqual(['rollback', 'savepoint', 'savepoint', 'commit']);
  });
});

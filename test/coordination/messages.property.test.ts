/** Whatever is sent, taken, acknowledged or left, messages are handed out as the rules say, and none is lost or done twice. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { register } from '../support/nouns/messages.js';
import { openTarget, refusalOf, type TestStore, targetNames } from '../support/targets.js';

const RUNS = { sqlite: 40, postgres: 8 } as const;
const LEASE_MS = 60_000;
const READERS = ['r1', 'r2'] as const;
const SENDERS = ['s1', 's2'] as const;
const PRIORITIES = ['normal', 'high'] as const;
const kinds = (['sqlite', 'postgres'] as const).filter((kind) => targetNames().includes(kind));
/** CAIRN_TEST_SEED=… repeats a run. */
const SEED = process.env.CAIRN_TEST_SEED;

type Step =
  | { do: 'send'; from: (typeof SENDERS)[number]; priority: (typeof PRIORITIES)[number]; to: 'type' | 'r1' }
  | { do: 'receive'; reader: (typeof READERS)[number]; limit: number }
  | { do: 'acknowledge'; which: number; by: (typeof READERS)[number] }
  | { do: 'wait'; part: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      from: fc.constantFrom(...SENDERS),
      // Mostly the same, so that the order among them matters.
      priority: fc.constantFrom('normal' as const, 'normal' as const, ...PRIORITIES),
      to: fc.constantFrom('type' as const, 'type' as const, 'r1' as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('receive' as const),
      reader: fc.constantFrom(...READERS),
      limit: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('acknowledge' as const),
      which: fc.nat(100),
      by: fc.constantFrom(...READERS),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), part: fc.constantFrom(0.6, 1.1) }) },
);

/** A message as the rules see it. */
interface Known {
  readonly message_id: string;
  readonly mailbox: 'type' | 'r1';
  readonly from: string;
  readonly priority: number;
  readonly had: Set<string>;
  attempts: number;
  acknowledged: boolean;
  lease: { reader: string; until: number } | undefined;
}

class Model {
  readonly all: Known[] = [];
  time = 0;

  /** What a reader must get. */
  free(reader: string, limit: number): Known[] {
    const blocked = (one: Known): boolean =>
      this.all.some(
        (other, i) =>
          i < this.all.indexOf(one) &&
          !other.acknowledged &&
          [other.mailbox, other.from, other.priority].join() === [one.mailbox, one.from, one.priority].join() &&
          this.flying(other) &&
          other.lease!.reader !== reader,
      );
    return this.all
      .filter((one) => one.mailbox === 'type' || one.mailbox === reader)
      .filter((one) => !one.acknowledged && !this.flying(one) && !blocked(one))
      .sort((a, b) => b.priority - a.priority || this.all.indexOf(a) - this.all.indexOf(b))
      .slice(0, limit);
  }

  flying = (one: Known): boolean => one.lease !== undefined && one.lease.until > this.time;

  /** How an acknowledgement ends. */
  outcome(one: Known, by: string): 'done' | 'STATE_CONFLICT' | 'FORBIDDEN' {
    const may = one.mailbox === 'type' ? one.had.size === 0 || one.had.has(by) : one.mailbox === by;
    if (!may) return 'FORBIDDEN';
    return one.acknowledged ? 'STATE_CONFLICT' : 'done';
  }
}

/** Takes the steps against a project, and holds every answer against the model. */
async function follow(test: TestStore, steps: readonly Step[]): Promise<void> {
  const tenant = `t-${randomUUID()}`;
  const cairn = await test.as({ tenant });
  await register(test.store, tenant, 'reviewer', ...READERS);
  const model = new Model();
  const firsts = new Map<string, number>();

  const receive = async (agent_id: string, limit: number): Promise<number> => {
    const wanted = model.free(agent_id, limit);
    const { messages } = await cairn.messages.receive({ agent_id, limit, lease_ms: LEASE_MS });
    expect(messages.map(({ message_id }) => message_id)).toEqual(wanted.map(({ message_id }) => message_id));
    for (const [i, one] of wanted.entries()) {
      one.attempts++;
      expect(messages[i]!.delivery.attempt).toBe(one.attempts);
      one.lease = { reader: agent_id, until: model.time + LEASE_MS };
      one.had.add(agent_id);
      if (one.attempts > 1) continue;
      // First deliveries are in order for each sender and priority.
      const group = [one.mailbox, one.from, one.priority].join();
      expect(messages[i]!.seq).toBeGreaterThan(firsts.get(group) ?? 0);
      firsts.set(group, messages[i]!.seq);
    }
    return wanted.length;
  };

  const acknowledge = async (one: Known, agent_id: string): Promise<void> => {
    const outcome = model.outcome(one, agent_id);
    const call = cairn.messages.acknowledge({ message_id: one.message_id, agent_id });
    if (outcome !== 'done') expect((await refusalOf(call)).code).toBe(outcome);
    else {
      expect(await call).toMatchObject({ acknowledged: 1 });
      if (one.mailbox === 'type') one.had.size === 0 || one.had.add(agent_id);
      one.acknowledged = true;
    }
  };

  const wait = (ms: number) => {
    test.advance(ms);
    model.time += ms;
  };

  for (const one of steps) {
    if (one.do === 'send') await send(cairn, model, one);
    else if (one.do === 'receive') await receive(one.reader, one.limit);
    else if (one.do === 'acknowledge' && model.all.length > 0)
      await acknowledge(model.all[one.which % model.all.length]!, one.by);
    else if (one.do === 'wait') wait(one.part * LEASE_MS);
  }
  // What is left comes, until all of it is acknowledged: nothing was lost.
  wait(2 * LEASE_MS);
  for (const reader of READERS)
    while ((await receive(reader, 10)) > 0)
      for (const one of model.all)
        if (!one.acknowledged && one.lease?.reader === reader && model.flying(one)) await acknowledge(one, reader);
  expect(model.all.filter(({ acknowledged }) => !acknowledged)).toEqual([]);
  const { total } = await cairn.messages.list({ unacknowledged: true });
  expect(total).toBe(0);
  const { packets } = await cairn.packets.list({ packet_type: 'cairn.message.acknowledged', limit: 500 });
  expect(packets.length).toBe(model.all.length);
}

async function send(cairn: Api, model: Model, one: Extract<Step, { do: 'send' }>): Promise<void> {
  const to = one.to === 'type' ? { to_agent_type: 'reviewer' } : { to_agent_id: one.to };
  const { from: from_agent_id, priority } = one;
  const { message_id } = await cairn.messages.send({
    from_agent_id,
    ...to,
    priority,
    message_type: 'note',
    payload: '',
  });
  model.all.push({
    message_id,
    mailbox: one.to,
    from: from_agent_id,
    priority: PRIORITIES.indexOf(priority),
    had: new Set(),
    attempts: 0,
    acknowledged: false,
    lease: undefined,
  });
}

describe.each(kinds)('messages on %s', (kind) => {
  let test: TestStore;
  beforeAll(async () => {
    test = await openTarget(kind);
  });
  afterAll(() => test.close());

  it('follow the rules through any history', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), (steps) => follow(test, steps)),
      { numRuns: RUNS[kind], ...(SEED === undefined ? {} : { seed: Number(SEED) }) },
    );
  });
});

/** Whatever is done to the memory hierarchy, in any order, it does what a simple model of it does. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import { freshDatabase, openTarget, type TargetName, targetNames } from '../../support/targets.js';
import { checkAll, HALF_STEP_MS, outcomes, type Real } from './check.js';
import { pass, sequences, start } from './commands.js';
import { emptyModel, type Model } from './model.js';

const LENGTH = 40;
const RUNS: Readonly<Record<TargetName, number>> = { sqlite: 40, postgres: 10, http: 10 };
/** Whoever is slow does fewer of them. */
const TIME_LIMIT_MS: Readonly<Record<TargetName, number>> = { sqlite: 22_000, postgres: 12_000, http: 10_000 };
const SHRINK_LIMIT_MS = 60_000;
/** CAIRN_TEST_SEED=… repeats a run. */
const SEED = process.env.CAIRN_TEST_SEED;

interface World {
  /** A tenant that nobody has used yet. */
  fresh(): Promise<Real>;
  close(): Promise<void>;
}

/**
 * A clock that stands between two commands, so that the model knows what time it is, and is a millisecond later whenever a
 * command reads it: on a slow machine time passes within a command too.
 */
function stoppedClock() {
  let moment = Math.ceil(Date.now() / HALF_STEP_MS) * HALF_STEP_MS;
  let reads = 0;
  return {
    now: () => moment,
    advance: (ms: number) => {
      moment += ms;
      reads = 0;
    },
    options: {
      sweep_every_ms: 0,
      count_every_ms: 0,
      clock_offset_ms: () => moment + Math.min(++reads, HALF_STEP_MS / 4) - Date.now(),
    },
  };
}

async function openServed(): Promise<World> {
  const { now, advance, options } = stoppedClock();
  const test = await openTarget('http', options);
  return { fresh: async () => ({ api: await test.freshTenant(), now, advance }), close: () => test.close() };
}

/** The library, which can be closed and opened again under the same database. */
async function openLibrary(kind: 'sqlite' | 'postgres'): Promise<World> {
  const { now, advance, options } = stoppedClock();
  const { database, drop } = await freshDatabase(kind);
  const open = () => Store.open({ database, ...options });
  let store = await open();
  let tenants = 0;
  return {
    fresh: async () => {
      const caller = { tenant_id: `t-${++tenants}`, agent_id: null, role: 'admin' as const, key_id: null };
      await store.ensureTenant(caller.tenant_id);
      return {
        get api() {
          return store.api(caller);
        },
        now,
        advance,
        reopen: async () => {
          await store.close();
          store = await open();
        },
      };
    },
    close: async () => {
      await store.close();
      await drop();
    },
  };
}

for (const target of targetNames()) {
  describe(`memory and its model on ${target}`, () => {
    let world: World;
    beforeAll(async () => {
      world = await (target === 'http' ? openServed() : openLibrary(target));
    });
    afterAll(() => world.close());

    it(`agree on ${RUNS[target]} sequences of up to ${LENGTH} commands`, { timeout: 180_000 }, async () => {
      outcomes.clear();
      let runs = 0;
      let until = performance.now() + TIME_LIMIT_MS[target];
      let failed = false;
      const run = async (commands: Iterable<fc.AsyncCommand<Model, Real>>) => {
        const real = await world.fresh();
        const model = emptyModel();
        await start(model, real);
        await fc.asyncModelRun(() => ({ model, real }), commands);
        pass(model, real, 2 * HALF_STEP_MS);
        await checkAll(real, model);
      };
      await fc.assert(
        fc.asyncProperty(sequences(LENGTH), async (commands) => {
          if (performance.now() > until) return;
          runs += 1;
          await run(commands).catch((error: unknown) => {
            // From here on it looks for a shorter one that fails.
            if (!failed) until = performance.now() + SHRINK_LIMIT_MS;
            failed = true;
            throw error;
          });
        }),
        {
          numRuns: RUNS[target],
          // Long sequences as often as short ones.
          unbiased: true,
          ...(SEED === undefined ? {} : { seed: Number(SEED) }),
        },
      );
      if (runs < RUNS[target]) console.log(`memory on ${target}: no time for more than ${runs} sequences`);
      if (process.env.CAIRN_TEST_TALLY) console.log([...outcomes].sort().join('\n'));
      // Every command did something, unless there was no time for that many.
      const names = new Set([...outcomes.keys()].map((key) => key.split(' ')[0]));
      const done = new Set([...outcomes.keys()].filter((key) => key.endsWith(' ok')).map((key) => key.split(' ')[0]));
      if (runs >= RUNS.sqlite) expect(done).toEqual(names);
    });
  });
}

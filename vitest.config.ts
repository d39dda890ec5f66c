import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { roomyMemory } from './test/support/memory-folder.js';

/** Tests run what ships: `#cairn/…` is the build, and `npm test` makes it first. */
const server = { deps: { external: [/\/dist\//, /\/node_modules\//] } };

/**
 * One worker more than there are cores: a test file waits a part of its time for a database, a process or a timer. One
 * group runs its projects in the order of their names, so that the small files of `unit` fill the end. Without isolation a
 * worker loads the product once, which takes as long as most test files do.
 */
const together = { maxWorkers: Math.min(4, availableParallelism() + 1), sequence: { groupOrder: 0 }, isolate: false };

/** Measures how fairly writers share the machine, so nothing else may run beside it. */
const alone = ['test/engine/fairness.fault.test.ts'];

/** Timeouts for a slow machine: no test is about how long a machine takes. */
const patient = { testTimeout: 30_000, hookTimeout: 60_000, expect: { poll: { timeout: 20_000 } } };

const onFaults = { globalSetup: 'test/support/postgres.ts', ...patient, testTimeout: 240_000 };

/** Tests that are not about faults keep their files in memory where there is room. */
const memory = roomyMemory();

/** A test's kind is in its name; one without a kind is a conformance suite. */
const unit = ['test/**/*.unit.test.ts', 'test/tidy/**/*.test.ts'];
const contract = ['test/**/*.{contract,property}.test.ts'];
const fault = ['test/**/*.fault.test.ts'];
/** The inspector in a real browser. */
const web = ['test/web/**/*.test.ts'];

const inMemory = memory === undefined ? {} : { env: { TMPDIR: memory } };
const onTargets = {
  globalSetup: 'test/support/postgres.ts',
  ...patient,
  testTimeout: 120_000,
  ...inMemory,
  ...together,
  server,
};

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: unit, ...patient, ...inMemory, ...together, server } },
      {
        test: {
          name: 'suite',
          include: ['test/**/*.test.ts'],
          exclude: [...unit, ...contract, ...fault, ...web],
          ...onTargets,
        },
      },
      { test: { name: 'contract', include: contract, ...onTargets } },
      {
        test: {
          name: 'web',
          include: web,
          exclude: unit,
          globalSetup: 'test/support/browser-setup.ts',
          ...patient,
          testTimeout: 120_000,
          ...together,
          server,
        },
      },
      { test: { name: 'fault', include: fault, exclude: alone, ...onFaults, ...together, server } },
      {
        test: {
          name: 'fault-alone',
          include: alone,
          ...onFaults,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
          server,
        },
      },
    ],
  },
});

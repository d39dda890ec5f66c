import { defineConfig } from 'vitest/config';
import { roomyMemory } from './test/support/memory-folder.js';

/** Tests run what ships: `#cairn/…` is the build, and `npm test` makes it first. */
const server = { deps: { external: [/\/dist\//, /\/node_modules\//] } };

/**
 * Two at once for all of them, since a file waits half its time for a database or a process. In one group they are
 * run in the order of the names of their projects, so that the small files of `unit` fill the end. A process runs one file
 * after another: to load the product takes as long as most of them do.
 */
const together = { maxWorkers: 2, sequence: { groupOrder: 0 }, isolate: false };

/** They share a machine fairly, or say that they do not: beside others they would measure those. */
const alone = ['test/fault/concurrency.test.ts'];

/** How long a machine takes is no test: what waits for something waits long enough for a slow one. */
const patient = { testTimeout: 30_000, hookTimeout: 60_000, expect: { poll: { timeout: 20_000 } } };

const onFaults = { globalSetup: 'test/support/postgres.ts', ...patient, testTimeout: 240_000 };

/** What is about answers, and not about faults, keeps its files in memory where there is room. */
const memory = roomyMemory();

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/{api,unit,tidy}/**/*.test.ts'],
          ...patient,
          ...together,
          server,
        },
      },
      {
        test: {
          name: 'suite',
          include: ['test/{adapters,conformance,contract,property}/**/*.test.ts'],
          globalSetup: 'test/support/postgres.ts',
          ...patient,
          testTimeout: 120_000,
          ...(memory === undefined ? {} : { env: { TMPDIR: memory } }),
          ...together,
          server,
        },
      },
      {
        test: {
          name: 'fault',
          include: ['test/fault/**/*.test.ts'],
          exclude: alone,
          ...onFaults,
          ...together,
          server,
        },
      },
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

import { defineConfig } from 'vitest/config';

/** Tests run what ships: `#cairn/…` is the build, and `npm test` makes it first. */
const server = { deps: { external: [/\/dist\//, /\/node_modules\//] } };

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'], server } },
      {
        test: {
          name: 'suite',
          // On two cores vitest would start one worker; half the time a file waits for a database.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
          include: ['test/{adapters,conformance,contract,property}/**/*.test.ts'],
          globalSetup: 'test/support/postgres.ts',
          testTimeout: 30_000,
          hookTimeout: 60_000,
          server,
        },
      },
      {
        test: {
          name: 'fault',
          include: ['test/fault/**/*.test.ts'],
          globalSetup: 'test/support/postgres.ts',
          testTimeout: 240_000,
          hookTimeout: 60_000,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
          server,
        },
      },
    ],
  },
});

// `npm test`: builds, runs every test (PostgreSQL is started by the tests), ends with "N passed, N failed".
// Arguments go to vitest, such as `npm test -- --project fault`.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';

const report = '.cache/test-report.json';
mkdirSync('.cache', { recursive: true });
rmSync(report, { force: true });

const run = (script, args) =>
  spawnSync(process.execPath, [script, ...args], { stdio: 'inherit' }).status ?? 1;
const built =
  run('node_modules/typescript/bin/tsc', ['-p', 'tsconfig.build.json']) ||
  run('scripts/declarations.mjs', []) ||
  run('scripts/vendor.mjs', []);
if (built !== 0) process.exit(built);
const status = run('node_modules/vitest/vitest.mjs', [
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
  ...process.argv.slice(2),
]);

let passed = 0;
let failed = 1;
try {
  const { numPassedTests, numFailedTests, numFailedTestSuites } = JSON.parse(readFileSync(report, 'utf8'));
  passed = numPassedTests;
  // A file that could not be loaded has no tests of its own to fail.
  failed = numFailedTests || (status !== 0 ? Math.max(1, numFailedTestSuites) : 0);
} catch {
  // No report: the run itself failed.
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(status);

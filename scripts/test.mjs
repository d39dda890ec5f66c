// `npm test`: builds, runs every test (PostgreSQL is started by the tests), ends with "N passed, N failed".
// `npm test -- memory` runs the tests of one module, `npm test -- recall/search` those of one room; other arguments go to
// vitest, such as `npm test -- --project fault`.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const report = '.cache/test-report.json';
mkdirSync('.cache', { recursive: true });
rmSync(report, { force: true });

/** A folder of test/ becomes its path: vitest filters by substring, and `memory` alone would match files elsewhere. */
const isTestFolder = (arg) => /^\w/.test(arg) && statSync(join('test', arg), { throwIfNoEntry: false })?.isDirectory();
const args = process.argv.slice(2).map((arg) => (isTestFolder(arg) ? `${join('test', arg)}/` : arg));

const run = (script, args) => spawnSync(process.execPath, [script, ...args], { stdio: 'inherit' }).status ?? 1;
const built =
  run('node_modules/typescript/bin/tsc', ['-p', 'tsconfig.build.json']) ||
  run('scripts/declarations.mjs', []) ||
  run('scripts/vocabulary.mjs', []) ||
  run('scripts/bundle.mjs', []) ||
  run('scripts/web.mjs', []);
if (built !== 0) process.exit(built);
const status = run('node_modules/vitest/vitest.mjs', [
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
  ...args,
]);

/** What failed, each in a few lines: a log of which only the end is kept shall tell it too. */
function failuresOf({ testResults }) {
  return testResults.flatMap(({ name, message, assertionResults }) => {
    const file = relative(process.cwd(), name);
    const tests = assertionResults.filter((test) => test.status === 'failed');
    if (tests.length === 0) return message ? [{ title: file, reason: message }] : [];
    return tests.map((test) => ({ title: `${file} > ${test.fullName}`, reason: test.failureMessages.join('\n') }));
  });
}

let passed = 0;
let failed = 1;
try {
  const results = JSON.parse(readFileSync(report, 'utf8'));
  const failures = failuresOf(results);
  passed = results.numPassedTests;
  // A file that could not be loaded has no tests of its own to fail.
  failed = results.numFailedTests || (status !== 0 ? Math.max(1, results.numFailedTestSuites) : 0);
  for (const { title, reason } of failures) {
    const lines = stripVTControlCharacters(reason).split('\n');
    const own = lines.filter((line) => !line.includes('/node_modules/')).slice(0, 20);
    for (const line of [title, ...own]) console.log(`FAILED ${line.slice(0, 400)}`);
  }
  if (failed > 0 && failures.length === 0) console.log('FAILED outside of the tests: see the errors above.');
} catch {
  console.log('FAILED the run itself: it left no report.');
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(status);

// `npm run check`: types, lint, build, then the tests of the repository, unit tests and the conformance suites on SQLite.
// Under two minutes on two idle cores; stops at the first step that fails.
import { spawnSync } from 'node:child_process';

const node = (script, ...args) => [process.execPath, [script, ...args]];
const steps = {
  types: node('node_modules/typescript/bin/tsc', '--noEmit'),
  lint: node('node_modules/@biomejs/biome/bin/biome', 'check', '.'),
  build: ['npm', ['run', '--silent', 'build']],
  // Needs the declarations of the build.
  'types of the inspector': node('node_modules/typescript/bin/tsc', '-p', 'web/tsconfig.json'),
  tests: node('node_modules/vitest/vitest.mjs', 'run', '--project', 'unit', '--project', 'suite'),
};
const env = { CAIRN_TEST_TARGETS: 'sqlite', ...process.env };

for (const [name, [command, args]] of Object.entries(steps)) {
  const since = performance.now();
  const { status } = spawnSync(command, args, {
    stdio: 'inherit',
    env,
    shell: command === 'npm' && process.platform === 'win32',
  });
  const took = `${((performance.now() - since) / 1000).toFixed(1)} s`;
  if (status !== 0) {
    console.error(`check: ${name} failed after ${took}`);
    process.exit(status ?? 1);
  }
  console.log(`check: ${name} passed in ${took}`);
}

// Runs the SQLite part of the suite on Node 24, whose own SQLite it then uses. The binary comes from the registry.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const home = resolve('.cache/node24');
const node = join(home, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
if (!existsSync(node)) {
  const spec = `node-${process.platform}-${process.arch}@24`;
  const installed = spawnSync(
    'npm',
    ['install', '--prefix', home, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', spec],
    { stdio: 'inherit' },
  );
  if (installed.status !== 0) process.exit(installed.status ?? 1);
}
const { status } = spawnSync(node, ['scripts/test.mjs', ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, CAIRN_TEST_TARGETS: 'sqlite,http' },
});
process.exit(status ?? 1);

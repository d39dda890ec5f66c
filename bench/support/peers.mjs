// Other libraries to measure against. They are installed in bench/peers when they are first needed, at the versions
// that its lock file has, and are no dependency of the package.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const home = resolve(import.meta.dirname, '../peers');
const installed = (name) => resolve(home, 'node_modules', name, 'package.json');
const wanted = () => JSON.parse(readFileSync(resolve(home, 'package.json'), 'utf8')).dependencies;
const versionOf = (name) => JSON.parse(readFileSync(installed(name), 'utf8')).version;

const isThere = () =>
  Object.entries(wanted()).every(
    ([name, version]) => existsSync(installed(name)) && versionOf(name) === version,
  );

function install() {
  if (isThere()) return;
  console.log('bench: installs what it measures against in bench/peers, once');
  const { status, error } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: home,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) throw new Error(`npm ci in bench/peers ended with ${error?.message ?? status}`);
}

/** A module of a peer, with its version; undefined, and a line that says why, when it cannot be had. */
export async function peer(name) {
  try {
    install();
    const path = createRequire(resolve(home, 'package.json')).resolve(name);
    return { module: await import(pathToFileURL(path).href), version: versionOf(name) };
  } catch (error) {
    console.log(`bench: ${name} is left out: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}

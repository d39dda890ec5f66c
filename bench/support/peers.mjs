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
  Object.entries(wanted()).every(([name, version]) => existsSync(installed(name)) && versionOf(name) === version);

/** Some say that they need a newer Node and run on this one: what does not run is skipped, with the reason. */
function npm(...args) {
  const { status, error } = spawnSync(
    'npm',
    [...args, '--no-engine-strict', '--no-audit', '--no-fund', '--loglevel=error'],
    { cwd: home, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  if (status !== 0) throw new Error(`npm ${args[0]} in bench/peers ended with ${error?.message ?? status}`);
}

function install() {
  if (isThere()) return;
  console.log('bench: installs what it measures against in bench/peers, once');
  npm('ci');
}

/** No package there runs a script of its own when it is installed. One that is not prebuilt is built by name. */
function build(name, result) {
  if (existsSync(resolve(home, 'node_modules', name, result))) return;
  console.log(`bench: builds ${name} in bench/peers, once; it may take some minutes`);
  npm('rebuild', name, '--ignore-scripts=false');
}

/**
 * A module of a peer, with its version; or the reason why it cannot be had, as text. `native` names a
 * package that it needs built, and the file that this results in.
 */
export async function peer(name, native) {
  try {
    install();
    if (native) build(native.name, native.result);
    const path = createRequire(resolve(home, 'package.json')).resolve(name);
    return { module: await import(pathToFileURL(path).href), version: versionOf(name) };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

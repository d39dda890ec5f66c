// Counts in processes of their own: what else a process did would count.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('./count.mjs', import.meta.url));

/** Compiled code holds fewer objects than interpreted code, and when it is compiled depends on the time. */
const FLAGS = ['--no-warnings', '--no-opt'];

/** The counts by operation, on SQLite in a folder or on a server of PostgreSQL. `args`: operations, or `--show`. */
export async function countIn(target, args = []) {
  const child = spawn(process.execPath, [...FLAGS, script, target, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`counting on ${target} ended with ${code}`);
  return JSON.parse(output);
}

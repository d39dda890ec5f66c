// `npm run bench:stalls -- [group or part of a name]…`: attacks a server of its own, and tells how long each request kept
// /health/live from answering (asked from another process), and how long it held the event loop in CPU time.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connectCairn } from '#cairn/client/index.js';
import { attacks } from '../test/support/stalls/attacks.mjs';

const LIMIT_MS = 150;
const wanted = process.argv.slice(2);
const chosen = Object.entries(attacks).flatMap(([group, list]) =>
  wanted.length === 0 || wanted.includes(group)
    ? list
    : list.filter(({ name }) => wanted.some((part) => name.includes(part))),
);

const folder = mkdtempSync(join(tmpdir(), 'cairn-stalls-'));
const server = spawn(
  process.execPath,
  [
    '--import',
    './test/support/stalls/loop-watch.mjs',
    'bin/cairn.js',
    'serve',
    '--port',
    '0',
    '--database',
    join(folder, 'cairn.db'),
  ],
  { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] },
);
let url;
for await (const line of createInterface({ input: server.stdout })) {
  url = /(http:\/\/127\.0\.0\.1:\d+)/.exec(line)?.[1];
  if (url) break;
}
server.stdout.resume();
const probe = fork('./test/support/stalls/health-probe.mjs', [url]);
const asked = async (child, message) => {
  const answer = once(child, 'message');
  child.send(message);
  return (await answer)[0];
};
const figures = async () => {
  const { longest_ms: probe_ms } = await asked(probe, 'longest');
  return { probe_ms, ...(await asked(server, 'longest')) };
};

const target = { cairn: connectCairn({ url }), url };
let over = 0;
console.log('  probe ms   held ms    cpu ms   prepare: probe, held   attack');
for (const { name, prepare, run } of chosen) {
  try {
    const began = performance.now();
    const prepared = await prepare(target);
    const before = await figures();
    const middle = performance.now();
    let outcome = '';
    try {
      const status = await run(target, prepared);
      if (typeof status === 'number') outcome = ` → ${status}`;
    } catch (error) {
      outcome = ` → ${error.code ?? ''} ${String(error.message).slice(0, 120)}`;
    }
    const { probe_ms, held_ms, cpu_ms } = await figures();
    const took = (performance.now() - middle) / 1000;
    if (held_ms > LIMIT_MS) over++;
    console.log(
      `${held_ms > LIMIT_MS ? '!' : ' '} ${probe_ms.toFixed(0).padStart(8)} ${held_ms.toFixed(0).padStart(9)} ${cpu_ms.toFixed(0).padStart(9)}   ${before.probe_ms.toFixed(0).padStart(8)} ${before.held_ms.toFixed(0).padStart(8)}     ${name} (${((middle - began) / 1000).toFixed(1)} s + ${took.toFixed(1)} s)${outcome}`,
    );
  } catch (error) {
    console.log(`  PREPARE FAILED ${name}: ${error.code ?? ''} ${error.message}`);
    await figures();
  }
}
console.log(`${chosen.length} attacks, ${over} held the event loop for more than ${LIMIT_MS} ms`);
await target.cairn.close();
probe.disconnect();
server.kill('SIGTERM');
await once(server, 'exit');
rmSync(folder, { recursive: true, force: true });

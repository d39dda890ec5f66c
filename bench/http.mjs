// POST of a packet over 64 connections, against the HTTP library alone that checks the same body and echoes it.
// Servers and load generator are processes of their own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { interleave } from './support/measure.mjs';
import { startServer } from './support/servers.mjs';

const CONNECTIONS = 64;
const PATH = '/api/v1/memory/packet';
const script = (name) => fileURLToPath(new URL(name, import.meta.url));

/** Requests per second that a server answers. */
async function load(port, seconds) {
  const args = [script('support/load.mjs'), port, PATH, CONNECTIONS, seconds].map(String);
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error('the load generator failed');
  return Number(output);
}

export async function http({ target, quick, report }) {
  const database = await target.fresh();
  const ours = await startServer([script('../bin/cairn.js'), 'serve', '--port', '0', '--database', database]);
  const bare = await startServer([script('support/echo.mjs')]);
  try {
    const seconds = quick ? 1 : 3;
    const { rate, ratio, noise } = await interleave(
      { ours: () => load(ours.port, seconds), bare: () => load(bare.port, seconds) },
      quick ? 4 : 7,
    );
    report({
      what: `POST ${PATH}, ${CONNECTIONS} connections`,
      ours: rate('ours'),
      bare: rate('bare'),
      unit: '/s',
      ratio: ratio('ours', 'bare'),
      noise: noise('ours', 'bare'),
      at_least: target.kind === 'sqlite' ? 0.38 : 0.25,
    });
  } finally {
    await ours.stop();
    await bare.stop();
  }
}

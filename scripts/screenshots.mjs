// `npm run screenshots`: pictures of each view of the inspector, in light and dark, into docs/images. The store is that of `cairn demo`.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { browserPath } from './browser.mjs';

const out = 'docs/images';
const size = { width: 1280, height: 800 };
const folder = mkdtempSync(join(tmpdir(), 'cairn-screenshots-'));
const database = join(folder, 'demo.db');

const cairn = (...args) => spawn(process.execPath, ['bin/cairn.js', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });

const ended = (child) =>
  new Promise((resolve, reject) => {
    child.stdout.resume();
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`cairn ended with ${code}`))));
  });

const listening = (child) =>
  new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const url = /listens on (http:\S+)/.exec(text)?.[1];
      if (url) resolve(url);
    });
    child.on('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  });

const first = (list, member) => list[0]?.[member];

/** Views by name, with the address of one that has something to show. */
async function addresses(url) {
  const { connectCairn } = await import('../dist/client/index.js');
  const api = connectCairn({ url });
  const { manifests } = await api.manifests.list({ kind: 'assembly', limit: 1 });
  const { executions } = await api.executions.list({ limit: 1, order: 'asc' });
  const { trajectories } = await api.trajectories.list({ top_level: true, order: 'asc', limit: 1 });
  const { packets } = await api.packets.list({ limit: 100, order: 'desc' });
  const packet = packets.find(({ packet_type }) => !packet_type.startsWith('cairn.')) ?? packets[0];
  await api.close();
  return {
    context: `/contexts/${first(manifests, 'manifest_id')}`,
    memory: '/memory',
    live: '/live',
    task: `/trajectories/${first(trajectories, 'trajectory_id')}`,
    run: `/runs/${first(executions, 'execution_id')}`,
    lineage: `/lineage/packet/${packet.packet_id}`,
    agents: '/coordination?tab=board',
    store: '/store',
  };
}

mkdirSync(out, { recursive: true });
await ended(cairn('demo', '--database', database));
const server = cairn('serve', '--database', database, '--port', '0');
try {
  const url = await listening(server);
  const browser = await chromium.launch({
    executablePath: await browserPath(),
    args: ['--no-sandbox', '--disable-gpu'],
  });
  for (const [name, path] of Object.entries(await addresses(url)))
    for (const colorScheme of ['light', 'dark']) {
      const context = await browser.newContext({ viewport: size, colorScheme, locale: 'en-US' });
      const page = await context.newPage();
      await page.goto(`${url}/ui${path}`);
      await page.waitForLoadState('networkidle');
      await page.waitForTimeout(500);
      const file = join(out, `${name}-${colorScheme}.png`);
      await page.screenshot({ path: file });
      console.log(file);
      await context.close();
    }
  await browser.close();
} finally {
  server.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}

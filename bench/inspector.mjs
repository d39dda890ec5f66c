// How the inspector copes with a large store: time until each view is usable, frames while scrolling, memory after many events.
// `npm run bench:inspector`. A real browser on the same machine, so the times include both sides.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { openCairn } from '../dist/cairndb.js';
import { connectCairn } from '../dist/client/index.js';
import { browserPath } from '../scripts/browser.mjs';

const TURNS = 100_000;
const NOTES = 10_000;
const NODES = 2000;
const EVENTS = 100_000;

const folder = mkdtempSync(join(tmpdir(), 'cairn-inspector-'));
const database = join(folder, 'large.db');

async function fill() {
  const cairn = await openCairn({ database });
  const { trajectory_id } = await cairn.trajectories.create({ name: 'A long task' });
  const { scope_id } = await cairn.scopes.create({ trajectory_id, name: 'A long talk', token_budget: 100_000_000 });
  const item = (create) => ({ operation: 'create', create });
  const inBatches = async (count, batch) => {
    for (let from = 0; from < count; from += 100) await batch(Array.from({ length: 100 }, (_, i) => from + i));
  };
  await inBatches(TURNS, (numbers) =>
    cairn.turns.batch({
      atomic: true,
      items: numbers.map((n) =>
        item({
          scope_id,
          role: n % 2 ? 'Assistant' : 'User',
          content: `Line ${n}: what we said about topic ${n % 97}.`,
        }),
      ),
    }),
  );
  await inBatches(NOTES, (numbers) =>
    cairn.notes.batch({
      atomic: true,
      items: numbers.map((n) =>
        item({ note_type: 'Fact', title: `Fact ${n}`, content: `Topic ${n % 97} has property ${n}.` }),
      ),
    }),
  );
  const root = await cairn.packets.write({ packet_type: 'bench.node', payload: { n: 0 } });
  const ids = [root.packet_id];
  while (ids.length < NODES) {
    const parents = Array.from({ length: 100 }, () => ids[Math.floor(Math.random() * ids.length)]);
    const { results } = await cairn.packets.write_batch({
      packets: parents.map((parent, n) => ({
        packet_type: 'bench.node',
        payload: { n },
        lineage: { parent_ids: [parent] },
      })),
    });
    for (const { packet_id } of results) ids.push(packet_id);
  }
  await cairn.close();
  return { trajectory_id, scope_id, packet_id: root.packet_id };
}

async function serve() {
  const child = spawn(process.execPath, ['bin/cairn.js', 'serve', '--database', database, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const found = /listens on (http:\S+)/.exec(text)?.[1];
      if (found) resolve(found);
    });
    child.on('exit', (code) => reject(new Error(`the server ended with ${code}`)));
  });
  return { child, url };
}

/** The longest time between two frames while a list scrolls for two seconds. */
const longestFrame = (page) =>
  page.evaluate(
    () =>
      new Promise((resolve) => {
        const list = document.querySelector('.virtual') ?? document.getElementById('view');
        const began = performance.now();
        let last = began;
        let longest = 0;
        const frame = (now) => {
          longest = Math.max(longest, now - last);
          last = now;
          list.scrollTop += 160;
          if (now - began < 2000) requestAnimationFrame(frame);
          else resolve(Math.round(longest));
        };
        requestAnimationFrame(frame);
      }),
  );

async function heapMegabytes(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize / 1e6;
}

const place = await fill();
const { child, url } = await serve();
const browser = await chromium.launch({ executablePath: await browserPath(), args: ['--no-sandbox', '--disable-gpu'] });
const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, locale: 'en-US' });
const views = {
  contexts: ['/contexts', 'h1'],
  memory: ['/memory', '.virtual-item'],
  live: ['/live', '.virtual-item'],
  tasks: ['/trajectories', '.virtual-item'],
  'a task': [`/trajectories/${place.trajectory_id}`, '.timeline'],
  'a scope': [`/scopes/${place.scope_id}`, '.virtual-item'],
  runs: ['/runs', 'h1'],
  lineage: [`/lineage/packet/${place.packet_id}`, '.react-flow__node'],
  agents: ['/coordination', 'h1'],
  store: ['/store', '.table'],
};
const results = {};
try {
  for (const [name, [path, selector]] of Object.entries(views)) {
    const began = performance.now();
    await page.goto(`${url}/ui${path}`);
    await page.locator(selector).first().waitFor();
    const usable_ms = Math.round(performance.now() - began);
    results[name] = { usable_ms, longest_frame_ms: await longestFrame(page) };
    console.log(`${name.padEnd(10)} usable after ${usable_ms} ms, longest frame ${results[name].longest_frame_ms} ms`);
  }
  await page.goto(`${url}/ui/live`);
  await page.locator('.virtual-item').first().waitFor();
  const api = connectCairn({ url });
  const write = async (count) => {
    for (let sent = 0; sent < count; sent += 1000)
      await Promise.all(
        Array.from({ length: 10 }, () =>
          api.packets.write_batch({
            packets: Array.from({ length: 100 }, (_, n) => ({ packet_type: 'bench.event', payload: { n } })),
          }),
        ),
      );
    await page.waitForTimeout(2000);
  };
  await write(EVENTS / 10);
  const early = await heapMegabytes(page);
  await write(EVENTS - EVENTS / 10);
  const late = await heapMegabytes(page);
  results.memory_of_page = { after_10_000_events_mb: Math.round(early), after_100_000_events_mb: Math.round(late) };
  console.log(
    `memory of the page: ${early.toFixed(1)} MB after ${EVENTS / 10} events, ${late.toFixed(1)} MB after ${EVENTS}`,
  );
  await api.close();
} finally {
  await browser.close();
  child.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}
console.log(JSON.stringify(results));

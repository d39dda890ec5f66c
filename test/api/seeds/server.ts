/** A server as the seeds' clients expect one: open on loopback, without keys, on the day that their examples are from. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Store } from '#cairn/api/store.js';
import { type CairnClient, connectCairn } from '#cairn/client/index.js';
import { createServer } from '#cairn/http/index.js';
import { freshDatabase } from '../../support/targets.js';

/** The timestamp of seed 003's example, whose ttl is a week later. */
const TODAY = Date.parse('2025-12-07T12:00:00Z');

export const fixture = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../../fixtures/seeds', name), 'utf8');

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export interface SeedServer {
  readonly cairn: CairnClient;
  /** Sends JSON as it is given, the way any HTTP client does. */
  send(method: string, path: string, body?: object | string): Promise<Answer>;
  /** Runs a script of curl commands that are written for port 8080. */
  curl(script: string): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

function run(script: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve(stdout) : reject(new Error(`${code}: ${stderr}`))));
  });
}

export async function openSeedServer(kind: 'sqlite' | 'postgres'): Promise<SeedServer> {
  const { database, drop } = await freshDatabase(kind);
  const offset = TODAY - Date.now();
  const store = await Store.open({ database, sweep_every_ms: 0, clock_offset_ms: () => offset });
  const server = createServer(store, { version: 'test', log: (line) => console.error(line) });
  const url = `http://127.0.0.1:${await server.listen({ host: '127.0.0.1', port: 0 })}`;
  const cairn = connectCairn({ url });
  return {
    cairn,
    send: async (method, path, body) => {
      const response = await fetch(`${url}${path}`, {
        method,
        ...(body === undefined
          ? {}
          : {
              headers: { 'content-type': 'application/json' },
              body: typeof body === 'string' ? body : JSON.stringify(body),
            }),
      });
      const text = await response.text();
      return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Answer['body']) };
    },
    curl: async (script) =>
      JSON.parse(await run(script.replaceAll('http://localhost:8080', url))) as Record<string, unknown>,
    close: async () => {
      await cairn.close();
      await server.close();
      await store.close();
      await drop();
    },
  };
}

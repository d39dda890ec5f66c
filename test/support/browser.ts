/** A real browser with the inspector in it. What it logs, and any request to another host, fails the test. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import { connectCairn } from '#cairn/client/index.js';
import { cairn } from './run.js';
import { type ServerProcess, startServer } from './server.js';

type Api = ReturnType<typeof connectCairn>;

/** What Chromium needs as root in a container, and what keeps it from asking its maker. */
const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

export interface Visit {
  readonly page: Page;
  /** Opens an address below /ui. */
  go(path: string): Promise<void>;
}

export interface Inspector {
  readonly server: () => ServerProcess;
  readonly api: () => Api;
  /** Runs a journey in a page of its own. */
  visit(journey: (visit: Visit) => Promise<void>, options?: VisitOptions): Promise<void>;
}

export interface VisitOptions extends BrowserContextOptions {
  /** Complaints of the console that this journey causes on purpose. */
  readonly expected?: RegExp;
}

export interface InspectorOptions {
  /** Fills the store with `cairn demo`. Default: true. */
  readonly demo?: boolean;
}

/** A server on a store of its own and a browser, for the tests of a file. */
export function withInspector({ demo = true }: InspectorOptions = {}): Inspector {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-web-'));
  const database = join(folder, 'web.db');
  let server: ServerProcess;
  let api: Api;
  let browser: Awaited<ReturnType<typeof chromium.launch>>;
  beforeAll(async () => {
    if (demo) await cairn(['demo', '--database', database], { cwd: folder });
    server = await startServer({ database });
    api = connectCairn({ url: server.url });
    browser = await chromium.launch({ executablePath: inject('browser'), args: ARGS });
  });
  afterAll(async () => {
    await browser?.close();
    await api?.close();
    await server?.end('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  });
  const visit = async (journey: (visit: Visit) => Promise<void>, { expected, ...options }: VisitOptions = {}) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, locale: 'en-US', ...options });
    const complaints: string[] = [];
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== server.url) complaints.push(`asked ${request.url()}`);
    });
    const go = async (path: string) => {
      await page.goto(`${server.url}/ui${path}`);
      await page.locator('h1').first().waitFor();
    };
    try {
      await journey({ page, go });
      expect(complaints.filter((complaint) => !expected?.test(complaint))).toEqual([]);
    } finally {
      await context.close();
    }
  };
  return { server: () => server, api: () => api, visit };
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** What axe finds serious or critical, a line each. */
export async function seriousIssues(page: Page): Promise<string[]> {
  // Evaluated, not added as a script: the policy of the page allows none of others.
  await page.evaluate(axe);
  const { violations } = (await page.evaluate(
    'axe.run(document, { resultTypes: ["violations"], rules: { region: { enabled: false } } })',
  )) as { violations: Violation[] };
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.slice(0, 3).map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
    );
}

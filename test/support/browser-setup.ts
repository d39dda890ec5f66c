/** Finds a browser for the whole run: that of the system, else the one of the development dependencies. */
import { existsSync } from 'node:fs';
import type { TestProject } from 'vitest/node';

const OF_SYSTEM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export async function browserPath(): Promise<string> {
  const named = process.env.CAIRN_TEST_BROWSER ?? OF_SYSTEM.find((path) => existsSync(path));
  if (named !== undefined) return named;
  // Unpacks itself into the folder for temporary files, once.
  const { default: packaged } = await import('@sparticuz/chromium');
  return packaged.executablePath();
}

export default async function setup(project: TestProject): Promise<void> {
  project.provide('browser', await browserPath());
}

declare module 'vitest' {
  interface ProvidedContext {
    browser: string;
  }
}

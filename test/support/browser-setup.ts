/** Finds a browser for the whole run. */
import type { TestProject } from 'vitest/node';
import { browserPath } from '../../scripts/browser.mjs';

export default async function setup(project: TestProject): Promise<void> {
  project.provide('browser', await browserPath());
}

declare module 'vitest' {
  interface ProvidedContext {
    browser: string;
  }
}

// The browser of tests, screenshots and benches: that of the system, else the one of the development dependencies.
import { existsSync } from 'node:fs';

const OF_SYSTEM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The packaged one unpacks itself into the folder for temporary files, once. CAIRN_TEST_BROWSER names another. */
export async function browserPath() {
  const named = process.env.CAIRN_TEST_BROWSER ?? OF_SYSTEM.find((path) => existsSync(path));
  if (named !== undefined) return named;
  const { default: packaged } = await import('@sparticuz/chromium');
  return packaged.executablePath();
}

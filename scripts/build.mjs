// Builds what scripts run: all of it, as `npm run build` does, since commands and servers are started from the bundle.
import { spawnSync } from 'node:child_process';

/** Ends the process where it fails. */
export function build() {
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(status ?? 1);
}

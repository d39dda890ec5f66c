// `npm start`: builds if needed, then serves.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`cairn: needs Node 20.19 or later, this is ${process.versions.node}: see https://nodejs.org`);
  process.exit(1);
}
if (!existsSync('dist/bundle/main.js')) console.error('Building Cairn, once: some ten seconds …');
execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit', shell: process.platform === 'win32' });
const { main } = await import('../dist/bundle/main.js');
await main([process.argv[0], 'cairn', 'serve', ...process.argv.slice(2)]);

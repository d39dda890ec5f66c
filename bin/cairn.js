#!/usr/bin/env node
// Plain JavaScript for any Node, so that an old one gets a sentence and not a stack.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`cairn: needs Node 20.19 or later, this is ${process.versions.node}: see https://nodejs.org`);
  process.exit(1);
}
import('node:module').then(async ({ enableCompileCache }) => {
  // Where Node can keep what it compiled, the next start takes half the time.
  enableCompileCache?.();
  const { main } = await import('../dist/cli/main.js');
  await main(process.argv);
});

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
  const { main } = await import('../dist/bundle/main.js').catch((error) => {
    // In a clone that was never started: what is published is built.
    if (error.code !== 'ERR_MODULE_NOT_FOUND' || !/dist.bundle.main\.js'/.test(error.message)) throw error;
    console.error('cairn: this clone is not built yet: run `npm run build` once, or `npm start`');
    process.exit(1);
  });
  await main(process.argv);
});

// Bundles what is published into dist/bundle, a few files instead of six hundred: Node takes most of a start to load modules.
// Tests load the single modules of dist.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { rolldown } from 'rolldown';

/**
 * The command, each entry of `exports` in package.json, and the modules of threads, under the names by which other modules
 * find them beside themselves. Together, so that they share chunks: one class, loaded once.
 */
const input = {
  main: './dist/cli/main.js',
  cairndb: './dist/cairndb.js',
  client: './dist/client/index.js',
  runtime: './dist/runtime/index.js',
  langgraph: './dist/adapters/langgraph/index.js',
  'long-thread': './dist/driver/sqlite/long-thread.js',
  job: './dist/recall/search/job.js',
  drift: './dist/recall/reindex/drift.js',
  'segment-check': './dist/recall/reindex/segment-check.js',
  'fold-job': './dist/recall/folding/fold-job.js',
  'merge-job': './dist/index/segments/merge-job.js',
  'purge-job': './dist/index/segments/purge-job.js',
};

/** Small packages that every start loads: as parts of the bundle they take a third of the time. Their licences go with it. */
const inlined = ['commander', 'safe-stable-stringify', 'zod'];

const isInlined = (id) => inlined.some((name) => id === name || id.startsWith(`${name}/`));
/** Not a path, on any platform: a dependency, or a module of Node. */
const external = (id) => !/^(?:[./]|[a-z]:\\)/i.test(id) && !isInlined(id);
const bundle = await rolldown({ input, platform: 'node', external });
const dir = 'dist/bundle';
rmSync(dir, { recursive: true, force: true });
// Chunks lie beside the entries: modules find package.json two levels up, in the bundle as in dist.
await bundle.write({ dir, format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'chunk-[name].js' });
await bundle.close();

const licences = inlined.map((name) => {
  const folder = `node_modules/${name}`;
  const { version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  return `${name} ${version}\n\n${readFileSync(`${folder}/${file}`, 'utf8').trim()}\n`;
});
writeFileSync(`${dir}/LICENSES`, licences.join(`\n${'-'.repeat(80)}\n\n`));

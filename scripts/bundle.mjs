// Bundles what is published into dist/bundle, a few files instead of six hundred: Node takes most of a start to load modules.
// Tests load the single modules of dist.
import { rmSync } from 'node:fs';
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
};

/** Not a path, on any platform: a dependency, or a module of Node. */
const external = (id) => !/^(?:[./]|[a-z]:\\)/i.test(id);
const bundle = await rolldown({ input, platform: 'node', external });
const dir = 'dist/bundle';
rmSync(dir, { recursive: true, force: true });
// Chunks lie beside the entries: modules find package.json two levels up, in the bundle as in dist.
await bundle.write({ dir, format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'chunk-[name].js' });
await bundle.close();

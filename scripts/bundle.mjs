// Bundles the entries of the package into dist/bundle, a few files instead of six hundred: Node takes most of a start to load
// modules. Threads, and tests of single modules, load the modules of dist themselves.
import { rmSync } from 'node:fs';
import { rolldown } from 'rolldown';

/** The command and each entry of `exports` in package.json. Together, so that they share chunks: one class, loaded once. */
const input = {
  main: './dist/cli/main.js',
  cairndb: './dist/cairndb.js',
  client: './dist/client/index.js',
  runtime: './dist/runtime/index.js',
  langgraph: './dist/adapters/langgraph/index.js',
};

/** Not a path, on any platform: a dependency, or a module of Node. */
const external = (id) => !/^(?:[./]|[a-z]:\\)/i.test(id);
const bundle = await rolldown({ input, platform: 'node', external });
const dir = 'dist/bundle';
rmSync(dir, { recursive: true, force: true });
// Chunks lie beside the entries: modules find package.json two levels up, in the bundle as in dist.
await bundle.write({ dir, format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'chunk-[name].js' });
await bundle.close();

// Bundles the command into dist/bundle, a few files instead of six hundred: Node takes most of a start to load modules.
// Threads and the library load the modules of dist themselves.
import { rolldown } from 'rolldown';

/** Not a path, on any platform: a dependency, or a module of Node. */
const external = (id) => !/^(?:[./]|[a-z]:\\)/i.test(id);
const bundle = await rolldown({ input: './dist/cli/main.js', platform: 'node', external });
// Without a hash in their names, chunks replace those of the build before.
await bundle.write({ dir: 'dist/bundle', format: 'esm', chunkFileNames: '[name].js' });
await bundle.close();

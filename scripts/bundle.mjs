// Bundles the command into dist/bundle, a few files instead of six hundred: Node takes most of a start to load modules.
// Threads and the library load the modules of dist themselves.
import { rmSync } from 'node:fs';
import { rolldown } from 'rolldown';

const bundle = await rolldown({ input: 'dist/cli/main.js', platform: 'node', external: (id) => !/^[./]/.test(id) });
// Names of chunks have a hash: those of an earlier build would stay.
rmSync('dist/bundle', { recursive: true, force: true });
await bundle.write({ dir: 'dist/bundle', format: 'esm' });
await bundle.close();

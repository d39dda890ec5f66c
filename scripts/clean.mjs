// Removes what a build leaves, so that a package never carries a file whose source is gone.
import { rmSync } from 'node:fs';

for (const path of ['dist', '.cache/declarations', '.cache/build.tsbuildinfo'])
  rmSync(path, { recursive: true, force: true });

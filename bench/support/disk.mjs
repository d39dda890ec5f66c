// How long the disk takes to keep a page for good: what durable commits cost depends on it more than on anything else.
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';

/** Pages written and flushed a second, one after another, in a file of its own. */
export function flushes(file, count) {
  const page = Buffer.alloc(4096, 1);
  const fd = openSync(file, 'w');
  const start = performance.now();
  for (let i = 0; i < count; i++) {
    writeSync(fd, page);
    fsyncSync(fd);
  }
  const rate = (count / (performance.now() - start)) * 1000;
  closeSync(fd);
  rmSync(file);
  return rate;
}

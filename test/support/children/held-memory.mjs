// Loaded into a server first: answers `held` with the bytes that are left in use after a full garbage collection. Resident
// memory would tell how lazily this version of Node collects.
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

// Threads of the server load it as well, and have no channel.
if (isMainThread) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  process.on('message', async (message) => {
    if (message !== 'held') return;
    collect();
    // What is freed when the loop goes on, and buffers that V8 frees on another thread, count no more then.
    await setImmediate();
    collect();
    const { heapUsed, external } = process.memoryUsage();
    process.send(heapUsed + external);
  });
  // Listening for messages must not keep the server from ending.
  process.channel.unref();
}

// Loaded into a server first: answers `held` with the bytes that are left in use after a full garbage collection. Resident
// memory would tell how lazily this version of Node collects.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

process.on('message', (message) => {
  if (message !== 'held') return;
  collect();
  const { heapUsed, external } = process.memoryUsage();
  process.send(heapUsed + external);
});
process.channel.unref();

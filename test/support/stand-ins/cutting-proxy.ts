/** A TCP proxy before a server that breaks off connections when it is told to, as a network does. */
import { connect, createServer, type Server, type Socket } from 'node:net';

export class CuttingProxy {
  readonly url: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** How many connections were broken off before they brought anything. */
  failures = 0;
  /** How many connections were broken off while they were open. */
  broken = 0;
  #failsNext = false;

  private constructor(server: Server) {
    this.#server = server;
    const { port } = server.address() as { port: number };
    this.url = `http://127.0.0.1:${port}`;
  }

  static async before(url: string): Promise<CuttingProxy> {
    const { hostname, port } = new URL(url);
    let proxy: CuttingProxy | undefined;
    const server = createServer((client) => {
      if (proxy!.#failsNext) {
        proxy!.#failsNext = false;
        proxy!.failures++;
        client.resetAndDestroy();
        return;
      }
      const upstream = connect(Number(port), hostname);
      for (const [from, to] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        from.on('error', () => undefined);
        from.on('close', () => to.destroy());
        from.pipe(to);
      }
      proxy!.#sockets.add(client);
      client.on('close', () => proxy!.#sockets.delete(client));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    proxy = new CuttingProxy(server);
    return proxy;
  }

  get open(): number {
    return this.#sockets.size;
  }

  /** Breaks off every connection there is, and the next one at once. */
  cut(): void {
    this.#failsNext = true;
    this.broken += this.#sockets.size;
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** A TCP proxy before PostgreSQL that reads what clients send, and cuts the connection at the COMMIT of a write. */
import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * Where the client loses its connection: before COMMIT reaches the server; when it was forwarded; when the server has
 * answered and nobody heard it; or at once, while COMMIT itself arrives only later.
 */
export type Cut = 'before' | 'forwarded' | 'answered' | 'delayed';

const DELAY_MS = 300;

export class PostgresProxy {
  readonly url: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #target: { host: string; port: number };
  #armed: Cut | undefined;
  /** How many connections were cut at COMMIT. */
  cuts = 0;
  /** Refuses new connections, and cuts those there are, while true. */
  #away = false;
  /** Rises when the connections there are fall silent. */
  #silences = 0;
  /** What happens right after a cut. */
  onCut: () => void = () => undefined;

  private constructor(server: Server, port: number, target: URL) {
    this.#server = server;
    this.#target = { host: target.hostname, port: Number(target.port) };
    const url = new URL(target);
    url.port = String(port);
    this.url = url.toString();
  }

  static async before(database: string): Promise<PostgresProxy> {
    let proxy: PostgresProxy | undefined;
    const server = createServer((client) => proxy!.#relay(client));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    proxy = new PostgresProxy(server, port, new URL(database));
    return proxy;
  }

  /** The next COMMIT of a write is cut so. */
  arm(cut: Cut): void {
    this.#armed = cut;
  }

  set away(away: boolean) {
    this.#away = away;
    if (away) for (const socket of this.#sockets) socket.destroy();
  }

  /** The connections there are stay open, but nothing passes any longer; new ones work. */
  silence(): void {
    this.#silences++;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #relay(client: Socket): void {
    if (this.#away) return void client.destroy();
    const server = connect(this.#target);
    let cut: Cut | undefined;
    const silences = this.#silences;
    const silent = () => silences !== this.#silences;
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
    }
    client.on('close', () => {
      this.#sockets.delete(client);
      if (cut !== 'delayed') server.end();
    });
    server.on('close', () => {
      this.#sockets.delete(server);
      client.destroy();
    });
    server.on('data', (chunk) => {
      if (silent()) return;
      if (cut === undefined) client.write(chunk);
      else if (cut === 'answered') client.destroy();
    });
    const isWriteCommit = commitReader();
    let queue = Buffer.alloc(0);
    let started = false;
    client.on('data', (chunk) => {
      if (silent()) return;
      queue = Buffer.concat([queue, chunk]);
      for (;;) {
        // The first message has no type; all others have one byte of it before their length.
        const lead = started ? 1 : 0;
        if (queue.length < lead + 4) return;
        const length = lead + queue.readUInt32BE(lead);
        if (queue.length < length) return;
        const message = queue.subarray(0, length);
        queue = queue.subarray(length);
        const atCommit = isWriteCommit(message);
        if (atCommit && this.#armed) {
          cut = this.#armed;
          this.#armed = undefined;
          this.#cutAt(cut, message, client, server);
          return;
        }
        started = true;
        server.write(message);
      }
    });
  }

  #cutAt(cut: Cut, message: Buffer, client: Socket, server: Socket): void {
    this.cuts++;
    client.removeAllListeners('data');
    if (cut === 'before') server.destroy();
    else if (cut === 'delayed') setTimeout(() => server.end(message), DELAY_MS);
    else server.write(message);
    if (cut !== 'answered') client.destroy();
    this.onCut();
  }
}

/** Tells the COMMIT of a write from that of a read: the one was begun without a mode. */
function commitReader(): (message: Buffer) => boolean {
  let writing = false;
  return (message) => {
    // A query comes at once (Q), or is prepared first (P), then with its name before it.
    const type = message.toString('latin1', 0, 1);
    if (type !== 'Q' && type !== 'P') return false;
    const text = message.toString('latin1', 5).split('\0')[type === 'Q' ? 0 : 1]!;
    if (text.startsWith('BEGIN')) writing = text.startsWith('BEGIN;');
    return writing && text === 'COMMIT';
  };
}

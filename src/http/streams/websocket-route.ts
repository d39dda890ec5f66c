/** The WebSocket side of the route of a stream. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { NamedOperation } from '../../api/contract.js';
import type { Host } from '../../api/index.js';
import type { Caller } from '../../engine/contract.js';
import { CairnError } from '../../kernel/index.js';
import { checkTenant, keyOf, refuseForeignPages, refuseForeignSites } from '../access.js';
import type { Metrics } from '../metrics.js';
import { checkHandshake, offeredKey, type Upgrades } from './upgrades.js';
import { sendMessages } from './websocket.js';

/** The caller with a key; default: the key in the headers. */
export type Authenticate = (request: FastifyRequest, key?: string) => Promise<Caller>;

export interface StreamContext {
  readonly host: Host;
  readonly authenticate: Authenticate;
  readonly metrics: Metrics;
  readonly upgrades: Upgrades;
  readonly allowed_origins: readonly string[];
  readonly stopping: AbortSignal;
  readonly log: (line: string) => void;
}

/** WebSockets at once that have not sent a valid key: anyone can open them. */
const MAX_SOCKETS_WITHOUT_KEY = 256;

interface UpgradeRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly open: (caller: Caller, key: string | undefined, signal: AbortSignal) => AsyncIterable<unknown>;
}

/**
 * Foreign pages and malformed handshakes are refused by an ordinary answer. All else is told after the handshake, as an
 * error message and a close code: a browser shows a page nothing of the answer to a failed upgrade.
 */
export async function serveWebSocket(
  { host, authenticate, metrics, upgrades, allowed_origins, stopping, log }: StreamContext,
  { name, frames }: NamedOperation,
  { request, reply, open }: UpgradeRequest,
): Promise<void> {
  if (request.headers['sec-websocket-version'] !== '13') reply.header('sec-websocket-version', '13');
  checkHandshake(request.raw);
  refuseForeignPages(request, allowed_origins);
  const given = keyIn(request);
  const needsKey = await host.hasKeys();
  if (!needsKey) refuseForeignSites(request);
  const isAwaited = given === undefined && needsKey;
  if (isAwaited && upgrades.without_key.size >= MAX_SOCKETS_WITHOUT_KEY)
    throw new CairnError(
      'OVERLOADED',
      `${MAX_SOCKETS_WITHOUT_KEY} WebSockets already wait for their key: send it with the handshake, or try again later`,
    );
  const begun = performance.now();
  reply.hijack();
  const socket = upgrades.accept(request.raw);
  if (!socket) return;
  if (isAwaited) upgrades.without_key.add(socket);
  socket.once('close', () => upgrades.without_key.delete(socket));
  const status = await sendMessages(socket, request.raw.socket, {
    frames: frames!,
    key: isAwaited ? 'awaited' : { given },
    open: async (key, signal) => {
      const caller = await authenticate(request, key);
      checkTenant(caller, request);
      upgrades.without_key.delete(socket);
      return open(caller, key, signal);
    },
    stopping,
    log,
  });
  metrics.observe(name, status, (performance.now() - begun) / 1000);
}

/** The key of a handshake, in a header or in a subprotocol. */
function keyIn(request: FastifyRequest): string | undefined {
  const header = keyOf(request);
  const offered = offeredKey(request.raw);
  if (header !== undefined && offered !== undefined && header !== offered)
    throw new CairnError('UNAUTHORIZED', 'the headers and Sec-WebSocket-Protocol hold different keys: send one');
  return header ?? offered;
}

/** The HTTP server: the operations of the table as routes; plus health, metrics, the reference page and the inspector. */
import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { allOperations, type NamedOperation } from '../api/contract.js';
import { type AnyMethod, type ApiByName, type Host, openapiSteps } from '../api/index.js';
import { type Caller, inputLocation, KEPT_HISTORY } from '../engine/contract.js';
import { CairnError, clockWarning, invalid, runWithYields, turnShare } from '../kernel/index.js';
import { callerOf, checkTenant, keyOf, OPEN_CALLER, optionsOf, refuseForeignSites } from './access.js';
import { isLarge, parseBody } from './body.js';
import { watchClock } from './clock-watch.js';
import { errorHandler, protect, refuseMalformed } from './errors.js';
import { addInspector, INSPECTOR_PAGES } from './inspector.js';
import { jsonAnswer } from './json-answer.js';
import { Metrics } from './metrics.js';
import { queryReader } from './query.js';
import { pageAt, referencePage } from './reference.js';
import { methodsAt, type Route, routesOf } from './routes.js';
import { CHECK_KEY_MS, whileValid } from './streams/pump.js';
import { sendEvents } from './streams/sse.js';
import { Upgrades } from './streams/upgrades.js';
import { type Authenticate, type StreamContext, serveWebSocket } from './streams/websocket-route.js';
import { admitBody, drainBody, holdExpecting, isUnread } from './unread-body.js';
import { untilGone } from './waits.js';
import { WrongKeys } from './wrong-keys.js';

export interface ServerOptions {
  readonly version: string;
  readonly max_body_bytes?: number;
  /** Wrong keys per client and minute that are answered without delay; 0: no limit; default: 10. */
  readonly wrong_keys_per_minute?: number;
  /** Origins of pages that may open a WebSocket, besides local ones and that of the server. */
  readonly allowed_origins?: readonly string[];
  readonly log?: (line: string) => void;
}

interface CairnServer {
  /** Resolves to the bound port. */
  listen(address: { host: string; port: number }): Promise<number>;
  /** Ends streams, finishes running requests and accepts no new ones. */
  close(): Promise<void>;
  readonly app: FastifyInstance;
}

const WRONG_KEYS_PER_MINUTE = 10;
const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** Factor for the body of an operation that takes a whole state. */
const LARGE = 8;
/** How long a closing server waits for running requests: less than the 10 s after which Docker kills. */
const GRACE_MS = 8000;

const routes = routesOf(allOperations);
const pages = ['/reference', '/openapi.json', '/health/live', '/health/ready', '/metrics', ...INSPECTOR_PAGES];
const allowedAt = methodsAt(routes, pages);

export function createServer(host: Host, options: ServerOptions): CairnServer {
  const limit = options.max_body_bytes ?? MAX_BODY_BYTES;
  const log = options.log ?? ((line) => process.stderr.write(`${line}\n`));
  const stopping = new AbortController();
  const metrics = new Metrics();
  const wrong = new WrongKeys({
    per_minute: options.wrong_keys_per_minute ?? WRONG_KEYS_PER_MINUTE,
    log,
    stopping: stopping.signal,
  });
  const authenticate: Authenticate = (request, key = keyOf(request)) => callerOf(host, request, key, wrong);
  const app = Fastify({
    logger: false,
    bodyLimit: limit,
    exposeHeadRoutes: false,
    requestTimeout: 60_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // Ids have up to 200 characters, each up to 12 in a path.
    routerOptions: { maxParamLength: 2400 },
    clientErrorHandler: refuseMalformed,
    frameworkErrors: (error, request, reply) => {
      protect(reply as FastifyReply);
      return errorHandler(log)(error, request, reply as FastifyReply);
    },
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      const value = parseBody(body as Buffer);
      if (value instanceof Promise) value.then((parsed) => done(null, parsed), done);
      else done(null, value);
    } catch (error) {
      done(error as Error, undefined);
    }
  });
  holdExpecting(app.server);
  app.setErrorHandler(errorHandler(log));
  app.setNotFoundHandler(notFound);
  // Hooks with callbacks: a promise per request would cost more than the hooks themselves.
  app.addHook('onRequest', (_request, reply, done) => {
    protect(reply);
    done(stopping.signal.aborted ? shuttingDown() : undefined);
  });
  // A connection that becomes idle while the server closes would hold it up until its keep-alive timeout.
  app.addHook('onSend', (request, reply, payload, done) => {
    const send = () => {
      if (stopping.signal.aborted) reply.header('connection', 'close');
      done(null, payload);
    };
    if (isUnread(request.raw)) drainBody(request.raw, reply).then(send, done);
    else send();
  });
  app.addHook('preParsing', (request, reply, payload, done) => {
    try {
      admitBody(request, reply);
      done(null, payload);
    } catch (error) {
      done(error as Error);
    }
  });
  const unused = connectionsWithoutRequest(app);
  const upgrades = new Upgrades(app.server);
  const context: StreamContext = {
    host,
    authenticate,
    metrics,
    upgrades,
    allowed_origins: options.allowed_origins ?? [],
    stopping: stopping.signal,
    log,
  };
  for (const route of routes) addRoute(app, context, route, route.operation.large ? limit * LARGE : limit);
  const figures = () => ({ ...host.figures(), wrong_keys: wrong.total });
  addPages(app, host, options.version, authenticate, () => metrics.render(figures()));
  let clock: { stop(): void } | undefined;
  return {
    app,
    listen: async (address) => {
      await app.listen(address);
      clock = await watchClock(host, log);
      const bound = app.server.address();
      return typeof bound === 'object' && bound ? bound.port : address.port;
    },
    close: async () => {
      stopping.abort(shuttingDown());
      clock?.stop();
      for (const socket of unused) socket.destroy();
      // A client that sent half a body, or does not read its answer, must not keep the server open.
      const timer = setTimeout(() => {
        app.server.closeAllConnections();
        upgrades.destroyAll();
      }, GRACE_MS);
      await app.close().finally(() => clearTimeout(timer));
    },
  };
}

const shuttingDown = (): CairnError =>
  new CairnError('SHUTTING_DOWN', 'the server is stopping: connect to another or try again');

/** Connections without a request yet. Clients open them in advance; Node does not count them as idle. */
function connectionsWithoutRequest(app: FastifyInstance): ReadonlySet<Socket> {
  const unused = new Set<Socket>();
  function forget(this: Socket): void {
    unused.delete(this);
  }
  app.server.on('connection', (socket: Socket) => {
    unused.add(socket);
    // A socket comes here again when it offered an upgrade that is ignored.
    socket.off('close', forget).once('close', forget);
  });
  app.server.on('request', ({ socket }: { socket: Socket }) => unused.delete(socket));
  return unused;
}

declare module 'fastify' {
  interface FastifyRequest {
    caller?: Caller;
  }
}

function addRoute(
  app: FastifyInstance,
  context: StreamContext,
  { method, url, operation }: Route,
  bodyLimit: number,
): void {
  const { host, authenticate, metrics, upgrades, stopping, log } = context;
  const inputOf = inputReader(operation, url);
  const methodFor = (caller: Caller): AnyMethod =>
    (host.api(caller) as unknown as ApiByName)[operation.group]![operation.verb]!;
  app.route({
    method,
    url,
    bodyLimit,
    // Before the body is read: an unauthenticated body is not worth parsing.
    onRequest: async (request) => {
      // A browser sees nothing of an answer to a failed upgrade: key and tenant are checked after the handshake.
      if (operation.stream && upgrades.has(request.raw)) return;
      request.caller = await authenticate(request);
      checkTenant(request.caller, request);
    },
    onResponse: (_request, reply, done) => {
      metrics.observe(operation.name, reply.statusCode, reply.elapsedTime / 1000);
      done();
    },
    handler: async (request, reply) => {
      if (operation.stream) {
        const open = (caller: Caller, key: string | undefined, signal: AbortSignal) =>
          whileValid(() => callerOf(host, request, key), follow(methodFor(caller), inputOf(request), request, signal));
        if (upgrades.has(request.raw)) return serveWebSocket(context, operation, { request, reply, open });
        const opened = (signal: AbortSignal) => open(request.caller!, keyOf(request), signal);
        return sendEvents(reply, { frames: operation.frames!, open: opened, stopping, log });
      }
      const run = methodFor(request.caller!);
      const input = inputOf(request);
      const options = isLarge(request.raw) ? { ...optionsOf(request), owned: true } : optionsOf(request);
      const answer = operation.waits
        ? await untilGone(reply, stopping, (signal) => run(input, { ...options, signal }) as Promise<unknown>)
        : await run(input, options);
      if (operation.waits && reply.raw.destroyed) return reply.hijack();
      // While it waited, its key may have been revoked.
      if (operation.waits && reply.elapsedTime > CHECK_KEY_MS) await callerOf(host, request, keyOf(request));
      const status = operation.status ?? 200;
      reply.code(status);
      if (operation.keeps_history) reply.header('x-history', KEPT_HISTORY);
      return status === 204 ? reply.send() : reply.type('application/json').send(jsonAnswer(answer));
    },
  });
}

/** Reads the input of an operation from path, query and body. */
function inputReader(operation: NamedOperation, url: string): (request: FastifyRequest) => Record<string, unknown> {
  const readQuery = queryReader(operation);
  const takesQuery = inputLocation(operation.method) === 'query';
  const inPath = [...url.matchAll(/:(\w+)/g)].map(([, name]) => name!).filter((name) => name !== 'project_id');
  return (request) => {
    const body = (request.body ?? {}) as Record<string, unknown>;
    const hasQuery = request.url.includes('?');
    if (inPath.length === 0 && !hasQuery) return body;
    const query = hasQuery ? readQuery(request.query as Record<string, unknown>) : {};
    // A DELETE may have its input in a body as well; the operation refuses any other misplaced input by name.
    const input = takesQuery ? { ...query, ...body } : { ...body, ...query };
    const path = request.params as Record<string, string>;
    for (const name of inPath) {
      if (Object.hasOwn(input, name) && input[name] !== path[name])
        throw invalid(`${name} must equal the ${name} in the path, or be left out`);
      input[name] = path[name];
    }
    return input;
  };
}

function follow(method: AnyMethod, input: Record<string, unknown>, request: FastifyRequest, signal: AbortSignal) {
  // A browser reconnects with the old URL and the newer position in this header.
  const last = request.headers['last-event-id'];
  const resumed = typeof last === 'string' ? { ...input, after: last } : input;
  return method(resumed, { ...optionsOf(request), signal }) as AsyncIterable<unknown>;
}

function addPages(
  app: FastifyInstance,
  host: Host,
  version: string,
  authenticate: Authenticate,
  figures: () => string,
): void {
  // Built on first request: building them takes as long as the rest of a start.
  let description: Promise<string> | undefined;
  let page: string | undefined;
  // Metrics cover all tenants, so they are for the operator: an admin of the default tenant.
  const requireOperator = async (request: FastifyRequest) => {
    const { tenant_id, role, agent_id, user_id } = await authenticate(request);
    const isBound = agent_id !== null || user_id !== undefined;
    if (tenant_id !== OPEN_CALLER.tenant_id || role !== 'admin' || isBound)
      throw new CairnError(
        'FORBIDDEN',
        `metrics cover all tenants: they need a key of the tenant \`${OPEN_CALLER.tenant_id}\` with the role admin and without an agent or user`,
      );
  };
  addInspector(app);
  app.get('/reference', { onRequest: localUnlessKeys(host) }, (request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
      .send(pageAt((page ??= referencePage(version)), baseOf(request))),
  );
  app.get('/openapi.json', { onRequest: localUnlessKeys(host) }, async (_request, reply) => {
    description ??= runWithYields(openapiSteps(version), turnShare(10)).then((made) => JSON.stringify(made));
    return reply.type('application/json').send(await description);
  });
  app.get('/health/live', (_request, reply) => reply.send({ status: 'live' }));
  app.get('/health/ready', async (_request, reply) => {
    const { clock_ahead_ms } = await host.ready();
    const warnings = clock_ahead_ms > 0 ? { warnings: [clockWarning(clock_ahead_ms)] } : {};
    return reply.send({ status: 'ready', ...warnings });
  });
  app.get('/metrics', { onRequest: requireOperator }, (_request, reply) =>
    reply.type('text/plain; version=0.0.4; charset=utf-8').send(figures()),
  );
}

/** The description of the API contains no data: once the store has keys, any client may read it. */
const localUnlessKeys = (host: Host) => async (request: FastifyRequest) => {
  if (!(await host.hasKeys())) refuseForeignSites(request);
};

/** The address that the client used: behind a proxy it differs from the one that the server listens on. */
function baseOf({ headers, socket }: FastifyRequest): string {
  const scheme = headers['x-forwarded-proto'] === 'https' ? 'https' : 'http';
  const named = /^[\w.-]+(:\d+)?$|^\[[\da-f:.]+\](:\d+)?$/i.test(headers.host ?? '');
  return `${scheme}://${named ? headers.host : `127.0.0.1:${socket.localPort}`}`;
}

function notFound(request: FastifyRequest, reply: FastifyReply): void {
  const path = request.url.split('?')[0]!;
  const allowed = allowedAt(path);
  if (allowed.length > 0 && !allowed.includes(request.method)) {
    reply.header('allow', allowed.join(', '));
    throw new CairnError('METHOD_NOT_ALLOWED', `${path} takes ${allowed.join(', ')}, not ${request.method}`);
  }
  throw new CairnError('ROUTE_NOT_FOUND', `there is no ${request.method} ${path}: see /openapi.json`);
}

/** The HTTP server: a loop over the table of operations, on an Api; plus health, metrics and the reference page. */
import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { allOperations } from '../api/contract.js';
import { type AnyMethod, type ApiByName, type Host, openapiSteps } from '../api/index.js';
import { type Caller, restGoesTo } from '../engine/contract.js';
import { CairnError, clockWarning, inSteps, invalid, turnShare } from '../kernel/index.js';
import { callerOf, checkTenant, OPEN_CALLER, optionsOf, refuseStrangers } from './access.js';
import { isLarge, parseBody } from './body.js';
import { watchClock } from './clock-watch.js';
import { errorHandler, protect, refuseMalformed } from './errors.js';
import { jsonAnswer } from './json-answer.js';
import { Metrics } from './metrics.js';
import { queryReader } from './query.js';
import { pageAt, referencePage } from './reference.js';
import { methodsAt, type Route, routesOf } from './routes.js';
import { sendStream } from './stream.js';
import { admitBody, drainBody, holdExpecting, isUnread } from './unread-body.js';
import { untilGone } from './waits.js';
import { WrongKeys } from './wrong-keys.js';

export interface ServerOptions {
  readonly version: string;
  readonly max_body_bytes?: number;
  /** Wrong keys of a client that are answered without delay; 0 for no limit; default: 10. */
  readonly wrong_keys_per_minute?: number;
  readonly log?: (line: string) => void;
}

export interface CairnServer {
  /** Gives the port that it listens on. */
  listen(address: { host: string; port: number }): Promise<number>;
  /** Ends streams, finishes what is under way, takes nothing new. */
  close(): Promise<void>;
  readonly app: FastifyInstance;
}

const WRONG_KEYS_PER_MINUTE = 10;
const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** How much more a body that carries a whole state may have. */
const LARGE = 8;
/** How long a closing server waits for requests under way; less than the 10 s after which Docker kills. */
const GRACE_MS = 8000;

const routes = routesOf(allOperations);
const allowedAt = methodsAt(routes, ['/', '/openapi.json', '/health/live', '/health/ready', '/metrics']);

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
  const enter: Enter = (request) => callerOf(host, request, wrong);
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
  // Hooks that every request passes call back: a promise for each would cost more than what they do.
  app.addHook('onRequest', (_request, reply, done) => {
    protect(reply);
    if (!stopping.signal.aborted) return done();
    done(isStopping());
  });
  // A connection that becomes idle after the closing began would be waited for until its keep-alive is over.
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
  const silent = connectionsWithoutRequest(app);
  for (const route of routes) {
    const bodyLimit = route.operation.large ? limit * LARGE : limit;
    addRoute(app, { host, enter, metrics, stopping: stopping.signal }, route, bodyLimit);
  }
  const figures = () => ({ ...host.figures(), wrong_keys: wrong.total });
  addPages(app, host, options.version, enter, () => metrics.render(figures()));
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
      stopping.abort(isStopping());
      clock?.stop();
      for (const socket of silent) socket.destroy();
      // Whoever sent half a body, or does not take its answer, must not keep the server from ending.
      const timer = setTimeout(() => app.server.closeAllConnections(), GRACE_MS);
      await app.close().finally(() => clearTimeout(timer));
    },
  };
}

const isStopping = (): CairnError =>
  new CairnError('SHUTTING_DOWN', 'the server is stopping: connect to another or try again');

/** Connections on which no request came yet. Clients open them ahead of need; Node does not count them as idle. */
function connectionsWithoutRequest(app: FastifyInstance): ReadonlySet<Socket> {
  const silent = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  app.server.on('request', ({ socket }: { socket: Socket }) => silent.delete(socket));
  return silent;
}

declare module 'fastify' {
  interface FastifyRequest {
    caller?: Caller;
  }
}

/** Lets a request in, or refuses it. */
type Enter = (request: FastifyRequest) => Promise<Caller>;

interface Answering {
  readonly host: Host;
  readonly enter: Enter;
  readonly metrics: Metrics;
  readonly stopping: AbortSignal;
}

function addRoute(
  app: FastifyInstance,
  { host, enter, metrics, stopping }: Answering,
  { method, url, operation }: Route,
  bodyLimit: number,
): void {
  const readQuery = queryReader(operation);
  const takesQuery = restGoesTo(operation.method) === 'query';
  const inputOf = (request: FastifyRequest): Record<string, unknown> => {
    const { project_id: _, ...path } = request.params as Record<string, string>;
    const body = (request.body ?? {}) as Record<string, unknown>;
    const query = readQuery(request.query as Record<string, unknown>);
    // A DELETE may carry its input in a body as well; anything else that travels in the wrong place is refused by name.
    const rest = takesQuery ? { ...query, ...body } : { ...body, ...query };
    for (const name of Object.keys(path)) {
      if (Object.hasOwn(rest, name) && rest[name] !== path[name]) {
        throw invalid(`${name} is in the path already, and differs`);
      }
    }
    return { ...rest, ...path };
  };
  app.route({
    method,
    url,
    bodyLimit,
    // Before the body is read: a stranger's megabytes are not worth parsing.
    onRequest: async (request) => {
      request.caller = await enter(request);
      checkTenant(request.caller, request);
    },
    onResponse: (_request, reply, done) => {
      metrics.observe(operation.name, reply.statusCode, reply.elapsedTime / 1000);
      done();
    },
    handler: async (request, reply) => {
      const api = host.api(request.caller!) as unknown as ApiByName;
      const run = api[operation.group]![operation.verb]!;
      const input = inputOf(request);
      if (operation.stream)
        return sendStream(
          reply,
          operation.frames!,
          (signal) => whileValid(host, request, follow(run, input, request, signal)),
          stopping,
        );
      const options = isLarge(request.raw) ? { ...optionsOf(request), owned: true } : optionsOf(request);
      const answer = operation.waits
        ? await untilGone(reply, stopping, (signal) => run(input, { ...options, signal }) as Promise<unknown>)
        : await run(input, options);
      if (operation.waits && reply.raw.destroyed) return reply.hijack();
      const status = operation.status ?? 200;
      reply.code(status);
      return status === 204 ? reply.send() : reply.type('application/json').send(jsonAnswer(answer));
    },
  });
}

function follow(method: AnyMethod, input: Record<string, unknown>, request: FastifyRequest, signal: AbortSignal) {
  // A browser that reconnects sends the old URL again, with the newer position in this header.
  const last = request.headers['last-event-id'];
  const resumed = typeof last === 'string' ? { ...input, after: last } : input;
  return method(resumed, { ...optionsOf(request), signal }) as AsyncIterable<unknown>;
}

/** How long a stream may go on unasked. */
const CHECK_KEY_MS = 1000;

/** Passes a stream on as long as its key is good: one that is revoked meanwhile sees no more of it. */
async function* whileValid(
  host: Host,
  request: FastifyRequest,
  items: AsyncIterable<unknown>,
): AsyncGenerator<unknown, void, undefined> {
  let checked = performance.now();
  for await (const item of items) {
    if (performance.now() - checked > CHECK_KEY_MS) {
      await callerOf(host, request);
      checked = performance.now();
    }
    yield item;
  }
}

function addPages(app: FastifyInstance, host: Host, version: string, enter: Enter, figures: () => string): void {
  // Made when they are first asked for: making them takes as long as the rest of a start.
  let description: Promise<string> | undefined;
  let page: string | undefined;
  // Figures are of all tenants together: they are for who runs the server, and no tenant's admin but the default one's.
  const operator = async (request: FastifyRequest) => {
    const { tenant_id, role, agent_id } = await enter(request);
    if (tenant_id !== OPEN_CALLER.tenant_id || role !== 'admin' || agent_id !== null) {
      throw new CairnError(
        'FORBIDDEN',
        `metrics cover all tenants: they need a key of the tenant \`${OPEN_CALLER.tenant_id}\` with the role admin and without an agent`,
      );
    }
  };
  app.get('/', { onRequest: localUnlessKeys(host) }, (request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
      .send(pageAt((page ??= referencePage(version)), baseOf(request))),
  );
  app.get('/openapi.json', { onRequest: localUnlessKeys(host) }, async (_request, reply) => {
    description ??= inSteps(openapiSteps(version), turnShare(10)).then((made) => JSON.stringify(made));
    return reply.type('application/json').send(await description);
  });
  app.get('/health/live', (_request, reply) => reply.send({ status: 'live' }));
  app.get('/health/ready', async (_request, reply) => {
    const { clock_ahead_ms } = await host.ready();
    const warnings = clock_ahead_ms > 0 ? { warnings: [clockWarning(clock_ahead_ms)] } : {};
    return reply.send({ status: 'ready', ...warnings });
  });
  app.get('/metrics', { onRequest: operator }, (_request, reply) =>
    reply.type('text/plain; version=0.0.4; charset=utf-8').send(figures()),
  );
}

/** The description of the API holds no data: with keys in place anyone may read it. */
const localUnlessKeys = (host: Host) => async (request: FastifyRequest) => {
  if (!(await host.hasKeys())) refuseStrangers(request);
};

/** The address that the client used, which behind a proxy is not the one that the server listens on. */
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

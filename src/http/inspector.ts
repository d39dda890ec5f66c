/** The web inspector: the files that the build made of `web/`, at /ui/. They hold no data; each call brings its own key. */
import { readdir, readFile } from 'node:fs/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CairnError } from '../kernel/index.js';

const folder = new URL('../web/', import.meta.url);

/** Only what the server itself sends runs, and it reaches this server alone. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

interface File {
  readonly type: string;
  /** The build names files in assets/ by their content. */
  readonly isImmutable: boolean;
  readonly body: Buffer;
  readonly brotli: Buffer | undefined;
}

async function readFiles(): Promise<ReadonlyMap<string, File>> {
  const files = new Map<string, File>();
  const names = await readdir(folder, { recursive: true }).catch((): string[] => []);
  for (const name of names.map((one) => one.replaceAll('\\', '/'))) {
    const type = types[name.slice(name.lastIndexOf('.') + 1)];
    if (type === undefined) continue;
    const brotli = names.includes(`${name}.br`) ? await readFile(new URL(`${name}.br`, folder)) : undefined;
    const body = await readFile(new URL(name, folder));
    files.set(name, { type, isImmutable: name.startsWith('assets/'), body, brotli });
  }
  return files;
}

export const INSPECTOR_PAGES = ['/', '/ui', '/ui/', '/ui/*'];

export function addInspector(app: FastifyInstance): void {
  // Read on first request: most servers are never looked at.
  let files: Promise<ReadonlyMap<string, File>> | undefined;
  const send = async (request: FastifyRequest, reply: FastifyReply) => {
    const known = await (files ??= readFiles());
    const path = (request.params as { '*'?: string })['*'] ?? '';
    // Addresses of views are no files: the page finds its way by them.
    const file = known.get(path) ?? (path.startsWith('assets/') ? undefined : known.get('index.html'));
    if (!file) throw new CairnError('ROUTE_NOT_FOUND', missing(known.size === 0, path));
    const isPacked = file.brotli !== undefined && /\bbr\b/.test(String(request.headers['accept-encoding']));
    if (isPacked) reply.header('content-encoding', 'br');
    return reply
      .type(file.type)
      .header('vary', 'accept-encoding')
      .header('cache-control', file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache')
      .header('content-security-policy', POLICY)
      .header('referrer-policy', 'no-referrer')
      .send(isPacked ? file.brotli : file.body);
  };
  app.get('/', (_request, reply) => reply.redirect('/ui/'));
  app.get('/ui', (_request, reply) => reply.redirect('/ui/'));
  app.get('/ui/*', send);
}

const missing = (isUnbuilt: boolean, path: string): string =>
  isUnbuilt ? 'the inspector is not built: run `npm run build`' : `there is no /ui/${path}: reload the inspector`;

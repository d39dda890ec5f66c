/** The caller of a request: by its key, or any local client while the store has no keys. */
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { CALL_HEADERS } from '../api/contract.js';
import type { CallOptions, Host } from '../api/index.js';
import type { Caller } from '../engine/contract.js';
import { CairnError, invalid } from '../kernel/index.js';
import type { WrongKeys } from './wrong-keys.js';

/** Whether a host name or address is this machine. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '');
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
}

export const OPEN_CALLER: Caller = { tenant_id: 'default', agent_id: null, role: 'admin', key_id: null };

const unauthorized = (message: string): CairnError => new CairnError('UNAUTHORIZED', message);

/** The key in the headers of a request. */
export function keyOf(request: FastifyRequest): string | undefined {
  const { authorization, 'x-api-key': header } = request.headers;
  const bearer = authorization === undefined ? undefined : /^Bearer\s+(\S+)\s*$/i.exec(authorization)?.[1];
  if (authorization !== undefined && bearer === undefined)
    throw unauthorized('the Authorization header must be "Bearer <key>"');
  const other = Array.isArray(header) ? header[0] : header;
  if (bearer !== undefined && other !== undefined && bearer !== other)
    throw unauthorized('Authorization and X-API-Key hold different keys: send one');
  return bearer ?? other;
}

/** The caller with this key. `wrong` records a wrong key and may delay its sender. */
export async function callerOf(
  host: Host,
  request: FastifyRequest,
  key: string | undefined,
  wrong?: WrongKeys,
): Promise<Caller> {
  if (key !== undefined) {
    const caller = await host.authenticate(key);
    if (caller) return caller;
    await wrong?.record(request);
    throw unauthorized('this key is unknown or revoked');
  }
  if (await host.hasKeys())
    throw unauthorized('a key is needed: send "Authorization: Bearer <key>"; create one with `cairn keys create`');
  refuseForeignSites(request);
  return OPEN_CALLER;
}

/** Without keys, a page of another site must not reach the store through the browser of its owner. */
export function refuseForeignSites(request: FastifyRequest): void {
  const { host = '', origin, 'sec-fetch-site': site } = request.headers;
  const refused = (reason: string) => new CairnError('HOST_REFUSED', reason);
  if (!isLoopback(host.replace(/:\d+$/, '').toLowerCase()))
    throw refused(`the Host "${host}" is not local: without keys only localhost is served`);
  if (origin !== undefined && !isLocalOrigin(origin))
    throw refused(`the Origin "${origin}" is not local: without keys only local pages are served`);
  if (site === 'cross-site')
    throw refused('the request comes from a page of another site: without keys only local pages are served');
}

/**
 * Browsers let any page open a WebSocket to any server, so the server checks the Origin. Keys alone would do, since a page
 * must hold one; but a page that may not read answers over HTTP shall not read streams either.
 */
export function refuseForeignPages({ headers }: FastifyRequest, allowed: readonly string[]): void {
  const { origin, host } = headers;
  if (origin === undefined || allowed.includes(origin) || isLocalOrigin(origin) || hostOf(origin) === host) return;
  // `null`, of a file or a sandboxed page, cannot be allowed: every site can have it.
  const fix = isOrigin(origin)
    ? `allow it with \`cairn serve --allowed-origins ${origin}\``
    : 'serve the page from a site';
  throw new CairnError('HOST_REFUSED', `pages of the Origin "${origin}" may not open a WebSocket: ${fix}`);
}

const isOrigin = (text: string): boolean => URL.canParse(text) && new URL(text).origin === text;

function hostOf(origin: string): string | undefined {
  try {
    return new URL(origin).host;
  } catch {
    return undefined;
  }
}

function isLocalOrigin(origin: string): boolean {
  try {
    return isLoopback(new URL(origin).hostname);
  } catch {
    return false;
  }
}

function decoded(name: string, value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    throw invalid(`the header ${name} must be percent-encoded UTF-8, not "${value}"`);
  }
}

/** The call options in the headers of a request. A header sent twice arrives as one text and is refused as malformed. */
export function optionsOf({ headers }: FastifyRequest): CallOptions | undefined {
  let options: CallOptions | undefined;
  for (const [member, name] of CALL_HEADERS) {
    const value = headers[name];
    if (value === undefined) continue;
    options = { ...options, [member]: member === 'user' ? decoded(name, String(value)) : String(value) };
  }
  return options;
}

export function checkTenant({ tenant_id }: Caller, { headers, params }: FastifyRequest): void {
  const check = (named: unknown, where: string) => {
    if (named !== undefined && named !== tenant_id)
      throw new CairnError('TENANT_MISMATCH', `${where} must name the tenant of the key, ${tenant_id}`);
  };
  check(headers['x-tenant-id'], 'X-Tenant-ID');
  check((params as { project_id?: string } | undefined)?.project_id, 'the path');
}

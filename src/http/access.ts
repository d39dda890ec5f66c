/** Who is calling: a key, or on an open loopback anyone who is local. */
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { CallOptions, Host } from '../api/index.js';
import type { Caller } from '../engine/contract.js';
import { CairnError } from '../kernel/index.js';
import type { WrongKeys } from './wrong-keys.js';

/** Whether a host's name or address leads to this machine alone. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '');
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
}

/** The tenant that is served without keys. */
export const OPEN_CALLER: Caller = { tenant_id: 'default', agent_id: null, role: 'admin', key_id: null };

/** The key of a request, from either of its two headers. */
function keyOf(request: FastifyRequest): string | undefined {
  const bearer = /^Bearer\s+(\S+)\s*$/i.exec(request.headers.authorization ?? '')?.[1];
  if (request.headers.authorization !== undefined && bearer === undefined) {
    throw new CairnError('UNAUTHORIZED', 'the Authorization header must be "Bearer <key>"');
  }
  const header = request.headers['x-api-key'];
  const other = Array.isArray(header) ? header[0] : header;
  if (bearer !== undefined && other !== undefined && bearer !== other) {
    throw new CairnError('UNAUTHORIZED', 'Authorization and X-API-Key hold different keys: send one');
  }
  return bearer ?? other;
}

/** Who calls. `wrong` is told of a key that is none, and may keep its sender waiting. */
export async function callerOf(host: Host, request: FastifyRequest, wrong?: WrongKeys): Promise<Caller> {
  const key = keyOf(request);
  if (key !== undefined) {
    const caller = await host.authenticate(key);
    if (caller) return caller;
    await wrong?.note(request);
    throw new CairnError('UNAUTHORIZED', 'this key is unknown or revoked');
  }
  if (await host.hasKeys()) {
    throw new CairnError(
      'UNAUTHORIZED',
      'a key is needed: send "Authorization: Bearer <key>"; `cairn keys create` makes one',
    );
  }
  refuseStrangers(request);
  return OPEN_CALLER;
}

/** Without keys, a page from elsewhere must not reach the store through the browser of its owner. */
export function refuseStrangers(request: FastifyRequest): void {
  const host = hostName(request.headers.host);
  if (host === undefined || !isLoopback(host)) {
    throw new CairnError(
      'HOST_REFUSED',
      `the Host "${request.headers.host ?? ''}" is not local: without keys only localhost is served`,
    );
  }
  const origin = request.headers.origin;
  if (origin !== undefined && !isLocalOrigin(origin)) {
    throw new CairnError(
      'HOST_REFUSED',
      `the Origin "${origin}" is not local: without keys only local pages are served`,
    );
  }
  if (request.headers['sec-fetch-site'] === 'cross-site') {
    throw new CairnError(
      'HOST_REFUSED',
      'the request comes from a page of another site: without keys only local pages are served',
    );
  }
}

function hostName(host: string | undefined): string | undefined {
  return host?.replace(/:\d+$/, '').toLowerCase();
}

function isLocalOrigin(origin: string): boolean {
  try {
    return isLoopback(new URL(origin).hostname);
  } catch {
    return false;
  }
}

/** What a request says of its call in headers. One that is sent twice comes as one text, which is then malformed. */
export function optionsOf({ headers }: FastifyRequest): CallOptions | undefined {
  let options: CallOptions | undefined;
  for (const [member, name] of OPTION_HEADERS) {
    const value = headers[name];
    if (value !== undefined) options = { ...options, [member]: String(value) };
  }
  return options;
}
const OPTION_HEADERS = [
  ['idempotency_key', 'idempotency-key'],
  ['agent_turn', 'x-agent-turn'],
  ['fencing_token', 'x-fencing-token'],
] as const;

/** The tenant that a header or path names must be the key's own. */
export function checkTenant(caller: Caller, request: FastifyRequest): void {
  const header = request.headers['x-tenant-id'];
  const { project_id } = (request.params ?? {}) as { project_id?: string };
  for (const [where, named] of [
    ['X-Tenant-ID', header],
    ['the path', project_id],
  ] as const) {
    if (named !== undefined && named !== caller.tenant_id) {
      throw new CairnError(
        'TENANT_MISMATCH',
        `${where} names another tenant than the key's, which is ${caller.tenant_id}`,
      );
    }
  }
}

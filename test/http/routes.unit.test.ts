/** One operation at several paths: routes, methods, the description and the reference page know them all. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { allOperations, type NamedOperation } from '#cairn/api/contract.js';
import { openapiSteps } from '#cairn/api/index.js';
import { operationRoutes, pathParameters } from '#cairn/engine/contract.js';
import { referencePage } from '#cairn/http/reference.js';
import { methodsAt, routesOf } from '#cairn/http/routes.js';
import { runSteps } from '#cairn/kernel/index.js';

const base = {
  group: 'cards',
  input: z.strictObject({ card_id: z.string(), note: z.string().optional() }),
  output: z.object({ card_id: z.string() }),
  access: 'write',
  touches: 'self',
  event: 'cairn.card.noted',
  summary: 'Note something.',
  example: { card_id: 'card-1' },
} as const;

const table: readonly NamedOperation[] = [
  {
    ...base,
    name: 'cards.note',
    verb: 'note',
    method: 'POST',
    path: '/cards/{card_id}/note',
    also: ['/note/cards/{card_id}', '/v2.1/cards/{card_id}/note'],
  },
  { ...base, name: 'cards.read', verb: 'read', method: 'GET', path: '/note/cards/{card_id}', event: null },
];

interface Described {
  readonly operationId: string;
  readonly parameters: readonly { name: string; in: string }[];
  readonly requestBody?: object;
}

describe('an operation at several paths', () => {
  it('has a route for each, and all lead to it', () => {
    expect(routesOf(table).map(({ method, url, operation }) => `${method} ${url} ${operation.name}`)).toEqual([
      'POST /cards/:card_id/note cards.note',
      'POST /note/cards/:card_id cards.note',
      'POST /v2.1/cards/:card_id/note cards.note',
      'GET /note/cards/:card_id cards.read',
    ]);
  });

  it('is among the methods of each', () => {
    const allowedAt = methodsAt(routesOf(table), ['/', '/openapi.json']);
    expect(allowedAt('/cards/c/note')).toEqual(['POST']);
    expect(allowedAt('/note/cards/c')).toEqual(['POST', 'GET']);
    expect(allowedAt('/v2.1/cards/c/note')).toEqual(['POST']);
    expect(allowedAt('/openapi.json')).toEqual(['GET']);
    for (const path of ['/v2x1/cards/c/note', '/openapi-json', '/cards/c/d/note', '/cards//note'])
      expect(allowedAt(path), path).toEqual([]);
  });

  it('is described at each alike, under an id of its own', () => {
    const { paths } = runSteps(openapiSteps('test', table)) as unknown as {
      paths: Record<string, Record<string, Described>>;
    };
    const found = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => `${method} ${path} ${operationId}`),
    );
    expect(found).toEqual([
      'post /cards/{card_id}/note cards.note',
      'post /note/cards/{card_id} cards.note.2',
      'get /note/cards/{card_id} cards.read',
      'post /v2.1/cards/{card_id}/note cards.note.3',
    ]);
    const { operationId: _, ...first } = paths['/cards/{card_id}/note']!.post!;
    expect(first.parameters.map(({ name }) => name)).toEqual([
      'card_id',
      'X-User',
      'Idempotency-Key',
      'X-Agent-Turn',
      'X-Fencing-Token',
    ]);
    expect(first.requestBody).toBeDefined();
    expect(paths['/note/cards/{card_id}']!.post).toEqual({ ...first, operationId: 'cards.note.2' });
  });

  it('is on the reference page once, with all its paths', () => {
    const page = referencePage('test', table);
    expect(page.match(/<section id="cards\.note">/g)).toHaveLength(1);
    expect(page).toContain('<code>/cards/{card_id}/note</code></h3>');
    expect(page).toContain('Also at <code>/note/cards/{card_id}</code>, <code>/v2.1/cards/{card_id}/note</code>.');
    expect(page.match(/Also at/g)).toHaveLength(1);
  });
});

describe('the table', () => {
  it('has the same placeholders in all paths of an operation, and no path twice', () => {
    for (const operation of allOperations) {
      const [first, ...others] = operationRoutes(operation).map(({ path }) => [
        ...pathParameters(path).sort(),
        path.includes('{project_id}'),
      ]);
      for (const other of others) expect(other, operation.name).toEqual(first);
    }
    const routes = routesOf(allOperations).map(({ method, url }) => `${method} ${url.replace(/:\w+/g, ':')}`);
    expect(new Set(routes).size).toBe(routes.length);
  });
});

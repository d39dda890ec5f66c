/** The description of the API: a sound OpenAPI 3.1 document, a page that lists it all, and answers that keep to it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Frames } from '#cairn/engine/contract.js';
import { errorCodes } from '#cairn/kernel/index.js';
import {
  allOperations,
  inputLocation,
  inputOf,
  operationRoutes,
  type Planted,
  pathParameters,
  plant,
} from '../support/contract.js';
import { databases, type HttpTest, requestOf, startHttp } from '../support/http.js';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: object;
}

interface Described {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { required: boolean; content: Record<string, { schema: object; example: object }> };
  readonly responses: Record<string, { description?: string; content?: Record<string, { schema: object }> }>;
}

interface Description {
  readonly openapi: string;
  readonly info: { title: string; version: string };
  readonly paths: Record<string, Record<string, Described>>;
  readonly tags: readonly { name: string }[];
  readonly components: { schemas: Record<string, { properties: Record<string, { enum?: string[] }> }> };
}

/** Every value of a document with where it stands. */
function* walk(value: unknown, at = '#'): Generator<[string, unknown]> {
  yield [at, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) yield* walk(member, `${at}/${name}`);
}

function resolve(document: unknown, ref: string): unknown {
  const steps = ref
    .slice(2)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return steps.reduce((value, step) => (value as Record<string, unknown> | undefined)?.[step], document);
}

describe('the description of the API', () => {
  let test: HttpTest;
  let document: Description;
  let page: string;

  beforeAll(async () => {
    test = await startHttp('sqlite');
    const reply = await test.send({ method: 'GET', path: '/openapi.json' });
    expect(reply.headers['content-type']).toMatch(/^application\/json/);
    document = JSON.parse(reply.text) as Description;
    page = (await test.send({ method: 'GET', path: '/reference' })).text;
  });
  afterAll(() => test.close());

  const described = () =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, one]) => ({ path, method: method.toUpperCase(), one })),
    );

  it('is OpenAPI 3.1 with a title, a version and nothing that is not described', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info).toMatchObject({ title: 'Cairn', version: 'test' });
    for (const { one } of described()) {
      expect(one.summary.length).toBeGreaterThan(0);
      expect(one.tags.filter((tag) => !document.tags.some(({ name }) => name === tag))).toEqual([]);
      for (const response of Object.values(one.responses))
        expect('$ref' in response || (response.description ?? '').length > 0).toBe(true);
    }
  });

  it('has every operation of the table once at each of its paths, and no other', () => {
    const wanted = allOperations.flatMap(({ name, ...operation }) =>
      operationRoutes(operation).map(
        ({ method, path }, i) => `${method} ${path} ${i === 0 ? name : `${name}.${i + 1}`}`,
      ),
    );
    const found = described().map(({ method, path, one }) => `${method} ${path} ${one.operationId}`);
    expect(found.sort()).toEqual(wanted.sort());
    expect(new Set(described().map(({ one }) => one.operationId)).size).toBe(wanted.length);
  });

  it('declares every parameter of a path once and as required, and none that is not there', () => {
    for (const { path, one } of described()) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
      const declared = one.parameters.filter((parameter) => parameter.in === 'path');
      expect(declared.map(({ name }) => name).sort(), one.operationId).toEqual(named.sort());
      expect(declared.every(({ required }) => required)).toBe(true);
      const keys = one.parameters.map((parameter) => `${parameter.in} ${parameter.name.toLowerCase()}`);
      expect(new Set(keys).size).toBe(keys.length);
      for (const { schema } of one.parameters) expect(schema).toBeTypeOf('object');
    }
  });

  it('says where every member of an input travels, and gives an example that fits', () => {
    for (const operation of allOperations) {
      const one = document.paths[operation.path]![operation.method.toLowerCase()]!;
      const inPath = pathParameters(operation.path);
      const rest = Object.keys(operation.input.shape).filter((name) => !inPath.includes(name));
      const query = one.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
      const body = one.requestBody?.content['application/json'];
      if (inputLocation(operation.method) === 'query') expect(query, operation.name).toEqual(rest);
      else expect(query).toEqual([]);
      if (inputLocation(operation.method) === 'body' && rest.length > 0) {
        const { properties } = body!.schema as { properties: object };
        expect(Object.keys(properties), operation.name).toEqual(rest);
        expect(body!.example).toEqual(
          Object.fromEntries(Object.entries(operation.example).filter(([name]) => !inPath.includes(name))),
        );
      } else expect(one.requestBody).toBeUndefined();
      expect(operation.input.safeParse(operation.example).error?.message, operation.name).toBeUndefined();
      expect(Object.keys(one.responses)).toContain(String(operation.status ?? 200));
    }
  });

  it('resolves every reference within itself', () => {
    const refs = [...walk(document)].filter(([at]) => at.endsWith('/$ref')).map(([, ref]) => String(ref));
    expect(refs.length).toBeGreaterThan(allOperations.length);
    for (const ref of refs) {
      expect(ref).toMatch(/^#\//);
      expect(resolve(document, ref), ref).toBeTypeOf('object');
    }
  });

  it('gives a name to one schema of answers only', () => {
    const shapes = new Map<string, Set<string>>();
    for (const { output } of allOperations) {
      const { $defs = {} } = z.toJSONSchema(output, { io: 'output', unrepresentable: 'any' });
      for (const [name, def] of Object.entries($defs))
        shapes.set(name, (shapes.get(name) ?? new Set()).add(JSON.stringify(def)));
    }
    expect([...shapes].filter(([, defs]) => defs.size > 1).map(([name]) => name)).toEqual([]);
  });

  it('holds JSON Schemas of known types only', () => {
    const known = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'null'];
    const types = [...walk(document.paths)].filter(([at]) => at.endsWith('/schema/type'));
    expect(types.length).toBeGreaterThan(30);
    for (const [at, type] of types) for (const one of [type].flat()) expect(known, at).toContain(one);
  });

  it('describes every member of every input and answer', () => {
    const isMember = /\/properties\/[^/]+$/;
    const members = [...walk(document)].filter(([at, value]) => isMember.test(at) && typeof value === 'object');
    expect(members.length).toBeGreaterThan(1000);
    expect(members.filter(([, member]) => !(member as { description?: string }).description).map(([at]) => at)).toEqual(
      [],
    );
    const parameters = described().flatMap(({ one }) => one.parameters.map((each) => [one.operationId, each] as const));
    expect(parameters.filter(([, { description }]) => !description).map(([id, { name }]) => `${id} ${name}`)).toEqual(
      [],
    );
  });

  it('names every error code', () => {
    expect(document.components.schemas.Error!.properties.code!.enum).toEqual(Object.keys(errorCodes));
  });

  it('is what clients rely on: a change of this list is a change of the wire', () => {
    const lines = allOperations.map(
      ({ name, method, status = 200, access, event, stream, path, also = [] }) =>
        `${name}: ${method} ${[path, ...also].join(' or ')} → ${status}${stream ? ' stream' : ''}, ${access}, ${event ?? 'no event'}`,
    );
    expect(lines).toMatchSnapshot();
  });

  it('is shown on a page that lists every operation and loads nothing from elsewhere', () => {
    for (const { name, method, path } of allOperations) {
      expect(page).toContain(`id="${name}"`);
      expect(page).toContain(`href="#${name}"`);
      expect(page).toContain(`>${method}</span> <code>${path}</code>`);
    }
    for (const { path } of allOperations.flatMap(operationRoutes)) expect(page).toContain(`<code>${path}</code>`);
    for (const code of Object.keys(errorCodes)) expect(page).toContain(`<code>${code}</code>`);
    const links = [...page.matchAll(/(?:src|href|action|srcset|poster|data)\s*=\s*["']?([^"'\s>]+)/gi)];
    expect(links.length).toBeGreaterThan(allOperations.length);
    for (const [, target] of links) expect(target).toMatch(/^(#|\/(?!\/))/);
    expect(page).not.toMatch(/<script|<link|<iframe|@import|url\(/i);
  });
});

for (const database of databases()) {
  describe(`answers on ${database}`, () => {
    let test: HttpTest;
    let planted: Planted;
    beforeAll(async () => {
      test = await startHttp(database);
      planted = await plant(await test.admin('planted'));
    });
    afterAll(() => test.close());

    const atEachPath = allOperations.flatMap((operation, i) =>
      operationRoutes(operation).map(
        ({ method, path }, j) =>
          [
            j === 0 ? operation.name : `${operation.name} at ${path}`,
            { ...operation, method, path },
            `t${i}-${j}`,
          ] as const,
      ),
    );
    it.each(atEachPath)(
      '%s answers as its output says, no more and no less, to a key with the role that it needs',
      async (_, operation, own) => {
        // Who only reads leaves what the next one needs.
        const reads = operation.access === 'read';
        const tenant = reads ? 'planted' : own;
        if (!reads) await test.copyTenant('planted', tenant);
        const { key } = await test.key(tenant, operation.access);
        const sent = requestOf(operation, inputOf(operation, planted), tenant);
        // Of a stream, all up to the last thing that was planted.
        const headers = { ...sent.headers, authorization: `Bearer ${key}` };
        const last = operation.name === 'events.follow' ? '"packet_type":"cairn.key.created"' : '\n\n';
        const reply = await test.send({ ...sent, headers }, last);
        expect(reply.status, reply.text).toBe(operation.status ?? 200);
        if (operation.status === 204) return expect(reply.text).toBe('');
        const answers = operation.frames ? framesOf(operation.frames, reply.text) : [JSON.parse(reply.text) as unknown];
        expect(answers.length).toBeGreaterThan(operation.name === 'events.follow' ? 5 : 0);
        for (const answer of answers) expect(operation.output.parse(answer)).toEqual(answer);
      },
    );
  });
}

/** The items of a stream, as the Api gives them. */
function framesOf(frames: Frames, text: string): unknown[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .map((frame) => {
      const fields = Object.fromEntries(
        frame.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      );
      const { id, event, data } = fields as Record<'id' | 'event' | 'data', string>;
      return frames.toItem(id, event === 'heartbeat' ? null : { event, data: JSON.parse(data) as unknown });
    });
}

/** OpenAPI 3.1, made from the table. */
import { z } from 'zod';
import { errorCodes } from '../model/errors.js';
import type { Json, JsonObject } from '../model/json.js';
import { namesProject, pathParameters, restGoesTo, waysTo } from './operation.js';
import { allOperations, groups, type NamedOperation } from './operations.js';

/** Schemas that have a name of their own are described once and referred to. */
type Named = Record<string, JsonObject>;

function schemaOf(schema: z.ZodType, io: 'input' | 'output', named: Named): JsonObject {
  const text = JSON.stringify(z.toJSONSchema(schema, { io, unrepresentable: 'any' }));
  const {
    $schema: _,
    $defs,
    ...rest
  } = JSON.parse(text.replaceAll('#/$defs/', '#/components/schemas/')) as JsonObject;
  Object.assign(named, $defs);
  return rest;
}

const project: JsonObject = {
  name: 'project_id',
  in: 'path',
  required: true,
  description: 'The tenant of the key; `default` on an open loopback',
  schema: { type: 'string' },
};

const header = (name: string, description: string, maxLength: number): JsonObject => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string', maxLength },
});

/** What a change may say of itself. */
const changeHeaders: readonly JsonObject[] = [
  header('Idempotency-Key', 'Makes the request safe to repeat for 24 hours', 200),
  header(
    'X-Agent-Turn',
    '`<agent_turn_id>:<turn_epoch>`: made in that agent_turn, as its agent; 409 when late',
    60,
  ),
  header('X-Fencing-Token', '`<lock_id>:<fencing_token>`: made under that lock; 409 when it is over', 60),
];

function parametersOf(operation: NamedOperation, named: Named): Json[] {
  const inPath = new Set(pathParameters(operation.path));
  const inQuery = restGoesTo(operation.method) === 'query';
  const parameters: Json[] = namesProject(operation.path) ? [project] : [];
  for (const [name, schema] of Object.entries(operation.input.shape)) {
    if (!inPath.has(name) && !inQuery) continue;
    const { description, ...rest } = schemaOf(schema as z.ZodType, 'input', named);
    parameters.push({
      name,
      in: inPath.has(name) ? 'path' : 'query',
      required: inPath.has(name) || !(schema as z.ZodType).safeParse(undefined).success,
      ...(description === undefined ? {} : { description }),
      schema: rest,
    });
  }
  if (operation.event !== null) parameters.push(...changeHeaders);
  return parameters;
}

function bodyOf(operation: NamedOperation, named: Named): JsonObject | undefined {
  if (restGoesTo(operation.method) !== 'body') return undefined;
  const inPath = pathParameters(operation.path);
  const rest = operation.input.omit(Object.fromEntries(inPath.map((name) => [name, true])) as never);
  if (Object.keys(rest.shape).length === 0) return undefined;
  const example = Object.fromEntries(
    Object.entries(operation.example).filter(([name]) => !inPath.includes(name)),
  );
  return {
    required: !rest.safeParse({}).success,
    content: { 'application/json': { schema: schemaOf(rest, 'input', named), example: example as Json } },
  };
}

function answerOf(operation: NamedOperation, named: Named): JsonObject {
  const status = String(operation.status ?? 200);
  if (status === '204') return { [status]: { description: 'Done' } };
  const type = operation.stream ? 'text/event-stream' : 'application/json';
  const schema = operation.stream ? { type: 'string' } : schemaOf(operation.output, 'output', named);
  return { [status]: { description: operation.summary, content: { [type]: { schema } } } };
}

function describe(operation: NamedOperation, named: Named): JsonObject {
  const requestBody = bodyOf(operation, named);
  return {
    tags: [operation.group],
    summary: operation.summary,
    description: `Needs the role ${operation.access}.${operation.event ? ` Appends the event \`${operation.event}\`.` : ''}`,
    parameters: parametersOf(operation, named),
    ...(requestBody ? { requestBody } : {}),
    responses: {
      ...answerOf(operation, named),
      '4XX': { $ref: '#/components/responses/Error' },
      '5XX': { $ref: '#/components/responses/Error' },
    },
  };
}

/** Names an operation at one of its paths: `cards.add` at the first, `cards.add.2` at the second, as ids are unique. */
const operationId = ({ name }: NamedOperation, index: number): string =>
  index === 0 ? name : `${name}.${index + 1}`;

export function openapi(version: string, table: readonly NamedOperation[] = allOperations): JsonObject {
  const paths: Record<string, JsonObject> = {};
  const named: Named = {};
  for (const operation of table) {
    for (const [i, { method, path }] of waysTo(operation).entries()) {
      const methods = (paths[path] ??= {});
      const described = describe({ ...operation, method }, named);
      methods[method.toLowerCase()] = { operationId: operationId(operation, i), ...described };
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Cairn',
      version,
      description: 'Memory, context and coordination for AI agents.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(table.map(({ group }) => group))].map((name) => ({
      name,
      description: groups[name as keyof typeof groups],
    })),
    security: [{ bearer: [] }, { api_key: [] }, {}],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        api_key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      },
      schemas: {
        ...named,
        Error: {
          type: 'object',
          required: ['code', 'message'],
          properties: {
            code: { type: 'string', enum: Object.keys(errorCodes) },
            message: { type: 'string' },
            details: { type: 'object', additionalProperties: true },
          },
        },
      },
      responses: {
        Error: {
          description: 'What was wrong and what to do',
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
        },
      },
    },
  };
}

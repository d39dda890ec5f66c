/** OpenAPI 3.1, generated from the table. */
import { z } from 'zod';
import {
  clearsByNull,
  describedAs,
  describeMembers,
  inputLocation,
  inputSchema,
  KEPT_HISTORY,
  namesProject,
  operationRoutes,
  pathParameters,
} from '../engine/contract.js';
import type { Json, JsonObject } from '../kernel/contract.js';
import { errorCodes } from '../kernel/index.js';
import { allOperations, groups, type NamedOperation } from './operations.js';

type Named = Record<string, JsonObject>;

function schemaOf(schema: object, named: Named, nameOf: (name: string, def: JsonObject) => string): JsonObject {
  const { $schema: _, $defs = {}, ...rest } = describeMembers(JSON.parse(JSON.stringify(schema)) as JsonObject);
  const defs = Object.entries($defs as Named);
  const names = new Map(defs.map(([name, def]) => [name, nameOf(name, def)]));
  const placed = <T extends Json>(part: T): T =>
    JSON.parse(
      JSON.stringify(part).replace(
        /"#\/\$defs\/([^"]+)"/g,
        (_, name: string) => `"#/components/schemas/${names.get(name) ?? name}"`,
      ),
    ) as T;
  for (const [name, def] of defs) named[names.get(name)!] = placed(def);
  return placed(rest);
}

const outputSchema = (schema: z.ZodType, named: Named): JsonObject =>
  schemaOf(z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }), named, (name) => name);

/** A schema that is used in inputs and answers may take null in more places in an input: it then gets its own name. */
const sentSchema = (schema: object, named: Named, answered: Named): JsonObject =>
  schemaOf(schema, named, (name, def) =>
    name in answered && JSON.stringify(answered[name]) !== JSON.stringify(def) ? `${name}Input` : name,
  );

const project: JsonObject = {
  name: 'project_id',
  in: 'path',
  required: true,
  description: 'Tenant of the key; `default` without keys',
  schema: { type: 'string' },
};

const header = (name: string, description: string, maxLength: number): JsonObject => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string', maxLength },
});

const userHeader = header('X-User', 'The user that the request is made for, percent-encoded', 2400);

const changeHeaders: readonly JsonObject[] = [
  header('Idempotency-Key', 'Makes the request safe to repeat for 24 hours', 200),
  header(
    'X-Agent-Turn',
    '`<agent_turn_id>:<turn_epoch>`: makes the request in that agent_turn, as its agent; 409 if the turn is lost',
    60,
  ),
  header(
    'X-Fencing-Token',
    '`<lock_id>:<fencing_token>`: makes the request under that lock; 409 if the lock has ended',
    60,
  ),
];

/** The named schemas of answers, and of answers and inputs together. */
interface Schemas {
  readonly answered: Named;
  readonly named: Named;
}

function parametersOf(operation: NamedOperation, { named, answered }: Schemas): Json[] {
  const inPath = new Set(pathParameters(operation.path));
  const inQuery = inputLocation(operation.method) === 'query';
  const parameters: Json[] = namesProject(operation.path) ? [project] : [];
  for (const [name, schema] of Object.entries(operation.input.shape)) {
    if (!inPath.has(name) && !inQuery) continue;
    const { description: own, ...rest } = sentSchema(inputSchema(schema as z.ZodType), named, answered);
    const description = describedAs(name, own as string | undefined);
    parameters.push({
      name,
      in: inPath.has(name) ? 'path' : 'query',
      required: inPath.has(name) || !(schema as z.ZodType).safeParse(undefined).success,
      ...(description === undefined ? {} : { description }),
      schema: rest,
    });
  }
  parameters.push(userHeader);
  if (operation.event !== null) parameters.push(...changeHeaders);
  return parameters;
}

function bodyOf(operation: NamedOperation, { named, answered }: Schemas): JsonObject | undefined {
  if (inputLocation(operation.method) !== 'body') return undefined;
  const inPath = pathParameters(operation.path);
  const rest = operation.input.omit(Object.fromEntries(inPath.map((name) => [name, true])) as never);
  if (Object.keys(rest.shape).length === 0) return undefined;
  const example = Object.fromEntries(Object.entries(operation.example).filter(([name]) => !inPath.includes(name)));
  const schema = sentSchema(inputSchema(rest, clearsByNull(operation)), named, answered);
  return {
    required: !rest.safeParse({}).success,
    content: { 'application/json': { schema, example: example as Json } },
  };
}

const HISTORY: JsonObject = {
  'X-History': {
    description: 'The content remains in the history, and how to erase it',
    schema: { type: 'string', example: KEPT_HISTORY },
  },
};

function answerOf(operation: NamedOperation, named: Named): JsonObject {
  const status = String(operation.status ?? 200);
  if (status === '204')
    return { [status]: { description: 'Done', ...(operation.keeps_history ? { headers: HISTORY } : {}) } };
  const type = operation.stream ? 'text/event-stream' : 'application/json';
  const schema = operation.stream ? { type: 'string' } : outputSchema(operation.output, named);
  return { [status]: { description: operation.summary, content: { [type]: { schema } } } };
}

function describe(operation: NamedOperation, schemas: Schemas): JsonObject {
  const requestBody = bodyOf(operation, schemas);
  return {
    tags: [operation.group],
    summary: operation.summary,
    description: `Needs the role ${operation.access}.${operation.event ? ` Appends the event \`${operation.event}\`.` : ''}`,
    parameters: parametersOf(operation, schemas),
    ...(requestBody ? { requestBody } : {}),
    responses: {
      ...answerOf(operation, schemas.named),
      '4XX': { $ref: '#/components/responses/Error' },
      '5XX': { $ref: '#/components/responses/Error' },
    },
  };
}

/** A unique id for each path of an operation: `cards.add`, `cards.add.2`. */
const operationId = ({ name }: NamedOperation, index: number): string => (index === 0 ? name : `${name}.${index + 1}`);

/** The document, one operation per step: all of them take some tenths of a second. */
export function* openapiSteps(
  version: string,
  table: readonly NamedOperation[] = allOperations,
): Generator<void, JsonObject> {
  const paths: Record<string, JsonObject> = {};
  const answered: Named = {};
  for (const { output } of table) {
    outputSchema(output, answered);
    yield;
  }
  const named: Named = {};
  for (const operation of table) {
    yield;
    for (const [i, { method, path }] of operationRoutes(operation).entries()) {
      const methods = (paths[path] ??= {});
      const described = describe({ ...operation, method }, { named, answered });
      methods[method.toLowerCase()] = { operationId: operationId(operation, i), ...described };
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Cairn',
      version,
      description:
        'Memory, context and coordination for AI agents. Where a member takes null, null means absent; in a PATCH it ' +
        'clears the member. Enumerations are case-insensitive. Times without a zone are UTC.',
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
        Error: describeMembers({
          type: 'object',
          required: ['code', 'message'],
          properties: {
            code: { type: 'string', enum: Object.keys(errorCodes) },
            message: { type: 'string' },
            details: { type: 'object', additionalProperties: true },
          },
        }),
      },
      responses: {
        Error: {
          description: 'The error and how to fix it',
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
        },
      },
    },
  };
}

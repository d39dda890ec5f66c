/** Requests that somebody could send to an operation: some fit, most do not. Made from its schema and its example. */
import fc from 'fast-check';
import { z } from 'zod';
import { inputLocation, inputOf, type NamedOperation, type Planted, pathParameters } from './contract.js';
import { requestOf, type Sent } from './http.js';

interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
}

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.constantFrom('', '0', ' ', '.', '..', '\u0000', '\ud800', '\udfff\ud800', '\u202e', "'; DROP TABLE cards; --"),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'cairn.x', '%00', '%', '\\', '"', '\u{10ffff}', 'ﷺ'),
  fc.constantFrom('2026-01-31T12:00:00Z', '9999-12-31T23:59:59.999Z', '0000-01-01T00:00:00Z', '2026-02-30T00:00:00Z'),
  fc.constantFrom('9999-12-31T23:59:59-23:59', '2026-01-31T12:00+14:00', '0000-01-01T00:00:00+23:59'),
  fc.uuid(),
  fc.constant('x'.repeat(5000)),
);

const number = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(-0, 0, -1, 2 ** 31, 2 ** 53 - 1, -(2 ** 53) + 1, 2 ** 63, 1e308, 5e-324, 0.1),
);

const json: fc.Arbitrary<unknown> = fc.oneof(
  text,
  number,
  fc.boolean(),
  fc.constant(null),
  fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }),
  fc.object({ key: text, values: [text, number, fc.constant(null)], maxDepth: 3, maxKeys: 4 }),
  fc.integer({ min: 1, max: 100 }).map(nested),
);

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

/** JSON that fits wherever JSON does: long and strange, but allowed. */
const tame: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3, stringUnit: 'grapheme' }),
  fc.dictionary(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.oneof(number, fc.string(), fc.boolean())),
);

const LONGEST_WAIT_MS = 10;

const time = fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true });

/** What fits a schema nearly always, so that it gets past the checks of its form; strings are real ids where they can be. */
function fitting(schema: Schema, planted: Planted): fc.Arbitrary<unknown> {
  const mostly = (good: fc.Arbitrary<unknown>, bad: fc.Arbitrary<unknown>) =>
    fc.oneof({ weight: 30, arbitrary: good }, { weight: 1, arbitrary: bad });
  if (schema.enum) return mostly(fc.constantFrom(...schema.enum), json);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => fitting(one, planted)));
  switch (schema.type) {
    case 'string': {
      if (schema.format === 'date-time')
        return mostly(
          time.map((one) => one.toISOString()),
          text,
        );
      const ids = Object.values(planted).flat();
      const uuids = ids.filter((id) => /^[\da-f-]{36}$/.test(String(id)));
      const [known, fresh] =
        schema.format === 'uuid'
          ? [fc.constantFrom(...uuids), fc.uuid()]
          : [fc.constantFrom(...ids), fc.string({ unit: 'grapheme', minLength: 1 })];
      return mostly(fc.oneof({ weight: 3, arbitrary: known }, { weight: 1, arbitrary: fresh }), text);
    }
    case 'integer':
    case 'number': {
      const { minimum = 0, maximum = 1000 } = schema;
      const within = fc.integer({ min: Math.max(-1000, minimum), max: Math.min(1000, maximum) });
      return mostly(within, number);
    }
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(fitting(schema.items ?? {}, planted), { maxLength: 5 });
    case 'object': {
      const { properties, required = [] } = schema;
      if (!properties) {
        const strange = fc.dictionary(text, json, { maxKeys: 4 });
        return mostly(fc.dictionary(fc.string({ unit: 'grapheme' }), tame, { maxKeys: 4 }), strange);
      }
      const members = Object.entries(properties).map(([name, one]) => {
        // A wait is as good as any other when it is short.
        const isWait = name === 'wait_ms' || name === 'timeout_ms';
        const fits = fitting(isWait ? { ...one, maximum: LONGEST_WAIT_MS } : one, planted);
        if (!Object.hasOwn(planted, name)) return [name, fits];
        return [name, fc.oneof({ weight: 2, arbitrary: fc.constant(planted[name]) }, fits)];
      });
      return fc.record(Object.fromEntries(members) as Record<string, fc.Arbitrary<unknown>>, {
        requiredKeys: [...required],
      });
    }
    default:
      return mostly(tame, json);
  }
}

type Members = Record<string, unknown>;

/** An input that works, with one to three things wrong about it. */
function mutated(input: Members, names: readonly string[]): fc.Arbitrary<Members> {
  const name = fc.oneof(fc.constantFrom(...names, 'no_such_field'), text);
  const change = fc.oneof(
    fc.tuple(name, json).map(([at, value]) => (one: Members) => ({ ...one, [at]: value })),
    name.map(
      (at) =>
        ({ [at]: _gone, ...rest }: Members) =>
          rest,
    ),
    fc.tuple(name, name).map(([from, to]) => (one: Members) => ({ ...one, [to]: one[from] })),
    name.map((at) => (one: Members) => ({ ...one, [at]: [one[at]] })),
    name.map((at) => (one: Members) => ({ ...one, [at]: { value: one[at] } })),
  );
  return fc
    .array(change, { minLength: 1, maxLength: 3 })
    .map((changes) => changes.reduce((one, apply) => apply(one), input));
}

/** A path keeps its form whatever is in it: what cannot stand in a URL is encoded by whoever sends it. */
function place(operation: NamedOperation, input: Members, tenant: string): Sent {
  const members: Members = {};
  for (const [name, value] of Object.entries(input)) {
    members[name] = typeof value === 'string' ? value.toWellFormed() : value;
  }
  for (const name of pathParameters(operation.path)) {
    const value = members[name];
    members[name] = typeof value === 'string' && value !== '' ? value : (JSON.stringify(value) ?? 'undefined');
    if (members[name] === '.' || members[name] === '..') members[name] = 'dots';
  }
  const sent = requestOf(operation, members, tenant);
  if (inputLocation(operation.method) === 'query') return sent;
  // Escapes of half surrogates reach the server as such.
  const rest = Object.entries(input).filter(([name]) => !pathParameters(operation.path).includes(name));
  return { ...sent, body: JSON.stringify(Object.fromEntries(rest)) };
}

const garbage = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.string({ unit: 'grapheme', maxLength: 100 }).map((one) => Buffer.from(one)),
  fc.json().map((one) => Buffer.from(one)),
  fc.json().map((one) => Buffer.from(one.slice(0, -1))),
  fc
    .constantFrom('{"content":1e999}', '{"a":NaN}', '{"payload":{"a":00}}', '[', '{"a"', '\u0000')
    .map((one) => Buffer.from(one)),
);

const looseQuery = fc
  .array(fc.tuple(fc.oneof(fc.constantFrom('limit', 'offset', 'cursor', 'after'), text), text), { maxLength: 6 })
  .map((pairs) => pairs.map(([a, b]) => `${weird(a)}=${weird(b)}`).join('&'));

/** Percent signs and separators stay as they are; only what no HTTP client would send is encoded. */
const weird = (one: string): string => one.toWellFormed().replace(/[^!-~]|#/gu, (char) => encodeURIComponent(char));

/** Requests to one operation. `planted` gives it ids that lead somewhere. */
export function requestsTo(operation: NamedOperation, planted: Planted, tenant: string): fc.Arbitrary<Sent> {
  const schema = z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any' }) as Schema;
  const example = inputOf(operation, planted);
  const names = Object.keys(operation.input.shape);
  const base = place(operation, example, tenant);
  const headers = fc.oneof(
    { weight: 6, arbitrary: fc.constant({}) },
    fc
      .string({
        unit: fc.integer({ min: 33, max: 255 }).map((code) => String.fromCharCode(code === 127 ? 126 : code)),
        minLength: 1,
      })
      .map((key) => ({ 'idempotency-key': key })),
    fc.constantFrom('nonsense', '0', 'ffffffffffffffff.1').map((id) => ({ 'last-event-id': id })),
  );
  const request = fc.oneof(
    { weight: 4, arbitrary: fitting(schema, planted).map((input) => place(operation, input as Members, tenant)) },
    { weight: 4, arbitrary: mutated(example, names).map((input) => place(operation, input, tenant)) },
    {
      weight: 1,
      arbitrary: garbage.map((body): Sent => ({ ...base, headers: { 'content-type': 'application/json' }, body })),
    },
    {
      weight: 2,
      arbitrary: looseQuery.map((query): Sent => ({ ...base, path: `${base.path.split('?')[0]}?${query}` })),
    },
  );
  return fc.tuple(request, headers).map(([sent, more]) => ({ ...sent, headers: { ...sent.headers, ...more } }));
}

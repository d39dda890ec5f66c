/** Inputs as the clients of the seeds send them, generated over the whole table: nulls, cases, times without a zone. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { allOperations, type NamedOperation } from '#cairn/api/contract.js';
import { inputSchemaOf, takesNull } from '#cairn/engine/contract/input-schema.js';
import { nullIsAbsence, readLeniently } from '#cairn/engine/contract/lenient-input.js';
import { clearsByNull, readInput } from '#cairn/engine/contract/operation.js';

type Shape = Record<string, z.ZodType>;

const shapeOf = ({ input }: NamedOperation): Shape => input.shape as Shape;
const optionalOf = (operation: NamedOperation): string[] =>
  Object.keys(shapeOf(operation)).filter((name) => shapeOf(operation)[name]!.safeParse(undefined).success);

/** Null is a right that is not given, or a value of the caller's own. */
const RIGHTS = ['memory_access', 'can_delegate_to'];
const OWN_JSON = ['content', 'value'];
/** Of a key: the rights of its agent. */
const isRight = ({ name }: NamedOperation, field: string): boolean =>
  RIGHTS.includes(field) || (name === 'keys.create' && field === 'access');

const creates = allOperations.filter((operation) => !clearsByNull(operation));
const patches = allOperations.filter(clearsByNull);

/** The first value of a JSON Schema's enumeration, wherever it stands. */
function enumOf(schema: unknown): string[] | undefined {
  const { enum: values, anyOf, const: only } = schema as { enum?: string[]; anyOf?: unknown[]; const?: string };
  if (typeof only === 'string') return [only];
  return (
    values?.filter((value) => typeof value === 'string') ?? anyOf?.map(enumOf).find((found) => found !== undefined)
  );
}

const propertiesOf = (operation: NamedOperation) =>
  (inputSchemaOf(operation).properties ?? {}) as Record<string, { type?: string | string[]; anyOf?: unknown[] }>;

describe('INPUT-9 null for an optional field', () => {
  it('INPUT-9 is the same as its absence, in every operation but a PATCH', () => {
    let fields = 0;
    for (const operation of creates) {
      const plain = readInput(operation, operation.example);
      for (const name of optionalOf(operation)) {
        if (name in operation.example || isRight(operation, name) || OWN_JSON.includes(name)) continue;
        expect(readInput(operation, { ...operation.example, [name]: null }), `${operation.name} ${name}`).toEqual(
          plain,
        );
        fields++;
      }
      const nulls = Object.fromEntries(
        optionalOf(operation)
          .filter((name) => !isRight(operation, name) && !OWN_JSON.includes(name))
          .map((name) => [name, null]),
      );
      expect(readInput(operation, { ...nulls, ...operation.example }), operation.name).toEqual(plain);
    }
    expect(creates.length).toBeGreaterThan(160);
    expect(fields).toBeGreaterThan(400);
  });

  it('is refused for rights, which are written out', () => {
    let seen = 0;
    for (const operation of creates)
      for (const name of Object.keys(shapeOf(operation)).filter((field) => isRight(operation, field))) {
        expect(nullIsAbsence(shapeOf(operation)[name]!), `${operation.name} ${name}`).toBe(false);
        seen++;
      }
    expect(seen).toBeGreaterThan(2);
    const register = allOperations.find(({ name }) => name === 'agents.register')!;
    for (const memory_access of [{ read: null }, { read: [], write: null }])
      expect(() => readInput(register, { ...register.example, memory_access })).toThrow(/memory_access/);
  });

  it('INPUT-9 in a PATCH clears the field or is refused by name, and is never passed over', () => {
    const refused: string[] = [];
    for (const operation of patches)
      for (const name of optionalOf(operation)) {
        const given = { ...operation.example, [name]: null };
        try {
          const read = readInput(operation, given);
          const cleared = shapeOf(operation)[name]!.safeParse(null);
          expect(read[name], `${operation.name} ${name}`).toEqual(cleared.data);
        } catch (error) {
          expect((error as Error).message).toContain(name);
          refused.push(`${operation.name} ${name}`);
        }
      }
    // What cannot be without a value. Rights have a rule of their own.
    expect(refused.filter((field) => !RIGHTS.includes(field.split(' ')[1]!))).toEqual([
      'trajectories.update name',
      'trajectories.update status',
      'trajectories.update outcome',
      'scopes.update name',
      'artifacts.update artifact_type',
      'artifacts.update name',
      'notes.update note_type',
      'notes.update title',
      'summarization_policies.update trigger',
      'executions.update status',
      'agents.update agent_type',
      'agents.update capabilities',
      'agents.update status',
    ]);
  });

  it('is dropped in nested objects, lists, unions and batches, but kept in the caller’s own JSON', () => {
    const read = (name: string, input: object) =>
      readInput(allOperations.find((operation) => operation.name === name)!, input);
    const id = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
    const own = { a: null, list: [null, { b: null }] };
    expect(
      read('packets.write_batch', {
        packets: [{ packet_type: 'x', payload: own, metadata: own, confidence: { score: 1, rationale: null } }],
      }),
    ).toEqual({ packets: [{ packet_type: 'x', payload: own, metadata: own, confidence: { score: 1 } }] });
    expect(
      read('trajectories.batch', {
        items: [
          { operation: 'create', create: { name: 'a', description: null, metadata: null } },
          { operation: 'update', trajectory_id: id, update: { description: null, metadata: null } },
        ],
      }),
    ).toEqual({
      items: [
        { operation: 'create', create: { name: 'a' } },
        { operation: 'update', trajectory_id: id, update: { description: null, metadata: {} } },
      ],
    });
    const handover = { context_packing_config: { pack_arguments: [null, { arg_key: 'a', card_metadata: null }] } };
    expect(read('handovers.save', { name: 'h', handover })).toEqual({
      name: 'h',
      handover: { context_packing_config: { pack_arguments: [null, { arg_key: 'a' }] } },
    });
    expect(read('cards.add', { content: null })).toEqual({ content: null });
    expect(read('agent_turns.complete', { agent_turn_id: id, turn_epoch: 1, deliverable: own })).toMatchObject({
      deliverable: own,
    });
  });

  it('leaves an input alone that needs nothing, and never alters what it was given', () => {
    for (const operation of allOperations)
      expect(readLeniently(operation.input, operation.example)).toBe(operation.example);
    const frozen = Object.freeze({ packet_type: 'x', payload: Object.freeze({}), thread_id: null });
    const { input } = allOperations.find(({ name }) => name === 'packets.write')!;
    expect(readLeniently(input, frozen)).toEqual({ packet_type: 'x', payload: {} });
    expect(frozen).toHaveProperty('thread_id', null);
  });

  it('is told by the JSON Schema of every operation, and only where it is taken', () => {
    let nullable = 0;
    for (const operation of allOperations) {
      const patch = clearsByNull(operation);
      for (const [name, property] of Object.entries(propertiesOf(operation))) {
        const member = shapeOf(operation)[name]!;
        const told = takesNull(property);
        const taken = member.safeParse(null).success || (!patch && nullIsAbsence(member));
        expect(told, `${operation.name} ${name}: ${JSON.stringify(property)}`).toBe(taken);
        if (told) nullable++;
      }
    }
    expect(nullable).toBeGreaterThan(400);
  });
});

describe('INPUT-10 closed enumerations', () => {
  it('INPUT-10 are read in any case and written as the seeds spell them, in every operation', () => {
    let fields = 0;
    for (const operation of allOperations)
      for (const [name, property] of Object.entries(propertiesOf(operation)))
        for (const value of enumOf(property) ?? [])
          for (const spelled of [value.toLowerCase(), value.toUpperCase()]) {
            const member = shapeOf(operation)[name]!;
            const given = Array.isArray(z.safeParse(member, [value]).data) ? [spelled] : spelled;
            const read = readLeniently(operation.input, { [name]: given }) as Record<string, unknown>;
            expect([read[name]].flat(), `${operation.name} ${name} ${spelled}`).toEqual([value]);
            fields++;
          }
    expect(fields).toBeGreaterThan(200);
  });

  it('INPUT-10 are found in lists, tags of unions and lifetimes as well', () => {
    const read = (name: string, input: object) =>
      readInput(allOperations.find((operation) => operation.name === name)!, input);
    const participants = [
      { entity_type: 'artifact', entity_id: 'a' },
      { entity_type: 'NOTE', entity_id: 'b' },
    ];
    expect(
      read('edges.batch', { items: [{ operation: 'CREATE', create: { edge_type: 'derivedfrom', participants } }] }),
    ).toMatchObject({
      items: [
        {
          operation: 'create',
          create: { edge_type: 'DerivedFrom', participants: [{ entity_type: 'Artifact' }, { entity_type: 'Note' }] },
        },
      ],
    });
    expect(
      read('summarization_policies.create', { trigger: { type: 'scopeclose' }, actions: ['EXTRACT'] }),
    ).toMatchObject({ trigger: { type: 'ScopeClose' }, actions: ['extract'] });
    const note = { note_type: 'Fact', title: 't', content: 'c' };
    expect(read('notes.create', { ...note, ttl: 'shortterm' })).toMatchObject({ ttl: 'ShortTerm' });
    expect(read('notes.create', { ...note, ttl: 'DURATION(5)' })).toMatchObject({ ttl: 'Duration(5)' });
    expect(
      read('search.query', { query: '', filters: [{ not: { field: 'ROLE', operator: 'EQ', value: 'user' } }] }),
    ).toMatchObject({ filters: [{ not: { field: 'role', operator: 'eq' } }] });
  });

  it('have no two values that differ in nothing but case', () => {
    for (const operation of allOperations)
      for (const property of Object.values(propertiesOf(operation))) {
        const values = enumOf(property) ?? [];
        expect(new Set(values.map((value) => value.toLowerCase())).size).toBe(values.length);
      }
  });
});

describe('INPUT-6 a time without a zone', () => {
  it('INPUT-6 is UTC, in every operation that takes a time', () => {
    const bare = '2026-01-31T12:00:00.123456';
    let fields = 0;
    for (const operation of allOperations)
      for (const [name, member] of Object.entries(shapeOf(operation))) {
        const inUtc = member.safeParse(`${bare}Z`);
        const isTime = inUtc.success && !member.safeParse('no time').success;
        if (!isTime) continue;
        expect(member.safeParse(bare).data, `${operation.name} ${name}`).toBe(inUtc.data);
        expect(member.safeParse('2026-01-31T12:00:00+01:00').success).toBe(true);
        fields++;
      }
    expect(fields).toBeGreaterThan(30);
  });
});

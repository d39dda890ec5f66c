/** Searches over random things: filters agree with a look at each, nothing that fits is missed, both databases agree. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import type { Comparison, Filter } from '#cairn/recall/search/model.js';
import { openTarget, type TestStore, targetNames } from '../../support/targets.js';

const WORDS = ['heron', 'otter', 'ferry', 'lighthouse', 'Müller', '东京', 'sailing', 'tea', 'blue', 'sqlite3'];
const TAGS = ['rain', 'wind', "o'clock"];
const DAYS = ['2023-05-08T00:00:00.000Z', '2024-01-02T00:00:00.000Z', '2031-06-01T00:00:00.000Z'];
const NAMES = ['Chart', 'chart two', 'List_%'];
const AGENTS = ['ann', 'bob'];
/** CAIRN_TEST_SEED=… repeats a run. */
const seed = Number(process.env.CAIRN_TEST_SEED ?? Math.trunc(Math.random() * 2 ** 31));

/** What is written, in the words of the filters. Null is what it does not have. */
interface Thing {
  readonly entity_type: 'turn' | 'note' | 'artifact' | 'card' | 'packet';
  readonly words: readonly string[];
  readonly tags: readonly string[];
  readonly speaker: string | null;
  readonly occurred_at: string | null;
  readonly name: string;
  readonly type: string;
  readonly role: 'user' | 'assistant';
  readonly agent_id: string | null;
  readonly abstraction_level: 'L0' | 'L1';
  readonly expires_at: string | null;
}

const some = <T>(...values: readonly T[]) => fc.constantFrom(...values);

const thing: fc.Arbitrary<Thing> = fc.record({
  entity_type: some('turn', 'note', 'artifact', 'card', 'packet'),
  words: fc.array(some(...WORDS), { minLength: 1, maxLength: 6 }),
  tags: fc.uniqueArray(some(...TAGS), { maxLength: 2 }),
  speaker: some(null, 'Anna Berg', 'Ben'),
  occurred_at: some(null, ...DAYS),
  name: some(...NAMES),
  type: some('Fact', 'Procedure', 'Code'),
  role: some('user', 'assistant'),
  agent_id: some(null, ...AGENTS),
  abstraction_level: some('L0', 'L1'),
  expires_at: some(null, '2091-01-01T00:00:00.000Z'),
});

const comparison: fc.Arbitrary<Filter> = fc
  .oneof(
    fc.tuple(some('entity_type'), some('eq', 'ne'), some('turn', 'note', 'card')),
    fc.tuple(some('type'), some('eq', 'ne', 'contains'), some('Fact', 'Procedure', 'CODE', 'proc')),
    fc.tuple(some('name'), some('eq', 'ne', 'contains'), some(...NAMES, 'CHART', '_', '%', '')),
    fc.tuple(some('role'), some('eq', 'ne'), some('User', 'assistant')),
    fc.tuple(some('speaker'), some('eq', 'ne', 'contains'), some('Ben', 'berg', 'anna berg')),
    fc.tuple(some('agent_id'), some('eq', 'ne', 'contains'), some(...AGENTS, 'a')),
    fc.tuple(
      some('agent_id', 'tag', 'type'),
      some('in'),
      fc.array(some(...AGENTS, ...TAGS, 'Fact'), { minLength: 1, maxLength: 3 }),
    ),
    fc.tuple(some('tag'), some('eq', 'ne'), some(...TAGS)),
    fc.tuple(some('abstraction_level'), some('eq', 'ne'), some('L0', 'L1')),
    fc.tuple(some('category'), some('eq', 'ne'), some('ephemeral', 'working', 'episodic', 'semantic', 'procedural')),
    fc.tuple(some('trajectory_id', 'scope_id'), some('eq', 'ne'), some('HERE')),
    fc.tuple(
      some('expires_at'),
      some('eq', 'ne', 'gt', 'gte', 'lt', 'lte'),
      some('2091-01-01T00:00:00Z', '2050-01-01T00:00:00Z'),
    ),
    fc.tuple(
      some('occurred_at'),
      some('eq', 'ne', 'gt', 'gte', 'lt', 'lte'),
      some('2024-01-02T01:00:00+01:00', '2023-12-31T00:00:00Z'),
    ),
  )
  .map(([field, operator, value]) => ({ field, operator, value }) as Filter);

const { filter } = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3 },
    { weight: 3, arbitrary: comparison },
    { weight: 1, arbitrary: fc.record({ and: fc.array(tie('filter'), { minLength: 1, maxLength: 3 }) }) },
    { weight: 1, arbitrary: fc.record({ or: fc.array(tie('filter'), { minLength: 1, maxLength: 3 }) }) },
    { weight: 1, arbitrary: fc.record({ not: tie('filter') }) },
  ),
}));

interface Place {
  readonly trajectory_id: string;
  readonly scope_id: string;
}

interface Written {
  readonly id: string;
  readonly fields: Readonly<Record<string, string | null>>;
  readonly tags: readonly string[];
  readonly text: string;
  readonly word_set: ReadonlySet<string>;
}

/** Writes it, and says what it has by the rules of its kind. */
async function write(cairn: Api, place: Place, one: Thing): Promise<Written> {
  const text = one.words.join(' ');
  const { tags, speaker, occurred_at } = one;
  const metadata = {
    tags: [...tags],
    ...(speaker === null ? {} : { speaker }),
    ...(occurred_at === null ? {} : { occurred_at }),
  };
  const agent = one.agent_id === null ? {} : { agent_id: one.agent_id };
  const { trajectory_id, scope_id } = place;
  const none = {
    name: null,
    type: null,
    role: null,
    agent_id: null,
    trajectory_id: null,
    scope_id: null,
    expires_at: null,
  };
  const fields = { ...none, entity_type: one.entity_type, speaker, occurred_at, abstraction_level: 'L0' };
  const told = (id: string, more: Record<string, string | null>): Written => ({
    id,
    fields: { ...fields, ...more },
    tags,
    text,
    word_set: new Set(one.words),
  });
  const { name, type, role, agent_id, abstraction_level, expires_at } = one;
  switch (one.entity_type) {
    case 'turn': {
      const { turn_id } = await cairn.turns.add({ scope_id, role, content: text, token_count: 1, metadata });
      return told(turn_id, { role, trajectory_id, scope_id, category: 'ephemeral' });
    }
    case 'note': {
      const input = { note_type: type, title: name, content: text, abstraction_level, metadata, ...agent };
      const { note_id } = await cairn.notes.create({ ...input, source_trajectory_ids: [trajectory_id] });
      const category = type === 'Procedure' ? 'procedural' : 'semantic';
      return told(note_id, { name, type, agent_id, abstraction_level, trajectory_id, category });
    }
    case 'artifact': {
      const input = { artifact_type: type, name, content: text, abstraction_level, metadata, ...agent };
      const { artifact_id } = await cairn.artifacts.create({ ...input, trajectory_id });
      return told(artifact_id, { name, type, agent_id, abstraction_level, trajectory_id, category: 'episodic' });
    }
    case 'card': {
      const input = { content: text, metadata: { ...metadata, type, role }, author_id: agent_id, expires_at };
      const { card_id } = await cairn.cards.add(input);
      return told(card_id, {
        type,
        role,
        agent_id,
        expires_at,
        category: expires_at === null ? 'episodic' : 'working',
      });
    }
    case 'packet': {
      const own = { ...metadata, ...(agent_id === null ? {} : { agent: agent_id }) };
      const input = { packet_type: type, payload: { said: text }, metadata: own, tags: [...tags] };
      const { packet_id } = await cairn.packets.write(input);
      return told(packet_id, { type, agent_id, category: 'episodic' });
    }
  }
}

const lower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

function compares({ field, operator, value }: Comparison, one: Written): boolean {
  const values = [value].flat();
  if (field === 'tag') return one.tags.some((tag) => values.includes(tag)) !== (operator === 'ne');
  const isTime = field.endsWith('_at');
  const asked = isTime ? new Date(values[0]!).toISOString() : field === 'role' ? lower(values[0]!) : values[0]!;
  // Where it does not say when it was, that is now.
  const has = field === 'occurred_at' ? (one.fields[field] ?? new Date().toISOString()) : one.fields[field]!;
  if (operator === 'ne') return has !== asked;
  if (has === null) return false;
  if (operator === 'in') return values.includes(has);
  if (operator === 'contains') return lower(has).includes(lower(asked));
  if (operator === 'eq') return has === asked;
  if (operator === 'gt') return has > asked;
  if (operator === 'gte') return has >= asked;
  return operator === 'lt' ? has < asked : has <= asked;
}

function passes(one: Filter, written: Written): boolean {
  if ('and' in one) return one.and.every((part) => passes(part, written));
  if ('or' in one) return one.or.some((part) => passes(part, written));
  if ('not' in one) return !passes(one.not, written);
  return compares(one, written);
}

/** The filter with real ids. */
const placed = (one: Filter, place: Place): Filter =>
  JSON.parse(JSON.stringify(one), (_, value: unknown) => {
    const here = value as { field?: string; value?: string } | null;
    if (here?.value !== 'HERE') return value;
    return { ...here, value: here.field === 'scope_id' ? place.scope_id : place.trajectory_id };
  }) as Filter;

describe(`searches over random things, seed ${seed}`, () => {
  const kinds = targetNames().filter((name) => name !== 'http');
  const stores: TestStore[] = [];
  let tenants = 0;
  beforeAll(async () => {
    for (const kind of kinds) stores.push(await openTarget(kind));
  });
  afterAll(() => Promise.all(stores.map((store) => store.close())));

  /** The same things on each database, one after the other: so they are in one order on both. */
  async function settle(things: readonly Thing[]) {
    const tenant = `t${++tenants}`;
    return Promise.all(
      stores.map(async (store) => {
        const cairn = await store.as({ tenant });
        const { trajectory_id } = await cairn.trajectories.create({ name: 'task' });
        const { scope_id } = await cairn.scopes.create({ trajectory_id, name: 'scope' });
        const place = { trajectory_id, scope_id };
        const written: Written[] = [];
        for (const one of things) written.push(await write(cairn, place, one));
        return { cairn, place, written };
      }),
    );
  }

  it('SEARCH-9 filters let through what a look at each lets through', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(thing, { minLength: 5, maxLength: 14 }),
        fc.array(fc.array(filter, { minLength: 1, maxLength: 2 }), { minLength: 12, maxLength: 12 }),
        async (things, asked) => {
          for (const { cairn, place, written } of await settle(things))
            for (const one of asked) {
              const filters = one.map((part) => placed(part, place));
              const wanted = written.filter((thing) => filters.every((part) => passes(part, thing)));
              const { results, total } = await cairn.search.query({ query: '', filters, limit: 100 });
              expect(results.map(({ id }) => id).sort(), JSON.stringify(filters)).toEqual(
                wanted.map(({ id }) => id).sort(),
              );
              expect(total).toBe(wanted.length);
            }
        },
      ),
      { numRuns: 8, seed },
    ));

  it('SEARCH-15 everything that has all words of a question is found, with the same scores on each database', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(thing, { minLength: 3, maxLength: 25 }),
        fc.array(fc.uniqueArray(some(...WORDS), { minLength: 1, maxLength: 3 }), { minLength: 8, maxLength: 8 }),
        async (things, questions) => {
          const worlds = await settle(things);
          for (const words of questions) {
            const answers: unknown[] = [];
            for (const { cairn, written } of worlds) {
              const { results } = await cairn.search.query({ query: words.join(' '), limit: 100 });
              const places = new Map(written.map(({ id }, i) => [id, i]));
              const has = new Set(results.map(({ id }) => id));
              const fitting = written.filter(({ word_set }) => words.every((word) => word_set.has(word)));
              expect(
                fitting.filter(({ id }) => !has.has(id)),
                words.join(' '),
              ).toEqual([]);
              answers.push(results.map(({ id, score, matched }) => ({ place: places.get(id), score, matched })));
            }
            for (const answer of answers) expect(answer).toEqual(answers[0]);
          }
        },
      ),
      { numRuns: 6, seed },
    ));
});

/** What is searched for, and what is found. */
import { z } from 'zod';
import { inAnyCase, readLeniently } from '../../engine/contract.js';
import { MEMORY_CATEGORIES } from '../../index/contract.js';
import { instant, text, uuid } from '../../kernel/contract.js';
import { SEARCHED_TYPES, type SearchedType } from '../../kernel/index.js';
import { abstractionLevel, trajectoryStatus } from '../../memory/contract.js';

export const searchedType = z.enum(SEARCHED_TYPES);
/** As it is asked for. */
export const wantedType = inAnyCase(SEARCHED_TYPES);

export const memoryCategory = z.enum(MEMORY_CATEGORIES);

export const MAX_FILTERS = 50;
export const MAX_FILTER_DEPTH = 8;

/** What can be filtered by, and what kind of value it has. Nothing else reaches the database. */
export const filterFields = {
  entity_type: 'text',
  type: 'text',
  artifact_type: 'text',
  note_type: 'text',
  name: 'text',
  title: 'text',
  status: 'state',
  role: 'text',
  speaker: 'text',
  agent_id: 'text',
  trajectory_id: 'text',
  scope_id: 'text',
  abstraction_level: 'text',
  category: 'text',
  tag: 'list',
  created_at: 'time',
  occurred_at: 'time',
  expires_at: 'time',
} as const;
export type FilterField = keyof typeof filterFields;

const operators = {
  text: ['eq', 'ne', 'in', 'contains'],
  list: ['eq', 'ne', 'in'],
  state: ['eq', 'ne', 'in'],
  time: ['eq', 'ne', 'gt', 'gte', 'lt', 'lte'],
} as const;

/** Where all values are known: another would find nothing, without a word. */
const knownValues: { readonly [F in FilterField]?: readonly string[] } = {
  entity_type: searchedType.options,
  abstraction_level: abstractionLevel.options,
  category: memoryCategory.options,
  status: trajectoryStatus.options,
};
const ids: readonly FilterField[] = ['trajectory_id', 'scope_id'];

/** A value as it is kept, whatever its case; undefined where the field cannot have it. */
function asKept(field: FilterField, given: string): string | undefined {
  if (ids.includes(field)) return uuid.safeParse(given).data;
  if (filterFields[field] === 'time') return instant.safeParse(given).data;
  const known = knownValues[field];
  return known ? known.find((one) => one.toLowerCase() === given.toLowerCase()) : given;
}

const field = z.enum(Object.keys(filterFields) as [FilterField, ...FilterField[]]);
const value = text(500);

export const comparison = z
  .strictObject({
    field,
    operator: z.enum(['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'contains']),
    value: z.union([value, z.array(value).min(1).max(100)], { error: 'must be text or a list of texts' }),
  })
  .superRefine((one, ctx) => {
    const refuse = (message: string, at: string) => ctx.addIssue({ code: 'custom', message, path: [at] });
    const kind = filterFields[one.field];
    const known: readonly string[] = operators[kind];
    if (!known.includes(one.operator))
      return refuse(`${one.field} takes ${known.join(', ')}, not ${one.operator}`, 'operator');
    if (Array.isArray(one.value) !== (one.operator === 'in'))
      return refuse(one.operator === 'in' ? 'must be a list for in' : 'must be one value', 'value');
    if (one.operator === 'contains') return;
    const strange = [one.value].flat().find((given) => asKept(one.field, given) === undefined);
    if (strange === undefined) return;
    const values = knownValues[one.field];
    if (values) return refuse(`must be of ${values.join(', ')}, not ${strange}`, 'value');
    refuse(kind === 'time' ? 'must be an ISO 8601 time, such as 2026-01-31T12:00:00Z' : 'must be a UUID', 'value');
  })
  .overwrite((one) => {
    if (one.operator === 'contains') return one;
    const kept = (given: string) => asKept(one.field, given) ?? given;
    return { ...one, value: Array.isArray(one.value) ? one.value.map(kept) : kept(one.value) };
  });
export type Comparison = z.output<typeof comparison>;

export type Filter = Comparison | { and: Filter[] } | { or: Filter[] } | { not: Filter };

const several = z
  .array(z.lazy(() => filter))
  .min(1)
  .max(MAX_FILTERS);
export const filter: z.ZodType<Filter, Filter> = z
  .union(
    [
      comparison,
      z.strictObject({ and: several }),
      z.strictObject({ or: several }),
      z.strictObject({ not: z.lazy(() => filter) }),
    ],
    { error: 'must be { field, operator, value }, { and: […] }, { or: […] } or { not: … }' },
  )
  .meta({ id: 'SearchFilter' });

/** What is wrong with the size of filters, whatever they are. Level by level: what is too deep is not gone into. */
function sizeRefusal(all: readonly unknown[]): string | undefined {
  let level = all;
  let comparisons = 0;
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_FILTER_DEPTH) return `may be nested ${MAX_FILTER_DEPTH} deep at most`;
    const next: unknown[] = [];
    for (const one of level) {
      const { and, or, not } = (one ?? {}) as Record<string, unknown>;
      const parts = [and, or].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
      if (not !== undefined) parts.push(not);
      if (parts.length === 0) comparisons++;
      next.push(...parts.slice(0, MAX_FILTERS + 1));
      if (comparisons + next.length > MAX_FILTERS) return `may compare ${MAX_FILTERS} times at most`;
    }
    level = next;
  }
  return undefined;
}

const listOfFilters = z.array(filter).max(MAX_FILTERS);

/** Their size is looked at first: the schema goes into them as deep as they are. */
const inSize = z.preprocess((given, ctx) => {
  const refusal = Array.isArray(given) && given.length <= MAX_FILTERS ? sizeRefusal(given) : undefined;
  if (refusal === undefined) return readLeniently(listOfFilters, given);
  ctx.addIssue({ code: 'custom', message: refusal });
  return given;
}, listOfFilters);

// Typed as the list: what a caller gives is no less known for having been looked at.
export const filters = (inSize as unknown as typeof listOfFilters).describe(
  'All must hold. { field, operator, value }, or { and: […] }, { or: […] }, { not: … } of such; ' +
    `fields: ${Object.keys(filterFields).join(', ')}. artifact_type is the type of an artifact, note_type and title are those ` +
    'of a note, status is that of the trajectory',
);

export const MAX_QUERY = 4000;

/** What every kind of search takes. */
export const searchInput = {
  query: text(MAX_QUERY).describe('In plain words; empty for the newest that the filters let through'),
  trajectory_id: uuid.optional().describe('Only in this trajectory'),
  scope_id: uuid.optional().describe('Only in this scope'),
  filters: filters.optional(),
  min_score: z.number().min(0).optional().describe('Leaves out what scores less'),
  limit: z.int().min(1).max(100).optional().describe('How many to return, 10 unless given'),
  cursor: z.string().max(2000).optional().describe('next_cursor of the page before'),
};

/** A search among one type: that it is of this type may be said. */
export const searchInputOf = <T extends SearchedType>(type: T) =>
  z.strictObject({
    ...searchInput,
    entity_types: z.array(z.literal(type)).min(1).max(1).optional().describe(`${type}, if anything`),
  });

const boost = z.object({
  name: z
    .string()
    .describe('Why it counts more or less: speaker, role, date, temporal, short_question, similar (by its vector), …'),
  factor: z.number(),
});

/** Something that an edge ties to what was found. */
const related = z.object({
  edge_type: z.string(),
  direction: z.enum(['to', 'from']).describe('from: it supports or contradicts what was found'),
  entity_type: searchedType,
  id: z.string(),
  name: z.string().nullable(),
  snippet: z.string(),
});

export const foundEntity = {
  entity_type: searchedType,
  id: z.string(),
  checkpoint_id: z.string().nullable().describe('Of a thought: the checkpoint that brought it'),
  name: z.string().nullable().describe('Of an artifact or note'),
  score: z.number().describe('Comparable within one answer'),
  matched: z.array(z.string()).describe('Words of the question that it has itself, in any form'),
  nearby: z.array(z.string()).describe('Words that only the turns around it have, or that it has a kind of'),
  boosts: z.array(boost),
  type: z.string().nullable(),
  trajectory_id: z.string().nullable(),
  scope_id: z.string().nullable(),
  sequence: z.int().nullable().describe('Of a turn: its place in the scope'),
  role: z.string().nullable(),
  speaker: z.string().nullable(),
  agent_id: z.string().nullable(),
  abstraction_level: z.string(),
  category: memoryCategory,
  tags: z.array(z.string()),
  occurred_at: instant,
  created_at: instant,
  related: z.array(related).describe('What supports or contradicts it'),
};

/** The part of it that answers best. */
export const excerpt = {
  snippet: z.string(),
  highlights: z
    .array(z.object({ start: z.int(), end: z.int() }))
    .describe('Where the snippet has words of the question'),
};

export const searchResult = z.object({ ...foundEntity, ...excerpt }).meta({ id: 'SearchResult' });
export type SearchResult = z.output<typeof searchResult>;

export const searchOutput = z.object({
  results: z.array(searchResult),
  next_cursor: z.string().nullable().describe('Where to go on; null at the end'),
  total: z.int().nullable().describe('On the first page: how many were ranked; null where more might match'),
});
export type SearchOutput = z.output<typeof searchOutput>;

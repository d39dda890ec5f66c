/** Schemas of search requests, filters and results. */
import { z } from 'zod';
import { inAnyCase, readLeniently } from '../../engine/contract.js';
import { MEMORY_CATEGORIES } from '../../index/contract.js';
import { instant, text, uuid } from '../../kernel/contract.js';
import { SEARCHED_TYPES, type SearchedType } from '../../kernel/index.js';
import { abstractionLevel, trajectoryStatus } from '../../memory/contract.js';

const searchedType = z.enum(SEARCHED_TYPES);
/** Accepted in any case. */
export const searchedTypeInAnyCase = inAnyCase(SEARCHED_TYPES);

const memoryCategory = z.enum(MEMORY_CATEGORIES);

const MAX_FILTERS = 50;
const MAX_FILTER_DEPTH = 8;

/** Filterable fields and the kind of their values. Nothing else reaches the database. */
const filterFields = {
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
type FilterField = keyof typeof filterFields;

const operators = {
  text: ['eq', 'ne', 'in', 'contains'],
  list: ['eq', 'ne', 'in'],
  state: ['eq', 'ne', 'in'],
  time: ['eq', 'ne', 'gt', 'gte', 'lt', 'lte'],
} as const;

/** Fields with a closed set of values: any other value would silently match nothing. */
const knownValues: { readonly [F in FilterField]?: readonly string[] } = {
  entity_type: searchedType.options,
  abstraction_level: abstractionLevel.options,
  category: memoryCategory.options,
  status: trajectoryStatus.options,
};
const ids: readonly FilterField[] = ['trajectory_id', 'scope_id'];

/** The stored form of a value; undefined if the field cannot have it. */
function storedValue(field: FilterField, given: string): string | undefined {
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
    const unknown = [one.value].flat().find((given) => storedValue(one.field, given) === undefined);
    if (unknown === undefined) return;
    const values = knownValues[one.field];
    if (values) return refuse(`must be one of ${values.join(', ')}, not ${unknown}`, 'value');
    refuse(kind === 'time' ? 'must be an ISO 8601 time, such as 2026-01-31T12:00:00Z' : 'must be a UUID', 'value');
  })
  .overwrite((one) => {
    if (one.operator === 'contains') return one;
    const stored = (given: string) => storedValue(one.field, given) ?? given;
    return { ...one, value: Array.isArray(one.value) ? one.value.map(stored) : stored(one.value) };
  });
export type Comparison = z.output<typeof comparison>;

export type Filter = Comparison | { and: Filter[] } | { or: Filter[] } | { not: Filter };

const several = z
  .array(z.lazy(() => filter))
  .min(1)
  .max(MAX_FILTERS);
const filter: z.ZodType<Filter, Filter> = z
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

/** Checks the size of unparsed filters level by level, without descending too deep. */
function sizeError(all: readonly unknown[]): string | undefined {
  let level = all;
  let comparisons = 0;
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_FILTER_DEPTH) return `must be nested at most ${MAX_FILTER_DEPTH} deep`;
    const next: unknown[] = [];
    for (const one of level) {
      const { and, or, not } = (one ?? {}) as Record<string, unknown>;
      const parts = [and, or].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
      if (not !== undefined) parts.push(not);
      if (parts.length === 0) comparisons++;
      next.push(...parts.slice(0, MAX_FILTERS + 1));
      if (comparisons + next.length > MAX_FILTERS) return `must have at most ${MAX_FILTERS} comparisons`;
    }
    level = next;
  }
  return undefined;
}

const listOfFilters = z.array(filter).max(MAX_FILTERS);

/** Checks the size first, since the schema descends to any depth. */
const inSize = z.preprocess((given, ctx) => {
  const error = Array.isArray(given) && given.length <= MAX_FILTERS ? sizeError(given) : undefined;
  if (error === undefined) return readLeniently(listOfFilters, given);
  ctx.addIssue({ code: 'custom', message: error });
  return given;
}, listOfFilters);

// Typed as the list: preprocessing would make the input type unknown.
const filters = (inSize as unknown as typeof listOfFilters).describe(
  'All must hold. { field, operator, value }, or { and: […] }, { or: […] }, { not: … } of such; ' +
    `fields: ${Object.keys(filterFields).join(', ')}. artifact_type is the type of an artifact, note_type and title those ` +
    'of a note, status that of the trajectory',
);

export const MAX_QUERY = 4000;

export const searchInput = {
  query: text(MAX_QUERY).describe('In plain words; empty: the newest entities that pass the filters'),
  trajectory_id: uuid.optional().describe('Only in this trajectory'),
  scope_id: uuid.optional().describe('Only in this scope'),
  filters: filters.optional(),
  min_score: z.number().min(0).optional().describe('Minimum score of a result'),
  limit: z.int().min(1).max(100).optional().describe('Maximum number of results; default: 10'),
  cursor: z.string().max(2000).optional().describe('next_cursor of the previous page'),
};

/** A search for one type, which the request may repeat. */
export const searchInputOf = <T extends SearchedType>(type: T) =>
  z.strictObject({
    ...searchInput,
    entity_types: z.array(z.literal(type)).min(1).max(1).optional().describe(`Only ${type}`),
  });

const boost = z.object({
  name: z
    .string()
    .describe(
      'Why the score is raised or lowered: speaker, role, date, temporal, short_question, similar (by its vector), …',
    ),
  factor: z.number(),
});

const related = z.object({
  edge_type: z.string(),
  direction: z.enum(['to', 'from']).describe('from: it supports or contradicts the result'),
  entity_type: searchedType,
  id: z.string(),
  name: z.string().nullable(),
  snippet: z.string(),
});

export const foundEntity = {
  entity_type: searchedType,
  id: z.string(),
  checkpoint_id: z.string().nullable().describe('For a thought: the checkpoint that introduced it'),
  name: z.string().nullable().describe('For an artifact or note'),
  score: z.number().describe('Comparable within one answer'),
  matched: z.array(z.string()).describe('Words of the question that it contains, in any form'),
  nearby: z
    .array(z.string())
    .describe('Words that only turns around it contain, or for which it contains a related word'),
  boosts: z.array(boost),
  type: z.string().nullable(),
  trajectory_id: z.string().nullable(),
  scope_id: z.string().nullable(),
  sequence: z.int().nullable().describe('For a turn: its position in the scope'),
  role: z.string().nullable(),
  speaker: z.string().nullable(),
  agent_id: z.string().nullable(),
  abstraction_level: z.string(),
  category: memoryCategory,
  tags: z.array(z.string()),
  occurred_at: instant,
  created_at: instant,
  related: z.array(related).describe('Entities that support or contradict it'),
};

/** The best matching part of the text. */
export const excerpt = {
  snippet: z.string(),
  highlights: z
    .array(z.object({ start: z.int(), end: z.int() }))
    .describe('Positions of words of the question in the snippet'),
};

const searchResult = z.object({ ...foundEntity, ...excerpt }).meta({ id: 'SearchResult' });
export type SearchResult = z.output<typeof searchResult>;

export const searchOutput = z.object({
  results: z.array(searchResult),
  next_cursor: z.string().nullable().describe('Cursor of the next page; null at the end'),
  total: z.int().nullable().describe('On the first page: the number of results; null if more might match'),
});
export type SearchOutput = z.output<typeof searchOutput>;

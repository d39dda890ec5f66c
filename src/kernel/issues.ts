/** Zod issues as lines that name the field. */
import type { z } from 'zod';
import { invalid } from './errors.js';
import { withCommas } from './numbers.js';

const MAX_ISSUES = 20;

/** `place` is the path of the checked value, if it is part of a larger one. */
export const describeIssues = (error: z.ZodError, place = ''): string[] =>
  error.issues
    .flatMap(withinUnion)
    // Unknown fields first: usually one is the misspelling of a missing field.
    .sort((a, b) => Number(b.code === 'unrecognized_keys') - Number(a.code === 'unrecognized_keys'))
    .slice(0, MAX_ISSUES)
    .map((issue) => describeIssue(issue, place));

/** Each issue alone, in words without its path; in a union, the issues of the nearest alternative. */
export const wordedIssues = (error: z.ZodError) =>
  error.issues
    .flatMap(withinUnion)
    .map((issue) => ({
      path: issue.path,
      code: isMissing(issue) ? ('missing' as const) : issue.code,
      words: isMissing(issue) ? 'is required' : inWords(issue),
      values: 'values' in issue ? issue.values.map(String) : [],
    }));

/** Parses a value, or throws an error that begins with `what` and names the field. */
export function parseAs<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const errors = describeIssues(parsed.error);
  throw invalid(`${what}: ${errors[0]}`, { errors });
}

type Issue = z.core.$ZodIssue;

/** Zod's message for a union without one of its own. */
const DEFAULT_UNION_MESSAGE = 'Invalid input';

/** The issues of the nearest alternative of a union, or the issue of the union if none is nearer than the others. */
function withinUnion(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const misfits = issue.errors.map(misfitOf);
  const least = Math.min(...misfits);
  if (misfits.every((misfit) => misfit === least)) return [issue];
  const meant = issue.errors[misfits.indexOf(least)]!;
  // An alternative with both unknown and missing members was not meant: the union's own message says more.
  if (least > 0 && issue.message !== DEFAULT_UNION_MESSAGE && meant.some(isMissing)) return [issue];
  return meant.flatMap((one) => withinUnion({ ...one, path: [...issue.path, ...one.path] }));
}

const isMissing = ({ code, message }: Issue): boolean =>
  code === 'invalid_type' && message.endsWith('received undefined');

/** Distance to an alternative: its number of unknown members; a value of another type never matches. */
function misfitOf(issues: readonly Issue[]): number {
  const atTop = issues.filter(({ path }) => path.length === 0);
  if (atTop.some(({ code }) => code === 'invalid_type')) return Number.MAX_SAFE_INTEGER;
  return atTop.reduce((sum, one) => sum + (one.code === 'unrecognized_keys' ? one.keys.length : 0), 0);
}

function describeIssue(issue: z.core.$ZodIssue, place: string): string {
  let where = place;
  for (const step of issue.path)
    where += typeof step === 'number' ? `[${step}]` : `${where === '' ? '' : '.'}${String(step)}`;
  if (issue.code === 'unrecognized_keys') {
    const names = issue.keys.slice(0, 10).map((key) => `"${key}"`);
    return `unknown field ${names.join(', ')}${where ? ` in ${where}` : ''}`;
  }
  if (where && isMissing(issue)) return `${where}: is required`;
  return where ? `${where}: ${inWords(issue)}` : inWords(issue);
}

/** Zod's default messages; a message from a schema stays as it is. */
const DEFAULT_MESSAGE = /^(?:Too (?:small|big): |Invalid (?:input: expected|option: |discriminator value))/;

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
};
const PARTS: Readonly<Record<string, string>> = { string: 'character', array: 'item' };

/** The message as a rule: `must be …`. */
function inWords(issue: Issue): string {
  const { code, message } = issue;
  if (!DEFAULT_MESSAGE.test(message)) return message;
  if (code === 'too_small' || code === 'too_big') {
    const limit = Number(code === 'too_small' ? issue.minimum : issue.maximum);
    const part = PARTS[issue.origin];
    if (part !== undefined && code === 'too_small' && limit === 1) return 'must not be empty';
    const [least, most] = issue.inclusive === false ? ['more than', 'less than'] : ['at least', 'at most'];
    const bound = `${code === 'too_small' ? least : most} ${withCommas(limit)}`;
    return part === undefined ? `must be ${bound}` : `must have ${bound} ${part}${limit === 1 ? '' : 's'}`;
  }
  if (code === 'invalid_type') {
    const received = /received (\w+)$/.exec(message)?.[1] ?? '';
    const not = issue.expected === 'int' ? 'a fraction' : (KINDS[received] ?? received);
    return `must be ${KINDS[issue.expected] ?? issue.expected}${not === '' ? '' : `, not ${not}`}`;
  }
  const values =
    'values' in issue ? issue.values : 'options' in issue && Array.isArray(issue.options) ? issue.options : [];
  return values.length === 0 ? message : `must be ${values.map(String).join(' or ')}`;
}

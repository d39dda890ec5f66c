/** What a schema finds wrong, as one line that names the field. */
import type { z } from 'zod';
import { invalid } from './errors.js';

const MAX_TOLD = 20;

/** With the place of what was looked at before the field, if it is part of something. */
export const describeIssues = (error: z.ZodError, place = ''): string[] =>
  error.issues
    .flatMap(withinUnion)
    // First what is not known: mostly it is a misspelling of what is missing.
    .sort((a, b) => Number(b.code === 'unrecognized_keys') - Number(a.code === 'unrecognized_keys'))
    .slice(0, MAX_TOLD)
    .map((issue) => describeIssue(issue, place));

/** The value as the schema gives it, or a refusal that begins with what it is and names the field. */
export function parseAs<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const errors = describeIssues(parsed.error);
  throw invalid(`${what}: ${errors[0]}`, { errors });
}

type Issue = z.core.$ZodIssue;

/** What zod says of a union that says nothing itself. */
const UNSAID = 'Invalid input';

/** What is wrong by the alternative that was meant; where none is nearer than the others, that none fits. */
function withinUnion(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const misfits = issue.errors.map(misfitOf);
  const least = Math.min(...misfits);
  if (misfits.every((misfit) => misfit === least)) return [issue];
  const meant = issue.errors[misfits.indexOf(least)]!;
  // What has other members and lacks its own was not meant: a union that says itself what it takes says more.
  if (least > 0 && issue.message !== UNSAID && meant.some(isMissing)) return [issue];
  return meant.flatMap((one) => withinUnion({ ...one, path: [...issue.path, ...one.path] }));
}

const isMissing = ({ code, message }: Issue): boolean =>
  code === 'invalid_type' && message.endsWith('received undefined');

/** How far a value is from an alternative: by members that it does not know; another kind of value is no match at all. */
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
  const told = inWords(issue);
  return where ? `${where}: ${told}` : told;
}

/** What zod says by itself; a schema that says something better is left its words. */
const BY_ITSELF = /^(?:Too (?:small|big): |Invalid (?:input: expected|option: |discriminator value))/;

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

/** The same in words that say what to do. */
function inWords(issue: Issue): string {
  const { code, message } = issue;
  if (!BY_ITSELF.test(message)) return message;
  if (code === 'too_small' || code === 'too_big') {
    const limit = Number(code === 'too_small' ? issue.minimum : issue.maximum);
    const part = PARTS[issue.origin];
    if (part !== undefined && code === 'too_small' && limit === 1) return 'must not be empty';
    const [least, most] = issue.inclusive === false ? ['more than', 'less than'] : ['at least', 'at most'];
    const bound = `${code === 'too_small' ? least : most} ${limit.toLocaleString('en')}`;
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

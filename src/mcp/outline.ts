/** An answer as text for a model: indented lines, one per member, without quotes, braces and null members. */

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
const isEmpty = (value: unknown): boolean => value === null || value === undefined;

/** A value on one line; undefined if it needs several. */
function inline(value: unknown): string | undefined {
  if (typeof value === 'string') return value.includes('\n') ? undefined : value;
  if (typeof value !== 'object' || value === null) return String(value);
  if (isList(value)) {
    if (value.length === 0) return '(none)';
    const items = value.map((item) => (typeof item === 'object' ? undefined : inline(item)));
    return items.every((item) => item !== undefined) ? items.join(', ') : undefined;
  }
  return Object.values(value).every(isEmpty) ? '(empty)' : undefined;
}

function linesOf(value: unknown): string[] {
  const short = inline(value);
  if (short !== undefined) return [short];
  if (typeof value === 'string') return value.split('\n');
  if (isList(value))
    return value.flatMap((item, i) => {
      const sign = `${i + 1}. `;
      return linesOf(item).map((line, n) => (n === 0 ? sign : ' '.repeat(sign.length)) + line);
    });
  return Object.entries(value as object).flatMap(([name, member]) => {
    if (isEmpty(member)) return [];
    const text = inline(member);
    return text === undefined ? [`${name}:`, ...linesOf(member).map((line) => `  ${line}`)] : [`${name}: ${text}`];
  });
}

export const outline = (value: unknown): string => linesOf(value).join('\n');

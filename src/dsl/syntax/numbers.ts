/** Numbers and durations. */
import { type MistakeCode, UNITS, type Unit } from './ast.js';

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const WHOLE = /^-?\d+$/;
const DURATION = /^(\d+)(ms|s|m|h|d)$/;
/** A number with letters behind it, but none of another base. */
const WITH_UNIT = /^-?(?!0[xXbBoO])(\d+(?:\.\d+)?)([A-Za-z]+)[\dA-Za-z]*$/;

type NumericValue =
  | { readonly type: 'number'; readonly value: number }
  | { readonly type: 'duration'; readonly value: number; readonly unit: Unit };

interface NumericFault {
  readonly code: MistakeCode;
  readonly message: string;
  readonly expected?: readonly string[];
  readonly suggestion?: string;
}

const UNIT_LIST = Object.keys(UNITS)
  .join(', ')
  .replace(/, (\w+)$/, ' or $1');

/** Units that others write, in milliseconds. */
const OTHER_UNITS: readonly (readonly [RegExp, number])[] = [
  [/^(?:millis|msecs?|milliseconds?)$/, UNITS.ms],
  [/^(?:secs?|seconds?)$/, UNITS.s],
  [/^(?:mins?|minutes?)$/, UNITS.m],
  [/^(?:hrs?|hours?)$/, UNITS.h],
  [/^days?$/, UNITS.d],
  [/^(?:w|weeks?)$/, 7 * UNITS.d],
];

/** The same duration as the language writes it: 90m for 1.5h, 14d for 2weeks. */
function meantDuration(image: string): string | undefined {
  const [, digits, word] = /^(\d+(?:\.\d+)?)([A-Za-z]+)$/.exec(image) ?? [];
  if (digits === undefined) return undefined;
  const lower = word!.toLowerCase();
  const unit = UNITS[word as Unit] ?? OTHER_UNITS.find(([pattern]) => pattern.test(lower))?.[1];
  const ms = Number(digits) * (unit ?? Number.NaN);
  if (!Number.isSafeInteger(ms)) return undefined;
  const meant = durationOf(ms);
  return `${meant.value}${meant.unit}`;
}

function invalidNumber(image: string): NumericFault {
  const meant = image.replaceAll('_', '').replace(/^(-?)0+(?=\d)/, '$1');
  return {
    code: 'invalid_value',
    message: `invalid number \`${shorten(image)}\`: write digits, such as 10, -3 or 0.5`,
    ...(image.length <= MAX_SHOWN && NUMBER.test(meant) ? { suggestion: meant } : {}),
  };
}

function invalidDuration(image: string): NumericFault {
  const suggestion = image.length > MAX_SHOWN ? undefined : meantDuration(image);
  return {
    code: 'invalid_duration',
    message: `invalid duration \`${shorten(image)}\`: write digits and a unit (${UNIT_LIST}), such as 10s or 3d`,
    expected: Object.keys(UNITS),
    ...(suggestion === undefined ? {} : { suggestion }),
  };
}

const MAX_SHOWN = 30;
const shorten = (image: string): string => (image.length > MAX_SHOWN ? `${image.slice(0, MAX_SHOWN)}…` : image);

export function numericValue(image: string): NumericValue | NumericFault {
  if (NUMBER.test(image)) {
    const value = Number(image);
    if (!Number.isFinite(value))
      return { code: 'invalid_value', message: `the number ${shorten(image)} is too large: quote it` };
    // Another number would be stored than the one written.
    if (!Number.isSafeInteger(value) && WHOLE.test(image) && BigInt(value) !== BigInt(image))
      return {
        code: 'invalid_value',
        message: `the number ${shorten(image)} has too many digits to be stored exactly: quote it`,
      };
    return { type: 'number', value: value === 0 ? 0 : value };
  }
  const [, digits, unit] = DURATION.exec(image) ?? [];
  if (digits !== undefined) {
    const value = Number(digits);
    const ms = UNITS[unit as Unit];
    if (Number.isSafeInteger(value * ms)) return { type: 'duration', value, unit: unit as Unit };
    const longest = `${Math.floor(Number.MAX_SAFE_INTEGER / ms)}${unit}`;
    return {
      code: 'invalid_duration',
      message: `the duration ${shorten(image)} is too long: the longest is ${longest}`,
    };
  }
  return WITH_UNIT.test(image) ? invalidDuration(image) : invalidNumber(image);
}

/** A number as the language writes it: digits that are not exact are read with an exponent only. */
export const numberText = (value: number): string => {
  const text = String(value);
  return 'type' in numericValue(text) ? text : value.toExponential();
};

export const milliseconds = ({ value, unit }: { readonly value: number; readonly unit: Unit }): number =>
  value * UNITS[unit];

/** The largest unit that holds these milliseconds as a whole number. */
export function durationOf(ms: number): { readonly value: number; readonly unit: Unit } {
  const units = (Object.keys(UNITS) as Unit[]).reverse();
  const unit = units.find((one) => ms % UNITS[one] === 0 && (ms !== 0 || one === 's'))!;
  return { value: ms / UNITS[unit], unit };
}

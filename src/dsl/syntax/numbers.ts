/** Numbers and durations. */
import { type MistakeCode, UNITS, type Unit } from './ast.js';

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const WHOLE = /^-?\d+$/;
const DURATION = /^(\d+)(ms|s|m|h|d)$/;
/** A number with letters behind it. */
const WITH_UNIT = /^-?\d+(?:\.\d+)?[A-Za-z_]\w*$/;

export type NumericValue =
  | { readonly type: 'number'; readonly value: number }
  | { readonly type: 'duration'; readonly value: number; readonly unit: Unit };

export interface NumericFault {
  readonly code: MistakeCode;
  readonly message: string;
  readonly expected?: readonly string[];
}

const UNIT_LIST = Object.keys(UNITS)
  .join(', ')
  .replace(/, (\w+)$/, ' or $1');

export function numericValue(image: string): NumericValue | NumericFault {
  if (NUMBER.test(image)) {
    const value = Number(image);
    if (!Number.isFinite(value)) return { code: 'invalid_value', message: `the number ${image} is too large` };
    // Another number would be stored than the one written.
    if (WHOLE.test(image) && BigInt(value) !== BigInt(image))
      return {
        code: 'invalid_value',
        message: `the number ${image} has too many digits to be stored exactly: quote it`,
      };
    return { type: 'number', value: value === 0 ? 0 : value };
  }
  const [, digits, unit] = DURATION.exec(image) ?? [];
  if (digits !== undefined) {
    const value = Number(digits);
    if (Number.isSafeInteger(value * UNITS[unit as Unit])) return { type: 'duration', value, unit: unit as Unit };
    return { code: 'invalid_duration', message: `the duration ${image} is too long` };
  }
  if (WITH_UNIT.test(image))
    return {
      code: 'invalid_duration',
      message: `invalid duration \`${image}\`: write a whole number with the unit ${UNIT_LIST}, such as 10s or 3d`,
      expected: Object.keys(UNITS),
    };
  return { code: 'invalid_value', message: `invalid number \`${image}\`` };
}

export const milliseconds = ({ value, unit }: { readonly value: number; readonly unit: Unit }): number =>
  value * UNITS[unit];

/** The largest unit that holds these milliseconds as a whole number. */
export function durationOf(ms: number): { readonly value: number; readonly unit: Unit } {
  const units = (Object.keys(UNITS) as Unit[]).reverse();
  const unit = units.find((one) => ms % UNITS[one] === 0 && (ms !== 0 || one === 's'))!;
  return { value: ms / UNITS[unit], unit };
}

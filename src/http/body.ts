/** Request bodies: a JSON object in UTF-8, with numbers that a double can hold. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { CairnError, invalid, isObject, nextTurn } from '../kernel/index.js';
import { BodyScan, lossyNumber } from './body-scan.js';

/** A larger body is scanned before it is parsed. A smaller one takes no time to parse, whatever it holds. */
const LARGE_BYTES = 64 * 1024;
/** Scanned between two cooperative yields: about a millisecond. */
const SLICE_BYTES = 512 * 1024;

/** Whether a request may have a large body: by its length, or because it does not announce one. */
export const isLarge = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > LARGE_BYTES;

/** Parses a small body at once; scans a large one first and yields in between. */
export function parseBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw new CairnError('INVALID_JSON', 'the body is not valid UTF-8');
  if (bytes.length > LARGE_BYTES) return parseLarge(bytes);
  const text = bytes.toString('utf8');
  const value = parsed(text);
  refuseLossy(lossyNumber(text));
  return value;
}

async function parseLarge(bytes: Buffer): Promise<unknown> {
  const scan = new BodyScan(bytes);
  while (scan.advance(SLICE_BYTES)) await nextTurn();
  // Yields between steps that each take tens of milliseconds.
  await nextTurn();
  const text = bytes.toString('utf8');
  await nextTurn();
  const value = parsed(text);
  await nextTurn();
  refuseLossy(scan.lossy);
  return value;
}

function parsed(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new CairnError('INVALID_JSON', `the body is not valid JSON: ${(error as Error).message}`);
  }
  if (!isObject(value)) throw invalid('the body must be a JSON object');
  return value;
}

function refuseLossy(number: string | undefined): void {
  if (number === undefined) return;
  throw invalid(`the number ${number.slice(0, 40)} does not fit a double and would change: send it as a string`);
}

/** Request bodies: UTF-8 JSON, with numbers that a double can hold. Anything else is refused before it is looked at. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { CairnError, invalid, nextTurn } from '../kernel/index.js';
import { BodyScan, lossyNumber } from './body-scan.js';

/** A smaller body is parsed in no time whatever it holds, and its values are checked anyway. */
const WORTH_A_LOOK = 64 * 1024;
/** Scanned between two cooperative yields: about a millisecond. */
const SLICE_BYTES = 512 * 1024;

/** Whether a request has a body that is read in steps; one that does not tell its length may have. */
export const isLarge = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > WORTH_A_LOOK;

/** At once for a small body; a large one is scanned before it is parsed, and others have their turn in between. */
export function parseBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw new CairnError('INVALID_JSON', 'the body is not valid UTF-8');
  if (bytes.length > WORTH_A_LOOK) return parseLarge(bytes);
  const text = bytes.toString('utf8');
  const value = parsed(text);
  refuseLossy(lossyNumber(text));
  return value;
}

async function parseLarge(bytes: Buffer): Promise<unknown> {
  const scan = new BodyScan(bytes);
  while (scan.advance(SLICE_BYTES)) await nextTurn();
  // A turn of the loop for each: of a large body either takes tens of milliseconds.
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
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid('the body must be a JSON object');
  }
  return value;
}

function refuseLossy(number: string | undefined): void {
  if (number === undefined) return;
  throw invalid(`the number ${number.slice(0, 40)} does not fit a double and would be altered: send it as a string`);
}

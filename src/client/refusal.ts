/** Errors that a server answers with. */
import { CairnError, isErrorCode } from '../kernel/index.js';

/** The error in the body of an answer. */
export function refusal(status: number, text: string): CairnError {
  try {
    const known = knownError(JSON.parse(text));
    if (known) return known;
  } catch {
    // Not an answer of a Cairn server.
  }
  return new CairnError('SERVER_UNREACHABLE', `not an answer of a Cairn server: ${status} ${text.slice(0, 200)}`);
}

/** Undefined if the value is no error of Cairn. */
export function knownError(value: unknown): CairnError | undefined {
  const { code, message, details } = Object(value) as {
    code: unknown;
    message: string;
    details?: Record<string, unknown>;
  };
  if (!isErrorCode(code)) return undefined;
  // `closed` holds for that server only: another one may take its place.
  return new CairnError(code, message, code === 'SHUTTING_DOWN' ? undefined : details);
}

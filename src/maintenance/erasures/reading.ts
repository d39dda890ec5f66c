/** What a read of forgotten content answers: 410 with the receipt. */
import type { Call } from '../../engine/index.js';
import { CairnError } from '../../kernel/index.js';
import { receiptsOf } from './store.js';

const MAX_IDS = 100;

/** The ids that a request or the details of an error name. */
const idsIn = (named: Readonly<Record<string, unknown>> = {}): string[] =>
  Object.entries(named)
    .filter(([name]) => /_ids?$/.test(name))
    .flatMap(([, value]) => (Array.isArray(value) ? value : [value]))
    .filter((id) => typeof id === 'string');

/** Refusals of a read that may be due to an erasure. A restricted agent is not told of what it cannot find. */
const mayBeForgotten = ({ acting }: Call, { code, status }: CairnError): boolean =>
  code === 'CONTENT_ERASED' || code === 'ENTITY_GONE' || (status === 404 && !acting);

/** The error of a call, with the receipt if it is about something that was forgotten. `about`: the ids in its path. */
export async function withReceipt(call: Call, about: Readonly<Record<string, unknown>>, error: unknown) {
  if (!(error instanceof CairnError) || !mayBeForgotten(call, error)) return error;
  const ids = [...new Set([...idsIn(error.details), ...idsIn(about)])].slice(0, MAX_IDS);
  const receipts = ids.length === 0 ? new Map<string, string>() : await receiptsOf(call.driver.at(call.tenant), ids);
  if (receipts.size === 0) return error;
  const [forgotten, erasure_id] = [...receipts][0]!;
  const message = error.status === 404 ? `${forgotten} was forgotten` : error.message;
  return new CairnError(
    error.status === 404 ? 'CONTENT_ERASED' : error.code,
    `${message}: see erasure ${erasure_id}`,
    { ...error.details, erasure_id, forgotten_ids: [...receipts.keys()] },
    error,
  );
}

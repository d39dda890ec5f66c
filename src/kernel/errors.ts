/** Every error that Cairn answers with: one table of codes, one class. A test compares the table with docs/errors.md. */

export const errorCodes = {
  INVALID_INPUT: { status: 400, meaning: 'A field is missing, unknown, of the wrong type or out of range.' },
  INVALID_JSON: { status: 400, meaning: 'The body is not valid JSON in UTF-8.' },
  INVALID_CURSOR: { status: 400, meaning: 'The cursor or resume token does not belong to this operation.' },
  INVALID_CONTENT: { status: 400, meaning: 'The content does not fit the card type in metadata.type.' },
  UNKNOWN_CARD: { status: 400, meaning: 'A card in the request does not exist or is deleted.' },
  UNKNOWN_ENTITY: { status: 400, meaning: 'An entity in the request does not exist or is deleted.' },
  UNKNOWN_BASE: { status: 400, meaning: 'The base of the changes is no checkpoint of this execution, or was removed.' },
  UNKNOWN_PARENT: { status: 400, meaning: 'A parent packet does not exist in this tenant.' },
  INVALID_LINEAGE: { status: 400, meaning: 'The given generation or root does not follow from the parents.' },
  RESERVED_TYPE: { status: 400, meaning: 'Packet types that start with cairn. are reserved.' },
  UNSUPPORTED_VERSION: { status: 400, meaning: 'This Cairn cannot read the version of the checkpoint or bundle.' },
  CONTEXT_BUDGET_TOO_SMALL: { status: 400, meaning: 'The mandatory parts of the context exceed its token_budget.' },
  INVALID_SOURCE: { status: 400, meaning: 'The source has errors, which the details list by line and column.' },
  TOO_MANY_ATTEMPTS: { status: 429, meaning: 'Too many wrong keys came from this address within a minute.' },
  UNAUTHORIZED: { status: 401, meaning: 'The request needs a key, and has none, an unknown one or a revoked one.' },
  FORBIDDEN: { status: 403, meaning: 'The key is valid, but its role or agent may not do this.' },
  TENANT_MISMATCH: { status: 403, meaning: 'The tenant in the header or path is not the tenant of the key.' },
  HOST_REFUSED: { status: 403, meaning: 'Without keys the store serves local clients only, by Host and Origin.' },
  ROUTE_NOT_FOUND: { status: 404, meaning: 'No operation has this path.' },
  METHOD_NOT_ALLOWED: { status: 405, meaning: 'The path exists, but not with this method.' },
  CARD_NOT_FOUND: { status: 404, meaning: 'No card has this id, or it was deleted.' },
  BOX_NOT_FOUND: { status: 404, meaning: 'No box has this id.' },
  PACKET_NOT_FOUND: { status: 404, meaning: 'No packet has this id, or the caller may not see it.' },
  TRAJECTORY_NOT_FOUND: { status: 404, meaning: 'No trajectory has this id, or it was deleted.' },
  SCOPE_NOT_FOUND: { status: 404, meaning: 'No scope has this id, or its trajectory was deleted.' },
  TURN_NOT_FOUND: { status: 404, meaning: 'No turn has this id, or its scope was closed.' },
  ARTIFACT_NOT_FOUND: { status: 404, meaning: 'No artifact has this id, or it was deleted.' },
  NOTE_NOT_FOUND: { status: 404, meaning: 'No note has this id, or it was deleted.' },
  EDGE_NOT_FOUND: { status: 404, meaning: 'No edge has this id, or it was deleted.' },
  POLICY_NOT_FOUND: { status: 404, meaning: 'No summarization policy has this id, or it was deleted.' },
  JOB_NOT_FOUND: { status: 404, meaning: 'No job has this id.' },
  EXECUTION_NOT_FOUND: { status: 404, meaning: 'No execution has this id, or it was deleted.' },
  CHECKPOINT_NOT_FOUND: { status: 404, meaning: 'No checkpoint has this id, or it was pruned or deleted.' },
  AGENT_NOT_FOUND: { status: 404, meaning: 'No agent is registered with this id.' },
  PROFILE_NOT_FOUND: { status: 404, meaning: 'No profile has this name.' },
  HANDOVER_NOT_FOUND: { status: 404, meaning: 'No packing recipe has this name.' },
  AGENT_TURN_NOT_FOUND: { status: 404, meaning: 'No agent_turn has this id.' },
  BATCH_NOT_FOUND: { status: 404, meaning: 'No fork_join batch has this id.' },
  DELEGATION_NOT_FOUND: { status: 404, meaning: 'No delegation has this id.' },
  HANDOFF_NOT_FOUND: { status: 404, meaning: 'No handoff has this id.' },
  MESSAGE_NOT_FOUND: { status: 404, meaning: 'No message has this id, or it has expired.' },
  PAUSE_NOT_FOUND: { status: 404, meaning: 'No pause has this id, or it was erased with its run.' },
  LOCK_NOT_FOUND: { status: 404, meaning: 'No lock has this id.' },
  MANIFEST_NOT_FOUND: { status: 404, meaning: 'No manifest has this id, or its trajectory was deleted.' },
  ERASURE_NOT_FOUND: { status: 404, meaning: 'No receipt has this id.' },
  KEY_NOT_FOUND: { status: 404, meaning: 'No key has this id.' },
  ENTITY_ALREADY_EXISTS: { status: 409, meaning: 'The id already exists with different content.' },
  IDEMPOTENCY_CONFLICT: { status: 409, meaning: 'Another request or agent already used this Idempotency-Key.' },
  CONCURRENT_MODIFICATION: { status: 409, meaning: 'The entity changed since the given revision or version.' },
  STALE_TURN: { status: 409, meaning: 'The agent_turn is not held with this turn_epoch; another may have it.' },
  TOOL_RESULT_EXISTS: { status: 409, meaning: 'The output box already has a result for this tool_call_id.' },
  AGENT_BUSY: { status: 409, meaning: 'The agent already has an active agent_turn.' },
  DELEGATION_TOO_DEEP: { status: 409, meaning: 'The task was delegated too many times in a row.' },
  LOCK_CONFLICT: { status: 409, meaning: 'Another holder has the lock, and it was not granted in time.' },
  LOCK_EXPIRED: { status: 409, meaning: 'The lock has expired or was released.' },
  NOT_ATTEMPTED: { status: 409, meaning: 'An earlier item of the batch failed and stop_on_error was set.' },
  BOX_SEALED: { status: 409, meaning: 'A sealed box cannot change.' },
  PAUSE_EXPIRED: { status: 409, meaning: 'A question had no answer by its deadline, and no default.' },
  STATE_CONFLICT: { status: 409, meaning: 'The current state of the entity does not allow this.' },
  SCOPE_CLOSED: { status: 409, meaning: 'The scope is closed.' },
  SEQUENCE_CONFLICT: { status: 409, meaning: 'The given sequence is not the next one.' },
  BUDGET_EXCEEDED: { status: 409, meaning: 'The turn does not fit into the budget of a scope that enforces it.' },
  NOT_RECOVERABLE: { status: 409, meaning: 'The scope has no checkpoint to restore.' },
  EDGE_CYCLE: { status: 409, meaning: 'The edge would close a cycle of Supersedes or DerivedFrom.' },
  BOX_HELD: { status: 409, meaning: 'The box belongs to a scope or its checkpoint.' },
  CARD_HELD: { status: 409, meaning: 'The card belongs to a turn, artifact or note.' },
  AMBIGUOUS_TIME: { status: 409, meaning: 'as_of lies in a period that was recorded twice, after a clock ran ahead.' },
  STREAM_RESET: { status: 409, meaning: 'The resume token is from an earlier epoch: the store was restored.' },
  ENTITY_GONE: { status: 410, meaning: 'The id belonged to an entity that is deleted or erased.' },
  CONTENT_ERASED: { status: 410, meaning: 'The content expired or was erased; only its record remains.' },
  TOO_LARGE: { status: 413, meaning: 'The body, a card, the headers or the answer exceed their limit.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: 'The body is not application/json.' },
  INTERNAL: { status: 500, meaning: 'A defect in Cairn.' },
  DATABASE_UNAVAILABLE: { status: 503, meaning: 'The database is unreachable.' },
  COMMIT_UNKNOWN: { status: 503, meaning: 'The connection was lost at COMMIT: the write may or may not exist.' },
  MODEL_FAILED: { status: 502, meaning: 'A model endpoint failed, timed out or returned an unusable answer.' },
  SERVER_UNREACHABLE: { status: 503, meaning: 'The client cannot reach the server. The write may have arrived.' },
  OVERLOADED: { status: 503, meaning: 'Too many requests are waiting.' },
  SHUTTING_DOWN: { status: 503, meaning: 'The server is stopping.' },
  STORAGE_FULL: { status: 507, meaning: 'The disk is full.' },
  STORAGE_FAILED: { status: 500, meaning: 'The disk or the database file failed.' },
  SCHEMA_MISMATCH: { status: 500, meaning: 'Another version of Cairn created the database.' },
  SLOW_READER: { status: 503, meaning: 'The stream was closed because its reader did not keep up.' },
} as const;

export type ErrorCode = keyof typeof errorCodes;

type ErrorDetails = Readonly<Record<string, unknown>>;

export class CairnError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: ErrorDetails | undefined;

  constructor(code: ErrorCode, message: string, details?: ErrorDetails, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'CairnError';
    this.code = code;
    this.status = errorCodes[code].status;
    this.details = details;
  }

  toJSON(): { code: ErrorCode; message: string; details?: ErrorDetails } {
    return { code: this.code, message: this.message, ...(this.details === undefined ? {} : { details: this.details }) };
  }
}

export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorCodes, code);
}

export const invalid = (message: string, details?: ErrorDetails): CairnError =>
  new CairnError('INVALID_INPUT', message, details);

type NounWithId = ErrorCode extends infer C ? (C extends `${infer N}_NOT_FOUND` ? Lowercase<N> : never) : never;

/** No such entity. `hint` continues the sentence: what may have happened to it, or what to do. */
export const notFound = (
  { tenant }: { readonly tenant: string },
  noun: NounWithId,
  id: string,
  hint = '',
): CairnError =>
  new CairnError(
    `${noun.toUpperCase()}_NOT_FOUND` as ErrorCode,
    `there is no ${noun.replace('_', ' ')} ${id} in tenant ${tenant}${hint}`,
  );

/** Returns the row of an entity; throws `notFound` if it is missing or deleted. */
export function present<R extends { readonly deleted_at?: number | null }>(
  within: { readonly tenant: string },
  noun: NounWithId,
  id: string,
  row: R | undefined,
): R {
  if (!row || (row.deleted_at ?? null) !== null) throw notFound(within, noun, id);
  return row;
}

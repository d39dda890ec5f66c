/** Every error that Cairn answers with: one table of codes, one class. docs/errors.md is held equal to it by a test. */

export const errorCodes = {
  INVALID_INPUT: { status: 400, meaning: 'A field is missing, unknown, of the wrong type or out of range.' },
  INVALID_JSON: { status: 400, meaning: 'The body is not valid JSON in UTF-8.' },
  INVALID_CURSOR: { status: 400, meaning: 'The cursor or resume token was not made by this operation.' },
  INVALID_CONTENT: { status: 400, meaning: 'The content does not fit the card type that the metadata names.' },
  UNKNOWN_CARD: { status: 400, meaning: 'A card that the request refers to does not exist or is gone.' },
  UNKNOWN_ENTITY: {
    status: 400,
    meaning: 'A trajectory, scope, artifact or other entity that the request refers to does not exist or is gone.',
  },
  UNKNOWN_PARENT: { status: 400, meaning: 'A parent packet does not exist in this tenant.' },
  INVALID_LINEAGE: {
    status: 400,
    meaning: 'The generation or root that the client claims is not the one that follows.',
  },
  RESERVED_TYPE: { status: 400, meaning: 'Packet types that start with "cairn." belong to Cairn itself.' },
  UNSUPPORTED_VERSION: {
    status: 400,
    meaning: 'The checkpoint or bundle is of a version that this Cairn cannot read.',
  },
  CONTEXT_BUDGET_TOO_SMALL: { status: 400, meaning: 'What must be in the context does not fit into its token_budget.' },
  TOO_MANY_ATTEMPTS: {
    status: 429,
    meaning: 'Too many wrong keys came from this address. A good key is not affected.',
  },
  UNAUTHORIZED: { status: 401, meaning: 'A key is needed, and none, an unknown or a revoked one was given.' },
  FORBIDDEN: { status: 403, meaning: 'The key is valid but its role or agent may not do this.' },
  TENANT_MISMATCH: { status: 403, meaning: 'The tenant in the header or path is not the tenant of the key.' },
  HOST_REFUSED: {
    status: 403,
    meaning: 'Without keys only local clients are served: the Host or Origin is not local.',
  },
  ROUTE_NOT_FOUND: { status: 404, meaning: 'No operation has this method and path.' },
  METHOD_NOT_ALLOWED: {
    status: 405,
    meaning: 'The path exists, but not with this method. The Allow header lists those it has.',
  },
  CARD_NOT_FOUND: { status: 404, meaning: 'No card with this id, or it was deleted.' },
  BOX_NOT_FOUND: { status: 404, meaning: 'No box with this id.' },
  PACKET_NOT_FOUND: { status: 404, meaning: 'No packet with this id.' },
  TRAJECTORY_NOT_FOUND: { status: 404, meaning: 'No trajectory with this id, or it was deleted.' },
  SCOPE_NOT_FOUND: { status: 404, meaning: 'No scope with this id, or it went with its trajectory.' },
  TURN_NOT_FOUND: { status: 404, meaning: 'No turn with this id, or its scope was closed.' },
  ARTIFACT_NOT_FOUND: { status: 404, meaning: 'No artifact with this id, or it was deleted.' },
  NOTE_NOT_FOUND: { status: 404, meaning: 'No note with this id, or it was deleted.' },
  EDGE_NOT_FOUND: { status: 404, meaning: 'No edge with this id, or it was deleted.' },
  POLICY_NOT_FOUND: { status: 404, meaning: 'No summarization policy with this id, or it was deleted.' },
  JOB_NOT_FOUND: { status: 404, meaning: 'No job with this id.' },
  EXECUTION_NOT_FOUND: { status: 404, meaning: 'No execution with this id, or it was deleted.' },
  CHECKPOINT_NOT_FOUND: {
    status: 404,
    meaning: 'No checkpoint with this id, or it was pruned or deleted with its execution.',
  },
  AGENT_NOT_FOUND: { status: 404, meaning: 'No agent with this id is registered.' },
  PROFILE_NOT_FOUND: { status: 404, meaning: 'No profile with this name.' },
  HANDOVER_NOT_FOUND: { status: 404, meaning: 'No packing recipe with this name.' },
  AGENT_TURN_NOT_FOUND: { status: 404, meaning: 'No agent_turn with this id.' },
  BATCH_NOT_FOUND: { status: 404, meaning: 'No fork_join batch with this id.' },
  DELEGATION_NOT_FOUND: { status: 404, meaning: 'No delegation with this id.' },
  HANDOFF_NOT_FOUND: { status: 404, meaning: 'No handoff with this id.' },
  MESSAGE_NOT_FOUND: { status: 404, meaning: 'No message with this id, or it has expired.' },
  LOCK_NOT_FOUND: { status: 404, meaning: 'No lock with this id.' },
  MANIFEST_NOT_FOUND: { status: 404, meaning: 'No manifest with this id, or it went with its trajectory.' },
  KEY_NOT_FOUND: { status: 404, meaning: 'No key with this id.' },
  ENTITY_ALREADY_EXISTS: { status: 409, meaning: 'The id is taken by something else than what was sent.' },
  IDEMPOTENCY_CONFLICT: { status: 409, meaning: 'The Idempotency-Key was used for another request.' },
  CONCURRENT_MODIFICATION: {
    status: 409,
    meaning: 'What is to be changed has changed since the revision or version that the request names.',
  },
  STALE_TURN: {
    status: 409,
    meaning: 'The agent_turn is no longer held with this turn_epoch: another may have it. Stop working on it.',
  },
  TOOL_RESULT_EXISTS: { status: 409, meaning: 'The output box has a result for this tool_call_id already.' },
  AGENT_BUSY: { status: 409, meaning: 'The agent has an agent_turn under way: wait for its end, or stop it.' },
  DELEGATION_TOO_DEEP: {
    status: 409,
    meaning: 'The task was delegated too many times already: who has it must do it, or give it back.',
  },
  LOCK_CONFLICT: { status: 409, meaning: 'Another holds the lock, and it was not to be had in time.' },
  LOCK_EXPIRED: { status: 409, meaning: 'The lock is over: its time ran out, or it was released. Acquire it anew.' },
  NOT_ATTEMPTED: { status: 409, meaning: 'An earlier item of the batch failed and stop_on_error was set.' },
  BOX_SEALED: { status: 409, meaning: 'A sealed box cannot change. Fork it to go on.' },
  STATE_CONFLICT: {
    status: 409,
    meaning: 'The state that the entity is in does not allow this. The message says which it is in.',
  },
  SCOPE_CLOSED: { status: 409, meaning: 'The scope is closed. Open a new one, or restore its checkpoint.' },
  SEQUENCE_CONFLICT: {
    status: 409,
    meaning: 'The sequence that was given is not the next one of the scope. Leave it out to have it assigned.',
  },
  BUDGET_EXCEEDED: { status: 409, meaning: 'The turn does not fit into the budget of a scope that enforces it.' },
  NOT_RECOVERABLE: { status: 409, meaning: 'The scope has no checkpoint to restore from.' },
  EDGE_CYCLE: { status: 409, meaning: 'The edge would close a cycle of Supersedes or DerivedFrom.' },
  BOX_HELD: {
    status: 409,
    meaning: 'The box belongs to a scope or its checkpoint, which alone changes it. Add turns there, or fork it.',
  },
  CARD_HELD: {
    status: 409,
    meaning: 'The card is that of a turn, artifact or note. Delete or close what it belongs to.',
  },
  AMBIGUOUS_TIME: {
    status: 409,
    meaning: 'The moment lies in a time that was recorded twice, since a clock was ahead once.',
  },
  STREAM_RESET: {
    status: 409,
    meaning: 'The resume token is from another life of this store. Read again from the start.',
  },
  ENTITY_GONE: {
    status: 410,
    meaning: 'The id was used before, by something that is deleted or erased. Ids are never used twice.',
  },
  CONTENT_ERASED: { status: 410, meaning: 'The content expired or was erased; what remains is its record.' },
  TOO_LARGE: { status: 413, meaning: 'The body, a card or the answer exceeds its limit.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: 'Bodies are application/json.' },
  INTERNAL: { status: 500, meaning: 'A defect in Cairn. The log has the details under the request id.' },
  DATABASE_UNAVAILABLE: { status: 503, meaning: 'The database cannot be reached. Nothing was written. Try again.' },
  COMMIT_UNKNOWN: {
    status: 503,
    meaning:
      'The connection was lost at COMMIT and the outcome could not be learned. Ask again with the same id or Idempotency-Key.',
  },
  MODEL_FAILED: { status: 502, meaning: 'A model endpoint failed, gave no answer in time, or answered with nonsense.' },
  SERVER_UNREACHABLE: {
    status: 503,
    meaning: 'Said by the client: the server cannot be reached. Whether a write arrived is not known.',
  },
  OVERLOADED: { status: 503, meaning: 'Too much is waiting. Nothing was written. Try again later.' },
  SHUTTING_DOWN: { status: 503, meaning: 'The server is stopping. Nothing was written.' },
  STORAGE_FULL: { status: 507, meaning: 'The disk is full. Nothing was written. Free some space and try again.' },
  STORAGE_FAILED: {
    status: 500,
    meaning: 'The disk or the database file failed. Nothing was written. Run `cairn doctor`.',
  },
  SCHEMA_MISMATCH: { status: 500, meaning: 'The database was made by another version of Cairn.' },
  SLOW_READER: {
    status: 503,
    meaning: 'A stream was ended since its reader did not keep up. Resume from the last event.',
  },
} as const;

export type ErrorCode = keyof typeof errorCodes;

export type ErrorDetails = Readonly<Record<string, unknown>>;

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

/** The input breaks a rule. */
export const invalid = (message: string, details?: ErrorDetails): CairnError =>
  new CairnError('INVALID_INPUT', message, details);

type NounWithId = ErrorCode extends infer C ? (C extends `${infer N}_NOT_FOUND` ? Lowercase<N> : never) : never;

/** No such entity. A `hint` goes on with the sentence: what may have become of it, or what to do. */
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

/** The row of an entity, or the error that there is none, if it is missing or deleted. */
export function present<R extends { readonly deleted_at?: number | null }>(
  within: { readonly tenant: string },
  noun: NounWithId,
  id: string,
  row: R | undefined,
): R {
  if (!row || (row.deleted_at ?? null) !== null) throw notFound(within, noun, id);
  return row;
}

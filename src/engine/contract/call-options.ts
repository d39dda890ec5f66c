/** Options of any call, besides its input. */
export interface CallOptions {
  /** Makes the call safe to repeat for 24 hours: the same key with the same input runs once. */
  idempotency_key?: string;
  /** `<agent_turn_id>:<turn_epoch>`: acts as that agent, and is refused unless the turn is still held in that epoch. */
  agent_turn?: string;
  /** `<lock_id>:<fencing_token>`: a write is refused unless the lock is still held with that token. */
  fencing_token?: string;
  /** The user that the call is made for: it reads what is about this user or about nobody, and writes what is about this user. */
  user?: string;
  /** Stops a stream or a wait; abandons a call over HTTP. */
  signal?: AbortSignal;
  /** The caller hands the input over and will not change it: it is not copied, and a large one is read in steps. */
  owned?: boolean;
}

/** What a caller may give with any call, besides its input. */
export interface CallOptions {
  /** Makes the call safe to repeat for 24 hours: the same key with the same input is done once. */
  idempotency_key?: string;
  /** `<agent_turn_id>:<turn_epoch>`: the call is made as that agent, and refused unless that turn is still held so. */
  agent_turn?: string;
  /** `<lock_id>:<fencing_token>`: a write is refused unless that lock is still held so. */
  fencing_token?: string;
  /** Ends waiting: a stream stops, a call over HTTP is abandoned. */
  signal?: AbortSignal;
  /** The input is given away: the caller will not change it, so it is not copied, and a large one is read in steps. */
  owned?: boolean;
}

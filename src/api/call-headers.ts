/** The HTTP headers of call options. `user` may be any text, so it is percent-encoded. */
export const CALL_HEADERS = [
  ['idempotency_key', 'idempotency-key'],
  ['agent_turn', 'x-agent-turn'],
  ['fencing_token', 'x-fencing-token'],
  ['user', 'x-user'],
] as const;

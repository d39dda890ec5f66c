/** The HTTP headers of call options. */
export const CALL_HEADERS = [
  ['idempotency_key', 'idempotency-key'],
  ['agent_turn', 'x-agent-turn'],
  ['fencing_token', 'x-fencing-token'],
] as const;

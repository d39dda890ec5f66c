/** Questions that wait for an answer, for the generated tests. */
import type { Api } from '#cairn/api/index.js';

/** One of an execution of its own, which stays as it is otherwise. */
export async function plantPause(cairn: Api, secret: string): Promise<{ pause_id: string }> {
  const { execution_id } = await cairn.executions.create({ name: secret });
  const { pause_id } = await cairn.pauses.create({
    execution_id,
    question: secret,
    details: { about: secret },
    ask_key: secret,
    timeout_ms: 7 * 24 * 3_600_000,
    default: { action: 'reject', comment: secret },
  });
  return { pause_id };
}

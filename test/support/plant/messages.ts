/** A message for the generated tests, in a mailbox from which it can be taken and acknowledged. */
import type { Api } from '#cairn/client/index.js';

export async function plantMessage(cairn: Api, payload: string): Promise<{ message_id: string }> {
  const { message_id } = await cairn.messages.send({
    from_agent_id: 'planner-1',
    to_agent_id: 'reviewer-1',
    message_type: 'note',
    payload,
  });
  return { message_id };
}

// A reader of messages in a process of its own: `node messages.mjs <database> <agent_id> hold|read`. It tells what
// it was handed. One that holds acknowledges nothing; one that reads acknowledges each, and tells so after that.
import { openCairn } from 'cairndb';

const [database, agent_id, mode] = process.argv.slice(2);
const say = (message) => new Promise((resolve) => process.send(message, resolve));

const cairn = await openCairn({ database, sweep_every_ms: 0 });
await say({ ready: true });
for (;;) {
  const { messages } = await cairn.messages.receive({ agent_id, limit: 3, lease_ms: 400, wait_ms: 1000 });
  await say({ handed: messages.map(({ payload }) => payload) });
  if (mode === 'hold') await new Promise((resolve) => process.once('message', resolve));
  for (const { message_id, payload } of messages) {
    try {
      await cairn.messages.acknowledge({ message_id, agent_id });
      await say({ acknowledged: payload });
    } catch (error) {
      // It took so long that the message was handed to another reader, who was first.
      if (error.code !== 'STATE_CONFLICT') throw error;
    }
  }
}

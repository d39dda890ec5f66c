// Follow the stream, stop, and resume where it stopped: `npx tsx examples/follow-events.ts`. Needs no server.
import { openCairn } from 'cairndb';

const cairn = await openCairn({ database: './memory.db' });
let token = '0'; // the start of history

/** Reads `count` events, then stops. */
async function read(count = 1) {
  // #region follow-events
  for await (const event of cairn.events.follow({ after: token })) {
    token = event.token; // store it: the stream resumes after it
    if (event.packet === null) continue; // a heartbeat
    console.log(event.packet.seq, event.packet.packet_type);
    if (--count === 0) break;
  }
  // #endregion
}

await cairn.packets.write({ packet_type: 'event', payload: { step: 1 } });
await cairn.packets.write({ packet_type: 'event', payload: { step: 2 } });
await read(2);

// Written while nobody follows the stream ...
await cairn.cards.add({ content: 'written while nobody followed' });

// ... and delivered when the stream resumes: nothing is lost, nothing comes twice.
console.log('resume');
await read();

await cairn.close();

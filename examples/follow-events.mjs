// Follow the stream, stop, and resume where it stopped: `node examples/follow-events.mjs`. Needs no server.
import { openCairn } from 'cairndb';

const cairn = await openCairn({ database: './memory.db' });
let token = '0'; // the start of history

/** Reads so many events, then stops. */
async function read(count = 1) {
  // #region follow-events
  for await (const event of cairn.events.follow({ after: token })) {
    token = event.token; // keep it: this is where to go on
    if (event.packet === null) continue; // a heartbeat
    console.log(event.packet.seq, event.packet.packet_type);
    if (--count === 0) break;
  }
  // #endregion
}

await cairn.packets.write({ packet_type: 'event', payload: { step: 1 } });
await cairn.packets.write({ packet_type: 'event', payload: { step: 2 } });
await read(2);

// Nobody listens while this is written ...
await cairn.cards.add({ content: 'written while nobody listened' });

// ... and the stream goes on behind the last event: nothing is lost, nothing comes twice.
console.log('resume');
await read();

await cairn.close();

// A process of its own on the build: `node child.mjs write|open <database> <name> <count>`. It says when it is
// ready, waits for the parent's word, so that several begin together, then reports what it did.
import { openCairn } from '#cairn/index.js';

const [mode, database, name, count] = process.argv.slice(2);
const say = (message) => new Promise((resolve) => process.send(message, resolve));
const word = () => new Promise((resolve) => process.once('message', resolve));
const open = () => openCairn({ database, sweep_every_ms: 0 });

/** A card, its append, a packet, in turn: each one write, with no pause between them that others could use. */
async function write(cairn) {
  let card_id;
  for (let n = 0; n < Number(count); n++) {
    const mark = `${name}/${n}`;
    if (n % 3 === 0) {
      ({ card_id } = await cairn.cards.add({ content: { mark } }));
      process.send({ wrote: 'card', mark });
    } else if (n % 3 === 1) {
      await cairn.boxes.append({ box_id: 'shared', card_ids: [card_id] });
      process.send({ wrote: 'append', mark: card_id });
    } else {
      await cairn.packets.write({ packet_type: 'load', payload: { mark } });
      process.send({ wrote: 'packet', mark });
    }
  }
}

try {
  if (mode === 'write') {
    const cairn = await open();
    await say({ ready: true });
    await word();
    await write(cairn);
    await say({ finished: true });
    await cairn.close();
  } else {
    await say({ ready: true });
    await word();
    const cairn = await open();
    await cairn.packets.write({ packet_type: 'load', payload: { mark: name } });
    await say({ wrote: 'packet', mark: name });
    await cairn.close();
    await say({ finished: true });
  }
} catch (error) {
  await say({ failed: `${error.code ?? ''} ${error.stack ?? error}` });
}
process.disconnect();

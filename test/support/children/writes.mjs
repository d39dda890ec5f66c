// A process of its own on the build: `node writes.mjs write|open|turns <database> <name> <count>`, or
// `close <database> <scope_id>`. It says when it is ready, waits for the parent's word, so that several begin together,
// then reports what it did.
import { openCairn } from 'cairndb';

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

/** Turns to the scope that `name` ends with, some at a time; each is reported with its place. */
async function addTurns(cairn) {
  const scope_id = name.split(' ').at(-1);
  const add = async (n) => {
    const content = `${name}/${n}`;
    const { sequence } = await cairn.turns.add({ scope_id, role: 'User', content, token_count: 1 + (n % 5) });
    process.send({ turn: content, sequence, token_count: 1 + (n % 5) });
  };
  for (let n = 0; n < Number(count); n += 8) await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map((i) => add(n + i)));
}

/** Closes a scope without waiting, then tells again and again how much is erased, until it is done. */
async function closeScope(cairn, scope_id) {
  await cairn.scopes.close({ scope_id });
  for (;;) {
    const { erasure } = await cairn.scopes.get({ scope_id });
    await say({ erasure });
    if (erasure.state === 'done') return;
    // Told without a pause, it would take the process for itself.
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

try {
  if (mode === 'close') {
    const cairn = await open();
    await say({ ready: true });
    await word();
    await closeScope(cairn, name);
    await cairn.close();
  } else if (mode === 'turns') {
    const cairn = await open();
    await say({ ready: true });
    await word();
    await addTurns(cairn);
    await say({ finished: true });
    await cairn.close();
  } else if (mode === 'write') {
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

// A process of its own that keeps checkpoints: `node checkpoints.mjs loop|named|unnamed <database> <name> <count>`,
// or `prune|delete <database>`. It says when it is ready, waits for the parent's word, then tells of every checkpoint
// before it is sent and after it was acknowledged.

import { openCairn } from 'cairndb';
import { canonical, sha256 } from '#cairn/kernel/node.js';

const [mode, database, name, count] = process.argv.slice(2);
const say = (message) => new Promise((resolve) => process.send(message, resolve));
const word = () => new Promise((resolve) => process.once('message', resolve));
const execution_id = 'run';
const hashOf = (snapshot) => sha256(canonical(snapshot));

const empty = () => ({
  thought_chain: { steps: [] },
  context: { messages: [], variables: { log: [], plan: { steps: [] }, now: '' } },
  tool_state: { pending: [], completed: [] },
});

/** Changes the very object that was sent before, in all its parts. */
function edit(snapshot, n) {
  const { thought_chain, context, tool_state } = snapshot;
  const mark = `${name}/${n} `;
  context.messages.push({ role: 'user', content: mark.repeat(1 + (n % 7) * 30) });
  if (n % 3 === 0) context.messages[(n * 7) % context.messages.length].content = `${mark}said otherwise`;
  if (context.messages.length > 40) context.messages.splice(0, 5);
  context.variables.now = mark.repeat(20);
  context.variables.log.push(mark.repeat(15));
  if (n % 5 === 0) context.variables.log[(n * 3) % context.variables.log.length] = { mark };
  if (context.variables.log.length > 60) context.variables.log.splice(0, 20);
  context.variables.plan.steps.push({ mark, text: mark.repeat(40) });
  context.variables.plan.steps[(n * 5) % context.variables.plan.steps.length].done = mark;
  if (context.variables.plan.steps.length > 30) context.variables.plan = { steps: [] };
  const thought = { id: `t-${mark}`, type: 'planning', content: mark, confidence: 0.5, children: [], timestamp: n };
  thought_chain.steps.push(thought);
  thought_chain.steps[(n * 3) % thought_chain.steps.length].confidence = (n % 10) / 10;
  if (thought_chain.steps.length > 30) thought_chain.steps.splice(3, 10);
  tool_state.pending = [`after ${mark}`];
  const call = { tool_id: 'shell', arguments: { n }, result: mark, success: n % 4 > 0, duration_ms: n, timestamp: 1 };
  tool_state.completed.push(call);
  if (tool_state.completed.length > 20) tool_state.completed.splice(0, 10);
}

/** Goes on until it is killed, from where the run stands. */
async function loop(cairn) {
  const { latest_checkpoint_id } = await cairn.executions.get({ execution_id });
  const snapshot =
    latest_checkpoint_id === null
      ? empty()
      : (await cairn.checkpoints.get({ checkpoint_id: latest_checkpoint_id })).snapshot;
  const kept = [];
  for (let n = 0; ; n++) {
    const checkpoint_id = `${name}-${String(n).padStart(6, '0')}`;
    edit(snapshot, n);
    const hash = hashOf(snapshot);
    const parent = n % 9 === 8 ? { parent_checkpoint_id: kept[n % kept.length] } : {};
    await say({ trying: checkpoint_id, hash });
    await cairn.checkpoints.create({ checkpoint_id, execution_id, snapshot, ...parent });
    kept.push(checkpoint_id);
    await say({ kept: checkpoint_id, hash });
  }
}

/** As one of two: after its own last one, or after whichever was last. */
async function keep(cairn, named) {
  const snapshot = empty();
  let last = null;
  for (let n = 0; n < Number(count); n++) {
    edit(snapshot, n);
    const first = last == null ? { root: true } : { parent_checkpoint_id: last };
    const parent = named ? first : {};
    for (;;) {
      try {
        const made = await cairn.checkpoints.create({ execution_id, snapshot, ...parent });
        process.send({ kept: made.id, hash: hashOf(snapshot), parent: last });
        last = made.id;
        break;
      } catch (error) {
        if (error.code !== 'CONCURRENT_MODIFICATION') throw error;
      }
    }
  }
}

try {
  const cairn = await openCairn({ database, sweep_every_ms: 0 });
  await say({ ready: true });
  await word();
  if (mode === 'loop') await loop(cairn);
  else if (mode === 'prune') await cairn.executions.prune({ execution_id, keep_newest: 3, keep_branch_points: false });
  else if (mode === 'delete') await cairn.executions.delete({ execution_id, wait: true });
  else await keep(cairn, mode === 'named');
  await cairn.close();
} catch (error) {
  await say({ failed: `${error.code ?? ''} ${error.stack ?? error}` });
}
process.disconnect();

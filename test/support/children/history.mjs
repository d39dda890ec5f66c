// A process of its own that asks of locks, messages and agent_turns what a seed makes it ask, and writes every call to a
// file before it is made and after it was answered: `node history.mjs <database> <file> <name>`.
import { appendFileSync } from 'node:fs';
import { Store } from '#cairn/api/index.js';
import { newId } from '#cairn/kernel/contract.js';

const [database, file, name] = process.argv.slice(2);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
/** The clock of the store, to fractions: the same for all processes of the machine. */
const clock = () => performance.timeOrigin + performance.now();
const say = (message) => new Promise((resolve) => process.send(message, resolve));

const random = (seed) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};

const store = await Store.open({ database, sweep_every_ms: 0, count_every_ms: 0 });

/** Makes a call and writes it down; undefined when it was refused. */
function recorder(history, api) {
  let n = 0;
  return async (op, args, act) => {
    const id = `${name}-${process.pid}-${history}-${n++}`;
    appendFileSync(file, `${JSON.stringify({ history, id, process: name, op, args, at: clock() })}\n`);
    try {
      const value = await act(api);
      appendFileSync(file, `${JSON.stringify({ id, back: clock(), value: value ?? {} })}\n`);
      return value;
    } catch (error) {
      appendFileSync(file, `${JSON.stringify({ id, back: clock(), error: error.code ?? String(error) })}\n`);
      if (!error.code) throw error;
      return undefined;
    }
  };
}

const pick = (next, list) => list[Math.floor(next() * list.length)];

async function locks(record, next) {
  const args = {
    resource_type: 'file',
    resource_id: pick(next, ['a', 'b']),
    holder_agent_id: name,
    mode: next() < 0.7 ? 'Exclusive' : 'Shared',
    timeout_ms: pick(next, [0, 50, 150]),
    lease_ms: pick(next, [100, 150, 300]),
  };
  const lock = await record('acquire', args, (api) => api.locks.acquire(args));
  if (!lock) return;
  const { lock_id } = lock;
  await sleep(next() * 40);
  if (next() < 0.2) {
    const more = { lock_id, additional_ms: 100, holder_agent_id: name };
    await record('extend', more, (api) => api.locks.extend(more));
  }
  // Sometimes too late, and sometimes never.
  if (next() < 0.15) await sleep(args.lease_ms);
  if (next() < 0.9)
    await record('release', { lock_id }, (api) => api.locks.release({ lock_id, releasing_agent_id: name }));
}

async function send(record, next) {
  const to = next() < 0.7 ? { to_agent_id: pick(next, ['p0', 'p1', 'p2']) } : { to_agent_type: 'worker' };
  const message_id = newId();
  const args = {
    ...to,
    message_id,
    from_agent_id: name,
    message_type: 'note',
    payload: message_id,
    priority: next() < 0.8 ? 'normal' : 'high',
  };
  await record('send', args, (api) => api.messages.send(args));
}

async function receive(record, next) {
  const args = { agent_id: name, limit: 3, lease_ms: 150, wait_ms: pick(next, [0, 30]) };
  const got = await record('receive', args, (api) => api.messages.receive(args));
  for (const { message_id } of got?.messages ?? []) {
    if (next() < 0.1) continue;
    if (next() < 0.1) await sleep(160);
    await record('acknowledge', { message_id }, (api) => api.messages.acknowledge({ message_id, agent_id: name }));
  }
}

async function work(record, next) {
  const asked = {
    worker_id: name,
    profile_name: 'worker',
    lease_ms: pick(next, [100, 200]),
    wait_ms: pick(next, [0, 30]),
  };
  const claimed = await record('claim', asked, (api) => api.agent_turns.claim(asked));
  const turn = claimed?.agent_turn;
  if (!turn) return;
  const held = { agent_turn_id: turn.agent_turn_id, turn_epoch: turn.turn_epoch };
  for (let i = 0; i < 2; i++) {
    const mark = newId();
    const cards = [{ content: mark, metadata: { role: 'assistant' } }];
    await record('append', { ...held, mark }, async (api) => {
      await api.agent_turns.append({ ...held, cards });
    });
    if (next() < 0.25) await sleep(asked.lease_ms + 10);
    else await sleep(next() * 15);
    if (next() < 0.3) {
      await record('renew', held, async (api) => {
        await api.agent_turns.renew({ ...held, lease_ms: asked.lease_ms });
      });
    }
  }
  if (next() < 0.2) return;
  if (next() < 0.8) {
    await record('complete', held, async (api) => {
      await api.agent_turns.complete({ ...held, deliverable: 'done' });
    });
  } else {
    const error = { code: 'NO', message: 'no' };
    await record('fail', held, async (api) => {
      await api.agent_turns.fail({ ...held, error });
    });
  }
}

async function delegate(record) {
  const args = { target_strategy: 'new', target_ref: 'worker', instruction: 'do it' };
  await record('delegate', args, (api) => api.pmo.delegate_async(args));
}

const acts = [locks, locks, send, send, receive, receive, delegate, work, work];

async function run({ history, seed, rounds }) {
  const api = store.api({ tenant_id: history, agent_id: null, role: 'admin', key_id: null });
  const record = recorder(history, api);
  const next = random(seed);
  const fiber = async () => {
    for (let i = 0; i < rounds; i++) await pick(next, acts)(record, next);
  };
  await Promise.all([fiber(), fiber(), fiber()]);
  await say({ done: history });
}

process.on('message', (message) => {
  if (message === 'end') void store.close().then(() => process.exit(0));
  else void run(message).catch((error) => say({ failed: String(error?.stack ?? error) }));
});
await say({ ready: true });

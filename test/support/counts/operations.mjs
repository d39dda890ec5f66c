// The operations whose cost is counted. Each prepares a fresh store once, and returns what prepares one run of it;
// that returns the run itself, in which alone is counted.
import { get } from 'node:http';
import { CairnSaver } from '#cairn/adapters/langgraph/index.js';
import { contentMeasures, makeFold, storeFold } from '#cairn/index/sql.js';
import { TENANT } from '../../../bench/support/databases.mjs';
import { prose, seeded } from '../../../bench/support/seeded.mjs';
import { beginning, plainMessages, put, statesOf } from '../../../bench/support/threads.mjs';
import { counted, fillScopes, openScopes, sayings } from '../../../bench/support/turns.mjs';
import { addCards, packetBodies } from '../../../bench/support/work.mjs';
import { serve } from './wire.mjs';

const id = (n) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
const TRAJECTORY = id(1);
const ids = (from, count) => Array.from({ length: count }, (_, i) => id(from + i));
const [SCOPE, ...OTHERS] = ids(100, 16);

/** A run that needs nothing but its number. */
const plain = (run) => (n) => () => run(n);

const withScopes = async (store) => {
  await openScopes(store, [SCOPE, ...OTHERS], TRAJECTORY);
  return sayings(2);
};

const withTurns = async (store, count) => {
  await openScopes(store, [SCOPE], TRAJECTORY);
  await fillScopes(store, [SCOPE], count, 3);
};

/** A message of 2 KB a step, all of which the state holds. `take` makes the next checkpoint by any Api. */
async function checkpointsFrom({ api }, step) {
  const next = seeded(5);
  const { execution_id } = await api.executions.create({ trajectory_id: null });
  const messages = [];
  const take = (call) => {
    messages.push({ role: 'user', content: prose(next, 2048) });
    const context = { messages: [...messages], variables: { step: messages.length } };
    const snapshot = { thought_chain: { steps: [] }, context, tool_state: { pending: [], completed: [] } };
    return call({ execution_id, snapshot });
  };
  for (let i = 1; i < step; i++) await take(api.checkpoints.create);
  return { execution_id, take };
}

async function withWork({ api }) {
  await api.profiles.create({ name: 'researcher', system_prompt: 'You look things up.' });
  const dispatch = () =>
    api.pmo.delegate_async({ target_strategy: 'new', target_ref: 'researcher', instruction: 'Look it up.' });
  return async () => {
    const { agent_turn_id } = await dispatch();
    return async () => {
      const { agent_turn } = await api.agent_turns.claim({ worker_id: 'worker-1', agent_turn_id });
      return { agent_turn_id, turn_epoch: agent_turn.turn_epoch };
    };
  };
}

/** A step of who holds an agent_turn. */
const held = (step) => async (store) => {
  const dispatched = await withWork(store);
  return async () => {
    const claimed = await (await dispatched())();
    return () => step(store.api.agent_turns, claimed);
  };
};

async function withAgents({ api }) {
  for (const agent_id of ['ann', 'bob'])
    await api.agents.register({ agent_id, agent_type: 'worker', capabilities: ['work'] });
  const send = (n) =>
    api.messages.send({ from_agent_id: 'ann', to_agent_id: 'bob', message_type: 'note', payload: `{"n":${n}}` });
  const receive = () => api.messages.receive({ agent_id: 'bob', lease_ms: 30_000 });
  return { send, receive };
}

const lockOf = (n) => ({ resource_type: 'file', resource_id: `${n}.ts`, holder_agent_id: 'ann', lease_ms: 30_000 });

/** Threads of LangGraph, step by step. */
async function threadFrom({ api }, step, runs) {
  const saver = new CairnSaver(api);
  const states = statesOf(plainMessages(6, 2048)).slice(0, step + runs);
  let config = beginning('thread');
  for (const state of states.slice(0, step - 1)) config = await put(saver, config, state);
  let next = step - 1;
  return async () => async () => (config = await put(saver, config, states[next++]));
}

/** Checkpoints by a client that sends what changed, once it has sent a whole state. */
async function checkpointsOverHttp(opened, step) {
  const { take } = await checkpointsFrom(opened, step - 1);
  const { client, close } = await serve(opened.store);
  await take(client.checkpoints.create);
  return Object.assign(
    plain(() => take(client.checkpoints.create)),
    { close },
  );
}

/** Documents that searches read without the index, at most; writers fold beyond half of it. */
const TAIL = 1024;

/** A store whose tail is as full as a write may leave it. */
async function withFullTail(store) {
  const say = await withScopes(store);
  let missing = TAIL / 2;
  return async () => {
    const items = Array.from({ length: missing }, () => ({ create: counted(SCOPE, say()) }));
    await store.api.turns.batch({ items, atomic: true });
    missing = TAIL / 2 - 1;
    return () => store.api.turns.add(counted(SCOPE, say()));
  };
}

async function foldTail({ driver }) {
  const fold = await driver.snapshot(TENANT, (query) => makeFold(query, contentMeasures.get('contents'), 2048));
  if (fold) await driver.write(TENANT, (tx) => storeFold(tx, fold));
}

/** Scopes to close, each with turns in a segment of the index. */
async function withScopesToClose(store, turns) {
  await openScopes(store, [], TRAJECTORY);
  const { api } = store;
  return async (n) => {
    const scope_id = id(100 + n);
    await api.scopes.create({ scope_id, trajectory_id: TRAJECTORY, name: 's', token_budget: 1e9, retain: 'nothing' });
    await fillScopes(store, [scope_id], turns, n);
    await foldTail(store);
    return () => api.scopes.close({ scope_id, wait: true });
  };
}

/** A follower of the tenant's events over HTTP; `event` resolves when the next has come. */
async function follow(store) {
  const { port, close } = await serve(store);
  let arrived = () => {};
  const request = get(`http://127.0.0.1:${port}/api/v1/events`, { agent: false, headers: { 'last-event-id': '0' } });
  const response = await new Promise((resolve, reject) => request.on('response', resolve).on('error', reject));
  response.setEncoding('utf8').on('data', (text) => text.includes('event: packet') && arrived());
  response.on('error', () => undefined);
  return {
    event: () => new Promise((resolve) => (arrived = resolve)),
    close: async () => {
      request.destroy();
      await close();
    },
  };
}

export const operations = {
  'agent_turns.claim': withWork,
  'agent_turns.complete': held((agent_turns, one) => agent_turns.complete({ ...one, deliverable: 'Found it.' })),
  'agent_turns.renew': held((agent_turns, one) => agent_turns.renew(one)),
  'artifacts.create': async (store) => {
    const say = await withScopes(store);
    return plain(() =>
      store.api.artifacts.create({ trajectory_id: TRAJECTORY, artifact_type: 'Fact', name: 'n', content: say() }),
    );
  },
  'boxes.append': async (store) => {
    await addCards(store, ids(1000, 100));
    await store.api.boxes.create({ box_id: 'box' });
    return plain((n) => store.api.boxes.append({ box_id: 'box', card_ids: [id(1000 + n)] }));
  },
  'boxes.append, 64 at once in 16 boxes': async (store, runs) => {
    const boxes = ids(100, 16);
    const cards = ids(1000, 64 * runs);
    await addCards(store, cards);
    for (const box_id of boxes) await store.api.boxes.create({ box_id });
    const append = (card_id, i) => store.api.boxes.append({ box_id: boxes[i % 16], card_ids: [card_id] });
    return plain((n) => Promise.all(cards.slice(64 * n, 64 * (n + 1)).map(append)));
  },
  'cards.add': async ({ api }) => {
    const say = sayings(2);
    return plain(() => api.cards.add({ content: say(), metadata: { type: 'note', role: 'assistant' } }));
  },
  'cards.get': async (store) => {
    await addCards(store, ids(1000, 100));
    return plain((n) => store.api.cards.get({ card_id: id(1000 + n) }));
  },
  'checkpoints.create, step 10': async (store) => {
    const { take } = await checkpointsFrom(store, 10);
    return plain(() => take(store.api.checkpoints.create));
  },
  'checkpoints.create, step 1,000': async (store) => {
    const { take } = await checkpointsFrom(store, 1000);
    return plain(() => take(store.api.checkpoints.create));
  },
  'checkpoints.create over HTTP, step 10': (store) => checkpointsOverHttp(store, 10),
  'checkpoints.create over HTTP, step 1,000': (store) => checkpointsOverHttp(store, 1000),
  'checkpoints.latest': async (store) => {
    const { execution_id } = await checkpointsFrom(store, 100);
    return plain(() => store.api.checkpoints.latest({ execution_id }));
  },
  'context.assemble': async (store) => {
    await withTurns(store, 100);
    return plain(() => store.api.context.assemble({ scope_id: SCOPE, token_budget: 4000 }));
  },
  'events over SSE, one packet': async (store) => {
    const newBody = packetBodies(2);
    const follower = await follow(store.store);
    const run = plain(() => Promise.all([follower.event(), store.api.packets.write(newBody())]));
    return Object.assign(run, { close: follower.close });
  },
  'langgraph put, step 10': (store, runs) => threadFrom(store, 10, runs),
  'langgraph put, step 900': (store, runs) => threadFrom(store, 900, runs),
  'locks.acquire': async ({ api }) => plain((n) => api.locks.acquire(lockOf(n))),
  'locks.release':
    async ({ api }) =>
    async (n) => {
      const { lock_id } = await api.locks.acquire(lockOf(n));
      return () => api.locks.release({ lock_id });
    },
  'messages.acknowledge': async (store) => {
    const { send, receive } = await withAgents(store);
    return async (n) => {
      await send(n);
      const { messages } = await receive();
      const { message_id } = messages[0];
      return () => store.api.messages.acknowledge({ message_id, agent_id: 'bob' });
    };
  },
  'messages.receive': async (store) => {
    const { send, receive } = await withAgents(store);
    return async (n) => {
      await send(n);
      return receive;
    };
  },
  'messages.send': async (store) => plain((await withAgents(store)).send),
  'notes.create': async ({ api }) => {
    const say = sayings(2);
    return plain(() => api.notes.create({ note_type: 'Fact', title: 'a title', content: say() }));
  },
  'packets.get': async ({ api }) => {
    const newBody = packetBodies(2);
    const packets = ids(1000, 100).map((packet_id) => ({ packet_id, ...newBody() }));
    await api.packets.write_batch({ packets });
    return plain((n) => api.packets.get({ packet_id: id(1000 + n) }));
  },
  'packets.write': async ({ api }) => {
    const newBody = packetBodies(2);
    return plain(() => api.packets.write(newBody()));
  },
  'packets.write, 64 at once': async ({ api }) => {
    const newBody = packetBodies(2);
    return plain(() => Promise.all(Array.from({ length: 64 }, () => api.packets.write(newBody()))));
  },
  'packets.write_batch of 100': async ({ api }) => {
    const newBody = packetBodies(2);
    return plain(() => api.packets.write_batch({ packets: Array.from({ length: 100 }, newBody) }));
  },
  'POST /memory/packet': async ({ store }) => {
    const newBody = packetBodies(2);
    const { url, fetch, close } = await serve(store);
    const headers = { 'content-type': 'application/json' };
    const post = async () => {
      const body = JSON.stringify(newBody());
      const { status } = await fetch(`${url}/api/v1/memory/packet`, { method: 'POST', headers, body });
      if (status !== 201) throw new Error(`the packet was answered with ${status}`);
    };
    return Object.assign(plain(post), { close });
  },
  'recall, 100 notes': async ({ api }) => {
    const next = seeded(4);
    for (let i = 0; i < 100; i++) await api.notes.create({ note_type: 'Fact', title: 't', content: prose(next, 200) });
    return plain(() => api.memory.recall({ query: 'supplier of recycled polymer' }));
  },
  'scopes.close, 100 turns erased': (store) => withScopesToClose(store, 100),
  'scopes.close, 500 turns erased': (store) => withScopesToClose(store, 500),
  'search.query, 100 turns': async (store) => {
    await withTurns(store, 100);
    return plain(() => store.api.search.query({ query: 'supplier of recycled polymer' }));
  },
  'search.query, 1,000 turns': async (store) => {
    await withTurns(store, 1000);
    return plain(() => store.api.search.query({ query: 'supplier of recycled polymer' }));
  },
  'search.query, 1,000 turns, folded': async (store) => {
    await withTurns(store, 1000);
    await foldTail(store);
    return plain(() => store.api.search.query({ query: 'supplier of recycled polymer' }));
  },
  'turns.add': async (store) => {
    const say = await withScopes(store);
    return plain(() => store.api.turns.add(counted(SCOPE, say())));
  },
  'turns.add, which folds the tail': withFullTail,
  'turns.add, 64 at once in 16 scopes': async (store) => {
    const say = await withScopes(store);
    const scopes = [SCOPE, ...OTHERS];
    return plain(() =>
      Promise.all(Array.from({ length: 64 }, (_, i) => store.api.turns.add(counted(scopes[i % 16], say())))),
    );
  },
  'turns.batch of 100, atomic': async (store) => {
    const say = await withScopes(store);
    const items = () => Array.from({ length: 100 }, () => ({ create: counted(SCOPE, say()) }));
    return plain(() => store.api.turns.batch({ items: items(), atomic: true }));
  },
};

/** Options of the stores of some. */
export const storeOptions = { 'turns.add, which folds the tail': { search_tail: TAIL } };

/** Those that empty the log, so that its size tells nothing. */
export const emptiesLog = new Set(['scopes.close, 100 turns erased', 'scopes.close, 500 turns erased']);

/** Those whose objects in memory are counted, too: a group, a large state, a long answer. */
export const holdsMuch = new Set([
  'boxes.append, 64 at once in 16 boxes',
  'checkpoints.create over HTTP, step 1,000',
  'checkpoints.create, step 1,000',
  'context.assemble',
  'langgraph put, step 900',
  'packets.write, 64 at once',
  'scopes.close, 500 turns erased',
  'search.query, 1,000 turns',
  'search.query, 1,000 turns, folded',
  'turns.add, which folds the tail',
  'turns.add, 64 at once in 16 scopes',
]);

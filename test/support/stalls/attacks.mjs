// Requests made to hold the event loop: large, deep, repetitive, or answered by a lot of stored text. Each is one
// `run` after its `prepare`; a refusal is as good an answer as any, as long as others are answered meanwhile.

const KB = 1000;

/** Texts of a given length that are hard to read: for tokenizers, sentence splitters and patterns that backtrack. */
export const texts = {
  words: (length) =>
    'The quick brown fox jumps over the lazy dog near the river bank. '.repeat(length / 66 + 1).slice(0, length),
  one_word: (length) => 'a'.repeat(length),
  backticks: (length) => '`'.repeat(length),
  backtick_lines: (length) => '```\n'.repeat(length / 4),
  hashes: (length) => '#'.repeat(length),
  heading_lines: (length) => '## a\n'.repeat(length / 5),
  spaces: (length) => `a${' '.repeat(length - 2)}b`,
  newlines: (length) => `a${'\n'.repeat(length - 2)}b`,
  blank_lines: (length) => `a${'\n '.repeat(length / 2 - 1)}b`,
  full_stops: (length) => '.'.repeat(length),
  sentences: (length) => 'Anna lives in Rome. '.repeat(length / 20),
  commas: (length) => 'a,'.repeat(length / 2),
  quotes: (length) => '"'.repeat(length),
  backslashes: (length) => '\\'.repeat(length),
  brackets: (length) => '['.repeat(length),
  tags: (length) => '<memory '.repeat(length / 8),
  digits: (length) => '1'.repeat(length),
  dates: (length) => '2026-01-01 '.repeat(length / 11),
  stars: (length) => '*'.repeat(length),
  emphasis: (length) => '**a '.repeat(length / 4),
  dashes: (length) => '-'.repeat(length),
  list: (length) => '- a\n'.repeat(length / 4),
  numbered: (length) => '1. do it\n'.repeat(length / 9),
  han: (length) => '漢'.repeat(length / 3),
  marks: (length) => `e${'\u0301'.repeat(length / 2 - 1)}`,
  emoji: (length) => '😀'.repeat(length / 4),
  apostrophes: (length) => "a'".repeat(length / 2),
  capitals: (length) => 'Aa'.repeat(length / 2),
  colons: (length) => 'a: '.repeat(length / 3),
  urls: (length) => 'http://a.b/'.repeat(length / 11),
  pipes: (length) => '|'.repeat(length),
};

const newScope = async (cairn, budget = 100_000_000) => {
  const { trajectory_id } = await cairn.trajectories.create({ name: 'attack' });
  const { scope_id } = await cairn.scopes.create({ trajectory_id, name: 'attack', token_budget: budget });
  return { trajectory_id, scope_id };
};

const post = async ({ url }, path, body, headers = {}) => {
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });
  await answer.text();
  return answer.status;
};

const facts = (count) => Array.from({ length: count }, (_, i) => `Anna${i} lives in City${(i * 7) % 100}.`).join(' ');

/** What a hostile caller can store, then ask about. */
const comparison = (name, notes, length) => ({
  name: `extract 200 facts beside ${name}`,
  prepare: async ({ cairn }) => {
    for (let i = 0; i < notes; i++) {
      const start = `Note ${i}: ${facts(60)} `;
      await cairn.memory.remember({ text: start + texts.words(length - start.length) });
    }
    const scope = await newScope(cairn);
    await cairn.turns.add({ scope_id: scope.scope_id, role: 'User', content: facts(200) });
    return scope;
  },
  run: ({ cairn }, { scope_id }) => cairn.scopes.extract({ scope_id }),
});

const body = (name, make) => ({
  name,
  prepare: () => make(),
  run: (target, text) => post(target, '/projects/default/cards', text),
});

const bodies = [
  body('a body of 8 MB of []', () => `{"content":[${'[],'.repeat(2_700_000)}[]]}`),
  body('a body of 199,000 []', () => `{"content":[${'[],'.repeat(198_996)}[]]}`),
  body('500,000 unknown keys', () =>
    JSON.stringify(Object.fromEntries(Array.from({ length: 500_000 }, (_, i) => [`k${i}`, 0]))),
  ),
  body('199,000 unknown keys', () =>
    JSON.stringify(Object.fromEntries(Array.from({ length: 199_000 }, (_, i) => [`k${i}`, 0]))),
  ),
  body('100,000 unknown integer keys', () =>
    JSON.stringify(Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`${i * 7919}`, 0]))),
  ),
  body('content with 100,000 keys', () =>
    JSON.stringify({ content: Object.fromEntries(Array.from({ length: 80_000 }, (_, i) => [`k${i}`, 0])) }),
  ),
  body('a body of 8 MB of nested [', () => '['.repeat(8_000_000)),
  body('a body of 8 MB of digits', () => `{"content":${'1'.repeat(8_000_000)}}`),
  body('a body of 8 MB of long numbers', () => `{"content":[${'12345678901234567,'.repeat(440_000)}1]}`),
  body('a body of 8 MB of escapes', () => `{"content":"${'\\u0041'.repeat(1_330_000)}"}`),
  body('a body of 8 MB of spaces', () => `{"content":1${' '.repeat(8_000_000)}}`),
  body('a body of 8 MB of text', () => JSON.stringify({ content: texts.words(8_000_000) })),
];

const FORMATS = ['markdown', 'messages', 'xml', 'json'];

const onText = (name, text) => [
  { name: `remember ${name}`, prepare: () => ({}), run: ({ cairn }) => cairn.memory.remember({ text }) },
  {
    name: `turn, summarize, extract of ${name}`,
    prepare: ({ cairn }) => newScope(cairn),
    run: async ({ cairn }, { scope_id }) => {
      await cairn.turns.add({ scope_id, role: 'User', content: text });
      await cairn.scopes.summarize({ scope_id });
      await cairn.scopes.extract({ scope_id });
    },
  },
  {
    name: `assemble with a turn of ${name}`,
    prepare: async ({ cairn }) => {
      const scope = await newScope(cairn);
      await cairn.turns.add({ scope_id: scope.scope_id, role: 'User', content: text });
      return scope;
    },
    run: async ({ cairn }, { trajectory_id }) => {
      for (const format of FORMATS)
        for (const token_budget of [8000, 1_000_000])
          await cairn.context.assemble({ trajectory_id, format, token_budget });
    },
  },
  {
    name: `recall and search beside ${name}`,
    prepare: async ({ cairn }) => {
      const head = 'Zanzibar is where Anna spends the winter. ';
      await cairn.memory.remember({ text: head + text.slice(head.length) });
    },
    run: async ({ cairn }) => {
      await cairn.memory.recall({ query: 'Where does Anna spend the winter?' });
      await cairn.search.query({ query: 'Zanzibar winter' });
      await cairn.search.query({ query: text.slice(0, 10_000) }).catch(() => undefined);
    },
  },
];

const snapshotOf = (steps, length = 40) => ({
  thought_chain: {
    steps: Array.from({ length: steps }, (_, i) => ({
      id: `t${i}`,
      type: 'reasoning',
      content: texts.words(length),
      confidence: 0.5,
      ...(i === 0 ? {} : { parent_id: `t${i - 1}` }),
      children: i === steps - 1 ? [] : [`t${i + 1}`],
      timestamp: i,
    })),
  },
  context: { messages: [{ role: 'user', content: 'Go on' }], variables: {} },
  tool_state: { pending: [], completed: [] },
});

const executions = [
  {
    name: 'export 1,266 checkpoints',
    prepare: async ({ cairn }) => {
      const { execution_id } = await cairn.executions.create({ agent_id: 'runner', name: 'long' });
      for (let i = 1; i <= 1266; i++) await cairn.checkpoints.create({ execution_id, snapshot: snapshotOf(i) });
      return { execution_id };
    },
    run: async ({ cairn, url }, { execution_id }) => {
      const bundle = await cairn.executions.export({ execution_id });
      await cairn.executions.tree({ execution_id });
      await cairn.executions.stats({ execution_id });
      await cairn.executions.import({ bundle });
      // Under other ids it is a new one.
      const ids = [execution_id, ...bundle.checkpoints.map(({ id }) => id)];
      const text = ids.reduce((all, id) => all.replaceAll(id, `${id}-2`), JSON.stringify({ bundle }));
      return post({ url }, '/api/v1/executions/import', text);
    },
  },
  {
    name: 'a checkpoint of 20,000 thoughts',
    prepare: async ({ cairn }) => {
      const { execution_id } = await cairn.executions.create({ agent_id: 'runner', name: 'deep' });
      return { execution_id, snapshot: snapshotOf(20_000) };
    },
    run: async ({ cairn }, { execution_id, snapshot }) => {
      const { id } = await cairn.checkpoints.create({ execution_id, snapshot });
      await cairn.checkpoints.get({ checkpoint_id: id });
      await cairn.checkpoints.thoughts({ execution_id, limit: 500 });
    },
  },
  {
    name: 'a checkpoint of 30 MB in one message',
    prepare: async ({ cairn }) => {
      const { execution_id } = await cairn.executions.create({ agent_id: 'runner', name: 'fat' });
      const snapshot = snapshotOf(1);
      snapshot.context.messages[0].content = texts.words(30_000_000);
      return { execution_id, snapshot };
    },
    run: async ({ cairn }, { execution_id, snapshot }) => {
      const { id } = await cairn.checkpoints.create({ execution_id, snapshot });
      await cairn.checkpoints.get({ checkpoint_id: id });
    },
  },
  {
    name: 'two checkpoints of 8 MB that differ, and their diff',
    prepare: async ({ cairn }) => {
      const { execution_id } = await cairn.executions.create({ agent_id: 'runner', name: 'diff' });
      const one = snapshotOf(1);
      one.context.variables = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`v${i}`, texts.words(300)]));
      const other = structuredClone(one);
      for (const key of Object.keys(other.context.variables)) other.context.variables[key] += '!';
      return { execution_id, one, other };
    },
    run: async ({ cairn }, { execution_id, one, other }) => {
      const a = await cairn.checkpoints.create({ execution_id, snapshot: one });
      const b = await cairn.checkpoints.create({ execution_id, snapshot: other });
      await cairn.checkpoints.diff({ checkpoint_id: b.id, to: a.id });
      await cairn.checkpoints.restore({ checkpoint_id: a.id });
    },
  },
];

const rows = [
  {
    name: 'batches of 1,000 cards of 8 KB',
    prepare: () => ({ cards: Array.from({ length: 1000 }, (_, i) => ({ content: `${i} ${texts.words(7800)}` })) }),
    run: ({ cairn }, input) => cairn.cards.add_batch(input),
  },
  {
    name: 'batches of 1,000 notes of 7 KB',
    prepare: () => ({
      items: Array.from({ length: 1000 }, (_, i) => ({
        operation: 'create',
        create: { note_type: 'Fact', title: `n${i}`, content: `${i} ${texts.words(7000)}` },
      })),
    }),
    run: ({ cairn }, input) => cairn.notes.batch(input),
  },
  {
    name: 'the same, atomic',
    prepare: () => ({
      atomic: true,
      items: Array.from({ length: 1000 }, (_, i) => ({
        operation: 'create',
        create: { note_type: 'Fact', title: `a${i}`, content: `${i} ${texts.words(7000)}` },
      })),
    }),
    run: ({ cairn }, input) => cairn.notes.batch(input),
  },
  {
    name: 'a batch of 1,000 turns of 7 KB',
    prepare: async ({ cairn }) => {
      const { scope_id } = await newScope(cairn);
      return {
        atomic: true,
        items: Array.from({ length: 1000 }, (_, i) => ({
          operation: 'create',
          create: { scope_id, role: 'User', content: `${i} ${texts.words(7000)}` },
        })),
      };
    },
    run: ({ cairn }, input) => cairn.turns.batch(input),
  },
  {
    name: 'a batch of 1,000 packets',
    prepare: () => ({
      packets: Array.from({ length: 1000 }, (_, i) => ({
        packet_type: 'load',
        payload: { i, text: texts.words(7000) },
      })),
    }),
    run: ({ cairn }, input) => cairn.packets.write_batch(input),
  },
  {
    name: 'a box of 10,000 cards: load, cards, hydrate',
    prepare: async ({ cairn }) => {
      const card_ids = [];
      for (let i = 0; i < 10; i++) {
        const cards = Array.from({ length: 1000 }, (_, n) => ({
          content: `${i} ${n} ${texts.words(2000)}`,
          metadata: { role: n % 2 ? 'user' : 'assistant' },
        }));
        const { results } = await cairn.cards.add_batch({ cards });
        card_ids.push(...results.map(({ data }) => data.card_id));
      }
      const { box_id } = await cairn.boxes.create({ card_ids });
      await cairn.profiles.create({ name: 'attacked', system_prompt: 'You read.' }).catch(() => undefined);
      return { box_id, card_ids };
    },
    run: async ({ cairn }, { box_id, card_ids }) => {
      await cairn.boxes.load({ box_id });
      await cairn.boxes.cards({ box_id, limit: 500 });
      await cairn.boxes.save({ box_id: `${box_id}-2`, card_ids }).catch(() => undefined);
      await cairn.pmo.delegate_async({
        target_strategy: 'new',
        target_ref: 'attacked',
        instruction: 'Read.',
        input_box_ids: [box_id],
      });
      const { turns, agent_turns, ...one } = await cairn.agent_turns.claim({
        worker_id: 'w',
        profile_name: 'attacked',
      });
      const turn = agent_turns?.[0] ?? turns?.[0] ?? one.agent_turn ?? one;
      for (const format of ['openai', 'anthropic'])
        await cairn.agent_turns.hydrate({ agent_turn_id: turn.agent_turn_id, turn_epoch: turn.turn_epoch, format });
      await cairn.agent_turns.replay({ agent_turn_id: turn.agent_turn_id });
    },
  },
  {
    name: 'a scope of 10,000 turns: assemble, summarize, extract, close',
    prepare: async ({ cairn }) => {
      const scope = await newScope(cairn);
      for (let i = 0; i < 10; i++)
        await cairn.turns.batch({
          atomic: true,
          items: Array.from({ length: 1000 }, (_, n) => ({
            operation: 'create',
            create: { scope_id: scope.scope_id, role: n % 2 ? 'User' : 'Assistant', content: `${facts(20)} ${i} ${n}` },
          })),
        });
      return scope;
    },
    run: async ({ cairn }, { trajectory_id, scope_id }) => {
      await cairn.context.assemble({ trajectory_id, token_budget: 1_000_000, format: 'markdown' });
      await cairn.scopes.summarize({ scope_id });
      await cairn.scopes.extract({ scope_id });
      await cairn.scopes.turns({ scope_id, limit: 500 });
      await cairn.scopes.close({ scope_id, wait: true }).catch(() => cairn.scopes.close({ scope_id }));
    },
  },
  {
    name: 'lists of large things',
    prepare: () => ({}),
    run: async ({ cairn }) => {
      await cairn.notes.list({ limit: 500 });
      await cairn.cards.list({ limit: 500 });
      await cairn.packets.list({ limit: 500 });
      await cairn.packets.list({ limit: 500, order: 'desc' }).catch(() => undefined);
      await cairn.edges.list({ limit: 500 });
      await cairn.search.query({ query: 'the quick brown fox', limit: 100 });
      await cairn.memory.recall({ query: 'the quick brown fox', limit: 100 });
      await cairn.lifetime.stats();
      await cairn.lifetime.sweep();
    },
  },
];

const get = async ({ url }, path) => {
  const answer = await fetch(`${url}${path}`);
  await answer.text();
  return answer.status;
};

const others = [
  { name: 'the description of the API', prepare: () => ({}), run: (target) => get(target, '/openapi.json') },
  { name: 'the reference page', prepare: () => ({}), run: (target) => get(target, '/reference') },
  {
    name: '1,000 cards of 8 KB with an Idempotency-Key, twice',
    prepare: () => ({
      cards: Array.from({ length: 1000 }, (_, i) => ({ content: `again ${i} ${texts.words(7800)}` })),
      key: `k${Math.random()}`,
    }),
    run: async ({ cairn }, { cards, key }) => {
      for (const atomic of [true, false])
        for (let i = 0; i < 2; i++)
          await cairn.cards.add_batch({ cards, atomic }, { idempotency_key: `${key}${atomic}` });
    },
  },
  {
    name: 'a checkpoint of 28 MB in four messages, with an Idempotency-Key',
    prepare: async ({ cairn }) => {
      const { execution_id } = await cairn.executions.create({ agent_id: 'runner', name: 'fat' });
      const snapshot = snapshotOf(1);
      snapshot.context.messages = Array.from({ length: 4 }, () => ({ role: 'user', content: texts.words(7_000_000) }));
      return { execution_id, snapshot };
    },
    run: async ({ cairn }, { execution_id, snapshot }) => {
      const { id } = await cairn.checkpoints.create({ execution_id, snapshot }, { idempotency_key: execution_id });
      const read = await cairn.checkpoints.get({ checkpoint_id: id });
      await cairn.checkpoints.import({ checkpoint: read });
      await cairn.executions.export({ execution_id });
    },
  },
  {
    name: 'a context with instructions and input of 900 KB',
    prepare: ({ cairn }) => newScope(cairn),
    run: async ({ cairn }, { trajectory_id }) => {
      for (const format of FORMATS)
        await cairn.context.assemble({
          trajectory_id,
          format,
          token_budget: 1_000_000,
          instructions: texts.words(490_000),
          user_input: texts.emphasis(490_000),
        });
    },
  },
  {
    name: '1,000 packets, each with all before it as parents, and their lineage',
    prepare: () => ({}),
    run: async ({ cairn }) => {
      const ids = Array.from({ length: 500 }, () => crypto.randomUUID());
      const packets = ids.map((packet_id, i) => ({
        packet_id,
        packet_type: 'load',
        payload: {},
        lineage: { parent_ids: ids.slice(Math.max(0, i - 300), i) },
      }));
      await cairn.packets.write_batch({ packets });
      await cairn.packets.lineage({ packet_id: ids.at(-1), max_depth: 50 });
    },
  },
  {
    name: '2,000 notes linked in a row: traverse, tree, batch of edges',
    prepare: async ({ cairn }) => {
      const ids = [];
      for (let i = 0; i < 2; i++) {
        const { results } = await cairn.notes.batch({
          items: Array.from({ length: 1000 }, (_, n) => ({
            operation: 'create',
            create: { note_type: 'Fact', title: `t${i}-${n}`, content: `c${i}-${n}` },
          })),
        });
        ids.push(...results.map(({ data }) => data.note_id));
      }
      return ids;
    },
    run: async ({ cairn }, ids) => {
      const note = (entity_id) => ({ entity_type: 'Note', entity_id });
      for (const from of [0, 1000])
        await cairn.edges.batch({
          atomic: true,
          items: ids
            .slice(from, from + 999)
            .map((id, i) => ({
              operation: 'create',
              create: { edge_type: 'DerivedFrom', participants: [note(ids[from + i + 1]), note(id)] },
            })),
        });
      await cairn.edges.traverse({ entity_type: 'Note', entity_id: ids[500], max_depth: 20, limit: 1000 });
    },
  },
  {
    name: 'a search with a long query and many filters',
    prepare: () => ({}),
    run: async ({ cairn }) => {
      const value = Array.from({ length: 100 }, (_, i) => `v${i}${'x'.repeat(150)}`);
      const filters = Array.from({ length: 50 }, () => ({ field: 'tags', operator: 'in', value }));
      for (const query of ['a '.repeat(4000), texts.han(4000), 'x'.repeat(8000)]) {
        await cairn.search.query({ query, filters }).catch(() => undefined);
        await cairn.search.query({ query, limit: 100 }).catch(() => undefined);
        await cairn.memory.recall({ query, limit: 100 }).catch(() => undefined);
      }
    },
  },
  {
    name: '10,000 expired cards, swept; a trajectory of 5,000 turns, deleted',
    prepare: async ({ cairn }) => {
      for (let i = 0; i < 10; i++)
        await cairn.cards.add_batch({
          cards: Array.from({ length: 1000 }, (_, n) => ({
            content: `gone ${i} ${n} ${texts.words(700)}`,
            ttl_seconds: 1,
          })),
        });
      const { trajectory_id, scope_id } = await newScope(cairn);
      for (let i = 0; i < 5; i++)
        await cairn.turns.batch({
          atomic: true,
          items: Array.from({ length: 1000 }, (_, n) => ({
            operation: 'create',
            create: { scope_id, role: 'User', content: `turn ${i} ${n} ${texts.words(1000)}` },
          })),
        });
      await new Promise((resolve) => setTimeout(resolve, 1500));
      return trajectory_id;
    },
    run: async ({ cairn }, trajectory_id) => {
      await cairn.lifetime.sweep();
      await cairn.trajectories.delete({ trajectory_id });
      await cairn.lifetime.stats();
    },
  },
  {
    name: 'an execution of 300 checkpoints of 1,000 thoughts: prune, delete',
    prepare: async ({ cairn }) => {
      const { execution_id } = await cairn.executions.create({ agent_id: 'runner', name: 'pruned' });
      for (let i = 1; i <= 300; i++)
        await cairn.checkpoints.create({ execution_id, snapshot: snapshotOf(700 + i, 60) });
      return execution_id;
    },
    run: async ({ cairn }, execution_id) => {
      await cairn.executions.prune({ execution_id, keep_newest: 5 });
      await cairn.executions.delete({ execution_id });
    },
  },
  {
    name: '100 messages of 900 KB, received',
    prepare: async ({ cairn }) => {
      for (let i = 0; i < 25; i++)
        await cairn.messages.send({
          from_agent_id: 'a',
          to_agent_id: 'b',
          message_type: 'ping',
          payload: JSON.stringify(texts.words(200_000)),
        });
    },
    run: async ({ cairn }) => {
      await cairn.messages.receive({ agent_id: 'b', limit: 100 });
      await cairn.messages.list({ agent_id: 'b', limit: 500 }).catch(() => undefined);
    },
  },
  {
    name: 'a note of 900 KB changed ten times, its history',
    prepare: async ({ cairn }) =>
      (await cairn.notes.create({ note_type: 'Fact', title: 'long', content: texts.words(900_000) })).note_id,
    run: async ({ cairn }, note_id) => {
      for (let i = 0; i < 10; i++) await cairn.notes.update({ note_id, content: `${i} ${texts.words(900_000)}` });
      await cairn.notes.history({ note_id });
      await cairn.notes.get({ note_id });
    },
  },
];

export const attacks = {
  others,
  comparison: [comparison('3 texts of 900 KB', 3, 900 * KB), comparison('60 texts of 300 KB', 60, 300 * KB)],
  bodies,
  executions,
  rows,
  texts: Object.entries(texts).flatMap(([name, make]) => onText(`900 KB of ${name}`, make(900 * KB))),
};

/** Once assembling this took 18 s of CPU time. */
const backticks = {
  name: 'assemble 900 KB of backticks within 8,000 tokens',
  spends_ms: 5000,
  prepare: async ({ cairn }) => {
    const scope = await newScope(cairn);
    await cairn.turns.add({ scope_id: scope.scope_id, role: 'User', content: texts.backticks(900 * KB) });
    return scope;
  },
  run: async ({ cairn }, { trajectory_id }) => {
    for (const format of FORMATS) await cairn.context.assemble({ trajectory_id, format, token_budget: 8000 });
  },
};

/** Those that CI runs: the ones that were found by attack, in the size in which they stalled the server for seconds. */
export const ciAttacks = [attacks.comparison[0], ...bodies.slice(0, 3), executions[0], backticks];

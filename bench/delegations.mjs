// Delegating: what a delegation with 100 inherited cards costs in a project of ten thousand boxes, against one of ten;
// packing 10,000 inherited cards against the bare statement that puts as many entries into a box; and how long a writer
// waits at most beside the hydration of 1,000 and 10,000 cards.
import { openBare, openCairn, openWithBackgroundWork } from './support/databases.mjs';
import { filled } from './support/filled.mjs';
import { byCallers, interleave } from './support/measure.mjs';

const CARDS = 100;
const LARGE = 10_000;
const SMALL = 10;
const PACKED = 10_000;

export async function delegations({ target, quick, report }) {
  const perRound = quick ? 40 : 200;
  const rounds = 5;
  const open = async (boxes) => {
    const database = await target.fresh();
    await filled(target.kind, database, async ({ api }) => {
      await api.profiles.create({ name: 'worker', system_prompt: 'You work.' });
      const card_ids = await fill(api, CARDS, 'card');
      await api.boxes.create({ box_id: 'inherited', card_ids });
      for (let i = 0; i < boxes; i += 500) {
        const ids = Array.from({ length: Math.min(500, boxes - i) }, (_, n) => `box-${i + n}`);
        await Promise.all(ids.map((box_id) => api.boxes.create({ box_id, card_ids: card_ids.slice(0, 10) })));
      }
    });
    const cairn = await openWithBackgroundWork(database);
    const tasks = Array.from({ length: perRound }, (_, i) => i);
    const delegate = () =>
      byCallers(1, tasks, async (i) => {
        const answer = await cairn.api.pmo.delegate_async({
          target_strategy: 'new',
          target_ref: 'worker',
          instruction: `task ${i}`,
          context_box_id: 'inherited',
        });
        if (answer.status !== 'accepted') throw new Error(answer.status);
      });
    return { ...cairn, delegate };
  };
  const small = await open(SMALL);
  const large = await open(LARGE);
  const { rate, ratio, noise } = await interleave({ large: large.delegate, small: small.delegate }, rounds);
  report({
    what: 'delegate_async, 100 cards, at 10,000 boxes against at 10',
    ours: 1e3 / rate('large'),
    bare: 1e3 / rate('small'),
    unit: 'ms',
    // Of times, not of rates.
    ratio: ratio('small', 'large'),
    noise: noise('small', 'large'),
    at_most: 1.3,
  });
  await small.close();
  await large.close();
  await packing(target, report);
  for (const cards of [1000, 10_000]) await hydrating(target, report, cards);
}

async function fill(api, count, name) {
  const ids = [];
  for (let i = 0; i < count; i += 100) {
    const cards = Array.from({ length: Math.min(100, count - i) }, (_, n) => ({
      card_id: `${name}-${i + n}`,
      content: `fact ${i + n}`,
      metadata: { role: 'user' },
    }));
    await api.cards.add_batch({ cards, atomic: true });
    ids.push(...cards.map(({ card_id }) => card_id));
  }
  return ids;
}

async function packing(target, report) {
  const database = await target.fresh();
  const cairn = await openCairn(database);
  await cairn.api.profiles.create({ name: 'worker' });
  const card_ids = await fill(cairn.api, PACKED, 'card');
  await cairn.api.boxes.create({ box_id: 'inherited', card_ids, agent_id: 'planner' });
  const bare = await openBare(target.kind, database);
  let n = 0;
  const once = [0];
  const pack = () =>
    byCallers(1, once, () =>
      cairn.api.pmo.pack_context({
        tool_suffix: 'bench',
        source_agent_id: 'planner',
        arguments: { profile_name: 'worker', instruction: 'go', input_box_ids: 'inherited' },
        handover: 'instruction',
      }),
    );
  const copy = () =>
    byCallers(1, once, () =>
      bare.exec(
        `INSERT INTO box_entries (tenant_id, box_id, position, card_id, ordinal, added_revision)
       SELECT tenant_id, 'copy-${n++}', position, card_id, ordinal, 1 FROM box_entries
       WHERE tenant_id = 'default' AND box_id = 'inherited'`,
      ),
    );
  const { rate, ratio, noise } = await interleave({ pack, copy }, 7);
  report({
    what: 'pack_context of 10,000 inherited cards against a bare copy of the entries',
    ours: 1e3 / rate('pack'),
    bare: 1e3 / rate('copy'),
    unit: 'ms',
    ratio: ratio('copy', 'pack'),
    noise: noise('copy', 'pack'),
  });
  await bare.close();
  await cairn.close();
}

/** The longest that one writer waits, with nobody beside it and while prompts of so many cards are rendered. */
async function hydrating(target, report, count) {
  const cairn = await openCairn(await target.fresh());
  const { api } = cairn;
  await api.profiles.create({ name: 'worker' });
  await api.boxes.create({ box_id: 'inherited', card_ids: await fill(api, count, 'card') });
  const { agent_turn_id } = await api.pmo.delegate_async({
    target_strategy: 'new',
    target_ref: 'worker',
    instruction: 'go',
    context_box_id: 'inherited',
  });
  const { agent_turn } = await api.agent_turns.claim({ worker_id: 'w', agent_turn_id, lease_ms: 600_000 });
  const held = { agent_turn_id, turn_epoch: agent_turn.turn_epoch };
  const hydrate = async () => {
    await api.agent_turns.append({ ...held, cards: [{ content: 'hm', metadata: { role: 'assistant' } }] });
    await api.agent_turns.hydrate(held);
  };
  const longestBeside = async (work) => {
    let busy = true;
    const beside = work().finally(() => (busy = false));
    let longest = 0;
    while (busy) {
      const start = performance.now();
      await api.cards.add({ content: 'beside' });
      longest = Math.max(longest, performance.now() - start);
    }
    await beside;
    return 1000 / longest;
  };
  const alone = () => longestBeside(() => new Promise((resolve) => setTimeout(resolve, 200)));
  const { rate, ratio, noise } = await interleave({ beside: () => longestBeside(hydrate), alone }, 5);
  report({
    what: `longest wait of a writer beside hydrate of ${count.toLocaleString('en')} cards, against alone`,
    ours: 1e3 / rate('beside'),
    bare: 1e3 / rate('alone'),
    unit: 'ms',
    ratio: ratio('alone', 'beside'),
    noise: noise('alone', 'beside'),
  });
  await cairn.close();
}

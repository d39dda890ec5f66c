// `cairn recall` in a terminal, on a warm disk: from the start of the process to its end. Beside it, Node that does nothing.
// And `openCairn` in process on a database that has turns, beside a bare connection that asks it for one of them.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { openCairn } from '../dist/cairndb.js';
import { fillConversations } from './support/conversations.mjs';
import { connectBare } from './support/databases.mjs';
import { filled } from './support/filled.mjs';
import { interleave } from './support/measure.mjs';

const program = fileURLToPath(new URL('../bin/cairn.js', import.meta.url));
const NOTES = 100;
const TURNS = 10_000;
const MOST_S = 0.3;

export async function terminal({ target, quick, report }) {
  await recalling({ target, quick, report });
  await opening({ target, quick, report });
}

async function recalling({ target, quick, report }) {
  const database = await target.fresh();
  await filled(target.kind, database, async ({ api }) => {
    for (let i = 0; i < NOTES; i++) {
      const content = `Supplier ${i} asks ${i % 7} euros per tonne of polymer.`;
      await api.notes.create({ note_type: 'Fact', title: `supplier ${i}`, content });
    }
  });
  const run = (args) => () => {
    const start = performance.now();
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
    return 1000 / (performance.now() - start);
  };
  const { rate, ratio, noise } = await interleave(
    { ours: run([program, 'recall', 'polymer per tonne', '--database', database]), bare: run(['-e', '0']) },
    quick ? 5 : 15,
  );
  report({
    what: 'cairn recall in a terminal',
    ours: 1 / rate('ours'),
    bare: 1 / rate('bare'),
    unit: ' s',
    ratio: ratio('bare', 'ours'),
    noise: noise('bare', 'ours'),
    ...(target.kind === 'sqlite' ? { mark: 'ours', at_most: MOST_S } : {}),
  });
}

async function opening({ target, quick, report }) {
  const database = await target.fresh();
  await filled(target.kind, database, (cairn) => fillConversations(cairn, TURNS, 34));
  /** Opening alone is measured, and not closing. */
  const timed = (open) => async () => {
    const start = performance.now();
    const { close } = await open();
    const took = performance.now() - start;
    await close();
    return 1000 / took;
  };
  const ours = async () => {
    const cairn = await openCairn({ database });
    return { close: () => cairn.close() };
  };
  const bare = async () => {
    const connection = await connectBare(target.kind, database);
    await connection.first('SELECT card_id FROM cards LIMIT 1');
    return connection;
  };
  const { rate, ratio, noise } = await interleave({ ours: timed(ours), bare: timed(bare) }, quick ? 20 : 60);
  report({
    what: `openCairn on ${TURNS.toLocaleString('en')} turns`,
    ours: 1000 / rate('ours'),
    bare: 1000 / rate('bare'),
    unit: ' ms',
    ratio: ratio('bare', 'ours'),
    noise: noise('bare', 'ours'),
  });
}

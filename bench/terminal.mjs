// `cairn recall` in a terminal, on a warm disk: from the start of the process to its end. Beside it, Node that does nothing.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { openCairn } from './support/databases.mjs';
import { interleave } from './support/measure.mjs';

const program = fileURLToPath(new URL('../bin/cairn.js', import.meta.url));
const NOTES = 100;
const MOST_S = 0.3;

export async function terminal({ target, quick, report }) {
  const database = await target.fresh();
  const cairn = await openCairn(database);
  for (let i = 0; i < NOTES; i++) {
    const content = `Supplier ${i} asks ${i % 7} euros per tonne of polymer.`;
    await cairn.api.notes.create({ note_type: 'Fact', title: `supplier ${i}`, content });
  }
  await cairn.close();
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

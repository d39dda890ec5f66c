// Turns by 64 concurrent callers, against a library that keeps messages in a file of the same kind: Mastra's memory on
// libsql. The same texts in the same run, one message a call, and every commit of either side is on the disk.
import { openWithBackgroundWork } from './support/databases.mjs';
import { flushes } from './support/disk.mjs';
import { openMastra } from './support/mastra.mjs';
import { byCallers, interleave } from './support/measure.mjs';
import { thenQuiet } from './support/quiet.mjs';
import { uuids } from './support/seeded.mjs';
import { counted, openScopes, sayings } from './support/turns.mjs';

const CALLERS = 64;
const THREADS = 16;
const FLUSHES = 100;

export async function peers({ target, quick, report }) {
  // It is a file beside a file: there is nothing to compare PostgreSQL with.
  if (target.kind !== 'sqlite') return;
  const mastra = await openMastra(await target.fresh());
  if (typeof mastra === 'string') return report({ what: 'turns.add against @mastra/libsql', skipped: mastra });
  const cairn = await openWithBackgroundWork(await target.fresh());
  const pages = await target.fresh();
  const rounds = quick ? 5 : 9;
  const perRound = CALLERS * (quick ? 20 : 60);
  const newId = uuids(14);
  const say = sayings(14);
  const threads = Array.from({ length: THREADS }, newId);
  await openScopes(cairn, threads, newId());
  for (const thread of threads) await mastra.saveThread(thread);
  const as_it_comes = await mastra.pragmas();
  await mastra.durable();
  const work = Array.from({ length: rounds + 1 }, () =>
    Array.from({ length: perRound }, (_, i) => ({ id: newId(), thread: threads[i % THREADS], text: say() })),
  );
  const add = (turn) => cairn.api.turns.add(turn);
  const measured = await interleave(
    {
      counting: thenQuiet((round) =>
        byCallers(CALLERS, work[round], ({ thread, text }) => add({ scope_id: thread, role: 'User', content: text })),
      ),
      counted: thenQuiet((round) => byCallers(CALLERS, work[round], ({ thread, text }) => add(counted(thread, text)))),
      flush: async () => flushes(pages, FLUSHES),
      mastra: (round) => byCallers(CALLERS, work[round], ({ id, thread, text }) => mastra.save(id, thread, text)),
    },
    rounds,
  );
  const saved = await mastra.count();
  if (saved !== work.length * perRound) throw new Error(`@mastra/libsql has ${saved} messages`);
  const peer = { name: '@mastra/libsql', version: mastra.version, as_it_comes, measured: await mastra.pragmas() };
  const against = (side) => ({
    ours: measured.rate(side),
    bare: measured.rate('mastra'),
    unit: '/s',
    ratio: measured.ratio(side, 'mastra'),
    noise: measured.noise(side, 'mastra'),
    peer,
  });
  report({ what: 'turns.add against @mastra/libsql', ...against('counting'), at_least: 6 });
  report({ what: 'turns.add against @mastra/libsql, token_count given', ...against('counted') });
  // Of its two commits a message each waits for the disk: the faster that is, the less there is to share.
  report({ what: 'peers: one flush of the disk meanwhile', ours: 1000 / measured.rate('flush'), unit: 'ms' });
  await cairn.close();
  await mastra.close();
}

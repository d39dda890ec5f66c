// LangGraph's threads on a Cairn server: the client sends what changed since the last put, and the server applies it.
import { fileURLToPath } from 'node:url';
import { CairnSaver } from '../dist/adapters/langgraph/index.js';
import { connectCairn } from '../dist/client/index.js';
import { loadLatest, putRates } from './support/saver-rounds.mjs';
import { startServer } from './support/servers.mjs';
import { plainMessages, STEPS, statesOf } from './support/threads.mjs';

const program = fileURLToPath(new URL('../bin/cairn.js', import.meta.url));
const LOADS = 10;

export async function overHttp({ target, report }) {
  for (const [what, bytes, marks] of [
    ['2 KB', 2048, { mark: 'ours', at_least: 500 }],
    ['200 bytes', 200, {}],
  ]) {
    const database = await target.fresh();
    const server = await startServer([program, 'serve', '--port', '0', '--database', database]);
    const cairn = connectCairn({ url: `http://127.0.0.1:${server.port}` });
    try {
      const states = statesOf(plainMessages(44, bytes));
      const sides = { ours: { saver: new CairnSaver(cairn) } };
      const { lateRate } = await putRates(sides, states);
      report({ what: `LangGraph over HTTP, ${what}: put at step ${STEPS}`, ours: lateRate.ours, unit: '/s', ...marks });
      const latest = await loadLatest(sides, states, LOADS);
      report({ what: `LangGraph over HTTP, ${what}: load the latest`, ours: latest.ours, unit: 'ms' });
    } finally {
      await cairn.close();
      await server.stop();
    }
  }
}

// Resident memory of a server on a large store, after many searches over HTTP by concurrent callers.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { connectCairn } from '../dist/client/index.js';
import { fillConversations, questionsOf } from './support/conversations.mjs';
import { filled } from './support/filled.mjs';
import { byCallers } from './support/measure.mjs';
import { startServer } from './support/servers.mjs';

const program = fileURLToPath(new URL('../bin/cairn.js', import.meta.url));
const CALLERS = 8;
const MOST_MB = { sqlite: 400, postgres: 300 };

const plan = (quick) => (quick ? { turns: 10_000, searches: 500 } : { turns: 1_000_000, searches: 10_000 });

export async function memory({ target, quick, report }) {
  const { turns, searches } = plan(quick);
  const database = await target.fresh();
  await filled(target.kind, database, (cairn) => fillConversations(cairn, turns, 32));
  const server = await startServer([program, 'serve', '--port', '0', '--database', database]);
  const cairn = connectCairn({ url: `http://127.0.0.1:${server.port}` });
  try {
    const next = questionsOf(33);
    const questions = Array.from({ length: searches }, next);
    await byCallers(CALLERS, questions, (query) => cairn.search.query({ query }));
    report({
      what: `memory of a server, ${turns.toLocaleString('en')} turns, ${searches.toLocaleString('en')} searches`,
      ours: residentKb(server.pid) / 1024,
      unit: ' MB',
      mark: 'ours',
      at_most: MOST_MB[target.kind],
    });
  } finally {
    await cairn.close();
    await server.stop();
  }
}

const residentKb = (pid) => Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }));

// Checkpoints of runs: LangGraph's threads beside the official checkpointer of the same kind of database, over HTTP, and
// what a checkpoint costs late in a run.
import { overHttp } from './checkpoint-http.mjs';
import { churn, lateSteps } from './checkpoint-runs.mjs';
import { flushes } from './support/disk.mjs';
import { median } from './support/measure.mjs';
import { branchBytes, loadAny, loadLatest, loadLatestAnew, putRates } from './support/saver-rounds.mjs';
import { openOfficial, openOurs } from './support/savers.mjs';
import { langchainMessages, plainMessages, statesOf } from './support/threads.mjs';

/** Of the messages that it is warmed up with: whole threads, which it takes until all of the code is compiled. */
const SHORT = 20;
/** On PostgreSQL no other messages are measured, and most of the time passes in the server. */
const WARM_UP = { sqlite: [plainMessages, langchainMessages, plainMessages], postgres: [plainMessages] };
const SEED = 41;
const BRANCH_AT = 500;
const KB = 1024;
const FLUSHES = 100;
/** Of the latest, and of the sample in each tenth of the thread. The other side takes up to half a second for one on PostgreSQL. */
const LOADS = { sqlite: 10, postgres: 2 };

/** What is put, and what is wanted of it. */
const THREADS = {
  sqlite: [
    { what: '2 KB', bytes: 2 * KB, at_least: 12, smaller_by: 150, latest_at_most: 1.3 },
    { what: '200 bytes', bytes: 200, at_least: 1.8, latest_at_most: 1.3 },
    { what: '2 KB of LangChain', bytes: 2 * KB, messages: langchainMessages, latest_at_most: 1.3 },
  ],
  postgres: [{ what: '2 KB', bytes: 2 * KB, at_least: 15, latest_at_most: 0.2 }],
};

export async function checkpoints({ target, quick, report }) {
  const missing = await warmUp(target);
  for (const thread of THREADS[target.kind])
    if (missing) report({ what: `LangGraph, ${thread.what}: put`, skipped: missing });
    else await beside(target, quick, report, thread);
  if (target.kind === 'sqlite') {
    const flush = 1000 / flushes(await target.fresh(), FLUSHES);
    report({ what: 'checkpoints: one flush of the disk meanwhile', ours: flush, unit: 'ms' });
    await overHttp({ target, report });
  }
  await lateSteps({ target, quick, report });
  await churn({ target, quick, report });
}

/** The reason when there is nothing to compare with. */
async function warmUp(target) {
  for (const messages of WARM_UP[target.kind]) {
    const measured = await round(target, statesOf(messages(SEED, SHORT)), 1);
    if (typeof measured === 'string') return measured;
  }
  return undefined;
}

async function beside(target, quick, report, { messages = plainMessages, ...thread }) {
  const states = statesOf(messages(SEED, thread.bytes));
  const rounds = [];
  for (let i = 0; i < (quick ? 1 : 3); i++) rounds.push(await round(target, states, LOADS[target.kind]));
  tell(report, thread, target.kind, rounds);
}

/** One thread on both, in databases of its own; the reason when there is nothing to compare with. */
async function round(target, states, loads) {
  const bare = await openOfficial(target, await target.fresh());
  if (typeof bare === 'string') return bare;
  const ours = await openOurs(target, await target.fresh());
  const sides = { ours, bare };
  const measured = {
    peer: { name: bare.name, version: bare.version, as_it_comes: bare.as_it_comes, measured: bare.settings },
    ...(await putRates(sides, states)),
    latest: await loadLatest(sides, states, loads),
    anew: await loadLatestAnew(sides, states, loads),
    any: await loadAny(sides, states, loads, 43),
  };
  if (target.kind === 'sqlite') {
    measured.bytes = { ours: await ours.bytes(), bare: await bare.bytes() };
    const step = Math.min(BRANCH_AT, states.length - 1);
    const [message] = states[0].checkpoint.channel_values.messages;
    measured.branch = await branchBytes(ours, states, step, message);
  }
  await ours.close();
  await bare.close();
  return measured;
}

function tell(report, { what, at_least, smaller_by, latest_at_most }, kind, rounds) {
  const { peer } = rounds[0];
  /** The medians over the rounds of a figure that both sides have, and of its ratio. */
  const both = (figure, ratio = ({ ours, bare }) => ours / bare) => {
    const figures = rounds.map(figure);
    return {
      ours: median(figures.map(({ ours }) => ours)),
      bare: median(figures.map(({ bare }) => bare)),
      ratio: median(figures.map(ratio)),
    };
  };
  const thread = `LangGraph, ${what}`;
  report({ what: `${thread}: put`, ...both(({ rate }) => rate), unit: '/s', at_least, peer });
  // Of this process alone: on PostgreSQL the server's is not in it.
  report({ what: `${thread}: CPU time of a put`, ...both(({ cpu }) => cpu), unit: 'ms' });
  report({ what: `${thread}: load the latest`, ...both(({ latest }) => latest), unit: 'ms', at_most: latest_at_most });
  report({ what: `${thread}: load the latest by a new saver`, ...both(({ anew }) => anew), unit: 'ms' });
  const sum = (any) => ({
    ours: any.reduce((ms, { ours }) => ms + ours, 0),
    bare: any.reduce((ms, { bare }) => ms + bare, 0),
  });
  report({ what: `${thread}: load any`, ...both(({ any }) => sum(any)), unit: 'ms', at_most: 3 });
  const worst = (any) => any.reduce((a, b) => (a.ours / a.bare > b.ours / b.bare ? a : b));
  report({ what: `${thread}: load any, the worst tenth`, ...both(({ any }) => worst(any)), unit: 'ms', at_most: 3 });
  if (kind !== 'sqlite') return;
  const inKb = ({ bytes }) => ({ ours: bytes.ours / KB, bare: bytes.bare / KB });
  const times = ({ ours, bare }) => bare / ours;
  report({
    what: `${thread}: times smaller on disk`,
    ...both(inKb, times),
    unit: 'KB',
    ...(smaller_by ? { at_least: smaller_by } : {}),
  });
  // Less than 64: files grow by pages of 4 KB.
  const added = median(rounds.map(({ branch }) => branch / KB));
  report({
    what: `${thread}: a branch from step ${BRANCH_AT} adds`,
    ours: added,
    unit: 'KB',
    mark: 'ours',
    at_most: 60,
  });
}

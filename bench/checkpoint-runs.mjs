// What a checkpoint costs late in a run, against early in one: a run of a thousand steps takes its last steps in turn
// with new runs that take their first. Through checkpoints.create itself, with nothing frozen.
import { openCairn } from './support/databases.mjs';
import { interleave, median } from './support/measure.mjs';
import { seeded, uuids } from './support/seeded.mjs';
import { plainMessages, STEPS } from './support/threads.mjs';

const EARLY = 10;
const PER_ROUND = 10;
const LOADS = 20;
const VARIABLES = 20;
const MESSAGE_BYTES = 2048;

/** One more message at each step. */
export async function lateSteps({ target, quick, report }) {
  const messages = plainMessages(45, MESSAGE_BYTES);
  const contextOf = (step) => ({ messages: messages.slice(0, step + 1), variables: {} });
  const { late, early, ratio } = await lateAgainstEarly(target, quick, contextOf);
  report({
    what: `checkpoints.create, 2 KB more: step ${STEPS} against ${EARLY}`,
    ours: late.create,
    bare: early.create,
    unit: 'ms',
    ratio,
    at_most: 1.5,
  });
}

/** Variables that all change at every step. */
export async function churn({ target, quick, report }) {
  const next = seeded(46);
  const contextOf = (step) => {
    const variables = {};
    for (let i = 0; i < VARIABLES; i++) variables[`variable_${i}`] = `at step ${step}: ${next() % 100_000}`;
    return { messages: [], variables };
  };
  const { late, early, ratio } = await lateAgainstEarly(target, quick, contextOf);
  report({
    what: `${VARIABLES} variables change: step ${STEPS} against ${EARLY}`,
    ours: late.create,
    bare: early.create,
    unit: 'ms',
    ratio,
  });
  report({
    what: `${VARIABLES} variables change: load the latest, step ${STEPS} against ${EARLY}`,
    ours: late.latest,
    bare: early.latest,
    unit: 'ms',
    ratio: late.latest / early.latest,
  });
}

async function lateAgainstEarly(target, quick, contextOf) {
  const cairn = await openCairn(await target.fresh());
  const newId = uuids(47);
  const rounds = quick ? 10 : 20;
  const long = newId();
  const { go, latest } = stepsOf(cairn, contextOf);
  await cairn.api.executions.create({ execution_id: long });
  await go(long, 0, STEPS - (rounds + 1) * PER_ROUND);
  let last;
  const { rate, ratio, noise } = await interleave(
    {
      late: (round) => go(long, STEPS - (rounds + 1 - round) * PER_ROUND, PER_ROUND),
      early: async () => {
        last = newId();
        await cairn.api.executions.create({ execution_id: last });
        await go(last, 0, EARLY);
        return go(last, EARLY, PER_ROUND);
      },
    },
    rounds,
  );
  const result = {
    late: { create: 1000 / rate('late'), latest: await latest(long, STEPS - 1) },
    early: { create: 1000 / rate('early'), latest: await latest(last, EARLY + PER_ROUND - 1) },
    // Of times, not of rates.
    ratio: ratio('early', 'late'),
    noise: noise('early', 'late'),
  };
  await cairn.close();
  return result;
}

function stepsOf({ api }, contextOf) {
  return {
    /** Takes so many steps of a run; gives checkpoints a second. */
    go: async (execution_id, from, count) => {
      const snapshots = Array.from({ length: count }, (_, i) => ({
        thought_chain: { steps: [] },
        context: contextOf(from + i),
        tool_state: { pending: [], completed: [] },
      }));
      const start = performance.now();
      for (const [i, snapshot] of snapshots.entries())
        await api.checkpoints.create({ execution_id, snapshot, metadata: { step_number: from + i } });
      return (count / (performance.now() - start)) * 1000;
    },
    /** What loading where a run stands takes, in milliseconds. */
    latest: async (execution_id, step) => {
      const spent = [];
      for (let i = 0; i < LOADS; i++) {
        const start = performance.now();
        const { metadata } = await api.checkpoints.latest({ execution_id });
        spent.push(performance.now() - start);
        if (metadata.step_number !== step) throw new Error(`the run stands at step ${metadata.step_number}`);
      }
      return median(spent);
    },
  };
}

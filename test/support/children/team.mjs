// A process of a planner or a helper, as in examples/fork-join.mjs, whose helpers take a while.
// Arguments: role, database, lease_ms.
import { openCairn, runWorker } from 'cairndb';

process.once('disconnect', () => process.exit());
const [, , role, database, lease_ms] = process.argv;
const cairn = await openCairn({ database });
// Behind it may be what a predecessor appended before it was killed.
const asked = ({ prompt }) => prompt.messages.find(({ role }) => role === 'user').content;

const handlers = {
  helper: async (turn) => {
    const [word, ms] = asked(turn).split(' ');
    await turn.append([{ content: `I begin with ${word}.`, metadata: { type: 'agent.thought' } }]);
    await new Promise((resolve) => setTimeout(resolve, Number(ms)));
    return word.toUpperCase();
  },
  planner: async (turn) => {
    const task = (instruction) => ({ target_strategy: 'new', target_ref: 'helper', instruction });
    const { status, results } = await turn.forkJoin(asked(turn).split(', ').map(task));
    return { status, words: results.map(({ deliverable }) => deliverable) };
  },
};
const retry = { first_ms: 20, longest_ms: 200 };
runWorker(cairn, { profile: role, handle: handlers[role], lease_ms: Number(lease_ms), retry });
process.send('ready');

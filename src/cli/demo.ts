/** `cairn demo`: fills a store with a realistic run, through the same Api that everyone uses. */
import { type Command, Option } from 'commander';
import type { Api } from '../api/index.js';
import { CairnError } from '../kernel/index.js';
import { RunStates } from './demo-run.js';
import { browsers, conversation, run } from './demo-script.js';
import { type Settings, withApi } from './settings.js';
import { grey } from './terminal.js';

const DATABASE = './cairn-demo.db';
/** The same in every demo, so that a second one finds the first. */
const TRAJECTORY = '0199d3e0-0000-7000-8000-0000000000de';

/** Ignores CAIRN_DATABASE, CAIRN_URL and CAIRN_TENANT: these name the user's own store. */
export function addDemo(command: Command): void {
  command
    .description('fill a new store with an example run')
    .addOption(new Option('-d, --database <file|url>', 'an SQLite file, or postgres://…').default(DATABASE))
    .addOption(new Option('--url <url>', 'fill the store of a server instead'))
    .addOption(new Option('--key <key>', 'the key for that server').env('CAIRN_KEY'))
    .addOption(new Option('--tenant <tenant>', 'tenant (default: "default", or the tenant of the key)'))
    .addHelpText('after', `\nExample:\n  $ cairn demo && cairn tree --database ${DATABASE}`)
    .action(demo);
}

/** Says what happens while it happens. */
type Tell = (line: string) => void;

async function talk(cairn: Api, scope_id: string, turns: readonly (readonly [string, string])[]): Promise<void> {
  for (const [role, content] of turns) await cairn.turns.add({ scope_id, role, content });
}

/** A task with two phases, the first of which is closed: what it found out outlives it. */
async function design(cairn: Api, trajectory_id: string, tell: Tell): Promise<string> {
  const scope = await cairn.scopes.create({
    trajectory_id,
    name: 'Design',
    purpose: 'Agree on how the link is made and checked',
    token_budget: 300,
  });
  await talk(cairn, scope.scope_id, conversation.design);
  const decision = await cairn.artifacts.create({
    trajectory_id,
    scope_id: scope.scope_id,
    artifact_type: 'Decision',
    name: 'login-link.md',
    content: 'A login link is valid for 15 minutes and for one use.',
    source_turn: 4,
    extraction_method: 'Explicit',
    confidence: 0.9,
  });
  await cairn.artifacts.update({
    artifact_id: decision.artifact_id,
    content: 'A login link is valid for 10 minutes and for one use. It is bound to the browser that asked for it.',
    confidence: 0.95,
  });
  await cairn.artifacts.create({
    trajectory_id,
    scope_id: scope.scope_id,
    artifact_type: 'IntermediateOutput',
    name: 'scratch list of mail providers',
    content: ['postmark', 'ses'],
    ttl: 'Scope',
  });
  const { threshold_reached_at } = await cairn.scopes.get({ scope_id: scope.scope_id });
  tell(`a scope for the design, ${threshold_reached_at ? 'past' : 'below'} 80% of its budget`);
  const closed = await cairn.scopes.close({ scope_id: scope.scope_id, wait: true });
  tell(`it is closed: ${closed.erasure!.erased} turns are erased, the decision is kept in 2 versions`);
  return decision.artifact_id;
}

/** A checkpoint, a wrong turn, and a new scope that starts where the checkpoint was. */
async function implement(cairn: Api, trajectory_id: string, decision: string, tell: Tell): Promise<void> {
  const scope = await cairn.scopes.create({ trajectory_id, name: 'Implementation', token_budget: 200 });
  await talk(cairn, scope.scope_id, conversation.implementation);
  const context_state = Buffer.from(JSON.stringify({ branch: 'login-link', step: 3 })).toString('base64');
  await cairn.scopes.checkpoint({ scope_id: scope.scope_id, context_state });
  await talk(cairn, scope.scope_id, conversation.detour);
  const restored = await cairn.scopes.restore({ scope_id: scope.scope_id, name: 'Implementation, again' });
  await cairn.scopes.close({ scope_id: scope.scope_id });
  await talk(cairn, restored.scope_id, conversation.retry);
  tell(`a scope that was restored from its checkpoint, after a detour that is forgotten`);
  const code = await cairn.artifacts.create({
    trajectory_id,
    scope_id: restored.scope_id,
    artifact_type: 'Code',
    name: 'login-link.ts',
    content: 'export const expiresAt = (now: Date) => new Date(now.getTime() + 10 * 60_000);',
    derived_from: [decision],
  });
  await cairn.artifacts.create({
    trajectory_id,
    scope_id: restored.scope_id,
    artifact_type: 'ErrorLog',
    name: 'first run of the tests',
    content: 'Error: token compared with ==, 1 test failed',
    ttl: 'LongTerm',
  });
  const gotcha = await cairn.notes.create({
    note_type: 'Gotcha',
    title: 'Mail scanners open links',
    content: 'Corporate mail scanners open every link once: make the link lead to a button, not to the login.',
    source_trajectory_ids: [trajectory_id],
    source_artifact_ids: [code.artifact_id],
  });
  const older = await cairn.notes.create({
    note_type: 'Strategy',
    title: 'One click is best',
    content: 'Log the user in as soon as the link is opened.',
    source_trajectory_ids: [trajectory_id],
  });
  await cairn.edges.create({
    edge_type: 'Contradicts',
    participants: [
      { entity_type: 'Note', entity_id: gotcha.note_id },
      { entity_type: 'Note', entity_id: older.note_id },
    ],
    weight: 0.8,
  });
  tell('two notes that contradict each other, and say so');
}

/** The same work as the agent went through it: every state is kept, and a way that failed is left from where it began. */
async function work(cairn: Api, trajectory_id: string, tell: Tell): Promise<void> {
  const { execution_id } = await cairn.executions.create({
    trajectory_id,
    name: 'Build the login link',
    agent_id: 'builder',
  });
  const states = new RunStates(cairn, execution_id);
  for (const step of run.token) await states.keep(step);
  const { id: checkpoint_id } = await states.name('the token works');
  for (const step of run.direct) await states.keep(step);
  await cairn.checkpoints.branch({ checkpoint_id, reason: 'a page with a button, since scanners open links' });
  const { snapshot, metadata } = await cairn.checkpoints.latest({ execution_id });
  states.goOnFrom(snapshot, metadata);
  for (const step of run.button) await states.keep(step);
  await cairn.executions.update({ execution_id, status: 'completed' });
  const { tools } = await cairn.executions.stats({ execution_id });
  const tests = tools.find(({ tool_id }) => tool_id === 'run_tests')!;
  tell(
    `a run whose states are kept: ${tests.failures} of ${tests.calls} test runs failed, and it went on from before that`,
  );
}

/** Claims an agent_turn and looks at its prompt, as a worker does before it asks a model: `replay` shows it again. */
async function beginTurn(cairn: Api, whose: { agent_id: string } | { profile_name: string }) {
  const { agent_turn } = await cairn.agent_turns.claim({ worker_id: 'demo', ...whose });
  const { agent_turn_id, turn_epoch } = agent_turn!;
  await cairn.agent_turns.hydrate({ agent_turn_id, turn_epoch });
  return { agent_turn_id, turn_epoch };
}

/** A part of the task, offered to another agent, which accepts it, works in a trajectory of its own and gives back. */
async function review(cairn: Api, trajectory_id: string, tell: Tell): Promise<void> {
  const { delegation_id } = await cairn.delegations.create({
    from_agent_id: 'builder',
    to_agent_id: 'reviewer',
    trajectory_id,
    task_description: 'Review the login link',
  });
  const accepted = await cairn.delegations.accept({ delegation_id });
  const { turn_epoch } = await beginTurn(cairn, { agent_id: 'reviewer' });
  const scope_id = accepted.child_scope_id!;
  await talk(cairn, scope_id, conversation.review);
  await cairn.notes.create({
    note_type: 'Procedure',
    title: 'How to compare secrets',
    content: 'Compare hashes with crypto.timingSafeEqual, never texts with ==.',
    abstraction_level: 'L2',
    source_trajectory_ids: [accepted.child_trajectory_id!],
  });
  const output = 'One finding, fixed: secrets are compared in constant time.';
  await cairn.delegations.complete({ delegation_id, turn_epoch, result: { status: 'Success', output } });
  const { messages } = await cairn.messages.receive({ agent_id: 'builder' });
  for (const { message_id } of messages) await cairn.messages.acknowledge({ message_id, agent_id: 'builder' });
  tell('a part of the task for another agent, which told when it was done');
}

/** Three agents at once, each on a packed context; the file that they may touch is locked meanwhile. */
async function tryOut(cairn: Api, trajectory_id: string, tell: Tell): Promise<void> {
  await cairn.profiles.save({ name: 'tester', system_prompt: 'You try a page out in one browser.' });
  const lock = await cairn.locks.acquire({
    resource_type: 'file',
    resource_id: 'src/login-page.ts',
    holder_agent_id: 'builder',
  });
  const started = await cairn.pmo.fork_join({
    tasks: browsers.map((browser) => ({
      target_strategy: 'new',
      target_ref: 'tester',
      instruction: `Log in with ${browser}`,
    })),
    source_agent_id: 'builder',
    trajectory_id,
  });
  if (started.status !== 'accepted') throw new Error(started.message);
  for (const browser of browsers) {
    const { agent_turn_id, turn_epoch } = await beginTurn(cairn, { profile_name: 'tester' });
    await cairn.agent_turns.complete({ agent_turn_id, turn_epoch, deliverable: `${browser}: logged in` });
  }
  const { results } = await cairn.pmo.batch({ batch_id: started.batch_id });
  await cairn.locks.release({ lock_id: lock.lock_id });
  tell(`${results.length} agents that tried it out at once, each on a context packed for it`);
}

/** A second demo would only double the first. One that was begun and not ended is as good as one. */
async function refuseSecond(cairn: Api, { url, database }: Settings): Promise<void> {
  const { total } = await cairn.trajectories.list({ limit: 1 });
  const first =
    total === 0 ? undefined : await cairn.trajectories.get({ trajectory_id: TRAJECTORY }).catch(unlessKnown);
  if (first === undefined) return;
  const [what, flag] = url === undefined ? [database, '--database'] : [url, '--url'];
  throw new CairnError(
    'STATE_CONFLICT',
    `${what} holds the demo already: look at it with \`cairn tree ${flag} ${what}\`, or name another place with --database or --tenant`,
  );
}

const unlessKnown = (error: unknown): undefined => {
  if (!(error instanceof CairnError && error.status === 404)) throw error;
};

async function demo(options: Settings): Promise<void> {
  await withApi(options, async (cairn) => {
    await refuseSecond(cairn, options);
    const tell: Tell = (line) => console.log(`${grey('·')} ${line}`);
    const { trajectory_id } = await cairn.trajectories.create({
      trajectory_id: TRAJECTORY,
      name: 'Log in by a link, without a password',
      description: 'Users ask for a link by mail and are logged in by it.',
      agent_id: 'builder',
    });
    tell('a trajectory: the task');
    for (const agent_type of ['builder', 'reviewer']) {
      await cairn.agents.register({ agent_id: agent_type, agent_type, capabilities: [agent_type] });
    }
    const decision = await design(cairn, trajectory_id, tell);
    await implement(cairn, trajectory_id, decision, tell);
    await work(cairn, trajectory_id, tell);
    await review(cairn, trajectory_id, tell);
    await tryOut(cairn, trajectory_id, tell);
    const where = options.url === undefined ? ` --database ${options.database}` : ` --url ${options.url}`;
    const { agent_turns } = await cairn.agent_turns.list({ limit: 1 });
    console.log(`
Look at it:
  cairn tree${where}
  cairn agent-turns replay ${agent_turns[0]!.agent_turn_id}${where}
  cairn tail --after 0${where}`);
  });
}

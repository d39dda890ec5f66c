/** `cairn demo`: fills a store with an example run, through the Api. */
import { type Command, Option } from 'commander';
import type { Api } from '../api/index.js';
import { CairnError } from '../kernel/index.js';
import type { Execution } from '../runtime/index.js';
import { browsers, conversation, correction, known, question, rules, run, type Step, team } from './demo-script.js';
import { type Settings, withApi } from './settings.js';
import { grey } from './terminal.js';

const DATABASE = './cairn-demo.db';
/** A fixed id, so that a second demo finds the first. */
const TRAJECTORY = '0199d3e0-0000-7000-8000-0000000000de';

/** Ignores CAIRN_DATABASE, CAIRN_URL and CAIRN_TENANT, which name the user's own store. */
export function addDemo(command: Command): void {
  command
    .description('fill a new store with an example run')
    .addOption(new Option('-d, --database <file|url>', 'an SQLite file, or postgres://…').default(DATABASE))
    .addOption(new Option('--url <url>', 'fill the store of a server instead'))
    .addOption(new Option('--key <key>', 'key for that server').env('CAIRN_KEY'))
    .addOption(new Option('--tenant <tenant>', 'tenant (default: the tenant of the key, else "default")'))
    .addHelpText('after', `\nExample:\n  $ cairn demo && cairn tree --database ${DATABASE}`)
    .action(demo);
}

const print = (line: string): void => console.log(`${grey('·')} ${line}`);

async function addTurns(cairn: Api, scope_id: string, turns: readonly (readonly [string, string])[]): Promise<void> {
  for (const [role, content] of turns) await cairn.turns.add({ scope_id, role, content });
}

/** The first phase: its scope is closed, its decision outlives it. */
async function design(cairn: Api, trajectory_id: string): Promise<string> {
  const scope = await cairn.scopes.create({
    trajectory_id,
    name: 'Design',
    purpose: 'Agree on how the link is made and checked',
    token_budget: 300,
  });
  await addTurns(cairn, scope.scope_id, conversation.design);
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
  print(`a scope for the design, ${threshold_reached_at ? 'past' : 'below'} 80% of its budget`);
  const closed = await cairn.scopes.close({ scope_id: scope.scope_id, wait: true });
  print(`the scope closed: ${closed.erasure!.erased} turns erased, 2 versions of the decision kept`);
  return decision.artifact_id;
}

/** The second phase: a checkpoint, a failed attempt, and a scope restored from the checkpoint. */
async function implement(cairn: Api, trajectory_id: string, decision: string): Promise<void> {
  const scope = await cairn.scopes.create({ trajectory_id, name: 'Implementation', token_budget: 200 });
  await addTurns(cairn, scope.scope_id, conversation.implementation);
  const context_state = Buffer.from(JSON.stringify({ branch: 'login-link', step: 3 })).toString('base64');
  await cairn.scopes.checkpoint({ scope_id: scope.scope_id, context_state });
  await addTurns(cairn, scope.scope_id, conversation.detour);
  const restored = await cairn.scopes.restore({ scope_id: scope.scope_id, name: 'Implementation, again' });
  await cairn.scopes.close({ scope_id: scope.scope_id });
  await addTurns(cairn, restored.scope_id, conversation.retry);
  print('a scope restored from its checkpoint after a failed attempt');
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
  print('two notes linked by a Contradicts edge');
}

function takeSteps(execution: Execution, steps: readonly Step[]): void {
  for (const { type, content, confidence, tokens, tool } of steps) {
    execution.thoughts.add({ type, content, confidence });
    execution.context.append({ role: 'assistant', content });
    if (tool) {
      const id = execution.tools.start(tool.tool_id);
      execution.tools.finish(id, { result: tool.result, duration_ms: tool.ms, success: tool.ok });
      execution.context.set(tool.ok ? 'done' : 'failed', tool.result);
    }
    execution.step({ tokens });
  }
}

/** The same work as an execution: a checkpoint after every step, and a branch from before the failed attempt. */
async function work(cairn: Api, trajectory_id: string): Promise<void> {
  // Lazy import: no other command needs the runtime.
  const { Execution } = await import('../runtime/index.js');
  const started = { trajectory_id, name: 'Build the login link', agent_id: 'builder' };
  const first = await Execution.start(cairn, started);
  first.context.append({ role: 'user', content: 'Please build the login link.' });
  takeSteps(first, run.token);
  const { id: checkpoint_id } = await first.checkpoint({ name: 'the token works' });
  takeSteps(first, run.direct);
  await first.close();
  await cairn.checkpoints.branch({ checkpoint_id, reason: 'a page with a button, since scanners open links' });
  const { execution_id } = first;
  const second = await Execution.resume(cairn, execution_id);
  takeSteps(second, run.button);
  await second.close('completed');
  const { tools } = await cairn.executions.stats({ execution_id });
  const tests = tools.find(({ tool_id }) => tool_id === 'run_tests')!;
  print(
    `an execution with checkpoints: ${tests.failures} of ${tests.calls} test runs failed, so it branched from before`,
  );
}

/** Claims an agent_turn and hydrates its prompt, as a worker does before it calls a model; `replay` shows the prompt again. */
async function beginTurn(cairn: Api, whose: { agent_id: string } | { profile_name: string }) {
  const { agent_turn } = await cairn.agent_turns.claim({ worker_id: 'demo', ...whose });
  const { agent_turn_id, turn_epoch } = agent_turn!;
  await cairn.agent_turns.hydrate({ agent_turn_id, turn_epoch });
  return { agent_turn_id, turn_epoch };
}

/** A delegation: another agent accepts it, works in its own trajectory and completes it. */
async function review(cairn: Api, trajectory_id: string): Promise<void> {
  const { delegation_id } = await cairn.delegations.create({
    from_agent_id: 'builder',
    to_agent_id: 'reviewer',
    trajectory_id,
    task_description: 'Review the login link',
  });
  const accepted = await cairn.delegations.accept({ delegation_id });
  const { turn_epoch } = await beginTurn(cairn, { agent_id: 'reviewer' });
  const scope_id = accepted.child_scope_id!;
  await addTurns(cairn, scope_id, conversation.review);
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
  print('a delegation to another agent, completed with a message');
}

/** Three agents at once, each on a packed context, while the builder holds a lock on the file. */
async function tryOut(cairn: Api, trajectory_id: string): Promise<void> {
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
    handover: 'Trial',
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
  print(`${results.length} parallel agents, each on its own packed context`);
}

/** Two contexts for the same scope, with a correction between them: what changed, and why, is in their manifests. */
async function assembleTwice(cairn: Api, trajectory_id: string): Promise<void> {
  const scope = await cairn.scopes.create({ trajectory_id, name: 'Roll-out', token_budget: 2000 });
  const { scope_id } = scope;
  await addTurns(cairn, scope_id, conversation.rollOut);
  const asked = { scope_id, token_budget: 700, user_input: question } as const;
  for (const { text, occurred_at } of known) await cairn.memory.remember({ text, occurred_at, trajectory_id });
  await cairn.context.assemble(asked);
  await cairn.memory.remember({ text: correction.text, occurred_at: correction.occurred_at, trajectory_id });
  const { token_count } = await cairn.context.assemble({ ...asked, instructions: 'Answer in one sentence.' });
  print(`two contexts assembled, before and after a correction: the second has ${token_count} of 700 tokens`);
}

/** Events of a build pipeline, each derived from the one before. */
async function build(cairn: Api): Promise<void> {
  const write = async (packet_type: string, payload: Record<string, string>, parent_ids: string[] = []) =>
    (await cairn.packets.write({ packet_type, payload, ...(parent_ids.length > 0 ? { lineage: { parent_ids } } : {}) }))
      .packet_id;
  const pushed = await write('ci.pushed', { branch: 'login-link' });
  const built = await write('ci.built', { image: 'shop:login-link' }, [pushed]);
  const tests = [];
  for (const browser of browsers) tests.push(await write('ci.tested', { browser, result: 'passed' }, [built]));
  await write('ci.deployed', { to: 'staging' }, tests);
  print(`${tests.length + 3} events of a build with their lineage`);
}

const storeOf = ({ url, database }: Pick<Settings, 'url' | 'database'>) =>
  url === undefined ? { what: database, flag: '--database' } : { what: url, flag: '--url' };

/** Declares who takes part; in an empty store, rules for the whole tenant as well. Changes nothing that exists. */
async function declareTeam(cairn: Api, { url, database }: Settings): Promise<void> {
  const isOwn = url === undefined && (await cairn.packets.list({ limit: 1 })).packets.length === 0;
  const source = isOwn ? `${rules}${team}` : team;
  const { changes, plan_hash } = await cairn.dsl.plan({ source });
  const taken = changes.find(({ action }) => action === 'update');
  if (taken)
    throw new CairnError(
      'STATE_CONFLICT',
      `${storeOf({ url, database }).what} already has another ${taken.kind} ${taken.name}: choose another store with --database or --tenant`,
    );
  await cairn.dsl.apply({ source, plan_hash });
  print(`a source applied: two agents, a profile and a handover${isOwn ? ', settings and a policy' : ''}`);
}

/** Refuses a second demo in the same store, even if the first did not finish. */
async function refuseSecond(cairn: Api, { url, database }: Settings): Promise<void> {
  const first = await cairn.trajectories.get({ trajectory_id: TRAJECTORY }).catch((error: unknown) => {
    if (!(error instanceof CairnError && error.status === 404)) throw error;
  });
  if (!first) return;
  const { what, flag } = storeOf({ url, database });
  throw new CairnError(
    'STATE_CONFLICT',
    `${what} already holds the demo: show it with \`cairn tree ${flag} ${what}\`, or choose another store with --database or --tenant`,
  );
}

async function demo(options: Settings): Promise<void> {
  await withApi(options, async (cairn) => {
    await refuseSecond(cairn, options);
    await declareTeam(cairn, options);
    const { trajectory_id } = await cairn.trajectories.create({
      trajectory_id: TRAJECTORY,
      name: 'Log in by a link, without a password',
      description: 'Users ask for a link by mail and are logged in by it.',
      agent_id: 'builder',
    });
    print('a trajectory: the task');
    const decision = await design(cairn, trajectory_id);
    await implement(cairn, trajectory_id, decision);
    await work(cairn, trajectory_id);
    await review(cairn, trajectory_id);
    await tryOut(cairn, trajectory_id);
    await assembleTwice(cairn, trajectory_id);
    await build(cairn);
    const where = options.url === undefined ? ` --database ${options.database}` : ` --url ${options.url}`;
    const { agent_turns } = await cairn.agent_turns.list({ limit: 1 });
    console.log(`
Look at it:
  ${options.url === undefined ? `cairn serve${where}` : `${options.url}/ui/`}  (what each agent saw, and why, in a browser)
  cairn tree${where}
  cairn dsl export${where}
  cairn agent-turns replay ${agent_turns[0]!.agent_turn_id}${where}
  cairn tail --after 0${where}`);
  });
}

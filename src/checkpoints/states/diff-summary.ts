/** Describes the changes between two snapshots: by thought, message, variable and tool, and in one line. */
import type { Json, JsonObject } from '../../kernel/contract.js';
import { isLongerThan, pointerNames, sameMembers } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import type { Changes, Snapshot, Thought } from '../checkpoints/model.js';
import type { SemanticDiff } from '../executions/model.js';
import { toolCallIds } from './tool-call-ids.js';

type Parts = Pick<SemanticDiff, 'thoughts' | 'messages' | 'variables' | 'tools'>;
type Paths = readonly { readonly steps: readonly string[]; readonly change: Changes[string] }[];

/** `changes` are those of `diffStates(a, b)`. */
export function describeChanges(a: Snapshot, b: Snapshot, changes: Changes): Parts & { summary: string } {
  const paths = Object.keys(changes).map((path) => ({ steps: pointerNames(path) ?? [], change: changes[path]! }));
  const touched = (...start: string[]): boolean =>
    paths.some(({ steps }) => start.every((name, i) => steps[i] === name));
  const parts = {
    thoughts: touched('thought_chain', 'steps')
      ? thoughtChanges(a.thought_chain.steps, b.thought_chain.steps)
      : { added: [], changed: [], removed: [] },
    messages: messageChanges(paths, a.context.messages.length),
    variables: variableChanges(paths, a.context.variables, b.context.variables),
    tools: { run: touched('tool_state', 'completed') ? toolsRun(a, b) : [] },
  };
  return { summary: summarize(parts, touched), ...parts };
}

/** Ignores `children`: a new child is itself an added thought. */
function thoughtChanges(before: readonly Thought[], after: readonly Thought[]): Parts['thoughts'] {
  const old = new Map(before.map((thought) => [thought.id, thought]));
  const now = new Map(after.map((thought) => [thought.id, thought]));
  const differs = (thought: Thought) => {
    const was = old.get(thought.id);
    return was !== undefined && !sameMembers(was as JsonObject, thought as JsonObject, 'children');
  };
  return {
    added: [...now.keys()].filter((id) => !old.has(id)),
    changed: [...now.values()].filter(differs).map(({ id }) => id),
    removed: [...old.keys()].filter((id) => !now.has(id)),
  };
}

/** Growth of the range at the old end counts as appended; anything else as a change. */
function messageChanges(paths: Paths, length: number): Parts['messages'] {
  let appended = 0;
  let changed = false;
  for (const { steps, change } of paths) {
    if (steps[0] !== 'context' || steps[1] !== 'messages') continue;
    const before = Array.isArray(change.before) ? change.before.length : 0;
    const after = Array.isArray(change.after) ? change.after.length : 0;
    if (steps.length === 3 && steps[2]!.endsWith(`:${length}`)) appended = Math.max(0, after - before);
    if (steps[2] !== `${length}:${length}`) changed = true;
  }
  return { appended, changed };
}

function variableChanges(paths: Paths, before: JsonObject, after: JsonObject): Parts['variables'] {
  const added: string[] = [];
  const changed = new Set<string>();
  const removed: string[] = [];
  for (const { steps, change } of paths) {
    const [area, part, name] = steps;
    if (area !== 'context' || part !== 'variables' || name === undefined) continue;
    if (steps.length > 3) changed.add(name);
    else if (change.before === undefined) added.push(name);
    else if (change.after === undefined) removed.push(name);
    else changed.add(name);
  }
  const values = [...changed].map((name) => ({ name, before: before[name]!, after: after[name]! }));
  return { added, changed: values, removed };
}

function toolsRun(a: Snapshot, b: Snapshot): Parts['tools']['run'] {
  const before = new Set(toolCallIds(a.tool_state.completed));
  const ids = toolCallIds(b.tool_state.completed);
  return b.tool_state.completed
    .map(({ tool_id, success }, i) => ({ id: ids[i]!, tool_id, success }))
    .filter(({ id }) => !before.has(id));
}

function summarize(parts: Parts, touched: (...start: string[]) => boolean): string {
  const { thoughts, messages, variables, tools } = parts;
  const sentences = [
    thoughtWords(thoughts),
    messageWords(messages),
    ...variableWords(variables),
    toolWords(tools.run),
  ].filter((words) => words !== '');
  // Implied changes are left out: a new thought is the current one, a tool that ran is no longer pending.
  if (Object.values(thoughts).every(({ length }) => length === 0)) {
    if (touched('thought_chain', 'steps')) sentences.push('thoughts rearranged');
    if (touched('thought_chain', 'current_step_id')) sentences.push('another thought is current');
  }
  if (touched('context', 'memory')) sentences.push('memory changed');
  if (tools.run.length === 0) {
    if (touched('tool_state', 'completed')) sentences.push('earlier tool calls changed');
    if (touched('tool_state', 'pending')) sentences.push('pending tools changed');
    if (touched('tool_state', 'last_tool_call_id')) sentences.push('another tool call is the last');
  }
  return sentences.length > 0 ? sentences.join('; ') : 'nothing changed';
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** `2 thoughts added, 1 changed` */
function thoughtWords(thoughts: Parts['thoughts']): string {
  const kinds = (['added', 'changed', 'removed'] as const).filter((kind) => thoughts[kind].length > 0);
  return kinds
    .map((kind, i) => `${i === 0 ? count(thoughts[kind].length, 'thought') : thoughts[kind].length} ${kind}`)
    .join(', ');
}

function messageWords({ appended, changed }: Parts['messages']): string {
  if (appended === 0) return changed ? 'messages changed' : '';
  return `${count(appended, 'message')} appended${changed ? ', others changed' : ''}`;
}

const MAX_NAMES = 3;
const MAX_LENGTH = 40;

/** `variable "plan" changed`, or `variable "attempts" 1 → 2` where both values are short. */
function variableWords({ added, changed, removed }: Parts['variables']): string[] {
  const names = changed.map(({ name }) => name);
  const short = changed.length > MAX_NAMES ? [] : changed.filter(isShort);
  const long = names.filter((name) => !short.some((change) => change.name === name));
  return [
    named(added, 'added'),
    ...short.map(({ name, before, after }) => `variable ${quoted(name)} ${shown(before)} → ${shown(after)}`),
    named(long, 'changed'),
    named(removed, 'removed'),
  ];
}

function named(names: readonly string[], what: string): string {
  if (names.length === 0) return '';
  if (names.length > MAX_NAMES) return `${names.length} variables ${what}`;
  return `variable${names.length === 1 ? '' : 's'} ${names.map(quoted).join(', ')} ${what}`;
}

const shown = (value: Json): string => printable(canonical(value));

/** Estimates the length first, so that large values are not serialised. */
const isShort = ({ before, after }: Parts['variables']['changed'][number]): boolean =>
  [before, after].every((value) => !isLongerThan(value, 4 * MAX_LENGTH) && shown(value).length <= MAX_LENGTH);

/** Quoted, so that a name cannot break the line or imitate another part of it. */
const quoted = (name: string): string =>
  printable(JSON.stringify(name.length > MAX_LENGTH ? `${name.slice(0, MAX_LENGTH - 1)}…` : name));

const printable = (text: string): string => text.replace(/[\u007f-\u009f\u2028\u2029]/g, '\ufffd');

function toolWords(run: Parts['tools']['run']): string {
  const failed = run.filter(({ success }) => !success).length;
  if (run.length === 0) return '';
  if (run.length === 1) return `tool ${run[0]!.tool_id} run${failed > 0 ? ' (failed)' : ''}`;
  return `${count(run.length, 'tool')} run${failed > 0 ? ` (${failed} failed)` : ''}`;
}

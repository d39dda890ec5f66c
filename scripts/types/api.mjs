// Generates the types of the Api from the table of operations: an input type per operation, named answer types, and
// methods with documentation and an example. `node scripts/types/api.mjs` prints them; `--plain` prints the types that
// zod infers, without the refinements below.
import { allOperations, groups, shorthands, wholeShorthands } from '../../dist/api/contract.js';
import { sentSnapshot, snapshot } from '../../dist/checkpoints/contract.js';
import { notAnObject } from '../../dist/coordination/handovers/model.js';
import { TTL_NAMES, ttl } from '../../dist/engine/lifetimes/model.js';
import { jsonValue } from '../../dist/kernel/contract.js';
import { isOptional, SchemaTypes } from './schemas.mjs';
import { camel, code, comment, literal, pascal, singular } from './text.mjs';

/** Groups that are not nouns: their types are named after the verb alone. */
const VERBS_ALONE = new Set(['memory', 'pmo', 'auth']);

/** The first of these verbs in a group has the input named after the noun: TurnInput, LockInput. */
const MAKING = ['create', 'add', 'register', 'send', 'acquire', 'write', 'save', 'assemble', 'query'];

/** Replaces derived names. `Execution` is a class of the runtime, so the answer is ExecutionRecord. */
const RENAMED = {
  ArtifactHistoryResultVersion: 'ArtifactVersion',
  AssembledContextSection: 'ContextSection',
  CheckpointSummaryPage: 'CheckpointPage',
  EdgeTraverseResultEntity: 'TraversedEntity',
  EventFollowResult: 'FollowedEvent',
  Execution: 'ExecutionRecord',
  ExecutionTreeResult: 'ExecutionTree',
  FoundThoughtPage: 'ThoughtPage',
  FoundToolCallPage: 'ToolCallPage',
  HandoverRecipeContextPackingConfig: 'HandoverPacking',
  HandoverRecipeContextPackingConfigInput: 'HandoverPackingInput',
  HandoverPackingInheritContext: 'HandoverInheritance',
  HandoverPackingInheritContextInput: 'HandoverInheritanceInput',
  HydratedPendingCall: 'PendingCall',
  KeyCreateResult: 'CreatedKey',
  ManifestSummaryPage: 'ManifestPage',
  MemoryAccessRead: 'MemoryAccessRule',
  MessageStreamResult: 'StreamedMessage',
  NoteHistoryResultVersion: 'NoteVersion',
  PacketLineageResultPacket: 'LineagePacket',
  PassageBoost: 'Boost',
  PassagePage: 'Recalled',
  PassageRelated: 'RelatedEntity',
  ScopeRestoreResult: 'RestoredScope',
  SnapshotContextMessage: 'SnapshotMessage',
  SnapshotContextMessageInput: 'SnapshotMessageInput',
  TrajectoryTreeResult: 'TrajectoryTree',
};

/** Members whose type depends on the requested format, which the schemas do not express. */
const REFINED = {
  ContextInput: { generic: '<F extends ContextFormat = ContextFormat>', members: { format: 'F' } },
  AssembledContext: {
    generic: '<F extends ContextFormat>',
    as: 'AssembledContextAs',
    members: {
      format: 'F',
      messages: "F extends 'messages' ? OpenAiMessage[] : null",
      text: "F extends 'messages' ? null : string",
    },
  },
  ReplayedContext: { members: { messages: 'OpenAiMessage[] | null' } },
  AgentTurnHydrateInput: { generic: '<F extends PromptFormat = PromptFormat>', members: { format: 'F' } },
  Hydrated: {
    generic: '<F extends PromptFormat>',
    as: 'HydratedAs',
    members: { format: 'F', messages: "F extends 'openai' ? OpenAiMessage[] : AnthropicMessage[]" },
  },
};

const GENERIC_METHODS = {
  'context.assemble': "<F extends ContextFormat = 'messages'>",
  'agent_turns.hydrate': "<F extends PromptFormat = 'openai'>",
};

const byName = (name) => allOperations.find((operation) => operation.name === name);

const formatsOf = (name) => Object.values(byName(name).output.shape.format.def.entries).map(literal).join(' | ');

/** Types without a schema of their own. The conditional types distribute, so that `format` discriminates the union. */
const fixedTypes = () => `/** A lifetime: a name, or a duration in milliseconds. */
export type TtlInput =
${TTL_NAMES.map((name) => `  | ${literal(name)}\n`).join('')}  | \`Duration(\${number})\`
  | { Duration: number };

export type ContextFormat = ${formatsOf('context.assemble')};
export type AssembledContext<F extends ContextFormat = ContextFormat> = F extends ContextFormat ? AssembledContextAs<F> : never;

export type PromptFormat = ${formatsOf('agent_turns.hydrate')};
export type Hydrated<F extends PromptFormat = PromptFormat> = F extends PromptFormat ? HydratedAs<F> : never;
`;

const HEAD = `// Generated from the table of operations by scripts/types/api.mjs.
import type { CallOptions } from './api/index.js';
import type { AnthropicMessage, OpenAiMessage } from './facts/contract.js';
import type { Json, JsonInput, JsonObject, JsonObjectInput } from './kernel/contract.js';

export type { CallOptions, Json, JsonInput, JsonObject, JsonObjectInput };
export type { AnthropicBlock, AnthropicMessage, OpenAiMessage, OpenAiToolCall } from './facts/contract.js';
`;

const nounOf = (group) => (VERBS_ALONE.has(group) ? '' : pascal(singular(group)));

function inputName({ group, verb }) {
  const verbs = allOperations.filter((one) => one.group === group).map((one) => one.verb);
  const making = MAKING.find((one) => verbs.includes(one));
  return `${nounOf(group)}${verb === making ? '' : pascal(verb)}Input`;
}

/** The first list in an answer: the name of the member, and the schema of an element. */
function listIn({ shape = {} }) {
  const [name, list] = Object.entries(shape).find(([, member]) => member.def.type === 'array') ?? [];
  return name === undefined ? undefined : { name, element: list.element };
}

/** Candidates for the name of an answer: its id, or for a page its element. */
function outputNames({ output, group, verb }, types) {
  const { id } = output.meta() ?? {};
  if (id !== undefined) return [id];
  const listed = 'next_cursor' in (output.shape ?? {}) ? listIn(output)?.element : undefined;
  const element = listed && (types.nameOf(listed, 'output') ?? listed.meta()?.id);
  return [...(element ? [`${element}Page`] : []), `${nounOf(group)}${pascal(verb)}Result`];
}

/** False for plain JSON and for no answer. */
const hasName = ({ output }) => ['object', 'union'].includes(output.def.type);

function answeredBy(output) {
  const names = allOperations.filter((one) => one.output === output).map(({ name }) => `\`${name}\``);
  return [`Returned by ${names.join(', ')}.`];
}

function exampleOf({ name, group, example, output, stream }, answer) {
  const call = `cairn.${name}(${Object.keys(example).length === 0 ? '' : code(example)})`;
  if (stream) return `for await (const item of ${call}) console.log(item);`;
  if (answer === 'void') return `await ${call};`;
  const list = output.meta()?.id === undefined ? listIn(output) : undefined;
  return `const ${list ? `{ ${list.name} }` : camel(hasName({ output }) ? answer : nounOf(group))} = await ${call};`;
}

const takesNothing = ({ input }) => Object.values(input.shape).every((member) => isOptional(member, 'input'));

function methodOf(operation, { input, answer }, plain) {
  const { name, verb, summary, access, event, stream } = operation;
  const generic = plain ? undefined : GENERIC_METHODS[name];
  const suffix = generic === undefined ? '' : '<F>';
  const result = `${stream ? 'AsyncIterable' : 'Promise'}<${answer}${suffix}>`;
  const about = `Needs the role \`${access}\`.${event ? ` Appends the event \`${event}\`.` : ''}`;
  const doc = comment([summary, about], { example: exampleOf(operation, answer), indent: '  ' });
  const parameters = `input${takesNothing(operation) ? '?' : ''}: ${input}${suffix}, options?: CallOptions`;
  return `${doc}  ${verb}${generic ?? ''}(${parameters}): ${result};\n`;
}

/** A method of a Cairn itself, with the main member of the input as its first argument. */
function shorthandOf([name, { group, verb, first }], types, typesBy) {
  const operation = byName(`${group}.${verb}`);
  const { input, answer } = typesBy.get(operation);
  const example = exampleOf(operation, answer).replace(
    `cairn.${group}.${verb}(${code(operation.example)})`,
    `cairn.${name}(${code(operation.example[first])})`,
  );
  const doc = comment([operation.summary, `Short for \`${group}.${verb}\`.`], { example, indent: '  ' });
  const type = types.typeOf(operation.input.shape[first], 'input');
  const parameters = `${first}: ${type}, rest?: Omit<${input}, '${first}'>, options?: CallOptions`;
  return `${doc}  ${name}(${parameters}): Promise<${answer}>;\n`;
}

/** A method of a Cairn itself that is a method of a group. */
function wholeShorthandOf([name, { group, verb }], typesBy) {
  const operation = byName(`${group}.${verb}`);
  return methodOf(operation, typesBy.get(operation), true).replace(`cairn.${group}.${verb}(`, `cairn.${name}(`);
}

/** Reserves the names of answers and inputs, so that their parts do not take them. */
function claimNames(types) {
  const answers = allOperations.filter(hasName);
  for (const { output } of answers)
    if (output.meta()?.id !== undefined) types.claim(output, 'output', [output.meta().id]);
  for (const operation of allOperations) types.claim(operation.input, 'input', [inputName(operation)]);
}

export function apiTypes({ plain = false } = {}) {
  const types = new SchemaTypes({
    special: new Map([
      [jsonValue.def, (io) => (io === 'input' ? 'JsonInput' : 'Json')],
      [notAnObject.def, () => 'null'],
      [sentSnapshot.def, () => snapshot],
      [ttl.def, (io) => (io === 'input' && !plain ? 'TtlInput' : undefined)],
    ]),
    refined: REFINED,
    renamed: RENAMED,
    plain,
  });
  claimNames(types);
  const typesBy = new Map();
  for (const operation of allOperations) {
    const { name, output } = operation;
    const answer = hasName(operation)
      ? types.declare(output, 'output', outputNames(operation, types), answeredBy(output))
      : types.typeOf(output, 'output');
    const input = types.declare(operation.input, 'input', [inputName(operation)], [`Input of \`${name}\`.`]);
    typesBy.set(operation, { input, answer });
  }
  types.finish();
  const methods = (group) =>
    allOperations.filter((one) => one.group === group).map((one) => methodOf(one, typesBy.get(one), plain));
  const names = [...new Set(allOperations.map(({ group }) => group))];
  const api = names.map(
    (group) => `${comment([groups[group]], { indent: '  ' })}  readonly ${group}: ${pascal(group)}Api;\n`,
  );
  const text = [
    HEAD,
    `/** All operations, by group. */\nexport interface Api {\n${api.join('')}}\n`,
    `export interface Shorthands {\n${Object.entries(shorthands)
      .map((one) => shorthandOf(one, types, typesBy))
      .join('')}${Object.entries(wholeShorthands)
      .map((one) => wholeShorthandOf(one, typesBy))
      .join('')}}\n`,
    ...names.map((group) => `export interface ${pascal(group)}Api {\n${methods(group).join('')}}\n`),
    ...(plain ? [] : [fixedTypes()]),
    ...types.declarations,
  ].join('\n');
  return { text, types };
}

if (process.argv[1] === import.meta.filename)
  process.stdout.write(apiTypes({ plain: process.argv.includes('--plain') }).text);

/** A command for every operation of the table: `cairn <group> <verb>`. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { allOperations, groups, type NamedOperation } from '../api/contract.js';
import type { ApiByName } from '../api/index.js';
import { clearsByNull, inputSchemaOf, pathParameters, takesNull } from '../engine/contract.js';
import { invalid } from '../kernel/index.js';
import type { OwnCommand } from './file-commands.js';
import { type Settings, withApi, withStore } from './settings.js';

type Schema = {
  type?: string | string[];
  enum?: unknown[];
  description?: string;
  readOnly?: boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
};

/** The schema without null, which a command line cannot express. */
function withoutNull(schema: Schema): Schema {
  if (Array.isArray(schema.type)) return { ...schema, type: schema.type.find((one) => one !== 'null') };
  const others = schema.anyOf?.filter(({ type }) => type !== 'null') ?? [];
  return others.length === 1 ? { ...others[0], ...schema } : schema;
}

/** `agent_id` becomes --agent, `packet_type` --packet-type. */
const flagOf = (name: string): string => name.replace(/(?<=.)_id$/, '').replaceAll('_', '-');
const keyOf = (flag: string): string => flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Reads an argument by its schema: as text where it allows text, else as JSON. */
function read(name: string, { type, anyOf, oneOf }: Schema, text: string): unknown {
  if (type === 'string') return text;
  if (type === 'integer' || type === 'number') return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  const kinds = anyOf ?? oneOf;
  const takesText = type === undefined && (!kinds || kinds.some((kind) => kind.type === 'string'));
  // Plain text may begin like JSON, such as "[INFO] started".
  const isMeantAsJson = (takesText ? /^\s*(\{\s*"|\[\s*["[{])/ : /^\s*[[{]/).test(text);
  if (type === 'array' && !isMeantAsJson) return text.split(',').map((item) => item.trim());
  try {
    return JSON.parse(text);
  } catch (error) {
    if (takesText && !isMeantAsJson) return text;
    const reason = isMeantAsJson ? ` (${(error as Error).message})` : '';
    throw invalid(`--${flagOf(name)} must be JSON, such as '{"a":1}'${reason}`);
  }
}

/** Refuses an argument that follows the flag and that the parser takes for its value. */
function trueOrFalse(text: string): boolean {
  if (text !== 'true' && text !== 'false')
    throw new InvalidArgumentError('It must be true or false; put arguments before flags.');
  return text === 'true';
}

function optionFor(name: string, schema: Schema, isRequired: boolean): Option {
  // The flag alone means true; `false` overrides a default of true.
  const value = schema.type === 'boolean' ? '[true|false]' : `<${schema.enum?.join('|') ?? schema.type ?? 'json'}>`;
  const option = new Option(`--${flagOf(name)} ${value}`, schema.description ?? '');
  if (isRequired) option.makeOptionMandatory();
  if (schema.type === 'boolean') option.argParser(trueOrFalse);
  // A list may also be passed by repeating the flag.
  if (schema.type === 'array')
    option.argParser((text, before: unknown) => [before ?? [], read(name, schema, text)].flat());
  if (!schema.enum) return option;
  const values = schema.enum.map(String);
  // Case-insensitive, as over HTTP.
  return option.choices(values).argParser((text) => {
    const meant = values.find((value) => value.toLowerCase() === text.toLowerCase());
    if (meant === undefined) throw new InvalidArgumentError(`Allowed choices are ${values.join(', ')}.`);
    return meant;
  });
}

/** Adds --clear, since a flag cannot have the value null. */
function addClear(command: Command, properties: readonly [string, Schema][]): void {
  const names = properties.filter(([, schema]) => takesNull(schema)).map(([name]) => name);
  const listed = (text: string, before: unknown): unknown[] => {
    const given = text.split(',').map((name) => name.trim());
    const unknown = given.find((name) => !names.includes(name));
    if (unknown !== undefined) throw new InvalidArgumentError(`It takes ${names.join(', ')}.`);
    return [before ?? [], given].flat();
  };
  const option = new Option('--clear <fields>', `fields to clear, comma-separated: ${names.join(', ')}`);
  command.addOption(option.argParser(listed));
}

type Options = Readonly<Record<string, unknown>>;

/**
 * Adds a flag for every member of an operation's input, except those that the command takes as arguments. Returns a
 * function that reads the input from the options of the command.
 */
export function addFlags(
  command: Command,
  operation: NamedOperation,
  asArguments: readonly string[],
): (options: Options) => Record<string, unknown> {
  const { properties = {}, required = [] } = inputSchemaOf(operation) as {
    properties?: Record<string, Schema>;
    required?: string[];
  };
  const flags = Object.entries(properties)
    // Read-only members are accepted in posted answers and ignored.
    .filter(([name, schema]) => !asArguments.includes(name) && !schema.readOnly)
    .map(([name, schema]): [string, Schema] => [name, withoutNull(schema)]);
  for (const [name, schema] of flags) command.addOption(optionFor(name, schema, required.includes(name)));
  if (clearsByNull(operation)) addClear(command, Object.entries(properties));
  if (operation.event !== null)
    command.option(
      '--idempotency-key <key>',
      'idempotency key: a repeat of the command with the same key changes nothing',
    );
  return (options) => {
    const input: Record<string, unknown> = {};
    for (const name of (options.clear as string[] | undefined) ?? []) input[name] = null;
    for (const [name, schema] of flags) {
      const value = options[keyOf(flagOf(name))];
      if (value !== undefined) input[name] = typeof value === 'string' ? read(name, schema, value) : value;
    }
    return input;
  };
}

export async function callOperation(
  operation: NamedOperation,
  input: Options,
  options: Settings & Options,
): Promise<unknown> {
  const call = typeof options.idempotencyKey === 'string' ? { idempotency_key: options.idempotencyKey } : {};
  const reads = operation.access === 'read' && operation.event === null;
  const api = (cairn: unknown) => (cairn as ApiByName)[operation.group]!;
  return withApi(options, async (cairn) => api(cairn)[operation.verb]!(input, call), { reads });
}

function addOperation(group: Command, operation: NamedOperation): void {
  const inPath = pathParameters(operation.path);
  const command = withStore(group.command(operation.verb.replaceAll('_', '-')).description(operation.summary));
  for (const name of inPath) command.argument(`<${name}>`);
  const readFlags = addFlags(command, operation, inPath);
  showExamples(command, [exampleOf(operation, inPath)]);
  // Other commands need it to print JSON; here it changes nothing.
  command.addOption(new Option('--json', 'print the answer as JSON, as always').hideHelp());
  command.action(async (...given: unknown[]) => {
    const options = command.optsWithGlobals() as Settings & Options;
    const fromPath = Object.fromEntries(inPath.map((name, i) => [name, given[i]]));
    const answer = await callOperation(operation, { ...fromPath, ...readFlags(options) }, options);
    if (answer !== undefined) console.log(JSON.stringify(answer, null, 2));
    // An answer without a body: confirm it on a terminal, print nothing into a pipe.
    else if (process.stdout.isTTY) console.log('done');
  });
}

function showExamples(command: Command, examples: readonly string[]): void {
  const lines = examples.map((example) => `\n  $ ${example}`);
  command.addHelpText('after', `\n${lines.length === 1 ? 'Example' : 'Examples'}:${lines.join('')}`);
}

function exampleOf(operation: NamedOperation, inPath: readonly string[]): string {
  const words = [`cairn ${operation.group.replaceAll('_', '-')} ${operation.verb.replaceAll('_', '-')}`];
  for (const name of inPath) words.push(String(operation.example[name]));
  for (const [name, value] of Object.entries(operation.example)) {
    if (inPath.includes(name)) continue;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    words.push(`--${flagOf(name)}${value === true ? '' : ` ${/^[\w.-]+$/.test(text) ? text : `'${text}'`}`}`);
  }
  return words.join(' ');
}

/**
 * A command of `own` replaces the generated command of its name. Given the words of a command line, fills only the groups
 * that they name: building the options of all groups takes longer than most commands.
 */
export function addOperations(program: Command, own: readonly OwnCommand[], words?: readonly string[]): void {
  for (const [name, description] of Object.entries(groups)) {
    const verbs = allOperations.filter((operation) => operation.group === name && !operation.stream);
    if (verbs.length === 0) continue;
    const command = name.replaceAll('_', '-');
    const group = program.command(command).description(description);
    if (words && !words.includes(command)) continue;
    const ofGroup = own.filter((command) => command.group === name);
    const ownOf = (operation: NamedOperation) => ofGroup.find(({ verb }) => verb === operation.verb);
    for (const operation of verbs) {
      if (!ownOf(operation)) addOperation(group, operation);
    }
    for (const { verb, examples, add } of ofGroup) {
      const command = group.command(verb);
      add(command);
      showExamples(command, examples);
    }
    const first = verbs[0]!;
    showExamples(group, [ownOf(first)?.examples[0] ?? exampleOf(first, pathParameters(first.path))]);
  }
}

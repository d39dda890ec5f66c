/** `cairn remember <text…>` and `cairn recall <query…>`: the same operations as under `memory`, printed as text. */
import { text as readAll } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import { allOperations, type NamedOperation, type Operations, shorthands } from '../api/contract.js';
import type { Output } from '../api/index.js';
import { changesTold, reasonOf, relationsOf, remarkOn, sourceOf } from '../recall/contract.js';
import { addFlags, callOperation } from './operations.js';
import { type Settings, withStore } from './settings.js';
import { color, grey, plain } from './terminal.js';

type Name = keyof typeof shorthands;
type Answer<N extends Name> = Output<Operations['memory'][N]>;

/** The snippet of a passage on one line, with the matched words in bold. */
function excerptOf({ snippet, highlights }: Answer<'recall'>['passages'][number]): string {
  const part = (start: number, end?: number): string => plain(snippet.slice(start, end).replace(/\s/g, ' '));
  let at = 0;
  let shown = '';
  for (const { start, end } of highlights) {
    shown += part(at, start) + color(1, part(start, end));
    at = end;
  }
  return shown + part(at);
}

const show: { readonly [N in Name]: (answer: Answer<N>) => string } = {
  remember: (answer) => {
    const { entity_type, id, name } = answer;
    const head = `remembered as ${entity_type.toLowerCase()} ${id}${name === null ? '' : grey(`  ${plain(name)}`)}`;
    return [head, ...changesTold(answer).map(plain)].join('\n');
  },
  recall: (recalled) => {
    const passages = recalled.passages.flatMap((one, i) => {
      const indent = ' '.repeat(String(i + 1).length + 2);
      return [
        `${i + 1}. ${excerptOf(one)}${one.mark === undefined ? '' : plain(` (${one.mark})`)}`,
        ...relationsOf(one).map((relation) => `${indent}${plain(relation)}`),
        `${indent}${grey(plain(`${sourceOf(one)}, ${one.id}`))}`,
        `${indent}${grey(plain(reasonOf(one)))}`,
      ];
    });
    const remark = remarkOn(recalled);
    return [...passages, ...(remark === undefined ? [] : [remark])].join('\n');
  },
};

const EXAMPLES: Readonly<Record<Name, readonly string[]>> = {
  remember: ['"Anna prefers tea" --tag people', '- < decision.md'],
  recall: ['"what does Anna drink"', 'which database did we choose --limit 3 --json'],
};

type Flags = Settings & Record<string, unknown> & { readonly json?: boolean; readonly tag?: string[] };

function fill(command: Command, name: Name, operation: NamedOperation): void {
  const { first } = shorthands[name];
  withStore(command).option('--json', 'print the whole answer as JSON');
  const readFlags = addFlags(command, operation, [first]);
  if ('tags' in operation.input.shape)
    command.addOption(
      new Option('--tag <tag>', 'add a tag; can be repeated').argParser((tag, before: string[] = []) => [
        ...before,
        tag,
      ]),
    );
  const examples = EXAMPLES[name].map((words) => `\n  $ cairn ${name} ${words}`);
  command.addHelpText('after', `\nExamples:${examples.join('')}`);
  command.action(async (words: string[]) => {
    const options = command.optsWithGlobals() as Flags;
    const value = words.join(' ');
    const input = { ...readFlags(options), [first]: value === '-' ? (await readAll(process.stdin)).trimEnd() : value };
    if (options.tag) input.tags = [(input.tags as string[] | undefined) ?? [], options.tag].flat();
    const answer = await callOperation(operation, input, options);
    console.log(options.json ? JSON.stringify(answer, null, 2) : show[name](answer as never));
  });
}

/** Given the words of a command line, fills only the commands that they name. */
export function addShorthands(program: Command, words?: readonly string[]): void {
  for (const [name, { group, verb, first }] of Object.entries(shorthands)) {
    const operation = allOperations.find((one) => one.group === group && one.verb === verb)!;
    const command = program
      .command(name)
      .description(operation.summary)
      .argument(`<${first}...>`, 'one or more words; -: read from stdin');
    if (!words || words.includes(name)) fill(command, name as Name, operation);
  }
}

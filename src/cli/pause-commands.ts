/** `cairn pauses list|answer`: questions that wait, as readable lines, and answers with the action as an argument. */
import { Argument, type Command, Option } from 'commander';
import { allOperations } from '../api/contract.js';
import { type Pause, type PauseAction, pauseAction } from '../coordination/contract.js';
import type { Out } from '../engine/contract.js';
import type { OwnCommand } from './file-commands.js';
import { addFlags, callOperation } from './operations.js';
import { type Settings, withStore } from './settings.js';
import { color, grey, plain } from './terminal.js';

export const pauseCommands: readonly OwnCommand[] = [
  { group: 'pauses', verb: 'list', add: addList },
  { group: 'pauses', verb: 'answer', add: addAnswer },
];

const operationOf = (verb: string) => allOperations.find((one) => one.group === 'pauses' && one.verb === verb)!;

type Flags = Settings & Record<string, unknown> & { readonly json?: boolean };

const UNITS = [
  ['d', 24 * 3_600_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** A duration in its largest unit, such as `5 min`. */
function durationText(ms: number): string {
  const [unit, length] = UNITS.find(([, least]) => ms >= least) ?? UNITS.at(-1)!;
  return `${Math.max(0, Math.floor(ms / length))} ${unit}`;
}

const COLORS: Readonly<Record<Pause['status'], number>> = { open: 33, answered: 32, expired: 31, cancelled: 90 };

function deadlineText({ deadline_at, default: fallback }: Pause, now: number): string[] {
  if (deadline_at === null) return [];
  const left = Date.parse(deadline_at) - now;
  const then = fallback === null ? 'then it expires' : `then ${fallback.action} counts`;
  return [left > 0 ? `${durationText(left)} left, ${then}` : 'the deadline has passed'];
}

function answerLine({ answer, answered_by, answered_at }: Pause): string[] {
  if (answer === null) return [];
  const who = answered_by === null ? 'by default' : `by ${answered_by.agent_id ?? 'a person'}`;
  const given = [answer.choice, answer.value === undefined ? undefined : JSON.stringify(answer.value), answer.comment];
  const details = given.filter((one) => one !== undefined).map((one) => `: ${plain(one.replace(/\s+/g, ' '))}`);
  return [`  ${answer.action}${details.join('')} ${grey(`${plain(who)}, ${answered_at}`)}`];
}

/** A pause as lines: id, age and asker; the question; how it can be answered, or was. */
function pauseLines(pause: Pause, now: number): string[] {
  const { pause_id, status, trigger, agent_id, created_at, question, choices, answers } = pause;
  const age = `${durationText(now - Date.parse(created_at))} ago`;
  const facts = [`asked by ${plain(agent_id)} ${age}`, trigger, ...(status === 'open' ? deadlineText(pause, now) : [])];
  const labels = choices.map(({ value, label }) => (value === label ? value : `${value} (${label})`));
  const options = labels.length === 0 ? [] : [`  choices: ${plain(labels.join(', '))}`];
  return [
    `${pause_id}  ${color(COLORS[status], status)}  ${grey(facts.join(', '))}`,
    ...question.split('\n').map((line) => `  ${plain(line)}`),
    ...(status === 'open' ? [...options, grey(`  answers: ${answers.join(', ')}`)] : answerLine(pause)),
  ];
}

function addList(command: Command): void {
  const operation = operationOf('list');
  withStore(command.description(operation.summary)).option('--json', 'print the whole answer as JSON');
  const readFlags = addFlags(command, operation, []);
  command.addHelpText(
    'after',
    '\nExamples:\n  $ cairn pauses list --status open\n  $ cairn pauses list --execution run-1 --json',
  );
  command.action(async () => {
    const options = command.optsWithGlobals() as Flags;
    const answer = (await callOperation(operation, readFlags(options), options)) as Out<'pauses.list'>;
    if (options.json) return console.log(JSON.stringify(answer, null, 2));
    const now = Date.now();
    for (const pause of answer.pauses) console.log(pauseLines(pause, now).join('\n'));
    if (answer.pauses.length === 0) console.log('no pauses');
    if (answer.next_cursor !== null) console.log(grey(`more with --cursor ${answer.next_cursor}`));
  });
}

function addAnswer(command: Command): void {
  const operation = operationOf('answer');
  withStore(command.description(operation.summary))
    .argument('<pause_id>')
    .addArgument(new Argument('[action]', 'default: continue, if a choice is given').choices(pauseAction.options))
    .addOption(new Option('--json', 'print the whole answer as JSON'));
  const readFlags = addFlags(command, operation, ['pause_id', 'action']);
  const id = String(operation.example.pause_id);
  command.addHelpText(
    'after',
    `
Examples:
  $ cairn pauses answer ${id} approve --comment 'Looks good.'
  $ cairn pauses answer ${id} modify --value '{"branch":"staging"}'
  $ cairn pauses answer ${id} --choice yes`,
  );
  command.action(async (pause_id: string, action: PauseAction | undefined) => {
    const options = command.optsWithGlobals() as Flags;
    const input = { pause_id, ...(action === undefined ? {} : { action }), ...readFlags(options) };
    const pause = (await callOperation(operation, input, options)) as Pause;
    console.log(options.json ? JSON.stringify(pause, null, 2) : pauseLines(pause, Date.now()).join('\n'));
  });
}
